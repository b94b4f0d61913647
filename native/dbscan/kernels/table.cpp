// table.cpp: the kernels of DBSCAN, by name.
#include "dbscan/kernels.hpp"

namespace coterie::COTERIE_LEVEL::dbscan {

TreeKernels<float> float_tree(Norm, int);
TreeKernels<double> double_tree(Norm, int);
ReachabilityKernels reachability_tree(Norm, int);
GridKernels grid();

extern const Kernels kernels;
const Kernels kernels = {
    .float_tree = float_tree,
    .double_tree = double_tree,
    .reachability_tree = reachability_tree,
    .grid = grid,
};

} // namespace coterie::COTERIE_LEVEL::dbscan
