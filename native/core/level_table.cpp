// level_table.cpp: the kernels of one level, by name.
#include "core/level.hpp"
#include "dbscan/grid_kernels.hpp"
#include "dbscan/path_kernels.hpp"
#include "dbscan/tree_kernels.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL {

size_t scratch_low(const Model&);
size_t scratch_high(const Model&);
void assign_low(const Rows&, const Model&, const SumLayout&, RowState, Worker&, int64_t, int64_t);
void assign_high(const Rows&, const Model&, const SumLayout&, RowState, Worker&, int64_t, int64_t);
void distances(const Rows&, const Model&, Worker&, int64_t, int64_t, double*);
void moments(const Rows&, const LimbGrid&, const LimbGrid&, int64_t, int64_t, double*, int64_t*,
             int64_t*);
void potentials(const SeedPass&, int64_t, int64_t, char*, int64_t*);
double approach(const SeedPass&, int64_t, int64_t, char*, int64_t*);
int64_t seek_buckets(const uint16_t*, int64_t, int64_t, const uint16_t*, int);
void turn_columns(const SeedPass&, int64_t, int64_t, float*);
void find_cells(const SeedPass&, int64_t, int64_t, const float*, int, uint16_t*);
TreeKernels<float> float_tree(Norm, int);
TreeKernels<double> double_tree(Norm, int);
ReachKernels reach_tree(Norm, int);
GridKernels grid();
bool interleave64(const Column*, int64_t, int64_t, double*, int64_t);
bool interleave32(const Column*, int64_t, int64_t, float*, int64_t);
size_t mixture_few_doubles(const MixtureTask&);
size_t mixture_axes_doubles(const MixtureTask&);
size_t mixture_full_doubles(const MixtureTask&);
void mixture_few(const MixtureTask&, int64_t, int64_t, double*, double*, const Pause&);
void mixture_axes(const MixtureTask&, int64_t, int64_t, double*, double*, const Pause&);
void mixture_full(const MixtureTask&, int64_t, int64_t, double*, double*, const Pause&);
size_t root_doubles(int);
bool cholesky(double*, int, double*);
bool inverse_root(double*, int, double*);
size_t moments_doubles(const MixtureTask&);
void mixture_moments(const MixtureTask&, int64_t, int, int, int, double*, double*, const Pause&);
size_t directions_doubles(const MixtureTask&);
void mixture_directions(const MixtureTask&, int, double*, float*, float*);

namespace {

size_t mixture_doubles(const MixtureTask& task) {
    switch (task.path.kernel) {
    case MixtureKernel::few_columns: return mixture_few_doubles(task);
    case MixtureKernel::axes: return mixture_axes_doubles(task);
    case MixtureKernel::tiles: return mixture_full_doubles(task);
    }
    return 0;
}

void mixture(const MixtureTask& task, int64_t begin, int64_t end, double* scratch, double* out,
             const Pause& pause) {
    switch (task.path.kernel) {
    case MixtureKernel::few_columns: return mixture_few(task, begin, end, scratch, out, pause);
    case MixtureKernel::axes: return mixture_axes(task, begin, end, scratch, out, pause);
    case MixtureKernel::tiles: return mixture_full(task, begin, end, scratch, out, pause);
    }
}

} // namespace

extern const Kernels table;
const Kernels table = {COTERIE_LEVEL_NAME,
                       W,
                       kFused,
                       scratch_low,
                       scratch_high,
                       assign_low,
                       assign_high,
                       distances,
                       moments,
                       potentials,
                       approach,
                       seek_buckets,
                       turn_columns,
                       find_cells,
                       mixture_doubles,
                       mixture,
                       moments_doubles,
                       mixture_moments,
                       directions_doubles,
                       mixture_directions,
                       root_doubles,
                       cholesky,
                       inverse_root,
                       float_tree,
                       double_tree,
                       reach_tree,
                       grid,
                       interleave64,
                       interleave32};

} // namespace coterie::COTERIE_LEVEL
