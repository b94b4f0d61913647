// screen.hpp: full covariances where most components are far from most rows. Float32 says
// which densities are negligible beside a row's largest, with room for all its rounding; only the
// others are computed. The results are bit for bit those of computing all of them.
#pragma once

#include "mixture/kernels/full_densities.hpp"
#include "mixture/kernels/screen_pairs.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

constexpr int kGroup = 2 * W; // rows of a float32 tile

struct Screen {
    double* picked;    // (kBatch, padded) rows to be computed, eight by eight
    double* moved;     // (kBatch, padded) less a mean
    double* found;     // (kBatch,) their log densities
    float* rows;       // (256, padded) the leaf in float32
    float* squares;    // (256,) of the row's length
    float* lengths;    // (256,)
    float* tops;       // (256,) log density under the component whose mean is nearest, or less
    float* transposed; // (padded, kGroup) rows that are bounded together, column by column
    float* towards;    // (padded, kGroup) directions towards their nearest means
    float* nothing;    // (padded,) zeros
    float* along;      // (k, 256) how far rows that wait lie in that direction
    int32_t* best;     // (256,) the component whose mean is nearest
    int32_t* list;     // (256,) rows by that component; then rows to be computed
    int32_t* starts;   // (k + 1,) where those of each component begin
    int32_t* counts;   // (k,) how many rows wait
    uint8_t* waiting;  // (k, 256) rows whose density may matter
    Pairs pairs;       // those that do; starts and places are there once rows no longer wait

    // moved: (kBatch, padded), shared with others.
    Screen(const Leaf& leaf, double* moved, Scratch& scratch);

    // May rows stay where they are? Then leaf.rows is null, and they are not copied before.
    static bool reads_in_place(const MixtureTask& task) { return task.shape.d % 4 == 0; }

    // Finds the pairs, with their log densities. Returns how many there are.
    int64_t log_densities(const MixtureTask& task, const Leaf& leaf, const Pause& pause) const;

private:
    void narrow(const MixtureTask& task, const Leaf& leaf) const;
    void guess(const MixtureTask& task, const Leaf& leaf) const;
    void sort_by_best(const Leaf& leaf) const;
    void project(const MixtureTask& task, const Leaf& leaf, int own) const;
    int survivors(const MixtureTask& task, const Leaf& leaf, int c) const;
    void compute(const MixtureTask& task, const Leaf& leaf, int c, const int32_t* places,
                 int count) const;
};

} // namespace coterie::COTERIE_LEVEL::mixture
