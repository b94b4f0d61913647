// test_kmeans_seeding.cpp: passes of seeding at every level against plain loops.
//
// Points lie on a lattice, so that squared distances are whole numbers in float32 too.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/hash.hpp"
#include "core/level.hpp"
#include "core/scan.hpp"
#include "kmeans/seeding.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::kmeans;

namespace {

using Point = std::vector<double>;

// Rows of a block in one of its kinds, and the distance of each to its nearest seed by plain loops.
struct Plain {
    int n, d;
    std::vector<double> dense, values;
    std::vector<float> single;
    std::vector<int64_t> starts{0};
    std::vector<int32_t> columns, copies;
    Rows rows;
    std::vector<double> nearest;
    std::vector<Point> seeds;

    Plain(Random& random, int n_, int d_, Kind kind) : n(n_), d(d_), dense(n * d), nearest(n) {
        const int side = d <= 2 ? 64 : 4; // of the lattice
        for (int i = 0; i < n; ++i) {
            copies.push_back(1 + random.below(3));
            for (int l = 0; l < d; ++l)
                if ((dense[i * d + l] = random.below(side)) != 0) {
                    values.push_back(dense[i * d + l]);
                    columns.push_back(l);
                }
            starts.push_back(static_cast<int64_t>(values.size()));
        }
        single.assign(dense.begin(), dense.end());
        rows.kind = kind;
        rows.n = n;
        rows.d = d;
        rows.values = kind == Kind::float64   ? static_cast<const void*>(dense.data())
                      : kind == Kind::float32 ? static_cast<const void*>(single.data())
                                              : static_cast<const void*>(values.data());
        if (rows.sparse()) {
            rows.starts = starts.data();
            rows.columns = columns.data();
        }
    }
    Point point(int i) const { return {&dense[i * d], &dense[i * d] + d}; }
    double distance(int i, const Point& to) const {
        double sum = 0.0;
        for (int l = 0; l < d; ++l)
            sum += (dense[i * d + l] - to[l]) * (dense[i * d + l] - to[l]);
        return sum;
    }
    void start(double distance) {
        nearest.assign(n, distance);
        seeds.clear();
    }
    void join(const Point& seed) {
        seeds.push_back(seed);
        for (int i = 0; i < n; ++i)
            nearest[i] = std::min(nearest[i], distance(i, seed));
    }
    int64_t units(int i, double distance, int shift) const {
        return std::llrint(std::ldexp(distance, shift)) * copies[i];
    }
};

void check_holdings(const std::vector<Holding>& found, const std::map<uint64_t, int64_t>& expected,
                    const Plain& plain) {
    CHECK(found.size() == expected.size());
    auto next = expected.begin();
    for (const Holding& holding : found) {
        CHECK(holding.hash == next->first && holding.units == next->second);
        CHECK(hash_row(plain.rows, holding.row) == holding.hash);
        ++next;
    }
}

class Trial {
public:
    Trial(Random& random, int n, int d, Kind kind, int threads, int64_t seeds)
        : random_(random), plain_(random, n, d, kind), team_(threads), bits_(1 + random.below(10)),
          seeding_(plain_.rows, scan(team_, plain_.rows).ranges, plain_.copies.data(), bits_,
                   seeds) {
        plain_.start(1e4);
        seeding_.start(team_, 1e4);
    }

    void run(int seeds) {
        for (int turn = 0; turn < seeds; ++turn) {
            const Point seed = some_point();
            plain_.join(seed);
            const int shift = turn / 3 % 3;
            const double largest = seeding_.approach(team_, seed.data(), shift);
            CHECK(largest == *std::max_element(plain_.nearest.begin(), plain_.nearest.end()));
            if (turn < 3 || turn == seeds - 1) {
                check_units(shift);
                check_potentials(shift);
                check_buckets(shift);
                check_draws();
            }
        }
        check_smallest();
    }

    // Float64 from now on: the same distances, since those of the lattice were exact.
    void refine() {
        std::vector<double> seeds;
        const double before = *std::max_element(plain_.nearest.begin(), plain_.nearest.end());
        for (const Point& seed : plain_.seeds)
            seeds.insert(seeds.end(), seed.begin(), seed.end());
        seeding_.refine(team_, seeds.data(), static_cast<int>(plain_.seeds.size()));
        CHECK(!seeding_.coarse());
        CHECK(seeding_.approach(team_, nullptr, 0) == before);
        check_units(0);
    }

private:
    Point some_point() { return plain_.point(random_.below(plain_.n)); }
    uint64_t hash(int i) const { return hash_row(plain_.rows, i); }
    int bucket(int i) const { return static_cast<int>(hash(i) >> (64 - bits_)); }

