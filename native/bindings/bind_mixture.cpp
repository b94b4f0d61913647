// bind_mixture.cpp: sweeps over a block for a Gaussian mixture.
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/block.hpp"
#include "mixture/mixture.hpp"

using namespace nb::literals;
using coterie::mixture::Covariance;
using coterie::mixture::Mixture;
using coterie::mixture::MixtureTask;

namespace {

Covariance covariance_of(const std::string& name) {
    if (name == "full")
        return Covariance::full;
    if (name == "tied")
        return Covariance::tied;
    if (name == "diag")
        return Covariance::diag;
    if (name == "spherical")
        return Covariance::spherical;
    throw std::invalid_argument("kind: expected full, tied, diag or spherical, got " + name);
}

struct PreparedMixture {
    Covariance kind;
    int k, d;
    std::vector<double> origin, scale;
    bool centres_only;
    std::unique_ptr<Mixture> mixture;
    // The course of the last sweep, for tests.
    std::string why;
    int64_t repeated = 0;
    bool abandoned = false;

    MixtureTask densities(const Block& block) const {
        if (centres_only)
            throw std::invalid_argument("a mixture without factors has no densities");
        return task(block);
    }
    MixtureTask task(const Block& block) const {
        if (block.rows.sparse() || block.rows.d != d)
            throw std::invalid_argument("expected dense rows with as many columns as the mixture");
        MixtureTask out;
        out.rows.block = &block.rows;
        out.rows.origin = origin.data();
        out.rows.scale = scale.data();
        out.shape = {kind, k, d};
        mixture->describe(out);
        return out;
    }
};

using Nodes = std::vector<std::tuple<int, int64_t, Output<double>>>;

Nodes swept(PreparedMixture& self, const Block& block, const MixtureTask& task, int64_t first) {
    coterie::Team& team = block.team();
    coterie::mixture::Swept swept;
    {
        nb::gil_scoped_release release;
        swept = coterie::mixture::sweep(team, task, first);
    }
    self.why = std::move(swept.plan.why);
    self.repeated = swept.repeated;
    self.abandoned = swept.abandoned;
    Nodes out;
    for (coterie::mixture::Node& node : swept.nodes)
        out.emplace_back(node.level, node.index, array_of(std::move(node.sums)));
    return out;
}

size_t size_of_factors(Covariance kind, size_t k, size_t d) {
    switch (kind) {
    case Covariance::full: return k * (d * (d + 1) / 2);
    case Covariance::tied: return d * d;
    case Covariance::diag: return k * d;
    case Covariance::spherical: return k;
    }
    return 0;
}

} // namespace

