// metric.hpp: when two rows are neighbours, by the definition, and where an index may put them.
//
// "Nearby" is the paper's word: at a distance of at most eps. The definition is plain float64
// arithmetic in the order of the columns. An index works on coordinates whose distance, in one of
// three norms, bounds the definition from both sides; between the bounds the definition decides.
#pragma once

#include <vector>

#include "core/memory.hpp"
#include "core/rows.hpp"
#include "core/team.hpp"

namespace coterie::dbscan {

enum class Metric : uint8_t { euclidean, manhattan, chebyshev, minkowski, cosine, haversine };

// The sum of coordinate differences in an index: squares, magnitudes, or the largest magnitude.
enum class Norm : uint8_t { squares, sum, largest };

// A distance, and how far is near.
struct Measure {
    Metric metric = Metric::euclidean;
    double p = 2.0; // of minkowski
    double eps = 1.0;

    Norm norm() const;
    // A power of two near 1 / eps. Differences are multiplied by it, so that no square overflows
    // or vanishes; it changes no bit of a comparison that would have been sound without it.
    double unit() const;
};

// Rows of one array as a measure sees them: unit vectors for cosine, angles with their cosine for
// haversine, else the rows themselves, which are not copied.
class Space {
public:
    Space(Team& team, const Rows& rows, const Measure& measure);

    int64_t n() const { return rows_.n; }
    int width() const { return width_; } // coordinates of a point
    Norm norm() const { return measure_.norm(); }
    const Rows& rows() const { return rows_; }
    const Measure& measure() const { return measure_; }
    const std::vector<int64_t>& zero_rows() const { return zero_rows_; } // cosine only

    // Is row i nearby row j of another space (or this) of the same measure?
    bool nearby(int64_t i, const Space& other, int64_t j) const;
    // The same within this space. A row is always nearby itself.
    bool nearby(int64_t i, int64_t j) const;

    // Are rows their own coordinates?
    bool plain() const { return !prepared_.data(); }
    // out: (width,) where an index may put row i.
    void coordinates(int64_t i, double* out) const;

    // Rows whose coordinates are exactly at most `inner` apart are nearby; more than `outer`: not.
    // Both already allow for the rounding of coordinates that are computed.
    struct Bounds {
        double inner, outer;
    };
    Bounds bounds() const { return bounds_; }

private:
    void prepare_cosine(Team& team);
    void prepare_haversine(Team& team);
    void set_bounds();

    Rows rows_;
    Measure measure_;
    int width_;
    double unit_;
    Buffer<double> prepared_;
    std::vector<int64_t> zero_rows_;
    Bounds bounds_{};
};

} // namespace coterie::dbscan
