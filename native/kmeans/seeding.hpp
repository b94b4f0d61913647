// seeding.hpp: the passes over one block that choosing initial means needs.
//
// Rows stand in the order of their hashes, cut into buckets. A draw in proportion to squared
// distance walks along that order, so it depends on the values and weights alone: not on the
// order of the rows, on blocks, or on whether a point is given twice or with weight two.
//
// Nor does it depend on where rows are kept. With few columns, and once seeds are not few, rows
// move to places near others like them: then a new seed passes over most of them in runs.
#pragma once

#include "core/team.hpp"
#include "kmeans/packed_means.hpp"

namespace coterie::kmeans {

constexpr int kMostBucketBits = 13; // found in a short scan, counted in the caches

// Rows of one value: how many units of distance they hold together, and one of them.
struct Holding {
    uint64_t hash;
    int64_t units;
    int64_t row;
};

class Seeding {
public:
    // copies: (n,) whole weights, or null. bucket_bits: leading bits of a hash that are the number
    // of its bucket, at most kMostBucketBits; no draw depends on them. seeds: about how many there
    // will be.
    Seeding(const Rows& rows, const Ranges& ranges, const int32_t* copies, int bucket_bits,
            int64_t seeds);

    // All rows at the same distance from any seed.
    void start(Team& team, double distance);
    // `seed` (d,) joins, or null to leave distances as they are; the largest distance left.
    double approach(Team& team, const double* seed, int shift);
    // (buckets,) units by bucket, as of the last approach.
    const std::vector<int64_t>& units() const { return units_; }
    // (trials,) units left with each candidate.
    void potentials(Team& team, const double* candidates, int trials, int shift, int64_t* units);
    // The values held in some buckets, sorted by hash.
    std::vector<Holding> holdings(Team& team, const int32_t* buckets, int count, int shift);
    // From now on distances are float64: start again from the seeds so far.
    void refine(Team& team, const double* seeds, int count);
    // Values whose random number in [0, 1) is below distance * factor, sorted by hash.
    std::vector<Holding> draw(Team& team, uint64_t salt, double factor);
    // The `count` values with the smallest salted hashes, in that order.
    std::vector<Holding> smallest_hashes(Team& team, uint64_t salt, int count);

    int buckets() const { return 1 << bucket_bits_; }
    bool coarse() const { return coarse_; }
    double unit() const { return coarse_ ? scaling_.view().unit : 1.0; }

private:
    void prepare(Team& team);
    void arrange(Team& team);
    std::vector<float> cuts(int bits) const;
    SeedPass pass(int shift) const;
    bool arranged() const { return order_.size() > 0; }
    double distance(int64_t place) const { return coarse_ ? nearest32_[place] : nearest64_[place]; }

    Rows rows_;
    OwnedScaling scaling_;
    const int32_t* copies_;
    int bucket_bits_;
    int64_t expected_;
    const Level& level_; // in use at the start: columns_ is packed by its width
    bool coarse_ = true;
    int seeds_ = 0;        // since the start
    int shift_ = 0;        // that units_ were counted with
    bool counted_ = false; // units_ are those of the distances
    std::vector<int64_t> units_;
    Buffer<uint16_t> bucket_; // by place, as distances are
    mutable Buffer<float> nearest32_;
    mutable Buffer<double> nearest64_;

    // Few columns: the rows as kernels like them, and their runs.
    mutable Buffer<float> columns_, boxes_, farthest_;
    mutable Buffer<int64_t> run_units_;
    mutable Buffer<int32_t> run_shift_;
    // Rows that were moved: see SeedPass::order. By segment, the places of its rows by bucket, and
    // where the list of each bucket begins, (buckets + 1,).
    Buffer<uint16_t> order_, places_;
    Buffer<uint32_t> starts_;
};

} // namespace coterie::kmeans
