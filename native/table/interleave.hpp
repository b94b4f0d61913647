// interleave.hpp: columns of numbers, to become rows.
#pragma once

#include <cstdint>

namespace coterie {

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

} // namespace coterie
