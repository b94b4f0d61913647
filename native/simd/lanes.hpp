// lanes.hpp: vectors of float or double under the same names, for kernels that are written once.
#pragma once

#include "simd/doubles.hpp"
#include "simd/eight_floats.hpp"

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
#if defined(__AVX512F__) // elsewhere these eight are a vector of the level, or none asks
COTERIE_INLINE F8 add_square(F8 s, F8 x) { return s + x * x; }
COTERIE_INLINE F8 abs(F8 a) { return max(a, -a); }
#endif

} // namespace coterie::COTERIE_LEVEL
