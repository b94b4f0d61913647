// bind_kmeans_seeding.cpp: passes over one block that choose initial means.
#include "kmeans/seeding.hpp"

#include "bindings/block.hpp"

using namespace nb::literals;

namespace {

struct SeedingWork {
    nb::object block;
    nb::object copies;
    std::unique_ptr<coterie::kmeans::Seeding> seeding;
    coterie::Team& team() const { return nb::cast<Block&>(block).team(); }
    size_t d() const { return nb::cast<Block&>(block).d(); }
    bool started = false;
    void expect_start() const {
        if (!started)
            throw nb::value_error("expected start() to be called first");
    }
};

void check_buckets(const Input<int32_t, 1>& buckets, int count) {
    for (size_t q = 0; q < buckets.shape(0); ++q)
        if (const int32_t bucket = buckets.data()[q]; bucket < 0 || bucket >= count) {
            const std::string message =
                "bucket " + std::to_string(bucket) + " is out of range: expected 0 to " +
                std::to_string(count - 1) + ", the leading bits of a row's hash";
            throw nb::index_error(message.c_str());
        }
}

using Holdings = std::tuple<Output<uint64_t>, Output<int64_t>, Output<double>>;

// (hashes, units, rows as float64 values)
Holdings holdings_of(const SeedingWork& work, const std::vector<coterie::kmeans::Holding>& found) {
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

} // namespace

void bind_seeding(nb::module_& m) {
    m.attr("MOST_BUCKET_BITS") = coterie::kmeans::kMostBucketBits;
    nb::class_<SeedingWork>(m, "Seeding", "Passes over one block that choose initial means.")
        .def(
            "__init__",
            [](SeedingWork* self, nb::object block, Input<double, 1> low, Input<double, 1> high,
               std::optional<Input<int32_t, 1>> copies, int bucket_bits, int64_t seeds) {
                if (bucket_bits < 1 || bucket_bits > coterie::kmeans::kMostBucketBits)
                    throw nb::value_error("bucket_bits is out of range: expected 1 to 13");
                const Block& b = nb::cast<Block&>(block);
                if (copies)
                    expect_shape("copies", *copies, {b.n()});
                SeedingWork work;
                work.seeding = std::make_unique<coterie::kmeans::Seeding>(
                    b.rows, ranges_of(b, low, high), copies ? copies->data() : nullptr, bucket_bits,
                    seeds);
                work.block = block;
                work.copies = copies ? nb::cast(*copies) : nb::none();
                new (self) SeedingWork(std::move(work)); // last: an error before leaves nothing
            },
            "block"_a, "low"_a, "high"_a, "copies"_a.none(), "bucket_bits"_a, "seeds"_a)
        .def_prop_ro("coarse", [](const SeedingWork& w) { return w.seeding->coarse(); })
        .def_prop_ro("unit", [](const SeedingWork& w) { return w.seeding->unit(); })
        .def(
            "start",
            [](SeedingWork& w, double distance) {
                coterie::Team& team = w.team();
                {
                    nb::gil_scoped_release release;
                    w.seeding->start(team, distance);
                }
                w.started = true;
            },
            "distance"_a)
        .def(
            "approach",
            [](SeedingWork& w, std::optional<Input<double, 1>> seed, int shift) {
                w.expect_start();
                coterie::Team& team = w.team();
                if (seed)
                    expect_shape("seed", *seed, {w.d()});
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
                w.expect_start();
                coterie::Team& team = w.team();
                expect_shape("candidates", candidates, {candidates.shape(0), w.d()});
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
                w.expect_start();
                coterie::Team& team = w.team();
                check_buckets(buckets, w.seeding->buckets());
                std::vector<coterie::kmeans::Holding> found;
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
                expect_shape("seeds", seeds, {seeds.shape(0), w.d()});
                {
                    nb::gil_scoped_release release;
                    w.seeding->refine(team, seeds.data(), static_cast<int>(seeds.shape(0)));
                }
                w.started = true;
            },
            "seeds"_a, "Go on with float64 distances.")
        .def(
            "draw",
            [](SeedingWork& w, uint64_t salt, double factor) {
                w.expect_start();
                coterie::Team& team = w.team();
                std::vector<coterie::kmeans::Holding> found;
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
                std::vector<coterie::kmeans::Holding> found;
                {
                    nb::gil_scoped_release release;
                    found = w.seeding->smallest_hashes(team, salt, count);
                }
                return holdings_of(w, found);
            },
            "salt"_a, "count"_a, "(salted hashes, ones, values) of the smallest, in order.");
}
