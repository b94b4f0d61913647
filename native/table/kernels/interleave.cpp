// interleave.cpp: columns of numbers become rows.
//
// A block of a few columns fits into the nearest cache: there its numbers are looked at and, if of
// another type, converted, and then written as parts of rows, 4 x 4 at a time. Memory sets the
// pace, so large results bypass the caches, which would first have to read memory that
// is then overwritten.
#include "table/interleave.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "simd/floats.hpp"

namespace coterie::COTERIE_LEVEL::table {
namespace {

constexpr int64_t kRows = 256;
constexpr int kColumns = 8;                  // a cache line of float64
constexpr int64_t kLarge = int64_t{1} << 20; // bytes: more than the nearer caches have

template <class T, class From>
void convert(const Column& column, int64_t begin, int64_t count, T* out) {
    const From* values = static_cast<const From*>(column.values) + begin * column.stride;
    for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<T>(values[i * column.stride]);
}

// Numbers of a column, side by side: where they are, or in `room`.
template <class T> const T* numbers(const Column& column, int64_t begin, int64_t count, T* room) {
    constexpr Number own = std::is_same_v<T, double> ? Number::float64 : Number::float32;
    if (column.number == own && column.stride == 1)
        return static_cast<const T*>(column.values) + begin;
    switch (column.number) {
    case Number::float64: convert<T, double>(column, begin, count, room); break;
    case Number::float32: convert<T, float>(column, begin, count, room); break;
    case Number::int64: convert<T, int64_t>(column, begin, count, room); break;
    case Number::int32: convert<T, int32_t>(column, begin, count, room); break;
    case Number::int16: convert<T, int16_t>(column, begin, count, room); break;
    case Number::int8: convert<T, int8_t>(column, begin, count, room); break;
    case Number::uint64: convert<T, uint64_t>(column, begin, count, room); break;
    case Number::uint32: convert<T, uint32_t>(column, begin, count, room); break;
    case Number::uint16: convert<T, uint16_t>(column, begin, count, room); break;
    case Number::uint8: convert<T, uint8_t>(column, begin, count, room); break;
    }
    return room;
}

template <class T> bool all_finite(const T* values, int64_t count) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    Bits odd = 0; // x - x is zero, and all its bits are, unless x is infinite or no number
    for (int64_t i = 0; i < count; ++i)
        odd |= std::bit_cast<Bits>(values[i] - values[i]);
    return odd == 0;
}

template <class T> using Four = std::conditional_t<sizeof(T) == 8, D4, F4>;

#if defined(__AVX2__)
constexpr bool kTransposed = true;
COTERIE_INLINE void stream(double* p, D4 v) { _mm256_stream_pd(p, (__m256d)v); }
COTERIE_INLINE void stream(float* p, F4 v) { _mm_stream_ps(p, (__m128)v); }
COTERIE_INLINE void end_of_stream() { _mm_sfence(); } // before anybody else may read it
#else
constexpr bool kTransposed = false; // without vectors of four float64 it takes longer
COTERIE_INLINE void stream(double*, D4) {}
COTERIE_INLINE void stream(float*, F4) {}
COTERIE_INLINE void end_of_stream() {}
#endif

template <bool Streamed, class T> COTERIE_INLINE void put(T* p, Four<T> v) {
    if constexpr (Streamed)
        stream(p, v);
    else
        store(p, v);
}

// Rows [i, i + 4) of four columns.
template <bool Streamed, class T>
COTERIE_INLINE void transpose_rows(const T* const* columns, int64_t i, T* out, int64_t step) {
    using V = Four<T>;
    const auto row = transposed(load<V>(columns[0] + i), load<V>(columns[1] + i),
                                load<V>(columns[2] + i), load<V>(columns[3] + i));
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q)
        put<Streamed, T>(out + q * step, row.at[q]);
}

template <bool Streamed, class T>
void write(const T* const* columns, int d, int64_t count, T* __restrict out, int64_t step) {
    const int transposed = kTransposed ? d / 4 * 4 : 0;
    const int64_t whole = transposed ? count / 4 * 4 : 0;
    for (int64_t i = 0; i < whole; i += 4) {
        for (int j = 0; j < transposed; j += 4)
            transpose_rows<Streamed>(columns + j, i, out + i * step + j, step);
        for (int j = transposed; j < d; ++j)
            for (int q = 0; q < 4; ++q)
                out[(i + q) * step + j] = columns[j][i + q];
    }
    for (int64_t i = whole; i < count; ++i)
        for (int j = 0; j < d; ++j)
            out[i * step + j] = columns[j][i];
}

template <class T>
bool interleave(const Column* columns, int64_t d, int64_t m, T* out, int64_t step) {
    constexpr int64_t four = 4 * sizeof(T);
    const bool aligned = reinterpret_cast<uintptr_t>(out) % four == 0 && step % 4 == 0;
    const bool streamed =
        kTransposed && aligned && d >= 4 && m * d * static_cast<int64_t>(sizeof(T)) >= kLarge;
    T room[kColumns][kRows];
    const T* block[kColumns];
    bool finite = true;
    for (int64_t begin = 0; begin < m; begin += kRows) {
        const int64_t count = std::min(kRows, m - begin);
        for (int64_t first = 0; first < d; first += kColumns) {
            const int some = static_cast<int>(std::min<int64_t>(kColumns, d - first));
            for (int j = 0; j < some; ++j) {
                block[j] = numbers(columns[first + j], begin, count, room[j]);
                finite &= all_finite(block[j], count);
            }
            T* place = out + begin * step + first;
            streamed ? write<true>(block, some, count, place, step)
                     : write<false>(block, some, count, place, step);
        }
    }
    if (streamed)
        end_of_stream();
    return finite;
}

} // namespace

bool interleave64(const Column* columns, int64_t d, int64_t m, double* out, int64_t step) {
    return interleave(columns, d, m, out, step);
}
bool interleave32(const Column* columns, int64_t d, int64_t m, float* out, int64_t step) {
    return interleave(columns, d, m, out, step);
}

} // namespace coterie::COTERIE_LEVEL::table
