// bind_exact.cpp: exact means and errors from integer sums.
#include "bindings/arrays.hpp"
#include "core/exact_sum.hpp"
#include "core/team.hpp"

using namespace nb::literals;

namespace {

coterie::Grid grid_of(const Input<int32_t, 1>& top, int levels) {
    return coterie::Grid(top.data(), static_cast<int>(top.shape(0)), levels);
}

// sums: (k, levels, columns), mass: (k, mass levels)
void check_shapes(const Input<int64_t, 3>& sums, const Input<int32_t, 1>& top,
                  const Input<int64_t, 2>& mass) {
    expect_shape("top", top, {sums.shape(2)});
    expect_shape("mass", mass, {sums.shape(0), mass.shape(1)});
}

} // namespace

void bind_exact(nb::module_& m) {
    m.def(
        "means_from_sums",
        [](coterie::Team& team, Input<int64_t, 3> sums, Input<int32_t, 1> top,
           Input<int64_t, 2> mass, int mass_top, InOut<double, 2> means) {
            check_shapes(sums, top, mass);
            expect_shape("means", means, {sums.shape(0), sums.shape(2)});
            const coterie::Grid grid = grid_of(top, static_cast<int>(sums.shape(1)));
            nb::gil_scoped_release release;
            return coterie::means_from_sums(team, sums.data(), grid, mass.data(),
                                            static_cast<int>(mass.shape(1)), mass_top,
                                            static_cast<int>(sums.shape(0)), means.data());
        },
        "team"_a, "sums"_a, "top"_a, "mass"_a, "mass_top"_a, "means"_a,
        "Write the rounded means of clusters with mass; False if the limbs are too many.");
    m.def(
        "saving",
        [](coterie::Team& team, Input<int64_t, 3> sums, Input<int32_t, 1> top,
           Input<int64_t, 2> mass, int mass_top, Input<double, 2> means) {
            check_shapes(sums, top, mass);
            expect_shape("means", means, {sums.shape(0), sums.shape(2)});
            coterie::WideSum total;
            const coterie::Grid grid = grid_of(top, static_cast<int>(sums.shape(1)));
            {
                nb::gil_scoped_release release;
                coterie::add_saving(team, sums.data(), grid, mass.data(),
                                    static_cast<int>(mass.shape(1)), mass_top,
                                    static_cast<int>(sums.shape(0)), means.data(), total);
            }
            return bytes_of(total);
        },
        "team"_a, "sums"_a, "top"_a, "mass"_a, "mass_top"_a, "means"_a,
        "Bytes of the exact sum of 2 m S - W m^2 over clusters and columns.");
    m.attr("WIDE_LOWEST_EXPONENT") = coterie::WideSum::kLowest;
}
