// exact_sum.cpp: grids of limbs, wide sums, and correctly rounded ratios.
#include "core/exact_sum.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/team.hpp"

namespace coterie {

using uint128 = unsigned __int128;

Grid::Grid(const int* top_, int columns_, int levels_)
    : columns(columns_), padded((columns_ + 3) / 4 * 4), levels(levels_),
      top(top_, top_ + columns_), magic(static_cast<size_t>(levels_) * padded) {
    for (int j = 0; j < levels; ++j)
        for (int l = 0; l < padded; ++l)
            magic[static_cast<size_t>(j) * padded + l] =
                std::ldexp(1.5, 52 + (l < columns ? unit_exponent(l, j) : 0));
}

void split_double(double value, int64_t& mantissa, int& exponent) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    const int biased = static_cast<int>(bits >> 52) & 0x7ff;
    const int64_t fraction = static_cast<int64_t>(bits & ((1ull << 52) - 1));
    const int64_t magnitude = biased ? fraction | (1ll << 52) : fraction;
    mantissa = bits >> 63 ? -magnitude : magnitude;
    exponent = (biased ? biased : 1) - 1075;
}

void WideSum::add(__int128 value, int exponent) {
    if (value == 0)
        return; // zero is zero at any exponent
    if (exponent < kLowest || exponent > kLowest + 32 * (kWords - 5))
        throw std::range_error("a term of an exact sum lies beyond products of float64 values");
    const bool negative = value < 0;
    uint128 rest = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
    const int offset = exponent - kLowest;
    int word = offset >> 5;
    const int shift = offset & 31;
    // The lowest digit takes the bits that a shift of the 128-bit value would push out at the top.
    uint64_t digit = static_cast<uint64_t>(static_cast<uint32_t>(rest)) << shift;
    int64_t carry = static_cast<int64_t>(digit >> 32);
    words_[word] += negative ? -static_cast<int64_t>(digit & 0xffffffffu)
                             : static_cast<int64_t>(digit & 0xffffffffu);
    rest >>= 32;
    while (rest != 0 || carry != 0) {
        digit = (static_cast<uint64_t>(static_cast<uint32_t>(rest)) << shift) + carry;
        carry = static_cast<int64_t>(digit >> 32);
        ++word;
        words_[word] += negative ? -static_cast<int64_t>(digit & 0xffffffffu)
                                 : static_cast<int64_t>(digit & 0xffffffffu);
        rest >>= 32;
    }
}

void WideSum::add_product(double a, double b) {
    int64_t ma, mb;
    int ea, eb;
    split_double(a, ma, ea);
    split_double(b, mb, eb);
    if (ma != 0 && mb != 0)
        add(static_cast<__int128>(ma) * mb, ea + eb);
}

std::vector<uint32_t> WideSum::integer() const {
    std::vector<uint32_t> digits(kWords + 2);
    int64_t carry = 0;
    for (int w = 0; w < kWords; ++w) {
        const int64_t digit = words_[w] + carry;
        digits[w] = static_cast<uint32_t>(digit);
        carry = digit >> 32;
    }
    digits[kWords] = static_cast<uint32_t>(carry);
    digits[kWords + 1] = carry < 0 ? 0xffffffffu : 0u;
    return digits;
}

void WideSum::merge(const WideSum& other) {
    for (int w = 0; w < kWords; ++w)
        words_[w] += other.words_[w];
}