void bind_mixture(nb::module_& m) {
    m.def("mixture_chunk_rows", &coterie::mixture::mixture_chunk_rows, "d"_a,
          "Blocks that begin at multiples of this many rows give the same bits as one block.");

    nb::class_<PreparedMixture>(m, "Mixture", "A Gaussian mixture, prepared for sweeps.")
        .def(
            "__init__",
            [](PreparedMixture* self, coterie::Team& team, const std::string& kind,
               Input<double, 1> origin, Input<double, 1> scale, Input<double, 1> offsets,
               Input<double, 2> means, std::optional<Input<double, 1>> factors,
               std::optional<Input<double, 2>> centres,
               std::optional<Input<double, 1>> negligible) {
                const size_t k = means.shape(0), d = means.shape(1);
                if (k == 0 || d == 0)
                    throw std::invalid_argument("means: expected components and columns");
                const Covariance covariance = covariance_of(kind);
                const size_t wanted = size_of_factors(covariance, k, d);
                expect_shape("origin", origin, {d});
                expect_shape("scale", scale, {d});
                expect_shape("offsets", offsets, {k});
                if (factors)
                    expect_shape("factors", *factors, {wanted});
                if (centres)
                    expect_shape("centres", *centres, {k, d});
                if (negligible)
                    expect_shape("negligible", *negligible, {k});
                PreparedMixture made; // moved into place when whole: an error leaves nothing behind
                made.kind = covariance;
                made.k = static_cast<int>(k);
                made.d = static_cast<int>(d);
                made.origin.assign((d + 3) / 4 * 4, 0.0);
                made.scale.assign((d + 3) / 4 * 4, 0.0);
                std::copy(origin.data(), origin.data() + d, made.origin.begin());
                std::copy(scale.data(), scale.data() + d, made.scale.begin());
                made.centres_only = !factors;
                nb::gil_scoped_release release;
                made.mixture = std::make_unique<Mixture>(
                    team, covariance, made.k, made.d, offsets.data(), means.data(),
                    factors ? factors->data() : nullptr, centres ? centres->data() : nullptr,
                    negligible ? negligible->data() : nullptr);
                new (self) PreparedMixture(std::move(made));
            },
            "team"_a, "kind"_a, "origin"_a, "scale"_a, "offsets"_a, "means"_a, "factors"_a.none(),
            "centres"_a.none(), "negligible"_a.none() = nb::none())
        .def(
            "sweep",
            [](PreparedMixture& self, const Block& block, int64_t first) {
                return swept(self, block, self.densities(block), first);
            },
            "block"_a, "first"_a, "Nodes (level, index, sums) of the tree of chunks.")
        .def(
            "likelihood",
            [](PreparedMixture& self, const Block& block, int64_t first) {
                MixtureTask task = self.densities(block);
                task.m_step.moments = false;
                Nodes out = swept(self, block, task, first);
                for (auto& [level, index, sums] : out)
                    sums =
                        array_of(std::vector<double>{static_cast<const double*>(sums.data())[0]});
                return out;
            },
            "block"_a, "first"_a, "The same for the log-likelihood alone, (1,).")
        .def(
            "sums_of_labels",
            [](PreparedMixture& self, const Block& block, int64_t first,
               std::optional<Input<int32_t, 1>> labels) {
                MixtureTask task = self.task(block);
                task.m_step.all_in_one = !labels;
                if (!labels && self.k != 1)
                    throw std::invalid_argument("expected labels: there are several components");
                if (labels) {
                    expect_shape("labels", *labels, {block.n()});
                    for (int64_t i = 0; i < block.rows.n; ++i)
                        if (labels->data()[i] < 0 || labels->data()[i] >= self.k)
                            throw std::invalid_argument("expected labels from 0 to k - 1");
                    task.m_step.given_labels = labels->data();
                }
                return swept(self, block, task, first);
            },
            "block"_a, "first"_a, "labels"_a.none(), "The same for degrees in {0, 1}.")
        .def(
            "sums_of_degrees",
            [](PreparedMixture& self, const Block& block, int64_t first, Input<double, 2> degrees) {
                MixtureTask task = self.task(block);
                expect_shape("degrees", degrees, {block.n(), static_cast<size_t>(self.k)});
                task.m_step.given_responsibilities = degrees.data();
                return swept(self, block, task, first);
            },
            "block"_a, "first"_a, "degrees"_a, "The same for given degrees of belonging.")
        .def(
            "scores",
            [](PreparedMixture& self, const Block& block) {
                MixtureTask task = self.densities(block);
                task.m_step.sums = false;
                auto out = new_array<double>({static_cast<size_t>(block.rows.n)}, task.out.scores);
                swept(self, block, task, 0);
                return out;
            },
            "block"_a, "(n,) log-likelihood of each row.")
        .def(
            "degrees",
            [](PreparedMixture& self, const Block& block) {
                MixtureTask task = self.densities(block);
                task.m_step.sums = false;
                auto out = new_array<double>(
                    {static_cast<size_t>(block.rows.n), static_cast<size_t>(self.k)},
                    task.out.responsibilities);
                swept(self, block, task, 0);
                return out;
            },
            "block"_a, "(n, k) degrees of belonging.")
        .def(
            "labels",
            [](PreparedMixture& self, const Block& block) {
                MixtureTask task = self.densities(block);
                task.m_step.sums = false;
                auto out = new_array<int32_t>({static_cast<size_t>(block.rows.n)}, task.out.labels);
                swept(self, block, task, 0);
                return out;
            },
            "block"_a, "(n,) the component of the largest degree, the lowest among equals.")
        .def_prop_ro(
            "why", [](const PreparedMixture& self) { return self.why; },
            "Which kernels the last sweep used, with reasons.")
        .def_prop_ro(
            "repeated", [](const PreparedMixture& self) { return self.repeated; },
            "Chunks whose sums lost digits about the origin and were taken again.")
        .def_prop_ro(
            "abandoned", [](const PreparedMixture& self) { return self.abandoned; },
            "Whether bounds left over so many densities that all were computed.");
}
