// level_table.cpp: one level, by the tables of its methods.
#include "core/level.hpp"
#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL {

namespace kmeans {
extern const coterie::kmeans::Kernels kernels;
}
namespace mixture {
extern const coterie::mixture::Kernels kernels;
}
namespace dbscan {
extern const coterie::dbscan::Kernels kernels;
}
namespace table {
extern const coterie::table::Kernels kernels;
}

extern const Level level;
const Level level = {
    .name = COTERIE_LEVEL_NAME,
    .width = W,
    .fused = kFused,
    .kmeans = &kmeans::kernels,
    .mixture = &mixture::kernels,
    .dbscan = &dbscan::kernels,
    .table = &table::kernels,
};

} // namespace coterie::COTERIE_LEVEL
