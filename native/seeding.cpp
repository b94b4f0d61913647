// seeding.cpp: passes of seeding, shared out among the threads of the fit.
#include "coterie/seeding.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "coterie/hash.hpp"

namespace coterie {
namespace {

constexpr int64_t kChunk = 8192;

// Rows in whole vectors of any level.
int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }

// Values found by one thread. Those found again and again are put together now and then.
struct Found {
    std::vector<Holding> values;
    size_t limit = 1 << 16;

    void add(const Holding& holding) {
        values.push_back(holding);
        if (values.size() >= limit) {
            put_together();
            limit = std::max(limit, 2 * values.size());
        }
    }
    void put_together() {
        std::sort(values.begin(), values.end(),
                  [](const Holding& a, const Holding& b) { return a.hash < b.hash; });
        size_t last = 0;
        for (size_t q = 1; q < values.size(); ++q) {
            if (values[q].hash == values[last].hash)
                values[last].units += values[q].units;
            else
                values[++last] = values[q];
        }
        if (!values.empty())
            values.resize(last + 1);
    }
};

std::vector<Holding> merged(std::vector<Found>& parts) {
    Found whole;
    for (const Found& part : parts)
        for (const Holding& holding : part.values)
            whole.add(holding);
    whole.put_together();
    return whole.values;
}

} // namespace

Seeding::Seeding(const Rows& rows, const Ranges& ranges, const int32_t* copies)
    : rows_(rows), frame_(ranges, nullptr, 0, false), copies_(copies) {}

SeedPass Seeding::pass(int shift) const {
    SeedPass pass;
    pass.rows = &rows_;
    pass.frame = frame_.view();
    pass.coarse = coarse_;
    pass.columns = columns_.size() > 0 ? columns_.data() : nullptr;
    pass.nearest32 = nearest32_.data();
    pass.nearest64 = nearest64_.data();
    pass.bucket = bucket_.data();
    pass.copies = copies_;
    pass.shift = shift;
    return pass;
}

size_t Seeding::scratch_bytes(int trials) const {
    const size_t width = (rows_.d + 7) / 8 * 8;
    if (rows_.sparse()) // eight points by column, where they are not zero, and a row
        return 4 * (8 + 8 + 1) * width;
    return 4 * (trials + 16) * width; // the candidates and sixteen rows as float32
}

void Seeding::prepare(Team& team) {
    bucket_.resize(rows_.n);
    const bool few = rows_.d <= kFewColumns;
    if (few)
        columns_.resize(padded(rows_.n) * rows_.d);
    const SeedPass pass = this->pass(0);
    team.for_chunks(rows_.n, kChunk, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            bucket_[i] = static_cast<uint16_t>(hash_row(rows_, i) >> (64 - kBucketBits));
        if (few)
            kernels().turn_columns(pass, begin, end, columns_.data());
    });
}

void Seeding::start(Team& team, double distance) {
    counted_ = false;
    if (bucket_.size() == 0)
        prepare(team);
    if (coarse_)
        nearest32_.resize(padded(rows_.n));
    else
        nearest64_.resize(rows_.n);
    team.for_chunks(rows_.n, kChunk, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            if (coarse_)
                nearest32_[i] = static_cast<float>(distance);
            else
                nearest64_[i] = distance;
    });
    for (int64_t i = rows_.n; coarse_ && i < padded(rows_.n); ++i)
        nearest32_[i] = 0.f;
}

double Seeding::approach(Team& team, const double* seed, int shift) {
    SeedPass pass = this->pass(shift);
    pass.candidates = seed;
    pass.trials = seed ? 1 : 0;
    pass.anew = !seed || !counted_ || shift != shift_;
    counted_ = false; // until the pass is whole
    struct Part {
        Buffer<char> scratch;
        Buffer<int64_t> units;
        double largest = 0.0;
    };
    std::vector<Part> parts(team.size());
    for (Part& part : parts) {
        part.scratch.resize(scratch_bytes(1));
        part.units.resize(kBuckets);
        part.units.zero();
    }
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        Part& part = parts[t];
        part.largest =
            std::max(part.largest,
                     kernels().approach(pass, begin, end, part.scratch.data(), part.units.data()));
    });
    if (pass.anew)
        std::fill(units_.begin(), units_.end(), 0);
    double largest = 0.0;
    for (const Part& part : parts) {
        largest = std::max(largest, part.largest);
        for (int b = 0; b < kBuckets; ++b)
            units_[b] += part.units[b];
    }
    shift_ = shift;
    counted_ = true;
    return largest;
}

