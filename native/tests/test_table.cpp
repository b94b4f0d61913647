// test_table.cpp: columns of every type become rows, at every level.
#include <cmath>
#include <limits>
#include <vector>

#include "core/level.hpp"
#include "table/interleave.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::table;

namespace {

// A column of m numbers, `stride` apart, and the same as T.
template <class T> struct Given {
    std::vector<char> memory;
    std::vector<T> expected;
    Column column;

    template <class From> void fill(Random& random, int m, int stride, Number number) {
        const size_t apart = static_cast<size_t>(std::abs(stride));
        memory.resize(sizeof(From) * (m * apart + 1));
        auto* values = reinterpret_cast<From*>(memory.data());
        auto* first = stride < 0 ? values + (m - 1) * apart : values;
        for (int i = 0; i < m; ++i) {
            const From value = static_cast<From>(random.below(100)) + static_cast<From>(0.25);
            first[i * stride] = value;
            expected.push_back(static_cast<T>(value));
        }
        column = {first, stride, number};
    }
    Given(Random& random, int m) {
        const int strides[] = {1, 1, 3, -1, -2};
        fill(random, m, strides[random.below(5)], static_cast<Number>(random.below(10)));
    }
    void fill(Random& random, int m, int stride, Number number) {
        switch (number) {
        case Number::float64: return fill<double>(random, m, stride, Number::float64);
        case Number::float32: return fill<float>(random, m, stride, Number::float32);
        case Number::int64: return fill<int64_t>(random, m, stride, Number::int64);
        case Number::int32: return fill<int32_t>(random, m, stride, Number::int32);
        case Number::int16: return fill<int16_t>(random, m, stride, Number::int16);
        case Number::int8: return fill<int8_t>(random, m, stride, Number::int8);
        case Number::uint64: return fill<uint64_t>(random, m, stride, Number::uint64);
        case Number::uint32: return fill<uint32_t>(random, m, stride, Number::uint32);
        case Number::uint16: return fill<uint16_t>(random, m, stride, Number::uint16);
        case Number::uint8: return fill<uint8_t>(random, m, stride, Number::uint8);
        }
    }
};

template <class T> bool interleaved(const std::vector<Column>& columns, int m, T* out, int step) {
    const auto d = static_cast<int64_t>(columns.size());
    if constexpr (sizeof(T) == 8)
        return level().table->interleave64(columns.data(), d, m, out, step);
    else
        return level().table->interleave32(columns.data(), d, m, out, step);
}

// Memory between rows that are further apart than they are wide is left alone.
template <class T> void columns_become_rows(Random& random, int m, int d, int step) {
    std::vector<Given<T>> given;
    std::vector<Column> columns;
    for (int j = 0; j < d; ++j)
        given.emplace_back(random, m);
    for (const auto& one : given)
        columns.push_back(one.column);
    std::vector<T> out(static_cast<size_t>(m) * step, T{-7});
    CHECK(interleaved(columns, m, out.data(), step));
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < step; ++j)
            CHECK(out[static_cast<size_t>(i) * step + j] == (j < d ? given[j].expected[i] : T{-7}));
}

template <class T> void numbers_that_are_not_finite_are_told(Random& random, int m, int d) {
    const double bad[] = {NAN, INFINITY, -INFINITY};
    std::vector<double> values(static_cast<size_t>(m) * d, 1.0);
    values[random.below(m * d)] = bad[random.below(3)];
    std::vector<Column> columns;
    for (int j = 0; j < d; ++j)
        columns.push_back({&values[static_cast<size_t>(j) * m], 1, Number::float64});
    std::vector<T> out(values.size());
    CHECK(!interleaved(columns, m, out.data(), d));
}

void large_numbers_become_infinite_float32() {
    const double large = 1e300;
    float out;
    CHECK(!interleaved<float>({{&large, 1, Number::float64}}, 1, &out, 1));
    CHECK(std::isinf(out));
}

template <class T> void every_shape(Random& random) {
    for (int m : {1, 3, 4, 255, 256, 257, 600})
        for (int d : {1, 2, 3, 4, 7, 8, 9, 17})
            for (int more : {0, 1, 4})
                columns_become_rows<T>(random, m, d, d + more);
    columns_become_rows<T>(random, 20000, 16, 16); // large enough to bypass the caches
    for (int turn = 0; turn < 20; ++turn)
        numbers_that_are_not_finite_are_told<T>(random, 1 + random.below(400),
                                                1 + random.below(10));
}

} // namespace

void test_table() {
    int levels;
    const char* const* names = level_names(levels);
    for (int level = 0; level < levels; ++level) {
        CHECK(use_level(names[level]));
        Random random{11};
        every_shape<double>(random);
        every_shape<float>(random);
        large_numbers_become_infinite_float32();
    }
}