    void check_units(int shift) {
        std::vector<int64_t> expected(seeding_.buckets());
        for (int i = 0; i < plain_.n; ++i)
            expected[bucket(i)] += plain_.units(i, plain_.nearest[i], shift);
        CHECK(seeding_.units() == expected);
    }

    void check_potentials(int shift) {
        const int trials = 1 + random_.below(9);
        std::vector<double> candidates;
        std::vector<int64_t> expected(trials), found(trials);
        for (int r = 0; r < trials; ++r) {
            const Point one = some_point();
            candidates.insert(candidates.end(), one.begin(), one.end());
            for (int i = 0; i < plain_.n; ++i)
                expected[r] +=
                    plain_.units(i, std::min(plain_.nearest[i], plain_.distance(i, one)), shift);
        }
        seeding_.potentials(team_, candidates.data(), trials, shift, found.data());
        CHECK(found == expected);
    }

    void check_buckets(int shift) {
        std::vector<int32_t> wanted;
        for (int b = random_.below(3); b < seeding_.buckets() && wanted.size() < 5;
             b += 1 + random_.below(seeding_.buckets()))
            wanted.push_back(b);
        std::map<uint64_t, int64_t> expected;
        for (int i = 0; i < plain_.n; ++i) {
            const int64_t units = plain_.units(i, plain_.nearest[i], shift);
            if (units > 0 && std::find(wanted.begin(), wanted.end(), bucket(i)) != wanted.end())
                expected[hash(i)] += units;
        }
        check_holdings(
            seeding_.holdings(team_, wanted.data(), static_cast<int>(wanted.size()), shift),
            expected, plain_);
    }

    void check_draws() {
        const uint64_t salt = random_.word();
        const double factor = random_.uniform() / 100;
        std::map<uint64_t, int64_t> expected;
        for (int i = 0; i < plain_.n; ++i)
            if (static_cast<double>(mix(hash(i) ^ salt) >> 11) * 0x1p-53 <
                plain_.nearest[i] * factor)
                expected[hash(i)] += plain_.copies[i];
        check_holdings(seeding_.draw(team_, salt, factor), expected, plain_);
    }

    void check_smallest() {
        const uint64_t salt = random_.word();
        std::vector<uint64_t> expected;
        for (int i = 0; i < plain_.n; ++i)
            expected.push_back(mix(hash(i) ^ salt));
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        const std::vector<Holding> found = seeding_.smallest_hashes(team_, salt, 7);
        CHECK(found.size() == std::min<size_t>(7, expected.size()));
        for (size_t q = 0; q < found.size(); ++q) {
            CHECK(found[q].hash == expected[q] && found[q].units == 1);
            CHECK(mix(hash(static_cast<int>(found[q].row)) ^ salt) == expected[q]);
        }
    }

    Random& random_;
    Plain plain_;
    Team team_;
    int bits_;
    Seeding seeding_;
};

// Rows are packed for the level in use at the start; another one later changes nothing.
void levels_may_change_between_passes(const char* const* names, int levels) {
    Random random{3};
    for (int d : {2, 12}) {
        CHECK(use_level(names[0]));
        Trial trial(random, 300, d, Kind::float32, 2, 9);
        for (int level = levels; level-- > 0;) {
            CHECK(use_level(names[level]));
            trial.run(2);
        }
    }
}

} // namespace

void test_kmeans_seeding() {
    int levels;
    const char* const* names = level_names(levels);
    for (int level = 0; level < levels; ++level) {
        CHECK(use_level(names[level]));
        Random random{13};
        for (int turn = 0; turn < 60; ++turn) {
            const int d = turn % 3 == 2 ? 9 + random.below(30) : 1 + random.below(8);
            const Kind kinds[] = {Kind::float64, Kind::float32, Kind::csr64};
            Trial trial(random, 1 + random.below(500), d, kinds[turn % 5 % 3], 1 + turn % 3, 6);
            trial.run(6);
            trial.refine();
        }
        // Seeds enough that rows move to places near others like them, in more than one segment.
        Trial many(random, 70000, 2, Kind::float64, 2, 40);
        many.run(12);
        many.refine();
    }
    levels_may_change_between_passes(names, levels);
}
