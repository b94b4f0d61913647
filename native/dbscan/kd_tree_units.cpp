// kd_tree_units.cpp: centre and unit of the data, and whether float32 is fine enough for them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "dbscan/kd_tree_rows.hpp"

namespace coterie::dbscan {

TreeScaling TreeScaling::around(Team& team, const std::vector<const Space*>& spaces,
                                bool may_be_single) {
    const int d = spaces[0]->width();
    std::vector<double> low(d, std::numeric_limits<double>::infinity());
    std::vector<double> high(d, -std::numeric_limits<double>::infinity());
    std::mutex guard;
    for (const Space* space : spaces)
        team.for_chunks(space->n(), 1 + (1 << 16) / d, [&](int, int64_t begin, int64_t end) {
            std::vector<double> a(low.size(), std::numeric_limits<double>::infinity()), b(d),
                scratch(d);
            for (int l = 0; l < d; ++l)
                b[l] = -a[l];
            for (int64_t i = begin; i < end; ++i)
                with_coordinates(*space, i, scratch.data(), [&](const auto* x) {
                    for (int l = 0; l < d; ++l) {
                        a[l] = x[l] < a[l] ? x[l] : a[l];
                        b[l] = x[l] > b[l] ? x[l] : b[l];
                    }
                });
            std::lock_guard<std::mutex> lock(guard);
            for (int l = 0; l < d; ++l) {
                low[l] = std::min(low[l], a[l]);
                high[l] = std::max(high[l], b[l]);
            }
        });
    TreeScaling scaling;
    int exponent = 0;
    std::frexp(spaces[0]->bounds().outer, &exponent);
    scaling.unit = std::ldexp(1.0, std::clamp(-exponent, -1020, 1020));
    scaling.centre.resize(d);
    double reach = 0;
    for (int l = 0; l < d; ++l) {
        scaling.centre[l] = 0.5 * low[l] + 0.5 * high[l];
        reach = std::max({reach, high[l] - scaling.centre[l], scaling.centre[l] - low[l]});
    }
    scaling.reach = reach * scaling.unit;
    const Norm norm = spaces[0]->norm();
    const double count = norm == Norm::squares ? std::sqrt(d) : norm == Norm::sum ? d : 1;
    scaling.single =
        may_be_single && scaling.reach < 1e15 &&
        0x1p-23 * scaling.reach * count <= 0.01 * spaces[0]->bounds().outer * scaling.unit;
    if (!scaling.single) { // float64 coordinates are those of the space, bit for bit
        reach = 0;
        for (int l = 0; l < d; ++l) {
            reach = std::max({reach, std::fabs(low[l]), std::fabs(high[l])});
            scaling.centre[l] = 0;
        }
        scaling.reach = reach * scaling.unit;
    }
    return scaling;
}

} // namespace coterie::dbscan
