// bind_dbscan.cpp: DBSCAN of one block, step by step.
#include "bindings/block.hpp"
#include "dbscan/index.hpp"

using namespace nb::literals;

namespace {

coterie::dbscan::Metric metric_named(const std::string& name) {
    using coterie::dbscan::Metric;
    const std::pair<const char*, Metric> known[] = {
        {"euclidean", Metric::euclidean}, {"manhattan", Metric::manhattan},
        {"chebyshev", Metric::chebyshev}, {"minkowski", Metric::minkowski},
        {"cosine", Metric::cosine},       {"haversine", Metric::haversine}};
    for (const auto& [key, metric] : known)
        if (name == key)
            return metric;
    throw nb::value_error(("expected a metric with a native kernel, got " + name).c_str());
}

coterie::dbscan::Measure measure_of(const std::string& metric, double p, double eps) {
    return {metric_named(metric), p, eps};
}

struct DensityWork {
    nb::object block;
    std::unique_ptr<coterie::dbscan::Space> space;
    std::unique_ptr<coterie::dbscan::Index> index;
    nb::object core;
    enum Step { made, counted, connected } done = made;
    coterie::Team& team() const { return nb::cast<Block&>(block).team(); }
    int64_t n() const { return nb::cast<Block&>(block).rows.n; }
    void expect(Step before) const {
        if (done < before)
            throw nb::value_error(before == counted ? "expected count() to be called first"
                                                    : "expected connect() to be called first");
    }
};

template <class T>
std::tuple<Output<uint8_t>, Output<int64_t>, nb::object>
core_rows(const Block& block, const Input<uint8_t, 1>& core, const Input<int64_t, 1>& labels) {
    const coterie::Rows& rows = block.rows;
    coterie::Team& team = block.team();
    uint8_t* kind;
    auto kinds = new_array<uint8_t>({static_cast<size_t>(rows.n)}, kind);
    std::optional<coterie::dbscan::CoreRows> found;
    {
        nb::gil_scoped_release release;
        found.emplace(team, rows, core.data(), labels.data(), kind);
    }
    int64_t* index;
    T* value;
    const auto count = static_cast<size_t>(found->count());
    auto indices = new_array<int64_t>({count}, index);
    auto values = new_array<T>({count, static_cast<size_t>(rows.d)}, value);
    {
        nb::gil_scoped_release release;
        found->copy(team, index, value);
    }
    return {kinds, indices, nb::cast(values)};
}

} // namespace

void bind_density(nb::module_& m) {
    nb::class_<DensityWork>(m, "Density", "DBSCAN of one block: count, connect, label.")
        .def(
            "__init__",
            [](DensityWork* self, nb::object block, const std::string& metric, double p, double eps,
               const std::string& index, bool every) {
                DensityWork work; // moved into place when whole: an error leaves nothing behind
                work.block = block;
                const coterie::Rows& rows = nb::cast<Block&>(block).rows;
                coterie::Team& team = work.team();
                const coterie::dbscan::Measure measure = measure_of(metric, p, eps);
                {
                    nb::gil_scoped_release release;
                    work.space = std::make_unique<coterie::dbscan::Space>(team, rows, measure);
                    work.index = coterie::dbscan::make_index(team, *work.space, index, every);
                }
                new (self) DensityWork(std::move(work));
            },
            "block"_a, "metric"_a, "p"_a, "eps"_a, "index"_a, "every"_a)
        .def_prop_ro("why", [](const DensityWork& w) { return w.index->why; })
        .def_prop_ro("index", [](const DensityWork& w) { return std::string(w.index->name()); })
        .def(
            "count",
            [](DensityWork& w, double min_samples, bool counts) {
                uint8_t* core;
                int64_t* found = nullptr;
                auto core_array = new_array<uint8_t>({static_cast<size_t>(w.n())}, core);
                std::optional<Output<int64_t>> found_array;
                if (counts)
                    found_array = new_array<int64_t>({static_cast<size_t>(w.n())}, found);
                w.core = nb::cast(core_array);
                coterie::Team& team = w.team();
                {
                    const double* weights = nb::cast<Block&>(w.block).rows.weights;
                    nb::gil_scoped_release release;
                    w.index->count(team, {min_samples, weights, found}, core);
                }
                w.done = DensityWork::counted;
                return std::make_tuple(core_array, found_array);
            },
            "min_samples"_a, "counts"_a, "(1 for core rows, number of rows nearby or None).")
        .def("connect",
             [](DensityWork& w) {
                 w.expect(DensityWork::counted);
                 coterie::Team& team = w.team();
                 {
                     nb::gil_scoped_release release;
                     w.index->connect(team);
                 }
                 w.done = DensityWork::connected;
             })
        .def(
            "label",
            [](DensityWork& w) {
                w.expect(DensityWork::connected);
                int64_t* labels;
                auto out = new_array<int64_t>({static_cast<size_t>(w.n())}, labels);
                coterie::Team& team = w.team();
                int64_t clusters;
                {
                    nb::gil_scoped_release release;
                    clusters = w.index->label(team, labels);
                }
                return std::make_tuple(out, clusters);
            },
            "(labels, number of clusters).");
    m.def(
        "core_rows",
        [](const Block& block, Input<uint8_t, 1> core, Input<int64_t, 1> labels) {
            const auto n = static_cast<size_t>(block.rows.n);
            expect_shape("core", core, {n});
            expect_shape("labels", labels, {n});
            if (block.rows.sparse())
                throw nb::value_error("expected dense rows");
            return block.rows.kind == coterie::Kind::float64
                       ? core_rows<double>(block, core, labels)
                       : core_rows<float>(block, core, labels);
        },
        "block"_a, "core"_a, "labels"_a,
        "(0 noise, 1 border, 2 core for each row; indices of the core rows; a copy of them).");
    m.def(
        "reach",
        [](const Block& cores, Input<int64_t, 1> labels, const Block& queries,
           const std::string& metric, double p, double eps, const std::string& index) {
            expect_shape("labels", labels, {cores.n()});
            if (cores.rows.d != queries.rows.d || cores.rows.kind != queries.rows.kind)
                throw nb::value_error("expected cores and queries with as many columns, and of "
                                      "one type");
            int64_t* data;
            auto out = new_array<int64_t>({static_cast<size_t>(queries.rows.n)}, data);
            coterie::Team& team = cores.team();
            const coterie::dbscan::Measure measure = measure_of(metric, p, eps);
            {
                nb::gil_scoped_release release;
                const coterie::dbscan::Space to(team, cores.rows, measure);
                const coterie::dbscan::Space from(team, queries.rows, measure);
                coterie::dbscan::reach(team, to, labels.data(), from, index, data);
            }
            return out;
        },
        "cores"_a, "labels"_a, "queries"_a, "metric"_a, "p"_a, "eps"_a, "index"_a,
        "The lowest-numbered cluster with a core row within eps of each query, or -1.");
}
