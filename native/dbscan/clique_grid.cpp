// clique_grid.cpp: sorting points into cells.
#include "dbscan/clique_grid.hpp"
#include "core/scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace coterie::dbscan {
namespace {

constexpr double kShrink = 1e-5;     // of a cell's side: more than all rounding together
constexpr int64_t kWidest = 1 << 16; // cells in a row or column: float32 tells places in a cell
constexpr double kCellsPerPoint = 16, kFewCells = 1 << 16, kMostCells = 0x1p31; // empty ones too
constexpr int kApart = 4; // columns between rows of cells: as far as two cells reach
constexpr int64_t kSegments = 64, kShortest = 1024; // parts of the data, read independently
constexpr int64_t kBandPoints = 4096, kMostBands = 2048;

struct Placed {
    int32_t key;
    float x, y;
    int32_t row;
};

// The place of a point, in sides of a cell from the lower left corner.
inline double place(double value, double low, double per_unit) { return (value - low) * per_unit; }

template <class T> struct Placing {
    const T* values;
    GridLayout layout;
    double middle[2] = {0.5 * layout.width, 0.5 * layout.height};

    int32_t key(double x, double y) const {
        return static_cast<int32_t>(y) * layout.stride + static_cast<int32_t>(x);
    }
    int32_t key(int64_t i) const {
        return key(place(values[2 * i], layout.low[0], layout.per_unit),
                   place(values[2 * i + 1], layout.low[1], layout.per_unit));
    }
    Placed operator()(int64_t i) const {
        const double x = place(values[2 * i], layout.low[0], layout.per_unit);
        const double y = place(values[2 * i + 1], layout.low[1], layout.per_unit);
        return {key(x, y), static_cast<float>(x - middle[0]), static_cast<float>(y - middle[1]),
                static_cast<int32_t>(i)};
    }
};

} // namespace

int64_t some_cells(int64_t cells) { return std::clamp<int64_t>(cells / 64, 1, 256); }

GridLayout GridLayout::around(Team& team, const Space& space) {
    GridLayout layout;
    const Rows& rows = space.rows();
    if (space.measure().metric != Metric::euclidean || space.width() != 2) {
        layout.why_not = "a grid is for Euclidean distance in two columns";
        return layout;
    }
    const Scan seen = scan(team, rows);
    layout.per_unit = std::sqrt(2.0) * (1 + kShrink) / space.measure().eps;
    double cells[2];
    for (int l = 0; l < 2; ++l) {
        layout.low[l] = seen.ranges.low[l];
        cells[l] = std::floor(place(seen.ranges.high[l], layout.low[l], layout.per_unit)) + 1;
    }
    // Written so that a value that is no number is refused as well.
    if (seen.bad_row >= 0 || !std::isfinite(layout.per_unit) || !(cells[0] <= kWidest) ||
        !(cells[1] <= kWidest))
        layout.why_not = "the data are too wide for cells of this eps";
    else if ((cells[0] + kApart) * (cells[1] + kApart) >= // of keys around the last cell as well
             std::min(kMostCells, kCellsPerPoint * static_cast<double>(rows.n) + kFewCells))
        layout.why_not = "most cells of a grid would be empty";
    else {
        layout.width = static_cast<int32_t>(cells[0]);
        layout.height = static_cast<int32_t>(cells[1]);
        layout.stride = layout.width + kApart;
    }
    return layout;
}

CliqueGrid::CliqueGrid(Team& team, const Space& space, const GridLayout& layout)
    : n_(space.n()), stride_(layout.stride) {
    if (space.rows().kind == Kind::float64)
        sort(team, static_cast<const double*>(space.rows().values), layout);
    else
        sort(team, static_cast<const float*>(space.rows().values), layout);
    set_radii(space, layout);
}

