// exact_moments.cpp: exact totals over the rows of a block.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/level.hpp"
#include "core/scan.hpp"
#include "kmeans/kernels.hpp"

namespace coterie {
namespace {

// Sums of one thread. A column below 2^top, times 2^(60 - top), is an integer of 60 bits for all
// but its smallest values, and integers are cheaper to square exactly than float64 values.
// On cache lines of its own: other threads must not read the line that one writes.
struct alignas(64) Tally {
    static constexpr int kRows = 128;    // squares of 120 bits: as many fit into 128 bits
    static constexpr int kTogether = 32; // rows read column by column, from the nearest cache
    Buffer<double> scale;                // (d,)
    Buffer<__int128> sum;                // (d,) integers
    Buffer<unsigned __int128> square;    // (d,) of the last rows
    Buffer<int64_t> limbs;               // (levels, d) sums of the values that are no integers
    WideSum squares;
    int rows = 0;

    explicit Tally(const Grid& grid)
        : scale(grid.columns), sum(grid.columns), square(grid.columns),
          limbs(static_cast<size_t>(grid.levels) * grid.columns) {
        sum.zero();
        square.zero();
        limbs.zero();
        for (int l = 0; l < grid.columns; ++l)
            scale[l] = std::ldexp(1.0, 60 - grid.top[l]);
    }
    // `count` values of column l, `stride` apart; sums stay in registers.
    template <class T> void add(const T* x, int count, int64_t stride, int l, const Grid& grid) {
        const double unit = scale[l];
        __int128 s = sum[l];
        unsigned __int128 q = square[l];
        for (int i = 0; i < count; ++i, x += stride) {
            const double value = *x * unit;
            const int64_t whole = static_cast<int64_t>(value);
            if (static_cast<double>(whole) == value && (whole != 0 || *x == 0)) {
                s += whole;
                q += static_cast<unsigned __int128>(static_cast<__int128>(whole) * whole);
            } else {
                add_fraction(*x, l, grid);
            }
        }
        sum[l] = s;
        square[l] = q;
    }
    [[gnu::noinline]] void add_fraction(double x, int l, const Grid& grid) {
        squares.add_product(x, x);
        for (int j = 0; j < grid.levels; ++j) {
            const double magic = grid.magic[static_cast<size_t>(j) * grid.padded + l];
            const double rounded = x + magic;
            limbs[static_cast<size_t>(j) * grid.columns + l] +=
                std::bit_cast<int64_t>(rounded) - std::bit_cast<int64_t>(magic);
            x -= rounded - magic;
        }
    }
    void end_rows(int count, const Grid& grid) {
        rows += count;
        if (rows > kRows - kTogether)
            flush(grid);
    }
    void flush(const Grid& grid) {
        for (size_t l = 0; l < square.size(); ++l) {
            squares.add(static_cast<__int128>(square[l]), 2 * (grid.top[l] - 60));
            square[l] = 0;
        }
        rows = 0;
    }
    // Integers of 2^(top - 60) as limbs of 2^(top - 30) and 2^(top - 62).
    void total(const Grid& grid, int64_t* out) {
        flush(grid);
        for (int l = 0; l < grid.columns; ++l) {
            const __int128 high = sum[l] >> 30;
            out[l] += static_cast<int64_t>(high);
            if (grid.levels > 1)
                out[grid.columns + l] += static_cast<int64_t>(sum[l] - (high << 30)) * 4;
        }
        for (size_t q = 0; q < limbs.size(); ++q)
            out[q] += limbs[q];
    }
};

template <class T> void tally_dense(Tally& tally, const T* x, int64_t rows, const Grid& grid) {
    const int64_t d = grid.columns;
    for (int64_t first = 0; first < rows; first += Tally::kTogether) {
        const int count = static_cast<int>(std::min<int64_t>(rows - first, Tally::kTogether));
        for (int l = 0; l < d; ++l)
            tally.add(x + first * d + l, count, d, l, grid);
        tally.end_rows(count, grid);
    }
}

template <class T>
void tally_sparse(Tally& tally, const Rows& rows, int64_t begin, int64_t end, const Grid& grid) {
    const T* values = static_cast<const T*>(rows.values);
    for (int64_t i = begin; i < end; ++i) {
        for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
            tally.add(values + p, 1, 1, rows.columns[p], grid);
        tally.end_rows(1, grid);
    }
}

// The sum of w x^2 where products of float64 values could vanish: mantissas are multiplied.
WideSum wide_squares(Team& team, const Rows& rows) {
    std::vector<WideSum> parts(team.size());
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        std::vector<double> x(rows.d);
        for (int64_t i = begin; i < end; ++i) {
            read_row(rows, i, x.data());
            int64_t weight, value;
            int weight_exponent, exponent;
            split_double(rows.weight(i), weight, weight_exponent);
            for (int l = 0; l < rows.d; ++l) {
                split_double(x[l], value, exponent);
                const __int128 square = static_cast<__int128>(value) * value; // 106 bits
                parts[t].add((square & ((static_cast<__int128>(1) << 56) - 1)) * weight,
                             2 * exponent + weight_exponent);
                parts[t].add((square >> 56) * weight, 2 * exponent + weight_exponent + 56);
            }
        }
    });
    for (size_t t = 1; t < parts.size(); ++t)
        parts[0].merge(parts[t]);
    return parts[0];
}

} // namespace

