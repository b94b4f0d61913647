// sketch.hpp: rows of very many columns in short, so that most can be decided unread.
//
// A sketch holds the products of a row with a few directions B, which span the means as they were
// and the directions of most variance, and the length of the remainder. A mean is c = B'b + r, with
// r short as long as it has not gone far, so
//     x.c = (Bx).b + x.r,   |x.r| <= |x - B'Bx| |r| + |Bx| |Br|
// bounds its distance from both sides.
#pragma once

#include <vector>

#include "core/team.hpp"
#include "kmeans/packed_means.hpp"

namespace coterie::kmeans {

class SketchOwner {
public:
    // Directions for these means, scaled as the model is.
    void build(const Rows& rows, const Scaling& scaling, const double* means, int k);
    // The means of a step, in short.
    void prepare(Team& team, const Level& level, const double* means, Model& model);
    void drop() { view_ = {}; }
    bool exists() const { return view_.basis != nullptr; }

private:
    void append(const std::vector<double>& direction);

    SketchView view_;
    int found_ = 0;             // directions
    std::vector<double> basis_; // (kDirections, d)
    std::vector<double> gram_;  // (kDirections, kDirections) BB' - 1
    double slant_ = 0.0;        // its norm, at most
    Buffer<float> short_basis_, means_, apart_;
};

} // namespace coterie::kmeans
