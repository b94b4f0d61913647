// kernels.hpp: the data of the kernels of k-means and its seedings, and their table.
//
// The structures only point; vectors that own the memory live with the code that drives the
// kernels (kmeans/lloyd.cpp, kmeans/seeding.cpp), which is compiled once, for the baseline.
#pragma once

#include "core/exact_sum.hpp"
#include "core/rows.hpp"

namespace coterie::kmeans {

// True where vectors hold rows: few columns, or few means and not too many columns.
constexpr int kFewColumns = 8, kFewMeans = 24, kSomeColumns = 64;
COTERIE_INLINE bool rows_in_lanes(const Rows& rows, int k) {
    return !rows.sparse() && (rows.d <= kFewColumns || (k <= kFewMeans && rows.d <= kSomeColumns));
}

// The map from float64 to float32 values: (x - centre) * unit, a power of two.
struct Scaling {
    const double* centre = nullptr; // (d,)
    double unit = 1.0;
    bool plain = false; // centre is zero and unit is one: float32 rows can be used as they are
};

// Rows of very many columns in short (see kmeans/sketch.hpp): products with some directions, the
// largest length of the remainder, and |x|^2.
constexpr int kSketch = 64, kDirections = kSketch - 2; // floats
struct SketchView {
    const float* basis = nullptr;   // (kDirections, d_padded), or null: there are no sketches
    const float* means = nullptr;   // (kp / W, kDirections, W) -2 B c by position
    const float* apart = nullptr;   // (kp,) length of their remainders at most
    float slip = 0.f, spread = 0.f; // error of proposals over |x|; of squared lengths over |x|^2
};

// Means packed for proposals: |c|^2 - 2 x.c in float32, wrong by at most
// error * (|x| + reach)^2 + tiny. W: floats in a vector of the level.
struct PackedMeans {
    int kp = 0, d_padded = 0;          // k and d, rounded up
    const int32_t* order = nullptr;    // (kp,) position -> mean, -1 beyond k
    const int32_t* position = nullptr; // (k,) mean -> position
    const float* squares = nullptr;    // (kp,) |c|^2 by position; 1e30 beyond k
    const float* flat = nullptr;       // (kp, d_padded) -2 c by position
    const float* panels = nullptr;     // (kp / W, d, W) the same, W means side by side
    const float* by_column = nullptr;  // sparse only: (d, kp)
    const int32_t* live = nullptr;     // sparse only: (n_live,) columns where some mean is not zero
    int n_live = 0;
    float reach = 0.f; // the longest mean
    float error = 0.f; // error_of(d)
    int roundings = 2; // of each term: one where products are fused

    // With so many terms that are not zero. The rounding of row and mean to float32 and the last
    // additions are a few terms more.
    COTERIE_INLINE float error_of(int64_t terms) const {
        return static_cast<float>((roundings * terms + 10) * 0x1p-24 * 1.01);
    }
};

// Hamerly's bounds (2010), as one number per row. The slack of a row is the distance to the second
// nearest mean less that to its own. The drift of its own mean and of the fastest other uses slack
// up; the sum of that is kept by cluster. A row is safe while
// used_slack[label] < slack_limit[row], its slack and the sum of that time.
struct HamerlyBounds {
    const float* used_slack = nullptr; // (k,)
    // (k,) the same, or +inf to look at every row of a cluster again
    const float* look_below = nullptr;
    float cap = 1e30f;    // no slack is trusted beyond this
    bool measure = false; // radii of clusters are measured anew: look at every row met
};

// Few columns: all means, and for each mean the list of those near it (Elkan's lemma).
struct NeighbourLists {
    const float* table = nullptr;        // (k, d + 1): |c|^2, -2 c
    const float* const* lists = nullptr; // (k,) lists of |c|^2, -2 c, distance, index;
    const int32_t* lengths = nullptr;    // (k,) their lengths, or null: meet all means
};

// Bounds by group of means, for many columns, as those of Yinyang k-means (Ding and others, 2015)
// or, where every mean is a group, of Elkan (2003): see kmeans/kernels/group_bounds.hpp. A group is
// a run of positions, some whole panels or a single mean.
struct YinyangGroups {
    int groups = 0;
    int panels_per_group = 0;              // 0: every mean is a group
    int record = 0;                        // floats kept per row, a multiple of 8
    const float* drift_of_group = nullptr; // (record,) cumulative; -1e30 beyond the groups
    const float* drift = nullptr;          // (k,) of the means, cumulative
};

// The means of one step, prepared once and read by all threads.
struct Model {
    int k = 0, d = 0;
    const double* means = nullptr;   // (k, d)
    const double* means_t = nullptr; // (d, k rounded up to 8), +inf beyond k
    Scaling scaling;
    bool brute = false; // compare every row with every mean, keep no bounds
    PackedMeans packed;
    HamerlyBounds hamerly;
    NeighbourLists near;
    YinyangGroups yinyang;
    SketchView sketch;
};

// The memory of the rows from step to step: a cache that can be rebuilt.
struct RowState {
    int32_t* labels = nullptr;    // (n,) -1: not yet assigned
    float* slack_limit = nullptr; // (n,) or null
    float* bounds = nullptr;      // (n, record) or null: bounds by group, and last the reach
    float* sketch = nullptr;      // (n, kSketch) or null
    bool fresh = true;            // nothing is known yet: slack limits and bounds are not read
};

// The layout of the exact sums of a step.
struct SumLayout {
    LimbGrid grid; // of x, or of w x; without it nothing is added up
    LimbGrid mass; // of w; without it rows are counted
};

// The sums and counts that one thread gathers during a step.
struct Worker {
    int64_t* sums = nullptr;    // (k, levels, padded)
    int64_t* mass = nullptr;    // (k, mass levels)
    uint8_t* touched = nullptr; // (k,) clusters whose sums changed
    float* radius = nullptr;    // (k,) farthest row seen in each cluster
    int64_t moved = 0, evaluated = 0, settled = 0;
    int64_t sketched = 0;    // rows decided by their sketches
    int64_t work = 0;        // many columns: products, and other work as their number
    double* row = nullptr;   // (2, d padded) scratch, zero beyond d
    char* scratch = nullptr; // see Kernels
};

// Rows looked at together when those of a few buckets are sought.
constexpr int kSeekRows = 32;

// Few columns: runs of rows that a seed may pass over as a whole. W runs stand side by side.
constexpr int kRunRows = 128;
struct SeedRuns {
    float* boxes = nullptr;    // (runs / W, 2, d, W) smallest and largest value of each column
    float* farthest = nullptr; // (runs,) largest squared distance to the nearest seed
    int64_t* units = nullptr;  // (runs,) units that potentials counts without a candidate,
    int32_t* shift = nullptr;  // (runs,) with this shift, or kUncounted
    static constexpr int32_t kUncounted = INT32_MIN;
};

// A pass of seeding over the rows of a block (see kmeans/seeding.hpp).
constexpr int64_t kSegment = 1 << 16; // rows that may change places with each other
struct SeedPass {
    const Rows* rows = nullptr;
    Scaling scaling;
    bool coarse = true;                 // distances in float32, scaled; else in float64
    const uint16_t* order = nullptr;    // (n,) row at a place of its segment, or null: as they lie
    const float* columns = nullptr;     // few columns: (n / W, d, W) rows scaled and transposed
    SeedRuns runs;                      // few columns
    const double* candidates = nullptr; // (trials, d)
    int trials = 0;
    float* nearest32 = nullptr;       // (n,) squared distance to the nearest seed, zero beyond n;
    double* nearest64 = nullptr;      // one of the two is in use
    const uint16_t* bucket = nullptr; // (n,)
    const int32_t* copies = nullptr;  // (n,) whole weights, or null for ones
    int shift = 0;                    // a distance counts as rint(distance * 2^shift) units
    bool anew = true;                 // approach: count all rows, not only those that changed

