// test_dbscan_path.cpp: the structure for every eps against all pairs, without Python.
#include <algorithm>
#include <vector>

#include "dbscan/every_eps.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::dbscan;

namespace {

double squared(const std::vector<double>& x, int64_t i, int64_t j, int d) {
    double s = 0;
    for (int l = 0; l < d; ++l) {
        const double e = x[i * d + l] - x[j * d + l];
        s += e * e;
    }
    return s;
}

struct Built {
    std::vector<double> core, member, sums, height;
    std::vector<int32_t> neighbours, order;

    Built(int threads, const std::vector<double>& x, int64_t n, int d, int64_t min_samples)
        : core(n), member(n), height(n), order(n) {
        Team team(threads);
        Rows rows;
        rows.n = n;
        rows.d = d;
        rows.values = x.data();
        MutualReachability work(team, rows, Metric::euclidean, 1.0, min_samples);
        sums.resize(n * work.k());
        neighbours.resize(n * work.k());
        const NearestRows near{core.data(), member.data(), sums.data(), neighbours.data()};
        work.nearest(team, near);
        work.span(team, near, {order.data(), height.data()});
    }
    std::vector<int64_t> labels(double reach) const {
        Team team(2);
        ReachabilityStructure path;
        path.n = static_cast<int64_t>(core.size());
        path.k = static_cast<int64_t>(sums.size() / core.size());
        path.core = core.data();
        path.member = member.data();
        path.sums = sums.data();
        path.neighbours = neighbours.data();
        path.order = order.data();
        path.height = height.data();
        std::vector<int64_t> out(core.size());
        cut(team, path, reach, out.data());
        return out;
    }
};

// DBSCAN by its definition.
std::vector<int64_t> definition(const std::vector<double>& x, int64_t n, int d, int64_t min_samples,
                                double reach) {
    std::vector<int64_t> labels(n, -1), front;
    std::vector<bool> core(n);
    for (int64_t i = 0; i < n; ++i) {
        int64_t near = 0;
        for (int64_t j = 0; j < n; ++j)
            near += squared(x, i, j, d) <= reach;
        core[i] = near >= min_samples;
    }
    int64_t clusters = 0;
    for (int64_t start = 0; start < n; ++start) {
        if (!core[start] || labels[start] >= 0)
            continue;
        labels[start] = clusters;
        front.assign(1, start);
        while (!front.empty()) {
            const int64_t i = front.back();
            front.pop_back();
            for (int64_t j = 0; j < n; ++j)
                if (labels[j] < 0 && squared(x, i, j, d) <= reach) {
                    labels[j] = clusters;
                    if (core[j])
                        front.push_back(j);
                }
        }
        ++clusters;
    }
    return labels;
}

} // namespace

void test_reachability() {
    Random random{7};
    for (int round = 0; round < 40; ++round) {
        const int64_t n = 1 + static_cast<int64_t>(random.uniform() * 300);
        const int d = 1 + static_cast<int>(random.uniform() * 18);
        const auto min_samples = 1 + static_cast<int64_t>(random.uniform() * 7);
        std::vector<double> x(n * d);
        for (double& value : x) // a lattice every other time: many ties
            value = round % 2 ? static_cast<int>(random.uniform() * 5) * 0.1 : random.uniform();
        const Built built(1, x, n, d, min_samples), again(3, x, n, d, min_samples);
        CHECK(built.order == again.order && built.height == again.height);
        CHECK(built.neighbours == again.neighbours);
        std::vector<double> reaches = built.core;
        std::sort(reaches.begin(), reaches.end());
        for (size_t q = 0; q < reaches.size(); q += 1 + reaches.size() / 6)
            if (reaches[q] < 1e300)
                CHECK(built.labels(reaches[q]) == definition(x, n, d, min_samples, reaches[q]));
    }
}
