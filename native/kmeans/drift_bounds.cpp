// drift_bounds.cpp: drift of the means, and the neighbours that matter to a cluster.
#include "kmeans/drift_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace coterie::kmeans {
namespace {

constexpr int64_t kManyValues = 1 << 16; // of means: worth sharing out
constexpr double kRefreshGrowth = 0.25;  // a radius this much too large is measured again

// Used slack and more drift, rounded upward.
float add_drift(float used_slack, double drift) {
    if (!(drift > 0))
        return used_slack;
    const float sum = static_cast<float>(used_slack + drift);
    return sum + 3e-7f * sum + 1e-37f;
}

// In scaled units.
double distance(const double* a, const double* b, int d, double unit) {
    double s = 0.0;
    for (int l = 0; l < d; ++l) {
        const double e = (a[l] - b[l]) * unit;
        s += e * e;
    }
    return std::sqrt(s);
}

// Half the median gap between a mean and its nearest: enough slack to skip most rows, little
// enough that lists stay short.
float usual_slack(const Model& model) {
    const size_t d = model.d;
    std::vector<double> gaps;
    for (int a = 0; a < model.k; ++a) {
        double nearest = HUGE_VAL;
        for (int b = 0; b < model.k; ++b)
            if (b != a)
                nearest = std::min(nearest, distance(model.means + a * d, model.means + b * d,
                                                     model.d, model.scaling.unit));
        gaps.push_back(nearest);
    }
    std::nth_element(gaps.begin(), gaps.begin() + model.k / 2, gaps.end());
    return static_cast<float>(0.5 * gaps[model.k / 2]);
}

} // namespace

void DriftBounds::start(Model& model, int width, bool local) {
    const int k = model.k;
    width_ = width;
    local_ = local;
    listed_ = local && k > kFewMeans;
    steps_ = 1;
    drift_.assign(k, 0.0);
    used_slack_.assign(k + 16, 0.f);
    look_below_.assign(k + 16, 0.f);
    own_drift_.assign(k, 0.f);
    group_drift_.assign(model.yinyang.record, -1e30f);
    std::fill(group_drift_.begin(), group_drift_.begin() + model.yinyang.groups, 0.f);
    radius_.assign(local ? k : 0, 0.0);
    growth_.assign(local ? k : 0, 0.0);
    refresh_.assign(local ? k : 0, 0);
    cap_ = local && k > 1 ? usual_slack(model) : 1e30f;
    means_.resize(static_cast<size_t>(k) * model.d);
    model.near.lists = nullptr;
    model.near.lengths = nullptr;
    model.hamerly.measure = true;
    show(model);
}

void DriftBounds::advance(Team& team, Model& model) {
    measure_drift(team, model);
    model.hamerly.measure = false;
    if (local_)
        look_around(team, model);
    else
        advance_all(model);
    ++steps_;
    show(model);
}

void DriftBounds::show(Model& model) {
    std::memcpy(means_.data(), model.means, sizeof(double) * model.k * model.d);
    model.hamerly.cap = cap_;
    model.hamerly.used_slack = used_slack_.data();
    model.hamerly.look_below = look_below_.data();
    model.yinyang.drift = own_drift_.data();
    model.yinyang.drift_of_group = group_drift_.data();
}

void DriftBounds::widen(const float* radius) {
    for (size_t c = 0; c < radius_.size(); ++c)
        radius_[c] = std::max<double>(radius_[c], radius[c]);
}

void DriftBounds::measure_drift(Team& team, const Model& model) {
    const auto measure = [&](int, int64_t begin, int64_t end) {
        for (size_t c = begin; c < static_cast<size_t>(end); ++c)
            drift_[c] = distance(model.means + c * model.d, means_.data() + c * model.d, model.d,
                                 model.scaling.unit) *
                        1.000001;
    };
    if (static_cast<int64_t>(model.k) * model.d < kManyValues)
        measure(0, 0, model.k);
    else
        team.for_chunks(model.k, 1, measure);
}

