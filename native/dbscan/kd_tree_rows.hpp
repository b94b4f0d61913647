// kd_tree_rows.hpp: rows of a space as coordinates of a tree.
#pragma once

#include "dbscan/kd_tree.hpp"

namespace coterie::dbscan {

// Calls use(pointer to the row's coordinates) without a copy where rows are their own coordinates.
template <class Use>
void with_coordinates(const Space& space, int64_t i, double* scratch, Use use) {
    const Rows& rows = space.rows();
    if (!space.plain()) {
        space.coordinates(i, scratch);
        use(static_cast<const double*>(scratch));
    } else if (rows.kind == Kind::float64) {
        use(static_cast<const double*>(rows.values) + i * rows.d);
    } else {
        use(static_cast<const float*>(rows.values) + i * rows.d);
    }
}

// Reads rows as tree coordinates.
template <class T> struct Reader {
    const Space& space;
    const TreeScaling& scaling;
    mutable std::vector<double> scratch;

    Reader(const Space& space_, const TreeScaling& scaling_)
        : space(space_), scaling(scaling_), scratch(space.width()) {}

    void operator()(int64_t i, T* out) const {
        const int d = space.width();
        const double *centre = scaling.centre.data(), unit = scaling.unit;
        with_coordinates(space, i, scratch.data(), [=](const auto* x) {
            for (int l = 0; l < d; ++l)
                out[l] = static_cast<T>((double(x[l]) - centre[l]) * unit);
        });
    }
};

} // namespace coterie::dbscan
