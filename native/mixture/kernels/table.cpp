// table.cpp: the kernels of mixtures, by name.
#include "mixture/kernels.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

size_t few_columns_scratch(const MixtureTask&);
size_t axes_scratch(const MixtureTask&);
size_t full_scratch(const MixtureTask&);
void sweep_few_columns(const MixtureTask&, int64_t, int64_t, void*, double*, const Pause&);
void sweep_axes(const MixtureTask&, int64_t, int64_t, void*, double*, const Pause&);
void sweep_full(const MixtureTask&, int64_t, int64_t, void*, double*, const Pause&);
size_t moments_scratch(const MixtureTask&);
void add_moments(const MixtureTask&, int64_t, int, int, int, void*, double*, const Pause&);
size_t directions_scratch(const MixtureTask&);
void find_directions(const MixtureTask&, int, void*, float*, float*);
size_t root_scratch(int);
bool cholesky(double*, int, void*);
bool inverse_root(double*, int, void*);

namespace {

size_t sweep_scratch(const MixtureTask& task) {
    switch (task.path.kernel) {
    case MixtureKernel::few_columns: return few_columns_scratch(task);
    case MixtureKernel::axes: return axes_scratch(task);
    case MixtureKernel::tiles: return full_scratch(task);
    }
    return 0;
}

void sweep(const MixtureTask& task, int64_t begin, int64_t end, void* scratch, double* out,
           const Pause& pause) {
    switch (task.path.kernel) {
    case MixtureKernel::few_columns:
        return sweep_few_columns(task, begin, end, scratch, out, pause);
    case MixtureKernel::axes: return sweep_axes(task, begin, end, scratch, out, pause);
    case MixtureKernel::tiles: return sweep_full(task, begin, end, scratch, out, pause);
    }
}

} // namespace

extern const Kernels kernels;
const Kernels kernels = {
    .sweep_scratch = sweep_scratch,
    .sweep = sweep,
    .moments_scratch = moments_scratch,
    .add_moments = add_moments,
    .directions_scratch = directions_scratch,
    .find_directions = find_directions,
    .root_scratch = root_scratch,
    .cholesky = cholesky,
    .inverse_root = inverse_root,
};

} // namespace coterie::COTERIE_LEVEL::mixture