void Seeding::potentials(Team& team, const double* candidates, int trials, int shift,
                         int64_t* units) {
    SeedPass pass = this->pass(shift);
    pass.candidates = candidates;
    pass.trials = trials;
    std::vector<Buffer<char>> scratch(team.size());
    std::vector<std::vector<int64_t>> parts(team.size());
    for (auto& s : scratch)
        s.resize(scratch_bytes(trials));
    for (auto& part : parts)
        part.assign(trials + 8, 0);
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        kernels().potentials(pass, begin, end, scratch[t].data(), parts[t].data());
    });
    for (const auto& part : parts)
        for (int r = 0; r < trials; ++r)
            units[r] += part[r];
}

std::vector<Holding> Seeding::holdings(Team& team, const int32_t* buckets, int count, int shift) {
    const double magic = std::ldexp(1.5, 52 - shift);
    std::vector<Found> parts(team.size());
    const std::vector<uint16_t> wanted(buckets, buckets + count);
    const auto seek = kernels().seek_buckets;
    team.for_chunks(rows_.n, 8 * kChunk, [&](int t, int64_t begin, int64_t end) {
        for (int64_t first = begin;; first += kGlance) {
            first = seek(bucket_.data(), first, end, wanted.data(), count);
            if (first >= end)
                return;
            for (int64_t i = first; i < std::min(end, first + kGlance); ++i) {
                if (std::find(wanted.begin(), wanted.end(), bucket_[i]) == wanted.end())
                    continue;
                const int64_t units =
                    std::bit_cast<int64_t>(distance(i) + magic) - std::bit_cast<int64_t>(magic);
                if (units > 0)
                    parts[t].add({hash_row(rows_, i), copies_ ? units * copies_[i] : units, i});
            }
        }
    });
    return merged(parts);
}

void Seeding::refine(Team& team, const double* seeds, int count) {
    coarse_ = false;
    start(team, HUGE_VAL);
    for (int c = 0; c < count; ++c)
        approach(team, seeds + static_cast<size_t>(c) * rows_.d, 0);
}

std::vector<Holding> Seeding::draw(Team& team, uint64_t salt, double factor) {
    std::vector<Found> parts(team.size());
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const double chance = distance(i) * factor;
            if (chance <= 0.0)
                continue;
            const uint64_t hash = hash_row(rows_, i);
            if (static_cast<double>(mix(hash ^ salt) >> 11) * 0x1p-53 < chance)
                parts[t].add({hash, copies_ ? copies_[i] : 1, i});
        }
    });
    return merged(parts);
}

std::vector<Holding> Seeding::smallest_hashes(Team& team, uint64_t salt, int count) {
    // A heap per thread of the smallest salted hashes, each once.
    struct Part {
        std::vector<std::pair<uint64_t, int64_t>> heap;
        std::unordered_map<uint64_t, int64_t> seen;
    };
    std::vector<Part> parts(team.size());
    const auto keep = [count](Part& part, uint64_t hash, int64_t row) {
        if (static_cast<int>(part.heap.size()) == count && hash >= part.heap.front().first)
            return;
        if (!part.seen.emplace(hash, row).second)
            return;
        part.heap.emplace_back(hash, row);
        std::push_heap(part.heap.begin(), part.heap.end());
        if (static_cast<int>(part.heap.size()) > count) {
            std::pop_heap(part.heap.begin(), part.heap.end());
            part.seen.erase(part.heap.back().first);
            part.heap.pop_back();
        }
    };
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            keep(parts[t], mix(hash_row(rows_, i) ^ salt), i);
    });
    for (size_t t = 1; t < parts.size(); ++t)
        for (const auto& [hash, row] : parts[t].heap)
            keep(parts[0], hash, row);
    std::sort_heap(parts[0].heap.begin(), parts[0].heap.end());
    std::vector<Holding> out;
    for (const auto& [hash, row] : parts[0].heap)
        out.push_back({hash, 1, row});
    return out;
}

} // namespace coterie
