// brute_index.cpp: DBSCAN by comparing every pair, word for word as it is defined.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/union_find.hpp"
#include "dbscan/index.hpp"

namespace coterie::dbscan {
namespace {

void pause(Team& team, int thread, int64_t j) {
    if (j % 4096 == 4095)
        team.check(thread);
}

// The lowest-numbered cluster with a core row nearby row i of `from`, or -1.
int64_t lowest_reaching(Team& team, int thread, const Space& from, int64_t i, const Space& to,
                        const uint8_t* core, const int64_t* labels) {
    constexpr int64_t none = std::numeric_limits<int64_t>::max();
    int64_t lowest = none;
    for (int64_t j = 0; j < to.n(); ++j) {
        pause(team, thread, j);
        if ((!core || core[j]) && labels[j] < lowest && from.nearby(i, to, j))
            lowest = labels[j];
    }
    return lowest == none ? -1 : lowest;
}

class BruteDensity final : public Index {
public:
    explicit BruteDensity(const Space& space)
        : space_(space), n_(space.n()), parents_(static_cast<size_t>(n_)), sets_(parents_.data()) {}

    const char* name() const override { return "brute"; }

    void count(Team& team, const CoreRule& rule, uint8_t* core) override {
        core_ = core;
        team.for_chunks(n_, 1, [&](int thread, int64_t i, int64_t) {
            sets_.start(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
            std::vector<double> weights;
            int64_t found = 0;
            const bool all = rule.counts || rule.weights;
            for (int64_t j = 0; j < n_ && (all || found < rule.min_samples); ++j) {
                pause(team, thread, j);
                if (!space_.nearby(i, j))
                    continue;
                ++found;
                if (rule.weights)
                    weights.push_back(rule.weights[j]);
            }
            if (rule.counts)
                rule.counts[i] = found;
            core[i] =
                rule.weights ? enough_weight(weights, rule.min_samples) : found >= rule.min_samples;
        });
    }

    void connect(Team& team) override {
        team.for_chunks(n_, 1, [&](int thread, int64_t i, int64_t) {
            if (!core_[i])
                return;
            for (int64_t j = 0; j < i; ++j) {
                pause(team, thread, j);
                const auto a = static_cast<uint32_t>(i), b = static_cast<uint32_t>(j);
                if (core_[j] && !sets_.same(a, b) && space_.nearby(i, j))
                    sets_.unite(a, b);
            }
        });
    }

    int64_t label(Team& team, int64_t* labels) override {
        int64_t clusters = 0;
        for (int64_t i = 0; i < n_; ++i) {
            if (!core_[i])
                continue;
            const int64_t first = sets_.find(static_cast<uint32_t>(i));
            labels[i] = first == i ? clusters++ : labels[first];
        }
        team.for_chunks(n_, 1, [&](int thread, int64_t i, int64_t) {
            if (!core_[i])
                labels[i] = lowest_reaching(team, thread, space_, i, space_, core_, labels);
        });
        return clusters;
    }

private:
    const Space& space_;
    int64_t n_;
    Buffer<uint32_t> parents_;
    UnionFind sets_;
    const uint8_t* core_ = nullptr;
};

} // namespace

std::unique_ptr<Index> brute_density(const Space& space) {
    return std::make_unique<BruteDensity>(space);
}

void brute_reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
                 int64_t* out) {
    team.for_chunks(queries.n(), 1, [&](int thread, int64_t i, int64_t) {
        out[i] = lowest_reaching(team, thread, queries, i, cores, nullptr, core_labels);
    });
}

bool enough_weight(std::vector<double>& values, double min_samples) {
    double sum = 0, magnitude = 0;
    for (const double w : values) {
        sum += w;
        magnitude += std::fabs(w);
    }
    const double error = magnitude * static_cast<double>(values.size() + 4) * 0x1p-52;
    if (std::fabs(sum - min_samples) > error)
        return sum > min_samples;
    // Too close to tell: parts that do not overlap and add up to the exact sum (Shewchuk 1997).
    std::vector<double> parts;
    for (double x : values) {
        size_t kept = 0;
        for (double y : parts) {
            if (std::fabs(x) < std::fabs(y))
                std::swap(x, y);
            const double high = x + y, low = y - (high - x);
            if (low != 0)
                parts[kept++] = low;
            x = high;
        }
        parts.resize(kept);
        parts.push_back(x);
    }
    // Rounded once: the largest part, corrected where the next one decides a tie.
    double total = 0, rest = 0;
    size_t k = parts.size();
    while (k > 0 && rest == 0) {
        const double x = total, y = parts[--k];
        total = x + y;
        rest = y - (total - x);
    }
    if (k > 0 && ((rest < 0 && parts[k - 1] < 0) || (rest > 0 && parts[k - 1] > 0))) {
        const double twice = 2 * rest, next = total + twice;
        if (twice == next - total)
            total = next;
    }
    return total >= min_samples;
}

} // namespace coterie::dbscan
