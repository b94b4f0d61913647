// mixture.hpp: one pass over a block for a Gaussian mixture: E step, and the sums of the M step.
//
// Rows are read as z = (x - origin) * scale. Sums are taken over chunks of rows that are counted
// from the first row of the whole data, and chunks are added along one fixed binary tree, so that
// neither threads nor blocks show in the result.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.hpp"
#include "core/team.hpp"
#include "mixture/task.hpp"
#include "mixture/triangles.hpp"

namespace coterie::mixture {

// A mixture prepared for the kernels.
class Mixture {
public:
    // factors: precisions_cholesky in the shape of the kind, of full ones the upper triangles row
    // by row, or null if no density is ever asked for; centres: (k, d) or null; negligible: (k,)
    // log2 of responsibilities that count as zero in sums of full covariances, or null.
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

// The nodes that a sweep leaves of the tree of chunks, by first row, and the way it went.
struct Swept {
    std::vector<Node> nodes;
    MixturePlan plan;
    int64_t repeated = 0;   // chunks whose sums lost digits and were taken again
    bool abandoned = false; // so many densities mattered that none was left out any more
};

// first: number of the block's first row.
Swept sweep(Team& team, const MixtureTask& task, int64_t first);

} // namespace coterie::mixture
