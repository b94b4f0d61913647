// bind_block.cpp: a block of rows, and the two kinds of work done on it again and again.
#include "bindings.hpp"
#include "coterie/hash.hpp"
#include "coterie/lloyd.hpp"
#include "coterie/scan.hpp"
#include "coterie/seeding.hpp"

using namespace nb::literals;
using coterie::Grid;

namespace {

// Rows together with the arrays they point into and the team that works on them.
struct Block {
    coterie::Rows rows;
    nb::object team_object;
    std::vector<nb::object> keep;
    coterie::Team& team() const { return nb::cast<coterie::Team&>(team_object); }
};

template <class T>
void init_dense(Block* self, Input<T, 2> values, std::optional<Input<double, 1>> weights,
                nb::object team, coterie::Kind kind) {
    new (self) Block();
    self->rows.kind = kind;
    self->rows.n = static_cast<int64_t>(values.shape(0));
    self->rows.d = static_cast<int>(values.shape(1));
    self->rows.values = values.data();
    self->rows.weights = weights ? weights->data() : nullptr;
    self->keep.push_back(nb::cast(values));
    if (weights)
        self->keep.push_back(nb::cast(*weights));
    self->team_object = team;
}

template <class T>
void init_sparse(Block* self, Input<T, 1> values, Input<int32_t, 1> columns,
                 Input<int64_t, 1> starts, int n_columns, std::optional<Input<double, 1>> weights,
                 nb::object team, coterie::Kind kind) {
    new (self) Block();
    self->rows.kind = kind;
    self->rows.n = static_cast<int64_t>(starts.shape(0)) - 1;
    self->rows.d = n_columns;
    self->rows.values = values.data();
    self->rows.columns = columns.data();
    self->rows.starts = starts.data();
    self->rows.weights = weights ? weights->data() : nullptr;
    self->keep = {nb::cast(values), nb::cast(columns), nb::cast(starts)};
    if (weights)
        self->keep.push_back(nb::cast(*weights));
    self->team_object = team;
}

coterie::Ranges ranges_of(const Input<double, 1>& low, const Input<double, 1>& high) {
    return {{low.data(), low.data() + low.shape(0)}, {high.data(), high.data() + high.shape(0)}};
}

struct LloydWork {
    nb::object block;
    nb::object labels;
    std::unique_ptr<coterie::Lloyd> lloyd;
    int levels = 0, mass_levels = 1, k = 0, d = 0;
};

struct SeedingWork {
    nb::object block;
    nb::object copies;
    std::unique_ptr<coterie::Seeding> seeding;
    coterie::Team& team() const { return nb::cast<Block&>(block).team(); }
    int d() const { return nb::cast<Block&>(block).rows.d; }
};

void check_buckets(const Input<int32_t, 1>& buckets) {
    for (size_t q = 0; q < buckets.shape(0); ++q)
        if (const int32_t bucket = buckets.data()[q]; bucket < 0 || bucket >= coterie::kBuckets) {
            const std::string message =
                "bucket " + std::to_string(bucket) + " is out of range: expected 0 to " +
                std::to_string(coterie::kBuckets - 1) + ", the leading bits of a row's hash";
            throw nb::index_error(message.c_str());
        }
}

using Holdings = std::tuple<Output<uint64_t>, Output<int64_t>, Output<double>>;

// (hashes, units, rows as float64 values)
Holdings holdings_of(const SeedingWork& work, const std::vector<coterie::Holding>& found) {
    const coterie::Rows& rows = nb::cast<Block&>(work.block).rows;
    uint64_t* hashes;
    int64_t* units;
    double* values;
    auto hash_array = new_array<uint64_t>({found.size()}, hashes);
    auto unit_array = new_array<int64_t>({found.size()}, units);
    auto value_array = new_array<double>({found.size(), static_cast<size_t>(rows.d)}, values);
    for (size_t q = 0; q < found.size(); ++q) {
        hashes[q] = found[q].hash;
        units[q] = found[q].units;
        coterie::read_row(rows, found[q].row, values + q * rows.d);
    }
    return std::make_tuple(hash_array, unit_array, value_array);
}

void bind_rows(nb::module_& m) {
    nb::class_<Block>(m, "Block", "Rows of one array, and the team that works on them.")
        .def(
            "__init__",
            [](Block* self, Input<double, 2> values, std::optional<Input<double, 1>> weights,
               nb::object team) {
                init_dense(self, values, weights, team, coterie::Kind::float64);
            },
            "values"_a.noconvert(), "weights"_a.none(), "team"_a)
        .def(
            "__init__",
            [](Block* self, Input<float, 2> values, std::optional<Input<double, 1>> weights,
               nb::object team) {
                init_dense(self, values, weights, team, coterie::Kind::float32);
            },
            "values"_a.noconvert(), "weights"_a.none(), "team"_a)
        .def(
            "__init__",
            [](Block* self, Input<double, 1> values, Input<int32_t, 1> columns,
               Input<int64_t, 1> starts, int n_columns, std::optional<Input<double, 1>> weights,
               nb::object team) {
                init_sparse(self, values, columns, starts, n_columns, weights, team,
                            coterie::Kind::csr64);
            },
            "values"_a.noconvert(), "columns"_a, "starts"_a, "n_columns"_a, "weights"_a.none(),
            "team"_a)
        .def(
            "__init__",
            [](Block* self, Input<float, 1> values, Input<int32_t, 1> columns,
               Input<int64_t, 1> starts, int n_columns, std::optional<Input<double, 1>> weights,
               nb::object team) {
                init_sparse(self, values, columns, starts, n_columns, weights, team,
                            coterie::Kind::csr32);
            },
            "values"_a.noconvert(), "columns"_a, "starts"_a, "n_columns"_a, "weights"_a.none(),
            "team"_a)
        .def_prop_ro("n_rows", [](const Block& b) { return b.rows.n; })
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
                const Grid grid(top.data(), b.rows.d, levels);
                const size_t d = b.rows.d;
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
                const size_t n = b.rows.n, k = means.shape(0);
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
                for (int64_t i = 0; i < b.rows.n; ++i)
                    data[i] = coterie::hash_row(b.rows, i);
                return out;
            },
            "The hash of each row's values.");
}

