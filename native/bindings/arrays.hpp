// arrays.hpp: array types and helpers that the bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/exact_sum.hpp"
#include "core/memory.hpp"

namespace nb = nanobind;

template <class T, int Dims>
using Input = nb::ndarray<const T, nb::numpy, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
template <class T, int Dims>
using Written = nb::ndarray<T, nb::numpy, nb::ndim<Dims>, nb::c_contig, nb::device::cpu>;
// An array of the caller's that is written to. One of another type or layout is refused: converted,
// it would be a copy that the caller never sees.
template <class T, int Dims> struct InOut : Written<T, Dims> {
    using Written<T, Dims>::Written;
    InOut(Written<T, Dims>&& array) : Written<T, Dims>(std::move(array)) {}
};
template <class T> using Output = nb::ndarray<nb::numpy, T>;

// Refuses an array of another shape than expected.
template <class Array>
void expect_shape(const char* name, const Array& array, std::initializer_list<size_t> shape) {
    const auto text = [](size_t dims, const auto& extent) {
        std::string out = "(";
        for (size_t i = 0; i < dims; ++i)
            out += std::to_string(extent(i)) + (i + 1 < dims ? ", " : dims == 1 ? ",)" : ")");
        return out;
    };
    const auto wanted = [&](size_t i) { return shape.begin()[i]; };
    const auto given = [&](size_t i) { return array.shape(i); };
    for (size_t i = 0; i < shape.size(); ++i)
        if (given(i) != wanted(i))
            throw std::invalid_argument(std::string(name) + ": expected shape " +
                                        text(shape.size(), wanted) + ", got " +
                                        text(shape.size(), given));
}

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

namespace nanobind::detail {
template <class T, int Dims> struct type_caster<InOut<T, Dims>> {
    using Caster = type_caster<Written<T, Dims>>;
    using Argument = InOut<T, Dims>;
    NB_TYPE_CASTER(Argument, Caster::Name)

    bool from_python(handle src, uint32_t flags, cleanup_list* cleanup) noexcept {
        Caster caster;
        if (!caster.from_python(src, flags & ~static_cast<uint32_t>(cast_flags::convert), cleanup))
            return false;
        value = std::move(caster.value);
        return true;
    }
    static handle from_cpp(const InOut<T, Dims>& array, rv_policy policy, cleanup_list* cleanup) {
        return Caster::from_cpp(array, policy, cleanup);
    }
};
} // namespace nanobind::detail

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
