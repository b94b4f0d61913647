// lanes.hpp: vectors of float or double under the same names, for kernels that are written once.
#pragma once

#include "simd/doubles.hpp"

namespace coterie::COTERIE_LEVEL {

template <class T> struct Lanes;
template <> struct Lanes<float> {
    typedef VF V;
    static constexpr int count = W;
};
template <> struct Lanes<double> {
    typedef VD V;
    static constexpr int count = kLanes;
};

COTERIE_INLINE VF spread(float x) { return all(x); }
COTERIE_INLINE VD spread(double x) { return every(x); }

// The double form is the definition's: multiply, then add.
COTERIE_INLINE VF add_square(VF s, VF x) { return fma(x, x, s); }
COTERIE_INLINE VD add_square(VD s, VD x) { return s + x * x; }

} // namespace coterie::COTERIE_LEVEL
