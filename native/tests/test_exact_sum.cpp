// test_exact_sum.cpp: ratios rounded once, wide sums, grids.
#include "core/exact_sum.hpp"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/team.hpp"
#include "tests/check.hpp"

using coterie::Grid;
using coterie::rounded_ratio;
using coterie::WideSum;

namespace {

constexpr double kSubnormal = 0x1p-1074;

void known_ratios() {
    CHECK(rounded_ratio(0, 3, 0) == 0.0);
    CHECK(rounded_ratio(1, 1, 0) == 1.0);
    CHECK(rounded_ratio(1, 3, 0) == 1.0 / 3.0);
    CHECK(rounded_ratio(-2, 3, 0) == -2.0 / 3.0);
    CHECK(rounded_ratio(7, 2, 10) == 3584.0);
    CHECK(rounded_ratio(10, 5, -1) == 1.0);

    // Halfway between two float64 values: to the even one; a hair above: up.
    const __int128 one = static_cast<__int128>(1) << 54;
    CHECK(rounded_ratio(one + 2, 1, -54) == 1.0);
    CHECK(rounded_ratio(one + 3, 1, -54) == 1.0 + DBL_EPSILON);
    CHECK(rounded_ratio(one + 6, 1, -54) == 1.0 + 2 * DBL_EPSILON);
    // The same where only the remainder of the division is above one half.
    const __int128 half = (static_cast<__int128>(1) << 53) + 1;
    CHECK(rounded_ratio(half, 2, 0) == 0x1p52);
    CHECK(rounded_ratio(3 * half + 1, 6, 0) == 0x1p52 + 1);
    CHECK(rounded_ratio(3 * half - 1, 6, 0) == 0x1p52);
    // Rounding up into the next power of two.
    CHECK(rounded_ratio((static_cast<__int128>(1) << 54) - 1, 1, -54) == 1.0);

    // Wider than 64 bits above and below.
    const __int128 large = static_cast<__int128>(1) << 125;
    CHECK(rounded_ratio(large, 1, 0) == 0x1p125);
    CHECK(rounded_ratio(-large, static_cast<unsigned __int128>(large), 0) == -1.0);
    CHECK(rounded_ratio(1, static_cast<unsigned __int128>(large), 0) == 0x1p-125);
    CHECK(rounded_ratio(large - 1, static_cast<unsigned __int128>(large), 0) == 1.0);
}

void subnormal_ratios() {
    CHECK(rounded_ratio(1, 1, -1074) == kSubnormal);
    CHECK(rounded_ratio(1, 2, -1074) == 0.0); // halfway to zero, which is even
    CHECK(rounded_ratio(3, 4, -1074) == kSubnormal);
    CHECK(rounded_ratio(3, 2, -1074) == 2 * kSubnormal);
    CHECK(rounded_ratio(5, 2, -1074) == 2 * kSubnormal);
    CHECK(rounded_ratio(1, 3, -1074) == 0.0);
    CHECK(rounded_ratio(1, 1, -1076) == 0.0);
    CHECK(rounded_ratio((static_cast<__int128>(1) << 53) - 1, 2, -1074) == DBL_MIN);
    CHECK(std::signbit(rounded_ratio(-1, 1, -1074)));
}

void ratios_of_random_integers() {
    // Numerator and denominator are float64 values themselves: the machine divides correctly.
    Random random{1};
    for (int turn = 0; turn < 200000; ++turn) {
        const int64_t a = static_cast<int64_t>(random.word() >> (11 + random.below(52)));
        const int64_t b = static_cast<int64_t>(random.word() >> (11 + random.below(52))) + 1;
        const int exponent = random.below(200) - 100;
        if (b > (1ll << 53))
            continue;
        const double expected =
            std::ldexp(static_cast<double>(a) / static_cast<double>(b), exponent);
        CHECK(rounded_ratio(a, static_cast<unsigned __int128>(b), exponent) == expected);
        CHECK(rounded_ratio(-a, static_cast<unsigned __int128>(b), exponent) == -expected);
        // Common factors change nothing.
        const __int128 factor = static_cast<__int128>(random.word() >> 2) + 1;
        CHECK(rounded_ratio(a * factor, static_cast<unsigned __int128>(b * factor), exponent) ==
              expected);
    }
}

// The digits of a wide sum that is small enough, as an integer times 2^exponent.
__int128 value_of(const WideSum& sum, int exponent) {
    const std::vector<uint32_t> digits = sum.integer();
    const int first = (exponent - WideSum::kLowest) / 32;
    CHECK((exponent - WideSum::kLowest) % 32 == 0);
    unsigned __int128 value = 0;
    for (int w = 3; w >= 0; --w)
        value = (value << 32) | digits[first + w];
    for (int w = 0; w < first; ++w)
        CHECK(digits[w] == 0);
    const uint32_t sign = digits[first + 3] >> 31 ? 0xffffffffu : 0u;
    for (size_t w = first + 4; w < digits.size(); ++w)
        CHECK(digits[w] == sign);
    return static_cast<__int128>(value);
}

void wide_sums() {
    Random random{2};
    for (int turn = 0; turn < 2000; ++turn) {
        WideSum sum, other;
        __int128 expected = 0;
        for (int term = 0; term < 20; ++term) {
            const auto value = static_cast<__int128>(static_cast<int64_t>(random.word()));
            const int up = random.below(50);
            (term % 2 ? sum : other).add(value, -64 + up);
            expected += value * (static_cast<__int128>(1) << up);
        }
        sum.merge(other);
        CHECK(value_of(sum, -64) == expected);
    }
    // A value and its opposite cancel at every place, whatever was carried.
    WideSum sum;
    for (int exponent = WideSum::kLowest; exponent < 2300; exponent += 7) {
        const __int128 value = (static_cast<__int128>(1) << 126) + exponent;
        sum.add(value, exponent);
        sum.add(-value, exponent);
    }
    for (uint32_t digit : sum.integer())
        CHECK(digit == 0);
}

void products() {
    WideSum sum;
    sum.add_product(1e300, 1e300);
    sum.add_product(kSubnormal, kSubnormal);
    sum.add_product(-1e300, 1e300);
    sum.add_product(3.0, -0.5);
    sum.add_product(1.5, 1.0);
    const std::vector<uint32_t> digits = sum.integer();
    for (size_t w = 0; w < digits.size(); ++w) {
        const int exponent = WideSum::kLowest + static_cast<int>(w) * 32;
        const bool here = exponent <= -2148 && -2148 < exponent + 32; // 2^-1074 squared
        CHECK(digits[w] == (here ? 1u << (-2148 - exponent) : 0u));
    }
}

void the_range_of_wide_sums() {
    // The smallest product w x^2 and the largest, and zero wherever it comes from.
    WideSum sum;
    sum.add(0, WideSum::kLowest - 1000);
    sum.add(0, 100000);
    for (uint32_t digit : sum.integer())
        CHECK(digit == 0);
    const __int128 large = static_cast<__int128>(1) << 126;
    for (int exponent : {3 * -1074, 3 * 971 + 33}) {
        sum.add(large, exponent);
        sum.add(-large, exponent);
    }
    for (uint32_t digit : sum.integer())
        CHECK(digit == 0);
    for (int exponent : {WideSum::kLowest - 1, WideSum::kLowest + 32 * WideSum::kWords}) {
        bool refused = false;
        try {
            sum.add(1, exponent);
        } catch (const std::range_error&) {
            refused = true;
        }
        CHECK(refused);
    }
}

void split_values() {
    for (double value : {1.0, -1.0, 1.0 / 3.0, DBL_MAX, DBL_MIN, kSubnormal, -1e-310, 0.0}) {
        int64_t mantissa;
        int exponent;
        coterie::split_double(value, mantissa, exponent);
        CHECK(std::llabs(mantissa) <= 1ll << 53);
        // Two steps, so that no factor is out of range.
        CHECK(std::ldexp(static_cast<double>(mantissa), exponent) == value);
    }
}

void means() {
    // Two columns on different grids; a cluster without mass keeps its mean.
    const int top[] = {10, -3};
    const Grid grid(top, 2, 2);
    CHECK(grid.padded == 4);
    CHECK(grid.unit_exponent(0, 0) == -20);
    CHECK(grid.unit_exponent(1, 1) == -65);
    int64_t sums[2][2][2] = {};
    sums[0][0][0] = 5 << 20; // 5
    sums[0][1][1] = 1;       // 2^-65
    const int64_t mass[] = {2, 0};
    double out[] = {7, 7, 7, 7};
    coterie::Team team(2);
    CHECK(coterie::means_from_sums(team, &sums[0][0][0], grid, mass, 1, 30, 2, out));
    CHECK(out[0] == 2.5);
    CHECK(out[1] == 0x1p-66);
    CHECK(out[2] == 7 && out[3] == 7);
    const Grid deep(top, 2, 4);
    const int64_t many[16] = {};
    CHECK(!coterie::means_from_sums(team, many, deep, mass, 1, 30, 2, out));
}

void saving() {
    // One cluster, one column: S = 6 from W = 4 rows, m = 1.5: 2 m S - W m^2 = 18 - 9.
    const int top = 30;
    const Grid grid(&top, 1, 1);
    const int64_t sums = 6, mass = 4;
    const double mean = 1.5;
    coterie::Team team(1);
    WideSum out;
    coterie::add_saving(team, &sums, grid, &mass, 1, 30, 1, &mean, out);
    CHECK(value_of(out, 0) == 9);

    // The smallest mean with weights that are small as well: none, and one unit.
    const double tiny = kSubnormal;
    const int64_t nothing = 0, something = 1;
    WideSum empty, unit;
    coterie::add_saving(team, &nothing, grid, &nothing, 1, -400, 1, &tiny, empty);
    for (uint32_t digit : empty.integer())
        CHECK(digit == 0);
    coterie::add_saving(team, &nothing, grid, &something, 1, -400, 1, &tiny, unit);
    const int place = 2 * -1074 - 430 - WideSum::kLowest; // -2^place
    const std::vector<uint32_t> digits = unit.integer();
    for (size_t w = 0; w < digits.size(); ++w) {
        const int word = static_cast<int>(w);
        const uint32_t at = -(1u << place % 32);
        CHECK(digits[w] == (word < place / 32 ? 0u : word == place / 32 ? at : 0xffffffffu));
    }
}

} // namespace

void test_exact_sum() {
    known_ratios();
    subnormal_ratios();
    ratios_of_random_integers();
    wide_sums();
    products();
    the_range_of_wide_sums();
    split_values();
    means();
    saving();
}
