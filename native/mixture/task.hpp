// task.hpp: rows, parameters, moments and outputs of a sweep over a mixture, as kernels see them.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>

#include "core/memory.hpp"
#include "core/rows.hpp"
#include "core/team.hpp"
#include "mixture/plan.hpp"

namespace coterie::mixture {

enum class Covariance : uint8_t { full, tied, diag, spherical };

constexpr int kLeafRows = 256; // rows that are swept together
constexpr int kFewAxes = 4;    // full covariances up to this many columns: lanes hold rows
constexpr int kTile = 6;       // columns of a triangular factor that are multiplied together
constexpr int kManyAxes = 64;  // full covariances of more columns: threads share one set of sums
constexpr int kStretch = 4096; // rows whose responsibilities are kept for that, at a time
constexpr int kSide = 16;      // components that a row is multiplied with side by side
// Half the squared distance, in the exponent of 2.
constexpr double kHalf = 0.5 * 1.44269504088896340736;
constexpr double kNegligible = -100; // log2 of responsibilities that are taken as zero, if not told
constexpr double kNearOrigin = 64;   // square of a distance, in standard deviations

// Sizes of the sums of a sweep, one after the other: log-likelihood, mass, first and second
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
// side: first the numbers to subtract, then column by column.
COTERIE_INLINE int side_by_side(int k) { return (k + kSide - 1) / kSide * kSide; }
COTERIE_INLINE size_t product_size(int k, int d) {
    return static_cast<size_t>(d + 1) * side_by_side(k);
}

// Rows of a block, read as z = (x - origin) * scale.
struct MixtureRows {
    const Rows* block = nullptr;
    const double* origin = nullptr; // (d rounded up to 4,)
    const double* scale = nullptr;  // the same; powers of two
};

// A mixture as kernels want it.
struct MixtureParameters {
    const double* offsets = nullptr;  // (k,) log of density at the mean and weight, base 2
    const double* means = nullptr;    // (k, d) where distances are taken from; tied: whitened
    const double* factors = nullptr;  // see Mixture
    const double* shifts = nullptr;   // full, diag: (k, d) the products of factors and means
    const uint8_t* direct = nullptr;  // full: (k,) subtract the mean before the factor
    const double* limits = nullptr;   // full: (k,) log2 of responsibilities that are taken as zero
    const double* whitener = nullptr; // tied: (d, d) upper, by column
    const double* centres = nullptr;  // (k, d) of the moments
    bool near = false;                // are all means near the origin?
    bool own_centres = false;         // are the means themselves the centres?
};

// Full covariances: bounds of log densities in float32, see mixture/kernels/screen.cpp. K: k
// rounded up by side_by_side.
struct MixtureScreen {
    const float* factors = nullptr;         // as those of the parameters
    const float* shifts = nullptr;          // the same
    const float* means = nullptr;           // (1 + d, K) half the square of their length; means
    const float* base = nullptr;            // (K,) offset and limit, and rounding all rows have
    const float* slope = nullptr;           // (K,) rounding by the square of a row's length
    const float* direction_base = nullptr;  // (K,) rounding along a direction that all rows have
    const float* direction_slope = nullptr; // (K,) the same by a row's length
    float factor = 1.f;                     // more than 1, for rounding in proportion
    // Towards the mean of another component, or null, see mixture/kernels/screen_directions.cpp.
    const float* directions = nullptr; // (k, 1 + d, K)
    const float* units = nullptr;      // (k, k, d rounded up to 4)
};

// The M step: the sums that are wanted, and responsibilities that are given.
struct MixtureMoments {
    // Responsibilities that are given instead of computed; at most one of the three.
    const double* given_responsibilities = nullptr; // (n, k)
    const int32_t* given_labels = nullptr;          // (n,)
    bool all_in_one = false;                        // k = 1 and every row belongs to it

    bool sums = true;    // are any sums wanted?
    bool moments = true; // in sums; else these may be the log-likelihood alone
    // (k, kStretch) weight times responsibility, of rows from `shared_from` on
    double* shares = nullptr;
    int64_t shared_from = 0;
};

// The E step: outputs of each row, at its place in the block, where they are wanted.
struct MixtureOutputs {
    double* scores = nullptr;           // (n,)
    double* responsibilities = nullptr; // (n, k)
    int32_t* labels = nullptr;          // (n,)
};

// One sweep, as kernels see it; it only points.
struct MixtureTask {
    MixtureRows rows;
    SumsShape shape{Covariance::full, 0, 0};
    MixtureParameters model;
    MixtureScreen screen;
    MixtureMoments m_step;
    MixtureOutputs out;
    MixturePath path;                // see plan.hpp
    MixtureEvents* events = nullptr; // of the whole sweep

    COTERIE_INLINE bool computed() const {
        return !m_step.given_responsibilities && !m_step.given_labels && !m_step.all_in_one;
    }
};

// Called now and then from inside long work; throws to end it.
struct Pause {
    Team* team;
    int thread;
    COTERIE_INLINE void operator()() const { team->check(thread); }
};

} // namespace coterie::mixture