// A counting sort in two steps: into bands of cells that fit into cache, then each band.
template <class T> void CliqueGrid::sort(Team& team, const T* values, const GridLayout& layout) {
    const Placing<T> placing{values, layout};
    const int64_t total = static_cast<int64_t>(layout.stride) * layout.height;
    const int64_t wanted = std::clamp<int64_t>(n_ / kBandPoints, 1, kMostBands);
    int shift = 0;
    while ((total >> shift) >= 2 * wanted)
        ++shift;
    const int64_t bands = ((total - 1) >> shift) + 1;
    const int64_t segment = std::max(kShortest, (n_ + kSegments - 1) / kSegments);
    const int64_t segments = (n_ + segment - 1) / segment;

    std::vector<int32_t> places(segments * bands, 0), begin(bands + 1);
    team.for_chunks(segments, 1, [&](int, int64_t s, int64_t) {
        int32_t* count = places.data() + s * bands;
        for (int64_t i = s * segment; i < std::min(n_, (s + 1) * segment); ++i)
            ++count[placing.key(i) >> shift];
    });
    int32_t position = 0;
    for (int64_t b = 0; b < bands; ++b) {
        begin[b] = position;
        for (int64_t s = 0; s < segments; ++s)
            position += std::exchange(places[s * bands + b], position);
    }
    begin[bands] = position;

    // A large page takes a while to get, and the first segment to be dealt out touches them all:
    // they are touched one by one before, so that an interrupt need not wait for that.
    constexpr int64_t kPage = kLargePage / sizeof(Placed);
    Buffer<Placed> points(n_);
    team.for_chunks(n_, kPage, [&](int, int64_t i, int64_t) { points[i].key = 0; });
    team.for_chunks(segments, 1, [&](int, int64_t s, int64_t) {
        int32_t* to = places.data() + s * bands;
        for (int64_t i = s * segment; i < std::min(n_, (s + 1) * segment); ++i) {
            const Placed point = placing(i);
            points[to[point.key >> shift]++] = point;
        }
    });

    // Each band by cell. Points that have their slots leave room for the cells: key
    // and, in place of a row, the first slot.
    x_.resize(n_ + kBeyond);
    y_.resize(n_ + kBeyond);
    row_.resize(n_);
    std::vector<int32_t> cells(bands + 1, 0);
    std::vector<std::vector<int32_t>> tables(team.size());
    team.for_chunks(bands, 1, [&](int thread, int64_t b, int64_t) {
        if (begin[b] == begin[b + 1])
            return;
        std::vector<int32_t>& table = tables[thread];
        table.assign(size_t{1} << shift, 0);
        const auto base = static_cast<int32_t>(b << shift);
        for (int32_t i = begin[b]; i < begin[b + 1]; ++i)
            ++table[points[i].key - base];
        int32_t next = begin[b];
        for (int32_t& entry : table)
            next += std::exchange(entry, next);
        for (int32_t i = begin[b]; i < begin[b + 1]; ++i) {
            const Placed& point = points[i];
            const int32_t slot = table[point.key - base]++;
            x_[slot] = point.x;
            y_[slot] = point.y;
            row_[slot] = point.row;
        }
        int32_t cell = begin[b], start = begin[b];
        for (int32_t q = 0; start < begin[b + 1]; ++q) { // most are empty, without any order
            points[cell].key = base + q;
            points[cell].row = start;
            cell += table[q] > start;
            start = table[q];
        }
        cells[b] = cell - begin[b];
    });
    for (int q = 0; q < kBeyond; ++q)
        x_[n_ + q] = y_[n_ + q] = 0;

    int32_t found = 0;
    for (int64_t b = 0; b <= bands; ++b)
        found += std::exchange(cells[b], found);
    cells_.resize(found, static_cast<int32_t>(n_));
    team.for_chunks(bands, 1, [&](int, int64_t b, int64_t) {
        const Placed* cell = points.data() + begin[b];
        for (int32_t c = cells[b]; c < cells[b + 1]; ++c, ++cell) {
            cells_.key[c] = cell->key;
            cells_.start[c] = cell->row;
        }
    });
}

