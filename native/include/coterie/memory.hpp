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

template <class T> class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t count) { resize(count); }
    // Keeps nothing of what was there.
    void resize(size_t count) {
        if (count <= capacity_) {
            size_ = count;
            return;
        }
        data_.reset(static_cast<T*>(aligned_memory(count * sizeof(T) + 64)));
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
        void operator()(T* p) const { std::free(p); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0, capacity_ = 0;
};

} // namespace coterie
