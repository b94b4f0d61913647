// memory.hpp: arrays aligned to cache lines that leave their memory uninitialised.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace coterie {

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
        void* memory = std::aligned_alloc(64, (count * sizeof(T) + 64 + 63) / 64 * 64);
        if (!memory)
            throw std::bad_alloc();
        data_.reset(static_cast<T*>(memory));
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
