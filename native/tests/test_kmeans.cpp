// test_kmeans.cpp: labels and sums of every level against plain loops, step after step.
#include "kmeans/lloyd.hpp"

#include <cmath>

#include "core/scan.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::kmeans;

namespace {

struct Data {
    std::vector<double> dense; // (n, d)
    std::vector<float> single;
    std::vector<double> values;
    std::vector<int64_t> starts;
    std::vector<int32_t> columns;
    std::vector<double> weights;
    int n, d;

    // Far blobs of points on a lattice: rows that can be skipped, and many ties.
    Data(Random& random, int n_, int d_) : dense(n_ * d_), weights(n_), n(n_), d(d_) {
        for (int i = 0; i < n; ++i) {
            const int blob = random.below(6);
            weights[i] = 1 + random.below(4);
            for (int l = 0; l < d; ++l)
                dense[i * d + l] = (l + blob) % 3 * 16 * (blob % 2) + random.below(4);
        }
        single.assign(dense.begin(), dense.end());
        starts.push_back(0);
        for (int i = 0; i < n; ++i) {
            for (int l = 0; l < d; ++l)
                if (dense[i * d + l] != 0) {
                    values.push_back(dense[i * d + l]);
                    columns.push_back(l);
                }
            starts.push_back(static_cast<int64_t>(values.size()));
        }
    }
    Rows rows(Kind kind, bool weighted) const {
        Rows rows;
        rows.kind = kind;
        rows.n = n;
        rows.d = d;
        rows.values = kind == Kind::float64   ? static_cast<const void*>(dense.data())
                      : kind == Kind::float32 ? static_cast<const void*>(single.data())
                                              : static_cast<const void*>(values.data());
        rows.starts = starts.data();
        rows.columns = columns.data();
        rows.weights = weighted ? weights.data() : nullptr;
        return rows;
    }
};

std::vector<int32_t> nearest(const Data& data, const std::vector<double>& means, int k) {
    std::vector<int32_t> labels(data.n);
    for (int i = 0; i < data.n; ++i) {
        double best = HUGE_VAL;
        for (int c = 0; c < k; ++c) {
            double s = 0.0;
            for (int l = 0; l < data.d; ++l) {
                const double e = data.dense[i * data.d + l] - means[c * data.d + l];
                s += e * e;
            }
            if (s < best) {
                best = s;
                labels[i] = c;
            }
        }
    }
    return labels;
}

// Sums of the lattice are whole numbers: one limb of units is enough.
void check_totals(const Data& data, const Lloyd& lloyd, const std::vector<int32_t>& labels, int k,
                  bool weighted) {
    std::vector<int64_t> sums(static_cast<size_t>(k) * data.d), mass(k);
    lloyd.totals(sums.data(), mass.data());
    std::vector<int64_t> expected(sums.size()), expected_mass(k);
    for (int i = 0; i < data.n; ++i) {
        const auto w = static_cast<int64_t>(weighted ? data.weights[i] : 1.0);
        expected_mass[labels[i]] += w;
        for (int l = 0; l < data.d; ++l)
            expected[labels[i] * data.d + l] +=
                w * static_cast<int64_t>(data.dense[i * data.d + l]);
    }
    CHECK(sums == expected);
    CHECK(mass == expected_mass);
}

void wander(Random& random, const Data& data, std::vector<double>& means, int k) {
    for (int c = 0; c < k; ++c) {
        const int mood = random.below(20);
        for (int l = 0; l < data.d; ++l) {
            double& m = means[c * data.d + l];
            if (mood == 0)
                m = data.dense[random.below(data.n) * data.d + l];
            else if (mood < 8)
                m += (random.below(3) - 1) * 0.125;
        }
    }
}

void steps_agree_with_plain_loops(Random& random, int n, int d, int k, Kind kind, bool weighted,
                                  Algorithm algorithm, int threads) {
    const Data data(random, n, d);
    const Rows rows = data.rows(kind, weighted);
    Team team(threads);
    const Ranges ranges = scan(team, rows).ranges;
    const std::vector<int> top(d, 30);
    const int mass_top = 30;
    std::optional<Grid> mass;
    if (weighted)
        mass = Grid(&mass_top, 1, 1);
    std::vector<int32_t> labels(n, -1);
    Lloyd lloyd(rows, ranges, labels.data(), Grid(top.data(), d, 1), mass, algorithm);
    std::vector<double> means(static_cast<size_t>(k) * d);
    for (int c = 0; c < k; ++c)
        for (int l = 0; l < d; ++l)
            means[c * d + l] = data.dense[random.below(n) * d + l];
    for (int step = 0; step < 12; ++step) {
        const std::vector<int32_t> before = labels, expected = nearest(data, means, k);
        const StepCounts counts = lloyd.step(team, means.data(), k);
        CHECK(labels == expected);
        int64_t moved = 0;
        for (int i = 0; i < n; ++i)
            moved += before[i] != labels[i];
        CHECK(counts.moved == moved);
        CHECK(counts.evaluated <= n + 64 && counts.settled <= counts.evaluated);
        check_totals(data, lloyd, labels, k, weighted);
        wander(random, data, means, k);
    }
}

} // namespace

void test_lloyd() {
    int count;
    const char* const* names = level_names(count);
    CHECK(count >= 1);
    CHECK(!use_level("no such level"));
    for (int which = 0; which < count; ++which) {
        CHECK(use_level(names[which]));
        Random random{7};
        for (int turn = 0; turn < 240; ++turn) {
            const int d = turn % 16 == 15 ? 65 + random.below(20)
                          : turn % 4 == 3 ? 9 + random.below(25)
                                          : 1 + random.below(12);
            const int k = turn % 3 == 0 ? 25 + random.below(60) : 1 + random.below(24);
            const Kind kind = turn % 5 == 4   ? Kind::csr64
                              : turn % 2 == 0 ? Kind::float64
                                              : Kind::float32;
            const Algorithm algorithm = turn % 7 == 0 ? Algorithm::brute : Algorithm::bounds;
            steps_agree_with_plain_loops(random, 1 + random.below(400), d, k, kind,
                                         random.below(3) == 0, algorithm, 1 + turn % 3);
        }
    }
}