WideSum moments(Team& team, const Rows& rows, const Grid& grid, int64_t* sums) {
    std::vector<Tally> parts;
    for (int t = 0; t < team.size(); ++t)
        parts.emplace_back(grid);
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        switch (rows.kind) {
        case Kind::float64:
            return tally_dense(parts[t], static_cast<const double*>(rows.values) + begin * rows.d,
                               end - begin, grid);
        case Kind::float32:
            return tally_dense(parts[t], static_cast<const float*>(rows.values) + begin * rows.d,
                               end - begin, grid);
        case Kind::csr64: return tally_sparse<double>(parts[t], rows, begin, end, grid);
        case Kind::csr32: return tally_sparse<float>(parts[t], rows, begin, end, grid);
        }
    });
    WideSum squares;
    for (Tally& part : parts) {
        part.total(grid, sums);
        squares.merge(part.squares);
    }
    return squares;
}

WideSum weighted_moments(Team& team, const Rows& rows, const Grid& grid,
                         const std::optional<Grid>& square_grid, int64_t* out_sums) {
    const std::vector<int> spare(grid.columns, 900);
    const Grid squares = square_grid ? *square_grid : Grid(spare.data(), grid.columns, 1);
    struct Part {
        Buffer<int64_t> sums, squares;
        Buffer<double> row;
    };
    std::vector<Part> parts(team.size());
    for (Part& part : parts) {
        part.sums.resize(grid.size());
        part.sums.zero();
        part.squares.resize(squares.size());
        part.squares.zero();
        part.row.resize(static_cast<size_t>(6) * grid.padded);
    }
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        level().kmeans->exact_sums(rows, grid.view(), squares.view(), begin, end,
                                   parts[t].row.data(), parts[t].sums.data(),
                                   parts[t].squares.data());
    });
    WideSum total;
    for (const Part& part : parts)
        for (int l = 0; l < grid.columns; ++l) {
            for (int j = 0; j < grid.levels; ++j)
                out_sums[static_cast<size_t>(j) * grid.columns + l] +=
                    part.sums[static_cast<size_t>(j) * grid.padded + l];
            for (int j = 0; j < squares.levels; ++j)
                total.add(part.squares[static_cast<size_t>(j) * squares.padded + l],
                          squares.unit_exponent(l, j));
        }
    return square_grid ? total : wide_squares(team, rows);
}

} // namespace coterie
