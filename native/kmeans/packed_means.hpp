// packed_means.hpp: the means of one step in every form the kernels want, and their
// scaling.
#pragma once

#include "core/level.hpp"
#include "core/memory.hpp"
#include "core/scan.hpp"
#include "core/team.hpp"
#include "kmeans/kernels.hpp"

namespace coterie::kmeans {

// The scaling that brings the data and the means near one, so that float32 squares neither
// overflow nor vanish: a column far from zero is centred, and the unit is a power of two.
class OwnedScaling {
public:
    OwnedScaling(const Ranges& ranges, const double* means, int k, bool sparse);
    Scaling view() const;
    bool operator==(const OwnedScaling&) const = default;

private:
    std::vector<double> centre_;
    double unit_ = 1.0;
};

class PreparedModel {
public:
    // `order`: position -> mean, a permutation of 0..k-1; empty for the identity.
    void prepare(Team& team, const Level& level, const Rows& rows, const double* means, int k,
                 const Scaling& scaling, const std::vector<int32_t>& order);
    Model model;

private:
    void transpose_column(int64_t l);
    float scaled(int p, int64_t l) const;
    std::vector<double> pack_means(const Level& level);
    std::vector<double> pack_columns(Team& team);

    bool low_ = false; // vectors hold rows
    Buffer<double> means_t_;
    Buffer<float> squares_, flat_, panels_, by_column_, table_;
    std::vector<int32_t> order_, position_, live_;
};

// Means that lie together get positions that lie together, in runs of `width`.
std::vector<int32_t> neighbouring_order(const double* means, int k, int d, int width);

} // namespace coterie::kmeans
