// kernels.hpp: the table of the kernels of mixtures.
#pragma once

#include "core/team.hpp"
#include "mixture/task.hpp"

namespace coterie::mixture {

// One level's kernels. Scratch is counted in bytes by the kernel that uses it.
struct Kernels {
    // Rows [begin, end) of a block; out: (shape.size()) the sums of this chunk, or of shares the
    // log-likelihood.
    size_t (*sweep_scratch)(const MixtureTask&);
    void (*sweep)(const MixtureTask&, int64_t begin, int64_t end, void* scratch, double* out,
                  const Pause& pause);

    // For shared sums: adds the moments of a component, or the given part of them, over the rows of
    // `shares` before `end`.
    size_t (*moments_scratch)(const MixtureTask&);
    void (*add_moments)(const MixtureTask&, int64_t end, int component, int part, int parts,
                        void* scratch, double* sums, const Pause& pause);

    // Directions under one component towards the means of all others, see
    // mixture/kernels/screen_directions.cpp.
    size_t (*directions_scratch)(const MixtureTask&);
    void (*find_directions)(const MixtureTask&, int component, void* scratch, float* directions,
                            float* units);

    // Replace an upper triangle, see mixture/kernels/cholesky.cpp; false if it is not positive
    // definite.
    size_t (*root_scratch)(int d);
    bool (*cholesky)(double* triangle, int d, void* scratch);
    bool (*inverse_root)(double* triangle, int d, void* scratch);
};

} // namespace coterie::mixture

#if defined(COTERIE_LEVEL)
namespace coterie::COTERIE_LEVEL::mixture {
using namespace coterie::mixture;
}
#endif