void bind_lloyd(nb::module_& m) {
    nb::class_<LloydWork>(m, "Lloyd", "Assignment updates of one block.")
        .def(
            "__init__",
            [](LloydWork* self, nb::object block, InOut<int32_t, 1> labels, Input<double, 1> low,
               Input<double, 1> high, std::optional<Input<int32_t, 1>> top, int levels,
               std::optional<int> mass_top, int mass_levels, const std::string& algorithm) {
                new (self) LloydWork();
                const Block& b = nb::cast<Block&>(block);
                std::optional<Grid> grid, mass;
                if (top)
                    grid = Grid(top->data(), b.rows.d, levels);
                if (mass_top)
                    mass = Grid(&*mass_top, 1, mass_levels);
                const auto choice = algorithm == "brute"    ? coterie::Algorithm::brute
                                    : algorithm == "bounds" ? coterie::Algorithm::bounds
                                                            : coterie::Algorithm::automatic;
                self->lloyd =
                    std::make_unique<coterie::Lloyd>(b.rows, ranges_of(low, high), labels.data(),
                                                     std::move(grid), std::move(mass), choice);
                self->block = block;
                self->labels = nb::cast(labels);
                self->levels = levels;
                self->mass_levels = mass_top ? mass_levels : 1;
                self->d = b.rows.d;
            },
            "block"_a, "labels"_a.noconvert(), "low"_a, "high"_a, "top"_a.none(), "levels"_a,
            "mass_top"_a.none(), "mass_levels"_a, "algorithm"_a)
        .def(
            "step",
            [](LloydWork& self, Input<double, 2> means) {
                coterie::Team& team = nb::cast<Block&>(self.block).team();
                coterie::StepCounts counts;
                self.k = static_cast<int>(means.shape(0));
                {
                    nb::gil_scoped_release release;
                    counts = self.lloyd->step(team, means.data(), self.k);
                }
                return std::make_tuple(counts.moved, counts.evaluated, counts.settled);
            },
            "means"_a, "Assign every row; (moved, evaluated, settled by the definition).")
        .def(
            "totals",
            [](const LloydWork& self) {
                int64_t *sums, *mass;
                const size_t k = self.k, d = self.d;
                auto out = new_array<int64_t>({k, static_cast<size_t>(self.levels), d}, sums);
                auto mass_out =
                    new_array<int64_t>({k, static_cast<size_t>(self.mass_levels)}, mass);
                self.lloyd->totals(sums, mass);
                return std::make_tuple(out, mass_out);
            },
            "Limbs of the sums (k, levels, d) and of the masses (k, mass levels).");
}

