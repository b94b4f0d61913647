// mixture_screen.hpp: full covariances where most components are far from most rows. Float32 says
// which densities are negligible beside a row's largest, with room for all its rounding; only the
// others are computed. What comes out is bit for bit what computing all of them gives.
#pragma once

#include "mixture_tiles.hpp"

namespace coterie::COTERIE_LEVEL {

// Scratch of one thread, laid out after `memory`.
struct Screen {
    float* rows;     // (groups, d, 2 W) the leaf in float32
    float* squares;  // (256,) of the row's length
    float* sums;     // (256,) squares of whitened columns, under one component
    float* enough;   // (256,) of them to know that its density is negligible
    int32_t* best;   // (256,) the component whose mean is nearest
    double* tops;    // (256,) its log density
    int32_t* list;   // (256,) rows to be computed
    uint8_t* far;    // (k, 256) is the density known to be negligible?
    int32_t* left;   // (k,) for how many rows it is not
    int32_t* starts; // (k + 1,) where the rows of each nearest mean begin in a list
    double* picked;  // (kBatch, padded) the same, eight by eight
    double* moved;   // (kBatch, padded) less a mean
    double* found;   // (kBatch,) their log densities

    static size_t doubles(const MixtureTask& task) {
        const size_t padded = (task.shape.d + 3) / 4 * 4;
        return kLeafRows * (padded / 2 + 4 + (task.shape.k + 7) / 8) + kBatch * (padded + 1) +
               task.shape.k + 1;
    }
    Screen(const Leaf& leaf, double* batch, double* memory);

    // Logs of the leaf; -inf where negligible. Returns how many were computed.
    int64_t log_densities(const MixtureTask& task, const Leaf& leaf, const Pause& pause) const;

private:
    void narrow(const Leaf& leaf) const;
    void guess(const MixtureTask& task, const Leaf& leaf) const;
    void project(const MixtureTask& task, const Leaf& leaf, int own, const int32_t* places,
                 int count) const;
    int survivors(const MixtureTask& task, const Leaf& leaf, int c) const;
    void compute(const MixtureTask& task, const Leaf& leaf, int c, const int32_t* places,
                 int count) const;
};

} // namespace coterie::COTERIE_LEVEL
