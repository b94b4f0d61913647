// mixture.hpp: one pass over a block for a Gaussian mixture: E step, and the sums of the M step.
//
// Rows are read as z = (x - origin) * scale. Sums are taken over chunks of rows that are counted
// from the first row of the whole data, and chunks are added along one fixed binary tree, so that
// neither threads nor blocks show in the result.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "core/rows.hpp"
#include "core/team.hpp"
#include "mixture/triangles.hpp"

namespace coterie {

enum class Covariance : uint8_t { full, tied, diag, spherical };

constexpr int kLeafRows = 256; // rows that are swept together
constexpr int kFewAxes = 4;    // full covariances up to this many columns: lanes hold rows
constexpr int kTile = 6;       // columns of a triangular factor that are multiplied together
constexpr int kManyAxes = 64;  // full covariances of more columns: threads share one set of sums
constexpr int kStretch = 4096; // rows whose degrees of belonging are kept for that, at a time
constexpr int kScreened = 16;  // full covariances from so many columns: densities may be left out
constexpr int kSide = 16;      // components that a row is multiplied with side by side
// Half the squared distance, in the exponent of 2.
constexpr double kHalf = 0.5 * 1.44269504088896340736;
constexpr double kNegligible = -100; // log2 of degrees that are taken as zero, if not told
constexpr double kNearOrigin = 64;   // square of a distance, in standard deviations

// Sizes of what a sweep adds up, one after the other: log-likelihood, mass, first and second
// moments by component; of matrices the upper triangle, row by row.
struct SumsShape {
    Covariance kind;
    int k, d;
    COTERIE_INLINE int64_t second() const {
        switch (kind) {
        case Covariance::full: return static_cast<int64_t>(d) * (d + 1) / 2;
        case Covariance::diag: return d;
        case Covariance::spherical: return 1;
        case Covariance::tied: return 0;
        }
        return 0;
    }
    COTERIE_INLINE int64_t size() const { return 1 + k * (1 + d + second()); }
    // Is there one set of sums for all threads?
    COTERIE_INLINE bool shared() const { return kind == Covariance::full && d > kManyAxes; }
    // Rows that are summed before the tree begins.
    COTERIE_INLINE int64_t chunk_rows() const {
        return shared() ? 8 * kStretch : d <= 8 ? 8192 : d <= 24 ? 4096 : d <= 64 ? 2048 : 1024;
    }
};

// Numbers in a factor as the tiles of mixture/kernels/full.cpp read it.
COTERIE_INLINE size_t packed_factor(int d) {
    size_t size = 0;
    for (int j = 0; j < d; j += kTile) {
        const size_t wide = d - j < kTile ? d - j : kTile;
        size += (j + wide) * wide;
    }
    return size;
}

// k, or the numbers of a matrix (1 + d, k) that rows are multiplied with, for components side by
// side: what is subtracted, and then column by column.
COTERIE_INLINE int side_by_side(int k) { return (k + kSide - 1) / kSide * kSide; }
COTERIE_INLINE size_t product_size(int k, int d) {
    return static_cast<size_t>(d + 1) * side_by_side(k);
}

// What a kernel needs to know; it only points.
struct MixtureTask {
    const Rows* rows = nullptr;
    const double* origin = nullptr; // (d rounded up to 4,)
    const double* scale = nullptr;  // the same; powers of two
    SumsShape shape{Covariance::full, 0, 0};