void CliqueGrid::Cells::resize(int32_t cells, int32_t end) {
    count = cells;
    key.resize(cells + kBeyond);
    std::fill_n(key.data() + cells, kBeyond, std::numeric_limits<int32_t>::max());
    start.resize(cells + 1);
    start[cells] = end;
}

// A coordinate is off by half a unit in the last place of the largest one, and by the rounding of
// its place in float64, which is less; differences, squares and their sum by a rounding each.
void CliqueGrid::set_radii(const Space& space, const GridLayout& layout) {
    const double u = 0x1p-24;
    const double reach = 0.5 * std::max(layout.width, layout.height) + 1;
    const double off = std::sqrt(2.0) * 2 * 1.01 * u * reach;
    const auto [inner, outer] = space.bounds();
    const double in = std::max(0.0, inner * layout.per_unit - off);
    const double out = outer * layout.per_unit + off;
    inner_ = std::nextafter(static_cast<float>(in * in * (1 - 16 * u)), 0.0f);
    outer_ = std::nextafter(static_cast<float>(out * out * (1 + 16 * u)), 4.0f);
}

void CliqueGrid::divide(Team& team, const uint8_t* marks, const int32_t* marked) {
    const Cells all = std::move(cells_);
    const int64_t chunk = some_cells(all.count), chunks = (all.count + chunk - 1) / chunk;
    struct Counts {
        int32_t points = 0, cells = 0, others = 0; // marked points, their cells, cells of others
    };
    std::vector<Counts> before(chunks + 1);
    team.for_chunks(all.count, chunk, [&](int, int64_t begin, int64_t end) {
        Counts own;
        for (int64_t c = begin; c < end; ++c) {
            own.points += marked[c];
            own.cells += marked[c] > 0;
            own.others += marked[c] < all.start[c + 1] - all.start[c];
        }
        before[begin / chunk] = own;
    });
    Counts sum;
    for (Counts& counts : before) {
        const Counts own = std::exchange(counts, sum);
        sum = {sum.points + own.points, sum.cells + own.cells, sum.others + own.others};
    }
    const Counts whole = before[chunks];
    cells_ = {};
    cells_.resize(whole.cells, whole.points);
    left_out_.resize(whole.others, static_cast<int32_t>(n_));
    Buffer<float> x(n_ + kBeyond), y(n_ + kBeyond);
    Buffer<int32_t> row(n_);
    team.for_chunks(all.count, chunk, [&](int, int64_t begin, int64_t end) {
        auto [point, cell, other] = before[begin / chunk];
        int32_t rest = whole.points + all.start[begin] - point;
        for (int64_t c = begin, to = point, out = rest; c < end; ++c) {
            const int32_t points = all.start[c + 1] - all.start[c];
            if (marked[c] > 0) {
                cells_.key[cell] = all.key[c];
                cells_.start[cell++] = static_cast<int32_t>(to);
            }
            if (marked[c] < points) {
                left_out_.key[other] = all.key[c];
                left_out_.start[other++] = static_cast<int32_t>(out);
            }
            to += marked[c];
            out += points - marked[c];
        }
        for (int32_t i = all.start[begin]; i < all.start[end]; ++i) {
            const int32_t slot = marks[i] ? point : rest; // a branch could not be predicted
            point += marks[i];
            rest += 1 - marks[i];
            x[slot] = x_[i];
            y[slot] = y_[i];
            row[slot] = row_[i];
        }
    });
    std::fill_n(x.data() + n_, kBeyond, 0.0f);
    std::fill_n(y.data() + n_, kBeyond, 0.0f);
    x_ = std::move(x);
    y_ = std::move(y);
    row_ = std::move(row);
}

GridView CliqueGrid::view_of(const Cells& cells) const {
    return {cells.count,        stride_,   cells.key.data(),
            cells.start.data(), x_.data(), y_.data(),
            row_.data(),        inner_,    outer_};
}

} // namespace coterie::dbscan
