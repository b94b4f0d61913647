// full_moments_transposed.hpp: what full_moments_together.hpp does, for 16 and 24 columns and
// vectors of eight.
//
// Here lanes hold columns instead of rows. Turn t has the products of each column with the one t
// places further on, in a circle: column 0 follows the last. Turns 0 to d / 2 have every pair once.
// A vector of products meets all components in one go, and sums need not be added up over lanes:
// a sweep takes 0.93 of the time. It needs vectors without gaps, registers for the sums of many
// components, and a multiply-add that spreads a degree by itself. With other numbers of columns
// lanes would be empty (1.05 to 1.5 times as long); with vectors of four it gains nothing (1.0).
#pragma once

#if defined(__AVX512F__)

#include "mixture/kernels/full_moments_together.hpp"

namespace coterie::COTERIE_LEVEL {

class Turns {
public:
    static bool suit(const MixtureTask& task) {
        const int d = task.shape.d;
        return Products::suit(task) && d % kLanes == 0 && d > kLanes;
    }
    static size_t doubles(const MixtureTask& task) {
        const int k = task.shape.k, d = task.shape.d;
        return suit(task) ? static_cast<size_t>(kSummed) * stride_of(d) +
                                static_cast<size_t>(k + 3 + vectors_of(d) * k) * kLanes
                          : 0;
    }
    Turns(const Leaf& leaf, double* memory)
        : k_(leaf.k), d_(leaf.d), stride_(stride_of(d_)), rows_(memory) {
        masses_ = rows_ + kSummed * stride_;
        sums_ = masses_ + (k_ + 3) * kLanes;
        rest = sums_ + static_cast<size_t>(vectors_of(d_)) * k_ * kLanes;
    }
    double* rest;

    void clear() const {
        std::fill(rows_, masses_, 1.0);
        std::fill(masses_, rest, 0.0);
    }
    static bool pay(const Leaf& leaf, int64_t matter) { return Products::pay(leaf, matter); }

    void add(const MixtureTask& task, const Leaf& leaf) const {
        for (int g = 0; g < leaf.groups; g += kSummed / 8) {
            const int groups = std::min(kSummed / 8, leaf.groups - g);
            const int64_t first = (leaf.first + 8 * g) * d_;
            const int rows = std::min(8 * groups, leaf.n - 8 * g);
            if (task.rows->kind == Kind::float32)
                read(static_cast<const float*>(task.rows->values) + first, rows, task);
            else
                read(static_cast<const double*>(task.rows->values) + first, rows, task);
            for (int r = rows; r < 8 * groups; ++r)
                std::fill(rows_ + r * stride_, rows_ + (r + 1) * stride_ - kLanes, 0.0);
            add_masses(leaf.logs(g), groups);
            const int tiles = (k_ + kSide - 1) / kSide; // about as many components in each
            for (int tile = 0; tile < tiles; ++tile) {
                const int c = tile * k_ / tiles;
                add_some(c, (tile + 1) * k_ / tiles - c, leaf.logs(g) + 8 * c, groups);
            }
        }
    }

    // See move_moments.
    bool write(const double* centres, double* mass, double* first, double* second) const {
        const int parts = d_ / kLanes, firsts = vectors_of(d_) - parts;
        return move_moments(k_, d_, centres, mass, first, second, [&](int c, int i, int j) {
            if (i == d_)
                return across(masses_ + c * kLanes);
            int vector = firsts, at = i;
            if (j < d_) { // the shorter way round
                const int turn = 2 * (j - i) <= d_ ? j - i : d_ - (j - i);
                vector = turn * parts;
                at = turn == j - i ? i : j;
            }
            return sums_[((vector + at / kLanes) * k_ + c) * kLanes + at % kLanes];
        });
    }

private:
    static constexpr int kSide = 24; // components whose sums are in registers together

