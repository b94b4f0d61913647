// scratch.hpp: memory that a kernel works in, cut into pieces.
//
// A kernel has a structure of pointers whose constructor takes its pieces from a Scratch. The same
// constructor, given a Scratch of nothing, counts how many bytes it needs.
#pragma once

#include <cstddef>

#include "core/inline.hpp"

namespace coterie {

// Hands out pieces of one allocation, each on cache lines of its own; from nothing, it counts.
struct Scratch {
    char* base = nullptr;
    size_t used = 0; // bytes

    Scratch() = default;
    COTERIE_INLINE explicit Scratch(void* memory) : base(static_cast<char*>(memory)) {}

    COTERIE_INLINE explicit operator bool() const { return base != nullptr; }
    template <class T> COTERIE_INLINE T* take(size_t count) {
        T* piece = base ? reinterpret_cast<T*>(base + used) : nullptr;
        used += (count * sizeof(T) + 63) / 64 * 64;
        return piece;
    }
};

} // namespace coterie
