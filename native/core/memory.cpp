// memory.cpp: memory of arrays, from the heap or as pages of their own.
#include "core/memory.hpp"

#include <cstdint>
#include <new>
#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace coterie {
namespace {

constexpr size_t kLine = 64, kLarge = 2 * kLargePage;
constexpr size_t kPaged = size_t{1} << 18; // bytes from which memory comes in pages

} // namespace

void* aligned_memory(size_t bytes) {
    const size_t unit = bytes < kLarge ? kLine : kLargePage;
    const size_t rounded = (bytes + kLine - 1) / kLine * kLine;
    void* memory = std::aligned_alloc(unit, (rounded + unit - 1) / unit * unit);
    if (!memory)
        throw std::bad_alloc();
#if defined(__linux__)
    if (unit == kLargePage) // whole pages only: the last one is not shared
        madvise(memory, rounded / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
    return memory;
}

#if defined(__unix__) || defined(__APPLE__)
void* paged_memory(size_t bytes) {
    if (bytes < kPaged)
        return aligned_memory(bytes);
    // Memory that holds a large page begins at one: more is asked for, and the rest goes back.
    const bool large = bytes >= kLargePage;
    const size_t room = large ? bytes + kLargePage : bytes;
    void* given = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (given == MAP_FAILED)
        throw std::bad_alloc();
    if (!large)
        return given;
    char* memory = static_cast<char*>(given);
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t before = -reinterpret_cast<uintptr_t>(memory) % kLargePage;
    const size_t used = (bytes + page - 1) / page * page;
    if (before > 0)
        munmap(memory, before);
    memory += before;
    if (before + used < room)
        munmap(memory + used, room - before - used);
#if defined(__linux__)
    madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
    return memory;
}

void free_paged(void* memory, size_t bytes) {
    if (bytes < kPaged)
        std::free(memory);
    else
        munmap(memory, bytes);
}
#else
void* paged_memory(size_t bytes) { return aligned_memory(bytes); }
void free_paged(void* memory, size_t) { std::free(memory); }
#endif

} // namespace coterie
