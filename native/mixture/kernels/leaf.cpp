// leaf.cpp: log-likelihood, responsibilities and labels of a leaf of rows.
#include "mixture/kernels/leaf.hpp"

namespace coterie::COTERIE_LEVEL::mixture {

// Logs are to the base 2 until they leave the kernel.
constexpr double kLog2 = 0.69314718055994530942;

// Exponentials of log densities up to this size, and sums of them, are far from the ends of
// float64.
constexpr double kNear = 900.0;
// Of the bits of a float64: the fraction, and the exponent of numbers from one to two.
constexpr int64_t kFraction = (int64_t{1} << 52) - 1, kOne = int64_t{1023} << 52;

// A function of its own, so that nothing else asks for registers.
__attribute__((noinline)) void exponentials(double* x, int vectors) { powers(x, vectors); }

namespace {

// Takes the log densities of eight rows below the largest of each row. Zeros will come from those
// that are not above the limits (k,), if there are any.
void lower(double* logs, int k, const double* limits, double* top) {
    for (int p = 0; p < kParts; ++p) {
        double* x = logs + p * kLanes;
        VD largest = load<VD>(x);
        for (int c = 1; c < k; ++c)
            largest = max(largest, load<VD>(x + 8 * c));
        for (int c = 0; c < k; ++c) {
            const VD below = load<VD>(x + 8 * c) - largest;
            store(x + 8 * c, below > every(least_log(limits, c)) ? below : every(kLogOfZero));
        }
        store(top + p * kLanes, largest);
    }
}

} // namespace

// Must log densities be lowered, before they become exponentials? The outputs of a row must not
// depend on the rows beside it, and one component has all of a row, to the last bit.
bool Leaf::far_below(const MixtureTask& task, const VD* lowest) const {
    bool near = k > 1 && !task.out.scores && !task.out.responsibilities &&
                *std::max_element(task.model.offsets, task.model.offsets + k) < kNear;
    for (int p = 0; p < kParts; ++p)
        near = near && !above(every(-kNear), lowest[p]);
    return !near;
}

// Log densities of groups [from, to) become exponentials, and of these totals and shares: the
// logarithm of a total, plus the largest, is the log-sum-exp of a row.
void Leaf::exponentiate(int from, int to, bool lowered, const double* limits) {
    if (lowered)
        for (int g = from; g < to; ++g)
            lower(logs(g), k, limits, top + 8 * g);
    else
        std::memset(top + 8 * from, 0, sizeof(double) * 8 * (to - from));
    exponentials(logs(from), (to - from) * k * kParts);
    for (int g = from; g < to; ++g) {
        const double* e = logs(g);
        VD sum[kParts] = {};
        for (int c = 0; c < k; ++c)
            for (int p = 0; p < kParts; ++p)
                sum[p] += load<VD>(e + 8 * c + p * kLanes);
        for (int p = 0; p < kParts; ++p) {
            store(total + 8 * g + p * kLanes, sum[p]);
            store(share + 8 * g + p * kLanes, every(1.0) / sum[p]);
        }
    }
}

LogLikelihood::LogLikelihood() {
    for (VD& one : product_)
        one = every(1.0);
}

// Of 32 groups at most, so that the product stays far below the largest number.
void LogLikelihood::add(const double* top, const double* total, int groups) {
    for (int p = 0; p < kParts; ++p) {
        VD product = product_[p];
        for (int g = 0; g < groups; ++g) {
            const VL sum = load<VL>(total + 8 * g + p * kLanes);
            tops_[p] += load<VD>(top + 8 * g + p * kLanes);
            powers_[p] += (sum >> 52) - 1023;
            product *= (VD)((sum & kFraction) | kOne);
        }
        powers_[p] += ((VL)product >> 52) - 1023;
        product_[p] = (VD)(((VL)product & kFraction) | kOne);
    }
}

double LogLikelihood::value() const {
    double lanes[8];
    for (int p = 0; p < kParts; ++p)
        for (int q = 0; q < kLanes; ++q)
            lanes[p * kLanes + q] = (tops_[p][q] + static_cast<double>(powers_[p][q])) * kLog2 +
                                    std::log(product_[p][q]);
    return logs_ + across(lanes);
}

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

// After all groups are exponentiated: log-likelihood, scores, responsibilities, shares.
void Leaf::finish(const MixtureTask& task) {
    for (int r = n; r < 8 * groups; ++r)
        top[r] = 0.0, total[r] = 1.0;
    const double* weights = task.rows.block->weights ? task.rows.block->weights + first : nullptr;
    if (task.out.scores || weights)
        for (int r = 0; r < n; ++r) {
            const double score = top[r] * kLog2 + std::log(total[r]);
            likelihood.add(weights ? weights[r] * score : score);
            if (task.out.scores)
                task.out.scores[first + r] = score;
        }
    else
        likelihood.add(top, total, groups);
    if (task.out.responsibilities)
        for (int r = 0; r < n; ++r)
            for (int c = 0; c < k; ++c)
                task.out.responsibilities[(first + r) * k + c] =
                    logs(r / 8)[8 * c + r % 8] * share[r];
    if (weights)
        for (int r = 0; r < n; ++r)
            share[r] *= weights[r];
    for (int r = n; r < 8 * groups; ++r)
        share[r] = 0.0;
}

// Exponentials become weights times responsibilities; NaN becomes zero. Returns how many are
// above that.
int64_t Leaf::weigh() const {
    VL count = {};
    for (int g = 0; g < groups; ++g)
        for (int p = 0; p < kParts; ++p) {
            const VD times = load<VD>(share + 8 * g + p * kLanes);
            double* e = logs(g) + p * kLanes;
            for (int c = 0; c < k; ++c) {
                const VD weight = max(load<VD>(e + 8 * c) * times, VD{});
                count -= (VL)(weight > VD{});
                store(e + 8 * c, weight);
            }
        }
    int64_t sum = 0;
    for (int q = 0; q < kLanes; ++q)
        sum += count[q];
    return sum;
}

// Responsibilities that the caller knows.
void Leaf::take_given(const MixtureTask& task) {
    std::memset(responsibilities, 0, sizeof(double) * 8 * groups * static_cast<size_t>(k));
    for (int r = 0; r < n; ++r) {
        double* e = logs(r / 8) + r % 8;
        if (task.m_step.given_responsibilities)
            for (int c = 0; c < k; ++c)
                e[8 * c] = task.m_step.given_responsibilities[(first + r) * k + c];
        else
            e[8 * (task.m_step.given_labels ? task.m_step.given_labels[first + r] : 0)] = 1.0;
        share[r] = task.rows.block->weight(first + r);
    }
    for (int r = n; r < 8 * groups; ++r)
        share[r] = 0.0;
}

} // namespace coterie::COTERIE_LEVEL::mixture
