// axes_densities.hpp: log densities near the origin, of spherical components, or of whitened rows.
//
// They are linear in the columns of a row and in its squared length:
// -p |z - m|^2 = 2 p m'z - p |z|^2 - p |m|^2, with no difference for each component and column.
#pragma once

#include <limits>

#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

struct LinearDensities {
    int k, d, apart;      // apart: from one group of rows to the next
    double* lengths;      // (256,) squared
    double* model;        // (k, d + 2) factors of the columns and of the length, and a summand
    double lowest, slope; // no log density is below lowest + slope |z|^2

    LinearDensities(const SumsShape& shape, const Leaf& leaf, Scratch& scratch)
        : k(leaf.k), d(leaf.d), apart(8 * leaf.padded), lengths(scratch.take<double>(kLeafRows)),
          model(scratch.take<double>(static_cast<size_t>(shape.k) * (shape.d + 2))) {}

    void pack(const MixtureTask& task) {
        double *out = model, steepest = 0.0, farthest = 0.0;
        for (int c = 0; c < k; ++c, out += d + 2) {
            const double* mean = task.model.means + static_cast<size_t>(c) * d;
            // Halves are in the factors, of whitened rows in the whitener.
            const double precision =
                task.shape.kind == Covariance::spherical ? task.model.factors[c] : 1.0;
            double length = 0.0;
            for (int j = 0; j < d; ++j) {
                out[j] = 2 * precision * mean[j];
                length = std::fma(mean[j], mean[j], length);
            }
            out[d] = -precision;
            out[d + 1] = task.model.offsets[c] - precision * length;
            steepest = std::max(steepest, precision);
            farthest = std::max(farthest, length);
        }
        // |z - m|^2 <= 2 |z|^2 + 2 |m|^2
        slope = -2 * steepest;
        lowest = *std::min_element(task.model.offsets, task.model.offsets + k) + slope * farthest;
    }

    // Squared lengths of Groups times eight rows at z, and a lower bound of all log densities. Odd
    // columns apart: fewer wait for each other. Rows whose length overflows become zeros, since
    // products with means might overflow too, to the other side.
    template <int Groups> void measure(double* z, int g, VD* low) const {
        constexpr int kVectors = Groups * kParts;
        VD even[kVectors], odd[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            even[v] = odd[v] = VD{};
        for (int j = 0; j + 2 <= d; j += 2)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
                const VD x = load<VD>(at(z, v) + 8 * j), y = load<VD>(at(z, v) + 8 * j + 8);
                even[v] = fma(x, x, even[v]);
                odd[v] = fma(y, y, odd[v]);
            }
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const VD last = d % 2 ? load<VD>(at(z, v) + 8 * (d - 1)) : VD{};
            const VD length = fma(last, last, even[v]) + odd[v];
            if (above(length, every(std::numeric_limits<double>::max())))
                for (int j = 0; j < d; ++j) {
                    double* x = at(z, v) + 8 * j;
                    store(x, length < every(INFINITY) ? load<VD>(x) : VD{});
                }
            store(lengths + 8 * g + v * kLanes, length);
            low[v % kParts] = min(low[v % kParts], fma(length, every(slope), every(lowest)));
        }
    }

    // Log densities of the same rows under Together components, from c on. A function of its own,
    // so that nothing else asks for registers.
    template <int Groups, int Together>
    __attribute__((noinline)) void densities(double* z, int g, int c, double* logs) const {
        constexpr int kVectors = Groups * kParts;
        const int columns = d, size = d + 2, log_apart = 8 * k;
        const double* from = model + static_cast<size_t>(c) * size;
        VD log[Together][kVectors], x[kVectors];
#pragma GCC unroll 6
        for (int t = 0; t < Together; ++t)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                log[t][v] = every(from[t * size + columns + 1]);
        const auto add = [&](int j) __attribute__((always_inline)) {
#pragma GCC unroll 6
            for (int t = 0; t < Together; ++t) {
                const VD factor = every(from[t * size + j]);
#pragma GCC unroll 4
                for (int v = 0; v < kVectors; ++v)
                    log[t][v] = fma(x[v], factor, log[t][v]);
            }
        };
        for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                x[v] = load<VD>(at(z, v) + 8 * j);
            add(j);
        }
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v)
            x[v] = load<VD>(lengths + 8 * g + v * kLanes);
        add(columns);
#pragma GCC unroll 6
        for (int t = 0; t < Together; ++t)
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v)
                store(logs + v / kParts * log_apart + 8 * t + v % kParts * kLanes, log[t][v]);
    }

private:
    COTERIE_INLINE double* at(double* z, int v) const {
        return z + v / kParts * apart + v % kParts * kLanes;
    }
};

} // namespace coterie::COTERIE_LEVEL::mixture
