// seeding.hpp: the passes over one block that choosing initial means needs.
//
// Rows stand in the order of their hashes, cut into 1024 buckets. A draw in proportion to squared
// distance walks along that order, so it depends on the values and weights alone: not on the
// order of the rows, on blocks, or on whether a point is given twice or with weight two.
#pragma once

#include "coterie/model.hpp"
#include "coterie/team.hpp"

namespace coterie {

constexpr int kBucketBits = 13,
              kBuckets = 1 << kBucketBits; // found in a short scan, counted in the caches

// Rows of one value: how many units of distance they hold together, and one of them.
struct Holding {
    uint64_t hash;
    int64_t units;
    int64_t row;
};

class Seeding {
public:
    // copies: (n,) whole weights, or null.
    Seeding(const Rows& rows, const Ranges& ranges, const int32_t* copies);

    // All rows at the same distance from any seed.
    void start(Team& team, double distance);
    // `seed` (d,) joins, or null to leave distances as they are; the largest distance left.
    double approach(Team& team, const double* seed, int shift);
    // (kBuckets,) units by bucket, as of the last approach.
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

    bool coarse() const { return coarse_; }
    double unit() const { return coarse_ ? frame_.view().unit : 1.0; }

private:
    void prepare(Team& team);
    SeedPass pass(int shift) const;
    double distance(int64_t i) const { return coarse_ ? nearest32_[i] : nearest64_[i]; }
    size_t scratch_bytes(int trials) const;

    Rows rows_;
    FrameOwner frame_;
    const int32_t* copies_;
    bool coarse_ = true;
    int shift_ = 0;        // that units_ were counted with
    bool counted_ = false; // units_ are those of the distances
    std::vector<int64_t> units_ = std::vector<int64_t>(kBuckets);
    Buffer<uint16_t> bucket_;
    mutable Buffer<float> columns_; // few columns: the rows as kernels like them
    mutable Buffer<float> nearest32_;
    mutable Buffer<double> nearest64_;
};

} // namespace coterie
