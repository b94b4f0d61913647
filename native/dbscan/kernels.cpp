// kernels.cpp: the kernels of the level in use.
#include "dbscan/kernels.hpp"

#include "core/level.hpp"

namespace coterie::dbscan {

template <> TreeKernels<float> tree_kernels(Norm norm, int width) {
    return level().dbscan->float_tree(norm, width);
}
template <> TreeKernels<double> tree_kernels(Norm norm, int width) {
    return level().dbscan->double_tree(norm, width);
}
ReachabilityKernels reachability_kernels(Norm norm, int width) {
    return level().dbscan->reachability_tree(norm, width);
}
GridKernels grid_kernels() { return level().dbscan->grid(); }

} // namespace coterie::dbscan
