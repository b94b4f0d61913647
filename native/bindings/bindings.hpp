// bindings.hpp: array types and helpers that the bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "coterie/exact_sum.hpp"
#include "coterie/memory.hpp"

namespace nb = nanobind;

template <class T, int Dims>
using Input = nb::ndarray<const T, nb::numpy, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <class T, int Dims>
using InOut = nb::ndarray<T, nb::numpy, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <class T> using Output = nb::ndarray<nb::numpy, T>;

// A new NumPy array that owns its memory.
template <class T> Output<T> new_array(std::initializer_list<size_t> shape, T*& data) {
    size_t count = 1;
    for (size_t extent : shape)
        count *= extent;
    auto* memory = new coterie::Buffer<T>(count ? count : 1);
    nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<coterie::Buffer<T>*>(p); });
    data = memory->data();
    return Output<T>(data, shape.size(), shape.begin(), owner);
}

// The same without a copy.
template <class T, class Source> Output<T> array_of(coterie::Buffer<T, Source>&& values) {
    using Memory = coterie::Buffer<T, Source>;
    auto* memory = new Memory(std::move(values));
    nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<Memory*>(p); });
    return Output<T>(memory->data(), {memory->size()}, owner);
}

template <class T> Output<T> array_of(const std::vector<T>& values) {
    T* data;
    auto out = new_array<T>({values.size()}, data);
    std::copy(values.begin(), values.end(), data);
    return out;
}

// A wide sum as the bytes of a Python integer (little-endian, signed).
inline nb::bytes bytes_of(const coterie::WideSum& sum) {
    const std::vector<uint32_t> digits = sum.integer();
    return nb::bytes(reinterpret_cast<const char*>(digits.data()), digits.size() * 4);
}

void bind_machine(nb::module_& m);
void bind_exact(nb::module_& m);
void bind_block(nb::module_& m);
void bind_lloyd(nb::module_& m);
void bind_seeding(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_triangles(nb::module_& m);
void bind_density(nb::module_& m);
void bind_reachability(nb::module_& m);
void bind_interleave(nb::module_& m);