namespace {

// value * 2^exponent; a plain product unless the power of two is out of range.
double scaled(double value, int exponent) {
    if (exponent < -1000 || exponent > 1000)
        return std::ldexp(value, exponent);
    return value * std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// The float64 nearest to q * 2^exponent; `inexact` says that bits below q were dropped.
double round_to_double(uint128 q, bool inexact, int exponent) {
    if (q == 0)
        return 0.0;
    const uint64_t high = static_cast<uint64_t>(q >> 64);
    const int bits =
        high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(static_cast<uint64_t>(q));
    // Subnormal results keep fewer bits.
    int keep = 53;
    if (bits + exponent < -1021)
        keep = bits + exponent + 1074;
    if (keep < 0)
        return 0.0;
    const int drop = bits - keep;
    if (drop <= 0)
        return scaled(static_cast<double>(static_cast<uint64_t>(q)), exponent);
    const uint128 half = static_cast<uint128>(1) << (drop - 1);
    const uint128 rest = q & ((half << 1) - 1);
    uint64_t kept = static_cast<uint64_t>(drop >= 128 ? 0 : q >> drop);
    if (rest > half || (rest == half && (inexact || (kept & 1))))
        ++kept;
    return scaled(static_cast<double>(kept), exponent + drop);
}

// numerator = quotient * denominator + remainder with a quotient of at least 64 bits, found by
// binary long division; needed only when the denominator itself has more than 63 bits.
uint128 long_division(uint128 numerator, uint128 denominator, int& exponent, bool& inexact) {
    uint128 quotient = numerator / denominator;
    uint128 remainder = numerator - quotient * denominator;
    while ((quotient >> 60) == 0 && remainder != 0) {
        const bool carry = remainder >> 127;
        remainder <<= 1;
        quotient <<= 1;
        --exponent;
        if (carry || remainder >= denominator) {
            remainder -= denominator;
            quotient |= 1;
        }
    }
    inexact = remainder != 0;
    return quotient;
}

// limbs: value = sum of limb[j] * 2^(-32 j), in units of the last limb. False if it may overflow.
bool combine(const int64_t* limbs, int levels, size_t stride, __int128& out) {
    if (levels > 3)
        return false;
    __int128 total = 0;
    for (int j = 0; j < levels; ++j) {
        const int64_t limb = limbs[j * stride];
        if (levels == 3 && j == 0 && (limb >> 62) != (limb >> 63))
            return false;
        total = (total << 32) + limb;
    }
    out = total;
    return true;
}

} // namespace

namespace {

// (high, low) / divisor for high < divisor: one instruction where the machine has it.
uint64_t divide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t& remainder) {
#if defined(__x86_64__)
    uint64_t quotient;
    __asm__("divq %4" : "=a"(quotient), "=d"(remainder) : "a"(low), "d"(high), "r"(divisor) : "cc");
    return quotient;
#else
    const uint128 whole = static_cast<uint128>(high) << 64 | low;
    remainder = static_cast<uint64_t>(whole % divisor);
    return static_cast<uint64_t>(whole / divisor);
#endif
}

} // namespace

double rounded_ratio(__int128 numerator, uint128 denominator, int exponent) {
    if (numerator == 0)
        return 0.0;
    const bool negative = numerator < 0;
    uint128 magnitude =
        negative ? -static_cast<uint128>(numerator) : static_cast<uint128>(numerator);
    // As many leading bits as fit make the quotient long enough in one division.
    const uint64_t high = static_cast<uint64_t>(magnitude >> 64);
    const int zeros =
        high ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<uint64_t>(magnitude));
    magnitude <<= zeros;
    exponent -= zeros;
    bool inexact = false;
    uint128 quotient;
    if (denominator >> 63) {
        quotient = long_division(magnitude, denominator, exponent, inexact);
    } else {
        const int spare = __builtin_clzll(static_cast<uint64_t>(denominator));
        uint64_t remainder;
        quotient =
            divide(static_cast<uint64_t>(magnitude >> 65), static_cast<uint64_t>(magnitude >> 1),
                   static_cast<uint64_t>(denominator) << spare, remainder);
        inexact = remainder != 0 || (magnitude & 1);
        exponent += spare + 1;
    }
    const double value = round_to_double(quotient, inexact, exponent);
    return negative ? -value : value;
}

namespace {

constexpr int64_t kWorthATeam = 8192; // numbers, each some ten nanoseconds

// work(thread, begin, end) over the columns of k clusters.
template <class Work> void for_columns(Team& team, int columns, int k, const Work& work) {
    const int64_t numbers = static_cast<int64_t>(columns) * k;
    if (numbers < kWorthATeam)
        return work(0, 0, columns);
    const int64_t parts = std::min<int64_t>(numbers / (kWorthATeam / 4), 4 * team.size());
    team.for_chunks(columns, (columns + parts - 1) / parts, work);
}

} // namespace

bool means_from_sums(Team& team, const int64_t* sums, const Grid& grid, const int64_t* mass,
                     int mass_levels, int mass_top, int k, double* out) {
    const int d = grid.columns, levels = grid.levels;
    const int mass_unit = mass_top - 30 - 32 * (mass_levels - 1);
    std::vector<__int128> weights(k);
    for (int c = 0; c < k; ++c)
        if (!combine(mass + static_cast<size_t>(c) * mass_levels, mass_levels, 1, weights[c]))
            return false;
    std::atomic<bool> fits = true;
    for_columns(team, d, k, [&](int, int64_t begin, int64_t end) {
        for (int c = 0; c < k; ++c) {
            const int64_t* row = sums + static_cast<size_t>(c) * levels * d;
            for (int64_t l = begin; l < end && weights[c] > 0; ++l) {
                __int128 sum;
                if (!combine(row + l, levels, d, sum)) {
                    fits = false;
                    return;
                }
                out[static_cast<size_t>(c) * d + l] =
                    rounded_ratio(sum, static_cast<uint128>(weights[c]),
                                  grid.unit_exponent(static_cast<int>(l), levels - 1) - mass_unit);
            }
        }
    });
    return fits;
}

