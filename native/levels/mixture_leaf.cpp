// mixture_leaf.cpp: log-likelihood, degrees and labels of a leaf of rows.
#include "mixture_leaf.hpp"

namespace coterie::COTERIE_LEVEL {

// Logs are to the base 2 until they leave the kernel.
constexpr double kLog2 = 0.69314718055994530942;

// From log densities: the largest, the lowest index among equals.
void Leaf::choose_labels(int32_t* out) const {
    for (int g = 0; g < groups; ++g)
        for (int p = 0; p < kParts; ++p) {
            const double* e = logs(g) + p * kLanes;
            VD best = load<VD>(e);
            VL label = {};
            for (int c = 1; c < k; ++c) {
                const VD value = load<VD>(e + 8 * c);
                label = value > best ? VL{} + c : label;
                best = max(value, best);
            }
            for (int q = 0; q < kLanes; ++q)
                if (const int r = 8 * g + p * kLanes + q; r < n)
                    out[r] = static_cast<int32_t>(label[q]);
        }
}

// After all groups are exponentiated: shares, scores, degrees; returns the log-likelihood.
double Leaf::finish(const MixtureTask& task) {
    for (int r = n; r < 8 * groups; ++r)
        top[r] = 0.0, total[r] = 1.0;
    const double* weights = task.rows->weights ? task.rows->weights + first : nullptr;
    double likelihood = 0.0;
    if (task.scores || weights)
        for (int r = 0; r < n; ++r) {
            const double score = top[r] * kLog2 + std::log(total[r]);
            likelihood += weights ? weights[r] * score : score;
            if (task.scores)
                task.scores[first + r] = score;
        }
    else {
        // One logarithm for the product of 32 sums, each between 1 and k.
        VD sum[kParts] = {}, product[kParts];
        for (auto& one : product)
            one = every(1.0);
        for (int g = 0; g < groups; ++g)
            for (int p = 0; p < kParts; ++p) {
                sum[p] += load<VD>(top + 8 * g + p * kLanes);
                product[p] *= load<VD>(total + 8 * g + p * kLanes);
            }
        double lanes[8];
        for (int p = 0; p < kParts; ++p)
            for (int q = 0; q < kLanes; ++q)
                lanes[p * kLanes + q] = sum[p][q] * kLog2 + std::log(product[p][q]);
        likelihood = across(lanes);
    }
    for (int g = 0; g < groups; ++g)
        for (int p = 0; p < kParts; ++p)
            store(share + 8 * g + p * kLanes, every(1.0) / load<VD>(total + 8 * g + p * kLanes));
    if (task.degrees)
        for (int r = 0; r < n; ++r)
            for (int c = 0; c < k; ++c)
                task.degrees[(first + r) * k + c] = logs(r / 8)[8 * c + r % 8] * share[r];
    if (weights)
        for (int r = 0; r < n; ++r)
            share[r] *= weights[r];
    for (int r = n; r < 8 * groups; ++r)
        share[r] = 0.0;
    return likelihood;
}

// Degrees of belonging that the caller knows.
void Leaf::take_given(const MixtureTask& task) {
    std::memset(degrees, 0, sizeof(double) * 8 * groups * static_cast<size_t>(k));
    for (int r = 0; r < n; ++r) {
        double* e = logs(r / 8) + r % 8;
        if (task.given_degrees)
            for (int c = 0; c < k; ++c)
                e[8 * c] = task.given_degrees[(first + r) * k + c];
        else
            e[8 * (task.given_labels ? task.given_labels[first + r] : 0)] = 1.0;
        share[r] = task.rows->weight(first + r);
    }
    for (int r = n; r < 8 * groups; ++r)
        share[r] = 0.0;
}

} // namespace coterie::COTERIE_LEVEL
