// bind_kmeans.cpp: assignment updates of one block.
#include "kmeans/lloyd.hpp"

#include "bindings/block.hpp"

using namespace nb::literals;
using coterie::Grid;

namespace {

struct LloydWork {
    nb::object block;
    nb::object labels;
    std::unique_ptr<coterie::kmeans::Lloyd> lloyd;
    int levels = 0, mass_levels = 1, k = 0, d = 0;
};

} // namespace

void bind_lloyd(nb::module_& m) {
    nb::class_<LloydWork>(m, "Lloyd", "Assignment updates of one block.")
        .def(
            "__init__",
            [](LloydWork* self, nb::object block, InOut<int32_t, 1> labels, Input<double, 1> low,
               Input<double, 1> high, std::optional<Input<int32_t, 1>> top, int levels,
               std::optional<int> mass_top, int mass_levels, const std::string& algorithm) {
                const Block& b = nb::cast<Block&>(block);
                expect_shape("labels", labels, {b.n()});
                if (top)
                    expect_shape("top", *top, {b.d()});
                std::optional<Grid> grid, mass;
                if (top)
                    grid = Grid(top->data(), b.rows.d, levels);
                if (mass_top)
                    mass = Grid(&*mass_top, 1, mass_levels);
                LloydWork work;
                work.lloyd = std::make_unique<coterie::kmeans::Lloyd>(
                    b.rows, ranges_of(b, low, high), labels.data(), std::move(grid),
                    std::move(mass),
                    algorithm == "brute" ? coterie::kmeans::Algorithm::brute
                                         : coterie::kmeans::Algorithm::bounds);
                work.block = block;
                work.labels = nb::cast(labels);
                work.levels = levels;
                work.mass_levels = mass_top ? mass_levels : 1;
                work.d = b.rows.d;
                new (self) LloydWork(std::move(work)); // last: an error before leaves nothing
            },
            "block"_a, "labels"_a, "low"_a, "high"_a, "top"_a.none(), "levels"_a,
            "mass_top"_a.none(), "mass_levels"_a, "algorithm"_a)
        .def(
            "step",
            [](LloydWork& self, Input<double, 2> means) {
                coterie::Team& team = nb::cast<Block&>(self.block).team();
                expect_shape("means", means, {means.shape(0), static_cast<size_t>(self.d)});
                if (means.shape(0) == 0)
                    throw nb::value_error("means: expected at least one");
                coterie::kmeans::StepCounts counts;
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
