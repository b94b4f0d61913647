// interleave.hpp: columns of numbers, to become rows.
#pragma once

#include <cstdint>

namespace coterie::table {

enum class Number : uint8_t {
    float64,
    float32,
    int64,
    int32,
    int16,
    int8,
    uint64,
    uint32,
    uint16,
    uint8
};

struct Column {
    const void* values = nullptr; // (m,)
    int64_t stride = 1;           // numbers from one to the next
    Number number = Number::float64;
};

// One level's kernels.
struct Kernels {
    // out: (m, d) rows, `step` numbers from one to the next; each number the nearest to that of its
    // column. Whether all of them are finite.
    bool (*interleave64)(const Column*, int64_t d, int64_t m, double* out, int64_t step);
    bool (*interleave32)(const Column*, int64_t d, int64_t m, float* out, int64_t step);
};

} // namespace coterie::table

#if defined(COTERIE_LEVEL)
namespace coterie::COTERIE_LEVEL::table {
using namespace coterie::table;
}
#endif
