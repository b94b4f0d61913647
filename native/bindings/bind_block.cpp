// bind_block.cpp: a block of rows, and its questions that need no memory.
#include "bindings/block.hpp"

#include <algorithm>

#include "core/hash.hpp"
#include "core/scan.hpp"

using namespace nb::literals;
using coterie::Grid;
using coterie::Kind;

namespace {

using Weights = std::optional<Input<double, 1>>;

// starts: where each row begins among as many values and columns, and where the last one ends.
template <class T>
void check_sparse(const Input<T, 1>& values, const Input<int32_t, 1>& columns,
                  const Input<int64_t, 1>& starts) {
    expect_shape("columns", columns, {values.shape(0)});
    const size_t n = starts.shape(0);
    const bool whole = n > 0 && starts(0) == 0 &&
                       starts(n - 1) == static_cast<int64_t>(values.shape(0)) &&
                       std::is_sorted(starts.data(), starts.data() + n);
    if (!whole)
        throw std::invalid_argument("starts: expected numbers that rise from 0 to that of the "
                                    "values; is this the indptr of a CSR matrix?");
}

template <class T> void def_constructors(nb::class_<Block>& block, Kind dense, Kind sparse) {
    // Moved into place when whole: an error leaves nothing behind.
    const auto finish = [](Block* self, Block block, const Weights& weights, nb::object team) {
        if (block.rows.d < 1)
            throw std::invalid_argument("values: expected rows of at least one column");
        if (weights) {
            expect_shape("weights", *weights, {block.n()});
            block.rows.weights = weights->data();
            block.keep.push_back(nb::cast(*weights));
        }
        block.team_object = team;
        new (self) Block(std::move(block));
    };
    block.def(
        "__init__",
        [=](Block* self, Input<T, 2> values, Weights weights, nb::object team) {
            Block block;
            block.rows.kind = dense;
            block.rows.n = static_cast<int64_t>(values.shape(0));
            block.rows.d = static_cast<int>(values.shape(1));
            block.rows.values = values.data();
            block.keep = {nb::cast(values)};
            finish(self, std::move(block), weights, team);
        },
        "values"_a.noconvert(), "weights"_a.none(), "team"_a);
    block.def(
        "__init__",
        [=](Block* self, Input<T, 1> values, Input<int32_t, 1> columns, Input<int64_t, 1> starts,
            int n_columns, Weights weights, nb::object team) {
            check_sparse(values, columns, starts);
            Block block;
            block.rows.kind = sparse;
            block.rows.n = static_cast<int64_t>(starts.shape(0)) - 1;
            block.rows.d = n_columns;
            block.rows.values = values.data();
            block.rows.columns = columns.data();
            block.rows.starts = starts.data();
            block.keep = {nb::cast(values), nb::cast(columns), nb::cast(starts)};
            finish(self, std::move(block), weights, team);
        },
        "values"_a.noconvert(), "columns"_a, "starts"_a, "n_columns"_a, "weights"_a.none(),
        "team"_a);
}

} // namespace