    const double* offsets = nullptr; // (k,) log of density at the mean and weight, base 2
    const double* means = nullptr;   // (k, d) where distances are taken from; tied: whitened
    const double* factors = nullptr; // see Mixture
    const double* shifts = nullptr;  // full, diag: (k, d) what the factor makes of the mean
    const uint8_t* direct = nullptr; // full: (k,) subtract the mean before the factor
    const double* limits = nullptr;  // full: (k,) log2 of degrees that are taken as zero
    // full: for bounds in float32, see mixture/kernels/screen.cpp; K: k rounded up by side_by_side
    const float* screen_factors = nullptr;  // as factors
    const float* screen_shifts = nullptr;   // as shifts
    const float* screen_means = nullptr;    // (1 + d, K) half the square of their length; means
    const float* screen_base = nullptr;     // (K,) offset and limit, and rounding all rows have
    const float* screen_slope = nullptr;    // (K,) rounding by the square of a row's length
    const float* direction_base = nullptr;  // (K,) rounding along a direction that all rows have
    const float* direction_slope = nullptr; // (K,) the same by a row's length
    float screen_factor = 1.f;              // more than 1, for rounding in proportion
    // full: towards the mean of another component, or null, see
    // mixture/kernels/screen_directions.cpp
    const float* directions = nullptr;    // (k, 1 + d, K)
    const float* units = nullptr;         // (k, k, d rounded up to 4)
    std::atomic<bool>* crowded = nullptr; // were bounds of little use in this sweep?
    const double* whitener = nullptr;     // tied: (d, d) upper, by column
    const double* centres = nullptr;      // (k, d) of the moments
    bool near = false;                    // are all means near the origin?
    bool own_centres = false;             // are the means themselves the centres?

    // Degrees of belonging that are given instead of computed; at most one of the two.
    const double* given_degrees = nullptr; // (n, k)
    const int32_t* given_labels = nullptr; // (n,)
    bool all_in_one = false;               // k = 1 and every row belongs to it

    // What is wanted; row r of the block is written at place r.
    bool sums = true;
    bool moments = true;      // in sums; else these may be the log-likelihood alone
    double* shares = nullptr; // (k, kStretch) weight times degree, of rows from `shared_from` on
    int64_t shared_from = 0;
    double* scores = nullptr;  // (n,)
    double* degrees = nullptr; // (n, k)
    int32_t* labels = nullptr; // (n,)

    COTERIE_INLINE bool computed() const { return !given_degrees && !given_labels && !all_in_one; }
    // May rows be measured from the origin, and moments be moved to the centres afterwards? Other
    // centres than the means are asked for where digits were lost.
    COTERIE_INLINE bool about_origin() const { return near && own_centres && computed(); }
    // May densities be left out? Degrees that are shown are shown however small they are.
    COTERIE_INLINE bool screened() const {
        return shape.kind == Covariance::full && shape.d >= kScreened && shape.k > 1 &&
               computed() && !degrees;
    }
};

// Called now and then from inside long work; throws to end it.
struct Pause {
    Team* team;
    int thread;
    COTERIE_INLINE void operator()() const { team->check(thread); }
};

// A mixture prepared for the kernels.
class Mixture {
public:
    // factors: precisions_cholesky in the shape of the kind, of full ones the upper triangles row
    // by row, or null if no density is ever asked for; centres: (k, d) or null; negligible: (k,)
    // log2 of degrees that count as zero in sums of full covariances, or null.
    Mixture(Team& team, Covariance kind, int k, int d, const double* offsets, const double* means,
            const double* factors, const double* centres, const double* negligible = nullptr);
    void describe(MixtureTask& task) const;

private:
    Covariance kind_;
    int k_, d_;
    void prepare_few(const double* factors);
    void prepare_full(Team& team, const double* factors);
    double pack_factor(int64_t c, const double* triangle);
    void prepare_screen(int64_t c, double length);
    bool all_near(const double* shifts) const;

    std::vector<double> offsets_, means_, shifts_, centres_, limits_;
    bool near_ = false, own_centres_;
    Buffer<double, Pages> factors_;
    Buffer<double> whitener_;
    std::vector<uint8_t> direct_;
    Buffer<float, Pages> screen_factors_;
    std::vector<float> screen_shifts_, screen_means_, screen_base_, screen_slope_;
    std::vector<float> direction_base_, direction_slope_;
};

// A node of the tree of chunks: the sum of chunks [index << level, (index + 1) << level).
struct Node {
    int level;
    int64_t index;
    Buffer<double, Pages> sums;
};

// Blocks must begin at multiples of this to have the same bits as a single block, of any kind.
inline int64_t mixture_chunk_rows(int d) {
    return d <= kManyAxes ? SumsShape{Covariance::diag, 1, d}.chunk_rows() : 8 * kStretch;
}

// first: number of the block's first row. Returns what is left of the tree, by first row.
std::vector<Node> sweep(Team& team, const MixtureTask& task, int64_t first);

} // namespace coterie