    // All but rows and copies is by place.
    COTERIE_INLINE int64_t row_at(int64_t place) const {
        return order ? place / kSegment * kSegment + order[place] : place;
    }
};

// One level's kernels. Scratch is counted in bytes by the kernel that uses it.
struct Kernels {
    // Assignment update of rows [begin, end).
    size_t (*few_columns_scratch)(const Model&); // bytes of Worker::scratch
    void (*assign_few_columns)(const Rows&, const Model&, const SumLayout&, RowState, Worker&,
                               int64_t begin, int64_t end);
    size_t (*many_columns_scratch)(const Model&);
    void (*assign_many_columns)(const Rows&, const Model&, const SumLayout&, RowState, Worker&,
                                int64_t begin, int64_t end);

    // out: (end - begin, k) squared distances by the definition.
    void (*distances)(const Rows&, const Model&, Worker&, int64_t begin, int64_t end, double* out);

    // Exact sums of w x and w x^2 by column, added to two grids; row: (6, padded) scratch.
    void (*exact_sums)(const Rows&, const LimbGrid& grid, const LimbGrid& squares, int64_t begin,
                       int64_t end, double* row, int64_t* out_sums, int64_t* out_squares);

    // Seeding. potentials: (trials,) += units left if the candidate became a seed.
    // approach: the only candidate becomes a seed; (buckets,) += units by bucket; the largest left.
    size_t (*seed_scratch)(const SeedPass&); // bytes, for its trials
    void (*potentials)(const SeedPass&, int64_t begin, int64_t end, void* scratch, int64_t* out);
    double (*approach)(const SeedPass&, int64_t begin, int64_t end, void* scratch, int64_t* out);
    // The first kSeekRows places from `begin` on, in such steps, that are not whole before `end` or
    // have one in a wanted bucket; or where the steps lead beyond the end.
    int64_t (*seek_buckets)(const uint16_t* bucket, int64_t begin, int64_t end,
                            const uint16_t* wanted, int count);
    // For at most kFewColumns: rows as scaled float32 by columns, W at a time, and their runs.
    void (*transpose_columns)(const SeedPass&, int64_t begin, int64_t end, float* columns);
    // (end - begin,) the cell of each place in a grid: which of the 2^bits parts of each column it
    // is in, bit by bit in turn. cuts: (d, 2^bits - 1) between the parts.
    void (*find_cells)(const SeedPass&, int64_t begin, int64_t end, const float* cuts, int bits,
                       uint16_t* cells);
};

} // namespace coterie::kmeans

#if defined(COTERIE_LEVEL)
namespace coterie::COTERIE_LEVEL::kmeans {
using namespace coterie::kmeans;
}
#endif
