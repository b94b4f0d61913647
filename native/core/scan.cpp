// scan.cpp: passes over the rows that are not part of Lloyd's loop.
#include "core/scan.hpp"

#include <algorithm>
#include <cmath>

#include "core/level.hpp"
#include "core/memory.hpp"
#include "kmeans/kernels.hpp"

namespace coterie {
namespace {

double squared_distance(const double* x, const double* m, int d) {
    double s = 0.0;
    for (int l = 0; l < d; ++l) {
        const double e = x[l] - m[l];
        s += e * e;
    }
    return s;
}

// Ranges of `rows` rows of `width` values, read where they lie; NaN or infinity shows in `doubt`.
template <class T>
void scan_rows(const T* x, int64_t rows, int width, double* low, double* high, double* smallest,
               double* doubt) {
    for (int64_t i = 0; i < rows; ++i, x += width)
        for (int l = 0; l < width; ++l) {
            const double value = x[l], size = std::fabs(value);
            low[l] = value < low[l] ? value : low[l];
            high[l] = value > high[l] ? value : high[l];
            const double seen = size > 0 ? size : HUGE_VAL;
            smallest[l] = seen < smallest[l] ? seen : smallest[l];
            doubt[l] += value * 0.0;
        }
}

// Several rows of few columns are scanned as one wide row, to fill vectors.
template <class T>
bool scan_dense(const T* x, int64_t rows, int d, double* low, double* high, double* smallest) {
    const int fold = std::max(1, 32 / d), width = fold * d;
    std::vector<double> wide(4 * width, HUGE_VAL);
    double *lows = wide.data(), *highs = lows + width, *small = highs + width,
           *doubt = small + width;
    std::fill(highs, small, -HUGE_VAL);
    std::fill(doubt, doubt + width, 0.0);
    scan_rows(x, rows / fold, width, lows, highs, small, doubt);
    scan_rows(x + rows / fold * width, rows % fold, d, lows, highs, small, doubt);
    bool doubtful = false;
    for (int q = 0; q < width; ++q) {
        low[q % d] = std::min(low[q % d], lows[q]);
        high[q % d] = std::max(high[q % d], highs[q]);
        smallest[q % d] = std::min(smallest[q % d], small[q]);
        doubtful |= !(doubt[q] == 0.0);
    }
    return doubtful;
}

void note(Scan& part, int64_t i, int l, double value) {
    if (!std::isfinite(value) && (part.bad_row < 0 || i < part.bad_row)) {
        part.bad_row = i;
        part.bad_column = l;
    }
    part.ranges.low[l] = std::min(part.ranges.low[l], value);
    part.ranges.high[l] = std::max(part.ranges.high[l], value);
    if (value != 0)
        part.smallest[l] = std::min(part.smallest[l], std::fabs(value));
}

void scan_sparse(const Rows& rows, int64_t begin, int64_t end, Scan& part,
                 std::vector<int64_t>& entries) {
    for (int64_t i = begin; i < end; ++i)
        for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
            const int l = rows.columns[p];
            ++entries[l];
            note(part, i, l,
                 rows.kind == Kind::csr64 ? static_cast<const double*>(rows.values)[p]
                                          : static_cast<const float*>(rows.values)[p]);
        }
}

} // namespace

Scan scan(Team& team, const Rows& rows) {
    const int d = rows.d;
    std::vector<Scan> parts(team.size());
    for (Scan& part : parts) {
        part.ranges.low.assign(d, HUGE_VAL);
        part.ranges.high.assign(d, -HUGE_VAL);
        part.smallest.assign(d, HUGE_VAL);
    }
    // Sparse rows: how many entries each column has; fewer than rows means there are zeros.
    std::vector<std::vector<int64_t>> entries(team.size());
    for (auto& counts : entries)
        counts.assign(rows.sparse() ? d : 0, 0);
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        Scan& part = parts[t];
        double *low = part.ranges.low.data(), *high = part.ranges.high.data();
        bool doubtful = false;
        if (rows.kind == Kind::float64)
            doubtful = scan_dense(static_cast<const double*>(rows.values) + begin * d, end - begin,
                                  d, low, high, part.smallest.data());
        else if (rows.kind == Kind::float32)
            doubtful = scan_dense(static_cast<const float*>(rows.values) + begin * d, end - begin,
                                  d, low, high, part.smallest.data());
        else
            return scan_sparse(rows, begin, end, part, entries[t]);
        if (!doubtful)
            return;
        std::vector<double> x(d);
        for (int64_t i = begin; i < end; ++i) {
            read_row(rows, i, x.data());
            for (int l = 0; l < d; ++l)
                note(part, i, l, x[l]);
        }
    });
    Scan& whole = parts[0];
    for (size_t t = 1; t < parts.size(); ++t) {
        for (int l = 0; l < d; ++l) {
            whole.ranges.low[l] = std::min(whole.ranges.low[l], parts[t].ranges.low[l]);
            whole.ranges.high[l] = std::max(whole.ranges.high[l], parts[t].ranges.high[l]);
            whole.smallest[l] = std::min(whole.smallest[l], parts[t].smallest[l]);
        }
        if (parts[t].bad_row >= 0 && (whole.bad_row < 0 || parts[t].bad_row < whole.bad_row)) {
            whole.bad_row = parts[t].bad_row;
            whole.bad_column = parts[t].bad_column;
        }
        for (size_t l = 0; l < entries[t].size(); ++l)
            entries[0][l] += entries[t][l];
    }
    for (size_t l = 0; l < entries[0].size(); ++l)
        if (entries[0][l] < rows.n) {
            whole.ranges.low[l] = std::min(whole.ranges.low[l], 0.0);
            whole.ranges.high[l] = std::max(whole.ranges.high[l], 0.0);
        }
    return whole;
}

