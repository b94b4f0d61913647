// table.cpp: the kernels of tables, by name.
#include "table/interleave.hpp"

namespace coterie::COTERIE_LEVEL::table {

bool interleave64(const Column*, int64_t, int64_t, double*, int64_t);
bool interleave32(const Column*, int64_t, int64_t, float*, int64_t);

extern const Kernels kernels;
const Kernels kernels = {
    .interleave64 = interleave64,
    .interleave32 = interleave32,
};

} // namespace coterie::COTERIE_LEVEL::table