void bind_seeding(nb::module_& m) {
    m.attr("BUCKET_BITS") = coterie::kBucketBits;
    nb::class_<SeedingWork>(m, "Seeding", "Passes over one block that choose initial means.")
        .def(
            "__init__",
            [](SeedingWork* self, nb::object block, Input<double, 1> low, Input<double, 1> high,
               std::optional<Input<int32_t, 1>> copies) {
                new (self) SeedingWork();
                self->seeding = std::make_unique<coterie::Seeding>(
                    nb::cast<Block&>(block).rows, ranges_of(low, high),
                    copies ? copies->data() : nullptr);
                self->block = block;
                self->copies = copies ? nb::cast(*copies) : nb::none();
            },
            "block"_a, "low"_a, "high"_a, "copies"_a.none())
        .def_prop_ro("coarse", [](const SeedingWork& w) { return w.seeding->coarse(); })
        .def_prop_ro("unit", [](const SeedingWork& w) { return w.seeding->unit(); })
        .def(
            "start",
            [](SeedingWork& w, double distance) {
                coterie::Team& team = w.team();
                nb::gil_scoped_release release;
                w.seeding->start(team, distance);
            },
            "distance"_a)
        .def(
            "approach",
            [](SeedingWork& w, std::optional<Input<double, 1>> seed, int shift) {
                coterie::Team& team = w.team();
                double largest;
                {
                    nb::gil_scoped_release release;
                    largest = w.seeding->approach(team, seed ? seed->data() : nullptr, shift);
                }
                return std::make_tuple(largest, array_of(w.seeding->units()));
            },
            "seed"_a.none(), "shift"_a, "(largest distance left, units by bucket).")
        .def(
            "potentials",
            [](SeedingWork& w, Input<double, 2> candidates, int shift) {
                coterie::Team& team = w.team();
                std::vector<int64_t> units(candidates.shape(0));
                {
                    nb::gil_scoped_release release;
                    w.seeding->potentials(team, candidates.data(), static_cast<int>(units.size()),
                                          shift, units.data());
                }
                return array_of(units);
            },
            "candidates"_a, "shift"_a, "Units left with each candidate.")
        .def(
            "holdings",
            [](SeedingWork& w, Input<int32_t, 1> buckets, int shift) {
                coterie::Team& team = w.team();
                check_buckets(buckets);
                std::vector<coterie::Holding> found;
                {
                    nb::gil_scoped_release release;
                    found = w.seeding->holdings(team, buckets.data(),
                                                static_cast<int>(buckets.shape(0)), shift);
                }
                return holdings_of(w, found);
            },
            "buckets"_a, "shift"_a, "(hashes, units, values) held in some buckets, by hash.")
        .def(
            "refine",
            [](SeedingWork& w, Input<double, 2> seeds) {
                coterie::Team& team = w.team();
                nb::gil_scoped_release release;
                w.seeding->refine(team, seeds.data(), static_cast<int>(seeds.shape(0)));
            },
            "seeds"_a, "Go on with float64 distances.")
        .def(
            "draw",
            [](SeedingWork& w, uint64_t salt, double factor) {
                coterie::Team& team = w.team();
                std::vector<coterie::Holding> found;
                {
                    nb::gil_scoped_release release;
                    found = w.seeding->draw(team, salt, factor);
                }
                return holdings_of(w, found);
            },
            "salt"_a, "factor"_a, "(hashes, copies, values) drawn independently, by hash.")
        .def(
            "smallest_hashes",
            [](SeedingWork& w, uint64_t salt, int count) {
                coterie::Team& team = w.team();
                std::vector<coterie::Holding> found;
                {
                    nb::gil_scoped_release release;
                    found = w.seeding->smallest_hashes(team, salt, count);
                }
                return holdings_of(w, found);
            },
            "salt"_a, "count"_a, "(salted hashes, ones, values) of the smallest, in order.");
}

} // namespace

void bind_block(nb::module_& m) {
    bind_rows(m);
    bind_lloyd(m);
    bind_seeding(m);
}
