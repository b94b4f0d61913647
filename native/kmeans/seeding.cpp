// seeding.cpp: passes of seeding, shared out among the threads of the fit.
#include "kmeans/seeding.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/hash.hpp"

namespace coterie::kmeans {
namespace {

constexpr int64_t kChunk = 8192;        // whole vectors of runs
constexpr int64_t kManySeeds = 32;      // for fewer it does not pay to move rows,
constexpr int kArrangeAfter = 8;        // and the first reach nearly all of them
constexpr int64_t kArrangeRows = 30000; // fewer rows stay in the caches as they lie
constexpr int kCellBits = 12;           // some rows of a segment in each cell
constexpr int64_t kSample = 2048;       // rows that tell where columns are cut

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

// order: (count,) indices by key, those of one key as they were; starts: (keys + 1,) of each key.
void sort_by_key(const uint16_t* key, int64_t count, int keys, uint32_t* starts, uint16_t* order) {
    std::fill(starts, starts + keys + 1, 0);
    for (int64_t i = 0; i < count; ++i)
        ++starts[key[i]];
    for (uint32_t sum = 0, *at = starts; at <= starts + keys; ++at)
        sum += std::exchange(*at, sum);
    for (int64_t i = 0; i < count; ++i)
        order[starts[key[i]]++] = static_cast<uint16_t>(i);
    std::copy_backward(starts, starts + keys, starts + keys + 1); // each has become the next
    starts[0] = 0;
}

std::vector<Holding> merged(std::vector<Found>& parts) {
    Found whole;
    for (const Found& part : parts)
        for (const Holding& holding : part.values)
            whole.add(holding);
    whole.put_together();
    return whole.values;
}

} // namespace

Seeding::Seeding(const Rows& rows, const Ranges& ranges, const int32_t* copies, int bucket_bits,
                 int64_t seeds)
    : rows_(rows), scaling_(ranges, nullptr, 0, false), copies_(copies), bucket_bits_(bucket_bits),
      expected_(seeds), level_(level()), units_(buckets()) {}

SeedPass Seeding::pass(int shift) const {
    SeedPass pass;
    pass.rows = &rows_;
    pass.scaling = scaling_.view();
    pass.coarse = coarse_;
    pass.order = arranged() ? order_.data() : nullptr;
    pass.columns = columns_.size() > 0 ? columns_.data() : nullptr;
    pass.runs = {boxes_.data(), farthest_.data(), run_units_.data(), run_shift_.data()};
    pass.nearest32 = nearest32_.data();
    pass.nearest64 = nearest64_.data();
    pass.bucket = bucket_.data();
    pass.copies = copies_;
    pass.shift = shift;
    return pass;
}

void Seeding::prepare(Team& team) {
    bucket_.resize(rows_.n);
    const bool few = rows_.d <= kFewColumns;
    if (few) {
        const int64_t runs = padded((rows_.n + kRunRows - 1) / kRunRows);
        columns_.resize(padded(rows_.n) * rows_.d);
        boxes_.resize(runs * 2 * rows_.d);
        boxes_.zero();
        farthest_.resize(runs);
        farthest_.zero();
        run_units_.resize(runs);
        run_shift_.resize(runs);
    }
    const SeedPass pass = this->pass(0);
    team.for_chunks(rows_.n, kChunk, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
            bucket_[i] = static_cast<uint16_t>(hash_row(rows_, i) >> (64 - bucket_bits_));
        if (few)
            level_.kmeans->transpose_columns(pass, begin, end, columns_.data());
    });
}

// In each segment, rows of one cell of a coarse grid move together, and rows of one bucket are
// listed.
void Seeding::arrange(Team& team) {
    const int bits = std::clamp(kCellBits / rows_.d, 1, 6), cells = 1 << (bits * rows_.d);
    const std::vector<float> cuts = this->cuts(bits);
    const int64_t segments = (rows_.n + kSegment - 1) / kSegment;
    order_.resize(rows_.n);
    places_.resize(rows_.n);
    starts_.resize(segments * (buckets() + 1));
    struct Part {
        Buffer<uint16_t> key, bucket;
        Buffer<float> nearest;
        std::vector<uint32_t> starts;
    };
    std::vector<Part> parts(team.size());
    const SeedPass pass = this->pass(0);
    team.for_chunks(rows_.n, kSegment, [&](int t, int64_t begin, int64_t end) {
        Part& part = parts[t];
        part.key.resize(kSegment);
        part.bucket.resize(kSegment);
        part.nearest.resize(kSegment);
        part.starts.resize(cells + 1);
        const int64_t count = end - begin;
        level_.kmeans->find_cells(pass, begin, end, cuts.data(), bits, part.key.data());
        sort_by_key(part.key.data(), count, cells, part.starts.data(), &order_[begin]);
        std::copy_n(&bucket_[begin], count, part.bucket.data());
        std::copy_n(&nearest32_[begin], count, part.nearest.data());
        for (int64_t i = 0; i < count; ++i) {
            bucket_[begin + i] = part.bucket[order_[begin + i]];
            nearest32_[begin + i] = part.nearest[order_[begin + i]];
        }
        level_.kmeans->transpose_columns(pass, begin, end, columns_.data());
        for (int64_t first = begin; first < end; first += kRunRows) {
            const float* run = &nearest32_[first];
            farthest_[first / kRunRows] =
                *std::max_element(run, run + std::min<int64_t>(kRunRows, end - first));
            run_shift_[first / kRunRows] = SeedRuns::kUncounted;
        }
        sort_by_key(&bucket_[begin], count, buckets(), &starts_[begin / kSegment * (buckets() + 1)],
                    &places_[begin]);
    });
}

