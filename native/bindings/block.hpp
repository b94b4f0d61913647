// block.hpp: a block of rows as Python holds it, for the bindings of the work done on it.
#pragma once

#include "bindings/arrays.hpp"
#include "core/team.hpp"
#include "kmeans/packed_means.hpp"

// Rows together with the arrays they point into and the team that works on them.
struct Block {
    coterie::Rows rows;
    nb::object team_object;
    std::vector<nb::object> keep;
    coterie::Team& team() const { return nb::cast<coterie::Team&>(team_object); }
    size_t n() const { return static_cast<size_t>(rows.n); }
    size_t d() const { return static_cast<size_t>(rows.d); }
};

// The smallest and the largest value of each column.
inline coterie::Ranges ranges_of(const Block& block, const Input<double, 1>& low,
                                 const Input<double, 1>& high) {
    expect_shape("low", low, {block.d()});
    expect_shape("high", high, {block.d()});
    return {{low.data(), low.data() + low.shape(0)}, {high.data(), high.data() + high.shape(0)}};
}
