// two_nearest.hpp: W rows and their two nearest means, one row per lane: labels, and the
// distance that the means may move before the labels must be looked at again.
#pragma once

#include "kmeans/kernels/exact_nearest.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

// Slightly more and slightly less than one: a root and a product, rounded outward.
constexpr float kUp = 1.000001f, kDown = 0.999999f;
// Relative rounding of used slack, generously.
constexpr float kSlackRounding = 6e-7f;

// Two smallest proposals and the mean of the smallest, lane by lane.
struct Nearest {
    VF first = all(__builtin_inff()), second = all(__builtin_inff());
    VI label = {};
    COTERIE_INLINE void meet(VF value, int32_t mean) {
        const VI nearer = value < first;
        second = min(second, max(first, value));
        first = min(first, value);
        label = nearer ? all(mean) : label;
    }
    // `other` has met other means; true where its nearest is nearer.
    COTERIE_INLINE VI join(const Nearest& other) {
        const VI nearer = other.first < first;
        second = min(min(second, other.second), max(first, other.first));
        first = min(first, other.first);
        label = nearer ? other.label : label;
        return nearer;
    }
};

struct Outcome {
    VI label;
    VF reach, slack;  // upper bound on the distance to the own mean; trusted slack
    uint32_t settled; // lanes that the definition decided
};

// norm: |x|^2 of the rows; error: of their proposals, at most.
struct Comparison {
    VF norm, error;
    COTERIE_INLINE VF distance_above(VF proposal) const {
        return sqrt(max(proposal + norm, VF{}) + error) * kUp;
    }
    COTERIE_INLINE VF distance_below(VF proposal) const {
        return sqrt(max(proposal + norm - error, VF{})) * kDown;
    }
    // Rows whose two nearest means are too close to call are settled by the definition. index: of
    // the rows, of which the `live` ones count.
    COTERIE_INLINE Outcome decide(const Nearest& nearest, uint32_t live, const Rows& rows,
                                  const Model& model, Worker& worker, const int64_t* index) const {
        Outcome out{nearest.label, distance_above(nearest.first), {}, 0};
        out.slack = min(distance_below(nearest.second) - out.reach, all(model.hamerly.cap));
        out.settled = live & bits(nearest.second - nearest.first <= error + error);
        if (out.settled) {
            const VF farther = distance_above(nearest.first + error + error);
            for (uint32_t unclear = out.settled; unclear; unclear &= unclear - 1) {
                const int q = __builtin_ctz(unclear);
                out.label[q] = settle(rows, model, worker, index[q]);
                out.reach[q] = farther[q];
                out.slack[q] = -1.f - 2.f * farther[q];
            }
        }
        return out;
    }
};

// Used slack is never negative.
COTERIE_INLINE VF slack_limit_after(VF used_slack, VF slack) {
    return used_slack + slack - kSlackRounding * (used_slack + abs(slack));
}

} // namespace coterie::COTERIE_LEVEL::kmeans