void bind_block(nb::module_& m) {
    nb::class_<Block> block(m, "Block", "Rows of one array, and the team that works on them.");
    def_constructors<double>(block, Kind::float64, Kind::csr64);
    def_constructors<float>(block, Kind::float32, Kind::csr32);
    block.def_prop_ro("n_rows", [](const Block& b) { return b.rows.n; })
        .def_prop_ro("n_columns", [](const Block& b) { return b.rows.d; })
        .def(
            "scan",
            [](const Block& b) {
                coterie::Team& team = b.team();
                coterie::Scan scan;
                {
                    nb::gil_scoped_release release;
                    scan = coterie::scan(team, b.rows);
                }
                return std::make_tuple(array_of(scan.ranges.low), array_of(scan.ranges.high),
                                       array_of(scan.smallest), scan.bad_row, scan.bad_column);
            },
            "(low, high, smallest nonzero magnitude, first bad row, its column).")
        .def(
            "moments",
            [](const Block& b, Input<int32_t, 1> top, int levels,
               std::optional<Input<int32_t, 1>> square_top, int square_levels) {
                coterie::Team& team = b.team();
                const size_t d = b.d();
                expect_shape("top", top, {d});
                if (square_top)
                    expect_shape("square_top", *square_top, {d});
                const Grid grid(top.data(), b.rows.d, levels);
                int64_t* sums;
                auto out = new_array<int64_t>({static_cast<size_t>(levels), d}, sums);
                std::fill(sums, sums + levels * d, 0);
                coterie::WideSum squares;
                {
                    nb::gil_scoped_release release;
                    if (!b.rows.weights)
                        squares = coterie::moments(team, b.rows, grid, sums);
                    else
                        squares = coterie::weighted_moments(
                            team, b.rows, grid,
                            square_top ? std::optional<Grid>(std::in_place, square_top->data(),
                                                             b.rows.d, square_levels)
                                       : std::nullopt,
                            sums);
                }
                return std::make_tuple(out, bytes_of(squares));
            },
            "top"_a, "levels"_a, "square_top"_a.none(), "square_levels"_a,
            "Limbs of the sums of w x by column; the bytes of the sum of w x^2.")
        .def(
            "distances",
            [](const Block& b, Input<double, 2> means) {
                coterie::Team& team = b.team();
                double* data;
                const size_t n = b.n(), k = means.shape(0);
                expect_shape("means", means, {k, b.d()});
                auto out = new_array<double>({n, k}, data);
                {
                    nb::gil_scoped_release release;
                    coterie::distances(team, b.rows, means.data(), static_cast<int>(k), data);
                }
                return out;
            },
            "means"_a, "Squared distances (n, k) by the definition.")
        .def(
            "projection_range",
            [](const Block& b, Input<double, 1> direction) {
                coterie::Team& team = b.team();
                expect_shape("direction", direction, {b.d()});
                nb::gil_scoped_release release;
                return coterie::projection_range(team, b.rows, direction.data());
            },
            "direction"_a, "Smallest and largest v.x.")
        .def(
            "second_moments",
            [](const Block& b) {
                coterie::Team& team = b.team();
                double* data;
                const size_t d = b.rows.d;
                auto out = new_array<double>({d, d}, data);
                {
                    nb::gil_scoped_release release;
                    coterie::second_moments(team, b.rows, data);
                }
                return out;
            },
            "Sum of w x x'.")
        .def(
            "farthest",
            [](const Block& b, Input<double, 2> means, Input<int32_t, 1> labels, int count) {
                coterie::Team& team = b.team();
                const auto k = static_cast<int32_t>(means.shape(0));
                expect_shape("means", means, {means.shape(0), b.d()});
                expect_shape("labels", labels, {b.n()});
                if (std::any_of(labels.data(), labels.data() + b.n(),
                                [k](int32_t label) { return label < 0 || label >= k; }))
                    throw std::invalid_argument("labels: expected numbers of rows of means");
                std::vector<std::pair<double, int64_t>> found;
                {
                    nb::gil_scoped_release release;
                    found = coterie::farthest(team, b.rows, means.data(), labels.data(), count);
                }
                return found;
            },
            "means"_a, "labels"_a, "count"_a,
            "(squared distance, row) of the rows farthest from their own mean.")
        .def(
            "values_at",
            [](const Block& b, Input<int64_t, 1> rows) {
                double* data;
                const size_t d = b.rows.d;
                auto out = new_array<double>({rows.shape(0), d}, data);
                for (size_t q = 0; q < rows.shape(0); ++q) {
                    if (rows.data()[q] < 0 || rows.data()[q] >= b.rows.n)
                        throw nb::index_error("row out of range");
                    coterie::read_row(b.rows, rows.data()[q], data + q * d);
                }
                return out;
            },
            "rows"_a, "Some rows as float64.")
        .def(
            "hashes",
            [](const Block& b) {
                uint64_t* data;
                auto out = new_array<uint64_t>({static_cast<size_t>(b.rows.n)}, data);
                coterie::Team& team = b.team();
                {
                    nb::gil_scoped_release release;
                    team.for_chunks(b.rows.n, 8192, [&](int, int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i)
                            data[i] = coterie::hash_row(b.rows, i);
                    });
                }
                return out;
            },
            "The hash of each row's values.");
}
