// memory.cpp: where arrays get their memory.
#include "coterie/memory.hpp"

#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace coterie {
namespace {

constexpr size_t kLine = 64, kLarge = 2 * kLargePage;

} // namespace

void* aligned_memory(size_t bytes) {
    const size_t unit = bytes < kLarge ? kLine : kLargePage;
    const size_t rounded = (bytes + kLine - 1) / kLine * kLine;
    void* memory = std::aligned_alloc(unit, (rounded + unit - 1) / unit * unit);
    if (!memory)
        throw std::bad_alloc();
#if defined(__linux__)
    if (unit == kLargePage) // whole pages only: the last one is shared with nobody
        madvise(memory, rounded / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
    return memory;
}

} // namespace coterie