// (d, 2^bits - 1) values that cut each column into parts with as many rows, about.
std::vector<float> Seeding::cuts(int bits) const {
    const int count = (1 << bits) - 1, d = rows_.d, width = level_.width;
    const int64_t m = std::min(rows_.n, kSample);
    std::vector<float> out, sample(m);
    for (int l = 0; l < d; ++l) {
        for (int64_t j = 0; j < m; ++j) {
            const int64_t i = rows_.n * j / m;
            sample[j] = columns_[i / width * width * d + l * width + i % width];
        }
        std::sort(sample.begin(), sample.end());
        for (int c = 1; c <= count; ++c)
            out.push_back(sample[m * c / (count + 1)]);
    }
    return out;
}

void Seeding::start(Team& team, double distance) {
    counted_ = false;
    seeds_ = 0;
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
    if (!coarse_)
        return;
    std::fill(&nearest32_[rows_.n], &nearest32_[0] + padded(rows_.n), 0.f);
    for (int64_t run = 0; columns_.size() > 0 && run * kRunRows < rows_.n; ++run) {
        farthest_[run] = static_cast<float>(distance);
        run_shift_[run] = SeedRuns::kUncounted;
    }
}

double Seeding::approach(Team& team, const double* seed, int shift) {
    seeds_ += seed != nullptr;
    if (coarse_ && columns_.size() > 0 && !arranged() && expected_ >= kManySeeds &&
        seeds_ > kArrangeAfter && rows_.n >= kArrangeRows)
        arrange(team);
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
        part.scratch.resize(level_.kmeans->seed_scratch(pass));
        part.units.resize(buckets());
        part.units.zero();
    }
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        Part& part = parts[t];
        part.largest =
            std::max(part.largest, level_.kmeans->approach(pass, begin, end, part.scratch.data(),
                                                           part.units.data()));
    });
    if (pass.anew)
        std::fill(units_.begin(), units_.end(), 0);
    double largest = 0.0;
    for (const Part& part : parts) {
        largest = std::max(largest, part.largest);
        for (int b = 0; b < buckets(); ++b)
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
        s.resize(level_.kmeans->seed_scratch(pass));
    for (auto& part : parts)
        part.assign(trials + 8, 0);
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        level_.kmeans->potentials(pass, begin, end, scratch[t].data(), parts[t].data());
    });
    for (const auto& part : parts)
        for (int r = 0; r < trials; ++r)
            units[r] += part[r];
}

std::vector<Holding> Seeding::holdings(Team& team, const int32_t* buckets, int count, int shift) {
    std::vector<Found> parts(team.size());
    const std::vector<uint16_t> wanted(buckets, buckets + count);
    const auto seek = level_.kmeans->seek_buckets;
    const double magic = std::ldexp(1.5, 52 - shift);
    const SeedPass pass = this->pass(shift);
    const auto hold = [&](int t, int64_t place) {
        const int64_t row = pass.row_at(place), copies = copies_ ? copies_[row] : 1;
        const int64_t units =
            std::bit_cast<int64_t>(distance(place) + magic) - std::bit_cast<int64_t>(magic);
        if (units > 0)
            parts[t].add({hash_row(rows_, row), units * copies, row});
    };
    const auto listed = [&](int t, int64_t begin, int64_t) {
        const uint32_t* starts = &starts_[begin / kSegment * (this->buckets() + 1)];
        for (const uint16_t bucket : wanted)
            for (uint32_t p = starts[bucket]; p < starts[bucket + 1]; ++p)
                hold(t, begin + places_[begin + p]);
    };
    const auto sought = [&](int t, int64_t begin, int64_t end) {
        for (int64_t first = begin;; first += kSeekRows) {
            first = seek(bucket_.data(), first, end, wanted.data(), count);
            if (first >= end)
                return;
            for (int64_t i = first; i < std::min(end, first + kSeekRows); ++i)
                if (std::find(wanted.begin(), wanted.end(), bucket_[i]) != wanted.end())
                    hold(t, i);
        }
    };
    if (arranged())
        team.for_chunks(rows_.n, kSegment, listed);
    else
        team.for_chunks(rows_.n, kSegment, sought);
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
    const SeedPass pass = this->pass(0);
    team.for_chunks(rows_.n, kChunk, [&](int t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const double chance = distance(i) * factor;
            if (chance <= 0.0)
                continue;
            const int64_t row = pass.row_at(i);
            const uint64_t hash = hash_row(rows_, row);
            if (static_cast<double>(mix(hash ^ salt) >> 11) * 0x1p-53 < chance)
                parts[t].add({hash, copies_ ? copies_[row] : 1, row});
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

} // namespace coterie::kmeans