// In every cluster the own mean and the fastest other use slack up.
void DriftBounds::advance_all(const Model& model) {
    const int k = model.k;
    const auto farthest = std::max_element(drift_.begin(), drift_.end());
    double second = 0.0;
    for (auto drift = drift_.begin(); drift != drift_.end(); ++drift)
        if (drift != farthest)
            second = std::max(second, *drift);
    for (int c = 0; c < k; ++c) {
        const bool fastest = c == farthest - drift_.begin();
        used_slack_[c] = add_drift(used_slack_[c], drift_[c] + (fastest ? second : *farthest));
        own_drift_[c] = add_drift(own_drift_[c], drift_[c]);
    }
    const int per_group = std::max(1, model.yinyang.panels_per_group * width_);
    for (int g = 0; g < model.yinyang.groups; ++g) {
        double most = 0.0;
        for (int p = g * per_group; p < std::min(k, (g + 1) * per_group); ++p)
            most = std::max(most, drift_[model.packed.order[p]]);
        group_drift_[g] = add_drift(group_drift_[g], most);
    }
}

// The neighbours of a mean are the others within 2 R + cap of it, R the radius of its cluster. A
// mean farther away is farther from every row of the cluster than its own by at least cap. No
// slack above cap is ever trusted, so the drift of that mean uses up none of
// the cluster: where only a few means still move, the rows of all others stay safe.
void DriftBounds::look_around(Team& team, Model& model) {
    const size_t d = model.d;
    const int k = model.k;
    lists_.resize(listed_ ? k : 0);
    list_pointers_.resize(k);
    list_lengths_.resize(k);
    const bool look_again = (steps_ & (steps_ - 1)) == 0 && steps_ >= 2;
    for (int c = 0; c < k; ++c) {
        radius_[c] += drift_[c];
        growth_[c] += drift_[c];
        refresh_[c] = look_again || growth_[c] > kRefreshGrowth * radius_[c];
        if (refresh_[c])
            growth_[c] = 0.0;
        model.hamerly.measure |= refresh_[c] != 0;
    }
    team.for_chunks(k, 16, [&](int, int64_t begin, int64_t end) {
        std::vector<std::pair<float, int32_t>> near;
        for (int64_t a = begin; a < end; ++a) {
            near.clear();
            const double limit = (2 * radius_[a] + cap_) * 1.00001;
            double most = 0.0;
            for (int b = 0; b < k; ++b) {
                const double apart =
                    distance(model.means + a * d, model.means + b * d, model.d, model.scaling.unit);
                if (apart > limit || b == a)
                    continue;
                near.emplace_back(static_cast<float>(apart * 0.999999), b);
                most = std::max(most, drift_[b]);
            }
            if (listed_)
                list_neighbours(model, static_cast<int>(a), near);
            used_slack_[a] = add_drift(used_slack_[a], drift_[a] + most);
            look_below_[a] = refresh_[a] ? HUGE_VALF : used_slack_[a];
        }
    });
    for (int c = 0; c < k; ++c)
        if (refresh_[c])
            radius_[c] = 0.0;
    if (listed_) {
        model.near.lists = list_pointers_.data();
        model.near.lengths = list_lengths_.data();
    }
}

// The list that rows of cluster a meet: its own mean, then the others from near to far.
void DriftBounds::list_neighbours(const Model& model, int a,
                                  std::vector<std::pair<float, int32_t>>& near) {
    const size_t d = model.d, record = d + 3;
    std::sort(near.begin(), near.end());
    std::vector<float>& list = lists_[a];
    list.resize((near.size() + 1) * record);
    float* p = list.data();
    auto put = [&](float distance, int32_t c) {
        std::memcpy(p, model.near.table + c * (d + 1), sizeof(float) * (d + 1));
        p[d + 1] = distance;
        std::memcpy(p + d + 2, &c, 4);
        p += record;
    };
    put(0.f, a);
    for (const auto& [distance, c] : near)
        put(distance, c);
    list_pointers_[a] = list.data();
    list_lengths_[a] = static_cast<int32_t>(near.size()) + 1;
}

} // namespace coterie::kmeans
