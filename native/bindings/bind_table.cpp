// bind_table.cpp: columns of a table become rows.
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "core/level.hpp"
#include "table/interleave.hpp"

using namespace nb::literals;
using coterie::table::Column;
using coterie::table::Number;

namespace {

using Values = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
template <class T> using Rows = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

using Code = nb::dlpack::dtype_code;
constexpr struct {
    Code code;
    uint8_t bits;
    Number number;
} kNumbers[] = {
    {Code::Float, 64, Number::float64}, {Code::Float, 32, Number::float32},
    {Code::Int, 64, Number::int64},     {Code::Int, 32, Number::int32},
    {Code::Int, 16, Number::int16},     {Code::Int, 8, Number::int8},
    {Code::UInt, 64, Number::uint64},   {Code::UInt, 32, Number::uint32},
    {Code::UInt, 16, Number::uint16},   {Code::UInt, 8, Number::uint8},
};

Number number_of(nb::dlpack::dtype type) {
    for (const auto& known : kNumbers)
        if (type == nb::dlpack::dtype{static_cast<uint8_t>(known.code), known.bits, 1})
            return known.number;
    throw std::invalid_argument("expected columns of integers, float32 or float64");
}

template <class T> bool interleave(const std::vector<nb::object>& arrays, Rows<T> out) {
    const size_t m = out.shape(0), d = out.shape(1);
    std::vector<Column> columns;
    for (const nb::object& array : arrays) {
        const auto one = nb::cast<Values>(array);
        if (one.shape(0) != m)
            throw std::invalid_argument("expected columns as long as the rows are many");
        columns.push_back({one.data(), one.stride(0), number_of(one.dtype())});
    }
    if (columns.size() != d || (d > 1 && out.stride(1) != 1))
        throw std::invalid_argument("expected as many columns as a row has, side by side");
    nb::gil_scoped_release release;
    const auto kernel = [] {
        if constexpr (std::is_same_v<T, double>)
            return coterie::level().table->interleave64;
        else
            return coterie::level().table->interleave32;
    }();
    return kernel(columns.data(), static_cast<int64_t>(d), static_cast<int64_t>(m), out.data(),
                  out.stride(0));
}

} // namespace

void bind_interleave(nb::module_& m) {
    const char* doc = "out: the columns, (m,) each, as rows (m, d). Whether all are finite.";
    m.def("interleave", &interleave<double>, "columns"_a, "out"_a.noconvert(), doc);
    m.def("interleave", &interleave<float>, "columns"_a, "out"_a.noconvert(), doc);
}
