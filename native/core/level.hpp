// level.hpp: an instruction-set level, and the kernels that were compiled for it.
#pragma once

namespace coterie {

namespace kmeans {
struct Kernels;
}
namespace mixture {
struct Kernels;
}
namespace dbscan {
struct Kernels;
}
namespace table {
struct Kernels;
}

struct Level {
    const char* name;
    int width;  // floats in a vector
    bool fused; // is there an instruction for a multiply and an add with one rounding?
    const kmeans::Kernels* kmeans;
    const mixture::Kernels* mixture;
    const dbscan::Kernels* dbscan;
    const table::Kernels* table;
};

// The level in use, and the choice among those this machine can run.
const Level& level();
const char* const* level_names(int& count);
bool use_level(const char* name);

} // namespace coterie
