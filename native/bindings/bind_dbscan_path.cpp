// bind_dbscan_path.cpp: DBSCAN of one block for every eps.
#include "bindings/block.hpp"
#include "dbscan/every_eps.hpp"

using namespace nb::literals;

namespace {

struct ReachabilityWork {
    nb::object block;
    std::unique_ptr<coterie::dbscan::MutualReachability> tree;
    std::vector<nb::object> keep; // the memory that near points into
    coterie::dbscan::NearestRows near{};
    coterie::Team& team() const { return nb::cast<Block&>(block).team(); }
};

coterie::dbscan::Metric metric_named(const std::string& name) {
    if (name == "euclidean")
        return coterie::dbscan::Metric::euclidean;
    if (name == "manhattan")
        return coterie::dbscan::Metric::manhattan;
    if (name == "chebyshev")
        return coterie::dbscan::Metric::chebyshev;
    throw nb::value_error(
        ("expected metric euclidean, manhattan or chebyshev, got " + name).c_str());
}

} // namespace

void bind_reachability(nb::module_& m) {
    nb::class_<ReachabilityWork>(m, "Reachability", "Nearest rows, then the spanning tree.")
        .def(
            "__init__",
            [](ReachabilityWork* self, nb::object block, const std::string& metric, double unit,
               int64_t min_samples) {
                ReachabilityWork
                    work; // moved into place when whole: an error leaves nothing behind
                work.block = block;
                const coterie::dbscan::Metric known = metric_named(metric);
                const coterie::Rows& rows = nb::cast<Block&>(block).rows;
                coterie::Team& team = work.team();
                {
                    nb::gil_scoped_release release;
                    work.tree = std::make_unique<coterie::dbscan::MutualReachability>(
                        team, rows, known, unit, min_samples);
                }
                new (self) ReachabilityWork(std::move(work));
            },
            "block"_a, "metric"_a, "unit"_a, "min_samples"_a)
        .def(
            "nearest",
            [](ReachabilityWork& w) {
                const auto n = static_cast<size_t>(w.tree->n());
                const auto k = static_cast<size_t>(w.tree->k());
                auto core = new_array<double>({n}, w.near.core);
                auto member = new_array<double>({n}, w.near.member);
                auto sums = new_array<double>({n, k}, w.near.sums);
                auto rows = new_array<int32_t>({n, k}, w.near.neighbours);
                w.keep = {nb::cast(core), nb::cast(member), nb::cast(sums), nb::cast(rows)};
                coterie::Team& team = w.team();
                {
                    nb::gil_scoped_release release;
                    w.tree->nearest(team, w.near);
                }
                return std::make_tuple(core, member, sums, rows);
            },
            "(core, member, sums (n, k), neighbours (n, k)).")
        .def(
            "span",
            [](ReachabilityWork& w) {
                if (!w.near.core)
                    throw nb::value_error("expected nearest() to be called first");
                const auto n = static_cast<size_t>(w.tree->n());
                coterie::dbscan::ReachabilityPlot chain{};
                auto order = new_array<int32_t>({n}, chain.order);
                auto height = new_array<double>({n}, chain.height);
                coterie::Team& team = w.team();
                {
                    nb::gil_scoped_release release;
                    w.tree->span(team, w.near, chain);
                }
                return std::make_tuple(order, height);
            },
            "(order, height): rows as a chain, and when neighbours in it belong together.");
    m.def(
        "cut",
        [](coterie::Team& team, Input<double, 1> core, Input<double, 1> member,
           Input<double, 2> sums, Input<int32_t, 2> neighbours, Input<int32_t, 1> order,
           Input<double, 1> height, double reach) {
            const size_t n = core.shape(0), k = sums.shape(1);
            expect_shape("member", member, {n});
            expect_shape("sums", sums, {n, k});
            expect_shape("neighbours", neighbours, {n, k});
            expect_shape("order", order, {n});
            expect_shape("height", height, {n});
            int64_t* labels;
            auto out = new_array<int64_t>({n}, labels);
            coterie::dbscan::ReachabilityStructure path;
            path.n = static_cast<int64_t>(n);
            path.k = static_cast<int64_t>(k);
            path.core = core.data();
            path.member = member.data();
            path.sums = sums.data();
            path.neighbours = neighbours.data();
            path.order = order.data();
            path.height = height.data();
            int64_t clusters;
            {
                nb::gil_scoped_release release;
                clusters = coterie::dbscan::cut(team, path, reach, labels);
            }
            return std::make_tuple(out, clusters);
        },
        "team"_a, "core"_a, "member"_a, "sums"_a, "neighbours"_a, "order"_a, "height"_a, "reach"_a,
        "(labels, number of clusters) where distances of at most `reach` are nearby.");
}