void distances(Team& team, const Rows& rows, const double* means, int k, double* out) {
    const int d = rows.d, stride = (k + 7) / 8 * 8;
    Buffer<double> means_t(static_cast<size_t>(d) * stride);
    for (int l = 0; l < d; ++l)
        for (int c = 0; c < stride; ++c)
            means_t[static_cast<size_t>(l) * stride + c] =
                c < k ? means[static_cast<size_t>(c) * d + l] : 0.0;
    kmeans::Model model;
    model.k = k;
    model.d = d;
    model.means_t = means_t.data();
    std::vector<Buffer<double>> scratch(team.size());
    for (auto& row : scratch)
        row.resize(d + 8);
    team.for_chunks(rows.n, 512, [&](int t, int64_t begin, int64_t end) {
        kmeans::Worker worker;
        worker.row = scratch[t].data();
        level().kmeans->distances(rows, model, worker, begin, end, out + begin * k);
    });
}

std::pair<double, double> projection_range(Team& team, const Rows& rows, const double* v) {
    std::vector<std::pair<double, double>> parts(team.size(), {HUGE_VAL, -HUGE_VAL});
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        std::vector<double> x(rows.d);
        for (int64_t i = begin; i < end; ++i) {
            read_row(rows, i, x.data());
            double s = 0.0;
            for (int l = 0; l < rows.d; ++l)
                s += v[l] * x[l];
            parts[t] = {std::min(parts[t].first, s), std::max(parts[t].second, s)};
        }
    });
    for (const auto& part : parts)
        parts[0] = {std::min(parts[0].first, part.first), std::max(parts[0].second, part.second)};
    return parts[0];
}

void second_moments(Team& team, const Rows& rows, double* out) {
    constexpr int64_t leaf = 256;
    const size_t d = rows.d;
    const int64_t leaves = (rows.n + leaf - 1) / leaf;
    std::vector<Buffer<double>> matrices(std::min<int64_t>(leaves, 64));
    std::fill(out, out + d * d, 0.0);
    // Waves of leaves: each leaf by one thread, then added in order.
    for (int64_t wave = 0; wave < leaves; wave += static_cast<int64_t>(matrices.size())) {
        const int64_t count = std::min<int64_t>(matrices.size(), leaves - wave);
        team.for_chunks(count, 1, [&](int, int64_t which, int64_t) {
            Buffer<double>& matrix = matrices[which];
            matrix.resize(d * d);
            matrix.zero();
            std::vector<double> x(d);
            const int64_t begin = (wave + which) * leaf;
            for (int64_t i = begin; i < std::min(rows.n, begin + leaf); ++i) {
                read_row(rows, i, x.data());
                const double w = rows.weight(i);
                for (size_t a = 0; a < d; ++a) {
                    const double wa = w * x[a];
                    for (size_t b = a; b < d; ++b)
                        matrix[a * d + b] += wa * x[b];
                }
            }
        });
        for (int64_t which = 0; which < count; ++which)
            for (size_t q = 0; q < d * d; ++q)
                out[q] += matrices[which][q];
    }
    for (size_t a = 0; a < d; ++a)
        for (size_t b = 0; b < a; ++b)
            out[a * d + b] = out[b * d + a];
}

std::vector<std::pair<double, int64_t>> farthest(Team& team, const Rows& rows, const double* means,
                                                 const int32_t* labels, int count) {
    using Far = std::pair<double, int64_t>; // minus the distance, row: the smallest are wanted
    std::vector<std::vector<Far>> parts(team.size());
    const auto keep = [count](std::vector<Far>& heap, Far far) {
        if (static_cast<int>(heap.size()) == count && !(far < heap.front()))
            return;
        heap.push_back(far);
        std::push_heap(heap.begin(), heap.end());
        if (static_cast<int>(heap.size()) > count) {
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
        }
    };
    team.for_chunks(rows.n, chunk_of(rows), [&](int t, int64_t begin, int64_t end) {
        std::vector<double> x(rows.d);
        for (int64_t i = begin; i < end; ++i) {
            read_row(rows, i, x.data());
            const double* m = means + static_cast<size_t>(labels[i]) * rows.d;
            keep(parts[t], {-squared_distance(x.data(), m, rows.d), i});
        }
    });
    for (size_t t = 1; t < parts.size(); ++t)
        for (const Far& far : parts[t])
            keep(parts[0], far);
    std::sort_heap(parts[0].begin(), parts[0].end());
    for (Far& far : parts[0])
        far.first = -far.first;
    return parts[0];
}

} // namespace coterie
