// test_mixture.cpp: sweeps of every level against the formulas in long double.
#include "mixture/mixture.hpp"

#include <algorithm>

#include "core/level.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::mixture;

namespace {

struct Case {
    Covariance kind;
    int n, d, k;
    std::vector<double> x, offsets, means, factors, origin, scale;

    Case(Covariance kind_, int n_, int d_, int k_, Random& random)
        : kind(kind_), n(n_), d(d_), k(k_), x(n * d), offsets(k), means(k * d),
          origin((d + 3) / 4 * 4, 0.0), scale((d + 3) / 4 * 4, 1.0) {
        for (double& v : x)
            v = 6 * random.uniform() - 3;
        for (double& v : offsets)
            v = random.uniform();
        for (double& v : means)
            v = 6 * random.uniform() - 3;
        const int matrices = kind == Covariance::tied ? 1 : k;
        if (kind == Covariance::full || kind == Covariance::tied) {
            factors.assign(matrices * d * d, 0.0);
            for (int c = 0; c < matrices; ++c)
                for (int i = 0; i < d; ++i)
                    for (int j = i; j < d; ++j)
                        factors[(c * d + i) * d + j] =
                            i == j ? 0.5 + random.uniform() : 0.2 * random.uniform();
        } else {
            factors.resize(kind == Covariance::diag ? k * d : k);
            for (double& v : factors)
                v = 0.5 + random.uniform();
        }
    }

    // Means stand apart, and each has rows around it: few densities matter.
    void spread() {
        for (double& v : means)
            v *= 10;
        for (int r = 0; r < n; ++r)
            for (int j = 0; j < d; ++j)
                x[r * d + j] += means[r % k * d + j];
    }

    long double log_density(int row, int c) const {
        long double sum = 0;
        for (int j = 0; j < d; ++j) {
            long double y = 0;
            auto z = [&](int i) { return (long double)x[row * d + i] - means[c * d + i]; };
            if (kind == Covariance::diag)
                y = z(j) * factors[c * d + j];
            else if (kind == Covariance::spherical)
                y = z(j) * factors[c];
            else
                for (int i = 0; i <= j; ++i)
                    y += z(i) * factors[((kind == Covariance::tied ? 0 : c) * d + i) * d + j];
            sum += y * y;
        }
        return offsets[c] - sum / 2;
    }

    void check() const {
        sweep_with([&](Team& team, MixtureTask& task) { check_formulas(team, task); });
    }

    // Densities that are left out because no degrees are wanted do not show in sums or labels.
    void check_left_out() const {
        sweep_with([&](Team& team, MixtureTask& task) {
            std::vector<double> degrees(n * k);
            std::vector<int32_t> labels(n);
            task.out.responsibilities = degrees.data();
            const std::vector<Node> all = sweep(team, task, 0).nodes;
            task.out.responsibilities = nullptr;
            const std::vector<Node> some = sweep(team, task, 0).nodes;
            task.m_step.sums = false;
            task.out.labels = labels.data();
            sweep(team, task, 0);
            CHECK(all.size() == some.size());
            for (size_t i = 0; i < all.size(); ++i)
                for (int64_t j = 0; j < task.shape.size(); ++j) {
                    const double sum = all[i].sums[j];
                    CHECK(std::fabs(some[i].sums[j] - sum) <= 1e-12 * (1 + std::fabs(sum)));
                }
            for (int r = 0; r < n; ++r) {
                const double* own = degrees.data() + r * k;
                CHECK(labels[r] == std::max_element(own, own + k) - own);
            }
        });
    }

private:
    template <class Visit> void sweep_with(const Visit& visit) const {
        Rows rows;
        rows.n = n;
        rows.d = d;
        rows.values = x.data();
        std::vector<double> given = factors;
        if (kind == Covariance::full) {
            given.resize(k * triangle_size(d));
            for (int c = 0; c < k; ++c)
                fold(factors.data() + c * d * d, d, given.data() + c * triangle_size(d));
        }
        Team team(2);
        const Mixture mixture(team, kind, k, d, offsets.data(), means.data(), given.data(),
                              nullptr);
        MixtureTask task;
        task.rows.block = &rows;
        task.rows.origin = origin.data();
        task.rows.scale = scale.data();
        task.shape = {kind, k, d};
        mixture.describe(task);
        visit(team, task);
    }

    void check_formulas(Team& team, MixtureTask& task) const {
        std::vector<double> scores(n), degrees(n * k);
        task.out.scores = scores.data();
        task.out.responsibilities = degrees.data();
        const std::vector<Node> nodes = sweep(team, task, 0).nodes;
        CHECK(nodes.size() == 1);
        long double likelihood = 0, mass = 0, first = 0;
        for (int r = 0; r < n; ++r) {
            long double total = 0;
            for (int c = 0; c < k; ++c)
                total += std::exp(log_density(r, c));
            CHECK(std::fabs(scores[r] - (double)std::log(total)) < 1e-12);
            for (int c = 0; c < k; ++c) {
                const long double degree = std::exp(log_density(r, c)) / total;
                CHECK(std::fabs(degrees[r * k + c] - (double)degree) < 1e-12);
            }
            likelihood += std::log(total);
            const long double degree = std::exp(log_density(r, k - 1)) / total;
            mass += degree;
            first += degree * (x[r * d + d - 1] - (long double)means[k * d - 1]);
        }
        const auto& sums = nodes[0].sums;
        CHECK(std::fabs(sums[0] - (double)likelihood) < 1e-11 * n);
        CHECK(std::fabs(sums[k] - (double)mass) < 1e-11 * n);
        CHECK(std::fabs(sums[k + k * d] - (double)first) < 1e-11 * n);
    }
};

} // namespace

void test_mixture() {
    Random random{7};
    int levels;
    const char* const* names = level_names(levels);
    for (int level = 0; level < levels; ++level) {
        CHECK(use_level(names[level]));
        for (Covariance kind :
             {Covariance::full, Covariance::tied, Covariance::diag, Covariance::spherical})
            for (int d : {1, 2, 3, 4, 5, 6, 7, 11, 13, 18})
                for (int k : {1, 2, 5})
                    for (int n : {1, 8, 77, 300})
                        Case(kind, n, d, k, random).check();
        for (int n : {5, 300, 9000}) // sums that threads share, of one and of several stretches
            Case(Covariance::full, n, kManyAxes + 3, 3, random).check();
        for (int d : {16, 18, 33, kManyAxes + 3})
            for (int n : {1, 77, 1000, 9000}) {
                Case apart(Covariance::full, n, d, 5, random);
                apart.spread();
                apart.check_left_out();
            }
    }
}
