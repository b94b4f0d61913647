// memory.hpp: arrays aligned to cache lines that leave their memory uninitialised.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

namespace coterie {

constexpr size_t kLargePage = size_t{1} << 21; // bytes

// At least this many bytes, to be given back by std::free. Large pieces ask the system for large
// pages: to touch memory for the first time costs as much as a pass over it otherwise.
void* aligned_memory(size_t bytes);

// The heap keeps much of the memory that is given back to it, for later use. Pages of the system's
// own return to it at once; less than a few of them come from the heap all the same.
void* paged_memory(size_t bytes);
void free_paged(void* memory, size_t bytes);

struct Heap {
    static void* take(size_t bytes) { return aligned_memory(bytes); }
    static void give(void* memory, size_t) { std::free(memory); }
};
struct Pages {
    static void* take(size_t bytes) { return paged_memory(bytes); }
    static void give(void* memory, size_t bytes) { free_paged(memory, bytes); }
};

template <class T, class Source = Heap> class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t count) { resize(count); }
    // Keeps no values.
    void resize(size_t count) {
        if (count <= capacity_) {
            size_ = count;
            return;
        }
        data_.reset(); // before more is taken
        size_ = capacity_ = 0;
        const size_t bytes = count * sizeof(T) + 64;
        data_ = {static_cast<T*>(Source::take(bytes)), Free{bytes}};
        size_ = capacity_ = count;
    }
    void zero() { std::memset(static_cast<void*>(data_.get()), 0, size_ * sizeof(T)); }
    size_t size() const { return size_; }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](size_t i) { return data_.get()[i]; }
    const T& operator[](size_t i) const { return data_.get()[i]; }

private:
    struct Free {
        size_t bytes = 0;
        void operator()(T* p) const { Source::give(p, bytes); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0, capacity_ = 0;
};

} // namespace coterie