namespace {

// m (2 S - W m) of one cluster and column, for any limbs and any mass.
void add_saving_of(const int64_t* sums, const Grid& grid, int l, const int64_t* mass,
                   int mass_levels, int mass_top, int64_t m, int e, WideSum& out) {
    for (int j = 0; j < grid.levels; ++j)
        out.add(static_cast<__int128>(sums[static_cast<size_t>(j) * grid.columns + l]) * m,
                e + grid.unit_exponent(l, j) + 1);
    // m^2 has 106 bits: multiply its halves by each limb of the mass.
    const __int128 square = static_cast<__int128>(m) * m;
    const __int128 low = square & ((static_cast<__int128>(1) << 56) - 1), high = square >> 56;
    for (int j = 0; j < mass_levels; ++j) {
        const int unit = 2 * e + mass_top - 30 - 32 * j;
        out.add(-low * mass[j], unit);
        out.add(-high * mass[j], unit + 56);
    }
}

// The same where up to three limbs and a mass that is a count make it cheap: 2 S - W m is one
// 128-bit integer, cut into three pieces of 42 bits, and the products of m with the pieces are
// added up column by column before they go to the wide sum.
class CountedSaving {
public:
    // For columns [begin, end).
    CountedSaving(const Grid& grid, int begin, int end, WideSum& out)
        : grid_(grid), begin_(begin), out_(out), sums_(3 * static_cast<size_t>(end - begin)) {}

    // False if the mean is too small beside its column.
    bool add(__int128 sum, int l, int64_t count, int64_t m, int e) {
        const int last = grid_.unit_exponent(l, grid_.levels - 1);
        const int lift = e - (grid_.top[l] - 53 - kLift); // of m above the smallest that fits
        const int down = e - last;                        // of m above the units of the sum
        if (lift < 0 || lift > kLift || down < 0 || down > 42 || count >> 31 || sum >> 120 > 0 ||
            sum >> 120 < -1)
            return false;
        const __int128 rest = 2 * sum - ((static_cast<__int128>(m) * count) << down);
        const __int128 factor = static_cast<__int128>(m) << lift;
        __int128* to = &sums_[3 * static_cast<size_t>(l - begin_)];
        to[0] += factor * static_cast<int64_t>(rest & kPiece);
        to[1] += factor * static_cast<int64_t>((rest >> 42) & kPiece);
        to[2] += factor * static_cast<int64_t>(rest >> 84);
        return true;
    }
    void end_cluster() {
        if (++clusters_ == 64) // 53 + kLift + 44 bits and 64 of them
            flush();
    }
    void flush() {
        for (size_t q = 0; q < sums_.size(); ++q) {
            const int l = begin_ + static_cast<int>(q / 3), piece = static_cast<int>(q % 3);
            out_.add(sums_[q], grid_.unit_exponent(l, grid_.levels - 1) + 42 * piece +
                                   grid_.top[l] - 53 - kLift);
            sums_[q] = 0;
        }
        clusters_ = 0;
    }

private:
    static constexpr int kLift = 20;
    static constexpr __int128 kPiece = (static_cast<__int128>(1) << 42) - 1;

    const Grid& grid_;
    int begin_;
    WideSum& out_;
    std::vector<__int128> sums_; // (columns, 3)
    int clusters_ = 0;
};

} // namespace

void add_saving(Team& team, const int64_t* sums, const Grid& grid, const int64_t* mass,
                int mass_levels, int mass_top, int k, const double* means, WideSum& out) {
    const int d = grid.columns, levels = grid.levels;
    const bool counted = mass_levels == 1 && mass_top == 30;
    std::vector<WideSum> parts(team.size());
    for_columns(team, d, k, [&](int t, int64_t begin, int64_t end) {
        CountedSaving fast(grid, static_cast<int>(begin), static_cast<int>(end), parts[t]);
        for (int c = 0; c < k; ++c) {
            const int64_t* row = sums + static_cast<size_t>(c) * levels * d;
            const int64_t* weight = mass + static_cast<size_t>(c) * mass_levels;
            for (int l = static_cast<int>(begin); l < end; ++l) {
                int64_t m;
                int e;
                split_double(means[static_cast<size_t>(c) * d + l], m, e);
                if (m == 0)
                    continue;
                __int128 sum;
                if (!counted || !combine(row + l, levels, d, sum) ||
                    !fast.add(sum, l, *weight, m, e))
                    add_saving_of(row, grid, l, weight, mass_levels, mass_top, m, e, parts[t]);
            }
            fast.end_cluster();
        }
        fast.flush();
    });
    for (const WideSum& part : parts)
        out.merge(part);
}

} // namespace coterie