    int k_, d_;
    int stride_;     // of rows
    double* rows_;   // (kSummed, stride) with half the columns once more, and ones
    double* masses_; // (k, 8)
    double* sums_;   // (vectors, k, 8): turn by turn, then first moments

    static int stride_of(int d) { return d + (d / 2 + kLanes - 1) / kLanes * kLanes + kLanes; }
    static int vectors_of(int d) { // the last turn has each pair twice, and half of it will do
        const int parts = d / kLanes;
        return d / 2 * parts + (parts + 1) / 2 + parts;
    }

    // Rows, and their first columns once more after the last.
    template <class T> void read(const T* x, int rows, const MixtureTask& task) const {
        const int d = d_, stride = stride_, again = stride - kLanes - d;
        const double *origin = task.origin, *scale = task.scale;
        double* out = rows_;
        for (int r = 0; r < rows; ++r, x += d, out += stride)
            for (int j = 0; j < d; j += 4) {
                const D4 value = (load4(x + j) - load<D4>(origin + j)) * load<D4>(scale + j);
                store(out + j, value);
                if (j < again)
                    store(out + d + j, value);
            }
    }

    void add_masses(const double* degrees, int groups) const {
        for (int c = 0; c < k_; c += 4, degrees += 4 * kLanes) {
            VD sum[4] = {};
            for (int g = 0; g < groups; ++g)
#pragma GCC unroll 4
                for (int q = 0; q < 4; ++q)
                    sum[q] += load<VD>(degrees + static_cast<size_t>(g * k_ + q) * kLanes);
            double* to = masses_ + c * kLanes;
#pragma GCC unroll 4
            for (int q = 0; q < 4; ++q)
                store(to + q * kLanes, load<VD>(to + q * kLanes) + sum[q]);
        }
    }

    // All sums of `count` components, from c on.
    void add_some(int c, int count, const double* degrees, int groups) const {
        const Add add_vector = kAdd[count - 1];
        double* to = sums_ + c * kLanes;
        for (int turn = 0; 2 * turn <= d_; ++turn)
            for (int j = 0; j < (2 * turn < d_ ? d_ : turn); j += kLanes, to += k_ * kLanes)
                (this->*add_vector)(j, j + turn, degrees, groups, to);
        for (int j = 0; j < d_; j += kLanes, to += k_ * kLanes) // times one
            (this->*add_vector)(j, stride_ - kLanes, degrees, groups, to);
    }

    // A vector of products, of the columns from `left` and from `right` on.
    template <int Count>
    void add_vector(int left, int right, const double* degrees, int groups, double* to) const {
        // Chains of sums that need not wait for each other, if there are registers.
        constexpr int kChains = kSide / Count >= 4 ? 4 : kSide / Count >= 2 ? 2 : 1;
        VD sums[kChains][Count] = {};
        const double* row = rows_;
        const int stride = stride_, all = 8 * k_;
        for (int g = 0; g < groups; ++g, degrees += all)
#pragma GCC unroll 8
            for (int q = 0; q < 8; ++q, row += stride) {
                const VD product = load<VD>(row + left) * load<VD>(row + right);
                VD* const sum = sums[q % kChains];
#pragma GCC unroll 24
                for (int l = 0; l < Count; ++l)
                    sum[l] = fma(product, every(degrees[8 * l + q]), sum[l]);
            }
#pragma GCC unroll 24
        for (int l = 0; l < Count; ++l, to += kLanes) {
            VD sum = sums[0][l];
            for (int chain = 1; chain < kChains; ++chain)
                sum += sums[chain][l];
            store(to, load<VD>(to) + sum);
        }
    }

    using Add = void (Turns::*)(int, int, const double*, int, double*) const;
    static constexpr auto kAdd = []<int... Less>(std::integer_sequence<int, Less...>) {
        return std::array<Add, kSide>{&Turns::add_vector<Less + 1>...};
    }(std::make_integer_sequence<int, kSide>());
};

} // namespace coterie::COTERIE_LEVEL

#endif
