// seeding.cpp: the passes of greedy k-means++ over the rows of a block, by the kernel that makes
// them.
#include "kmeans/kernels/seed_units.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

size_t scratch_few_columns(const SeedPass&);
size_t scratch_many_columns(const SeedPass&);
void potentials_few_columns(const SeedPass&, int64_t, int64_t, void*, int64_t*);
void potentials_many_columns(const SeedPass&, int64_t, int64_t, void*, int64_t*);
double approach_few_columns(const SeedPass&, int64_t, int64_t, int64_t*);
double approach_many_columns(const SeedPass&, int64_t, int64_t, void*, int64_t*);

namespace {

// No new seed: only units are counted, and all anew.
double count_units(const SeedPass& pass, int64_t begin, int64_t end, int64_t* out) {
    const double magic = magic_of(pass.shift);
    double largest = 0.0;
    for (int64_t i = begin; i < end; ++i) {
        const double near = pass.coarse ? pass.nearest32[i] : pass.nearest64[i];
        largest = near > largest ? near : largest;
        out[pass.bucket[i]] += units_of(near, magic) * copies_of(pass, i);
    }
    return largest;
}

// By float64 and without a scaling, where float32 could not tell the rows apart.
double distance_float64(const double* x, const double* seed, int d) {
    double sum = 0.0;
    for (int l = 0; l < d; ++l) {
        const double e = x[l] - seed[l];
        sum += e * e;
    }
    return sum;
}

void potentials_float64(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                        int64_t* out) {
    double* row = static_cast<double*>(scratch);
    const int d = pass.rows->d;
    for (int64_t i = begin; i < end; ++i) {
        read_row(*pass.rows, pass.row_at(i), row);
        for (int t = 0; t < pass.trials; ++t) {
            const double e = distance_float64(row, pass.candidates + static_cast<size_t>(t) * d, d);
            const double near = pass.nearest64[i];
            const int64_t units = std::llrint(std::ldexp(e < near ? e : near, pass.shift));
            out[t] += units * copies_of(pass, i);
        }
    }
}

double approach_float64(const SeedPass& pass, int64_t begin, int64_t end, void* scratch,
                        int64_t* out) {
    double* row = static_cast<double*>(scratch);
    const double magic = magic_of(pass.shift);
    double largest = 0.0;
    for (int64_t i = begin; i < end; ++i) {
        const double before = pass.nearest64[i];
        read_row(*pass.rows, pass.row_at(i), row);
        const double e = distance_float64(row, pass.candidates, pass.rows->d);
        const double now = e < before ? e : before;
        pass.nearest64[i] = now;
        largest = now > largest ? now : largest;
        if (pass.anew || now < before)
            out[pass.bucket[i]] +=
                (units_of(now, magic) - (pass.anew ? 0 : units_of(before, magic))) *
                copies_of(pass, i);
    }
    return largest;
}

} // namespace

int64_t seek_buckets(const uint16_t* bucket, int64_t begin, int64_t end, const uint16_t* wanted,
                     int count) {
    typedef uint16_t Buckets __attribute__((vector_size(4 * W)));
    constexpr int lanes = 2 * W, vectors = kSeekRows / lanes;
    for (; begin + kSeekRows <= end; begin += kSeekRows) {
        Buckets rows[vectors];
        for (int v = 0; v < vectors; ++v)
            rows[v] = load<Buckets>(bucket + begin + v * lanes);
        VI found = {};
        for (int w = 0; w < count; ++w)
            for (int v = 0; v < vectors; ++v)
                found |= (VI)(rows[v] == wanted[w]);
        if (bits(found != 0))
            break;
    }
    return begin;
}

size_t seed_scratch(const SeedPass& pass) {
    if (!pass.coarse)
        return sizeof(double) * pass.rows->d; // a row
    return pass.columns ? scratch_few_columns(pass) : scratch_many_columns(pass);
}

void potentials(const SeedPass& pass, int64_t begin, int64_t end, void* scratch, int64_t* out) {
    if (!pass.coarse)
        potentials_float64(pass, begin, end, scratch, out);
    else if (pass.columns)
        potentials_few_columns(pass, begin, end, scratch, out);
    else
        potentials_many_columns(pass, begin, end, scratch, out);
}

double approach(const SeedPass& pass, int64_t begin, int64_t end, void* scratch, int64_t* out) {
    if (pass.trials == 0)
        return count_units(pass, begin, end, out);
    if (!pass.coarse)
        return approach_float64(pass, begin, end, scratch, out);
    if (pass.columns)
        return approach_few_columns(pass, begin, end, out);
    return approach_many_columns(pass, begin, end, scratch, out);
}

} // namespace coterie::COTERIE_LEVEL::kmeans
