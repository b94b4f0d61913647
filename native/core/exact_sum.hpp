// exact_sum.hpp: sums that are exact, so that they do not depend on the order of addition.
//
// A column whose values lie below 2^top is cut into limbs of 32 bits: limb j counts units of
// 2^(top - 30 - 32 j). Adding a value adds an integer to each limb. Integers add in any order to
// the same total, subtracting undoes adding, and a mean is the exact ratio rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/inline.hpp"

namespace coterie {

class Team;

// As kernels see the grid of some sums.
struct LimbGrid {
    int padded = 0, levels = 0;
    const double* magic = nullptr; // as in Grid; null: such sums are not wanted

    COTERIE_INLINE size_t size() const { return static_cast<size_t>(levels) * padded; }
    COTERIE_INLINE explicit operator bool() const { return magic != nullptr; }
};

// The places of the limbs of each column.
struct Grid {
    int columns = 0;
    int padded = 0;            // columns rounded up to a multiple of 4, so that vectors are whole
    int levels = 0;            // limbs per value
    std::vector<int> top;      // (columns,)
    std::vector<double> magic; // (levels, padded): 1.5 * 2^52 * unit; adding it rounds to units

    Grid() = default;
    Grid(const int* top, int columns, int levels);
    int unit_exponent(int column, int level) const { return top[column] - 30 - 32 * level; }
    size_t size() const { return static_cast<size_t>(levels) * padded; }
    LimbGrid view() const { return {padded, levels, magic.data()}; }
};

// A sum of integers times powers of two over the whole range of products w x^2 of float64 values.
class WideSum {
public:
    static constexpr int kWords = 208;      // digits of 32 bits, up to 2^3424
    static constexpr int kLowest = -3232;   // exponent of the lowest digit, below 3 * -1074
    void add(__int128 value, int exponent); // std::range_error beyond these
    void add_product(double a, double b);   // a * b, exactly
    void merge(const WideSum& other);
    // The sum divided by 2^kLowest, as a little-endian two's complement integer.
    std::vector<uint32_t> integer() const;

private:
    int64_t words_[kWords] = {};
};

// value = mantissa * 2^exponent with an integer mantissa below 2^53 in magnitude.
void split_double(double value, int64_t& mantissa, int& exponent);

// The float64 nearest to (numerator * 2^exponent) / denominator, ties to even. denominator > 0.
double rounded_ratio(__int128 numerator, unsigned __int128 denominator, int exponent);

// The functions below are shared out by columns where it is worth a team.

// out: (k, columns) means of the clusters with a positive mass; the others keep their values.
// sums: (k, levels, columns), mass: (k, mass_levels). False if the limbs are too many for the
// 128-bit path; the caller then takes the slow one.
bool means_from_sums(Team& team, const int64_t* sums, const Grid& grid, const int64_t* mass,
                     int mass_levels, int mass_top, int k, double* out);

// out += sum over clusters of (2 m S - W m^2): by as much the means lessen the sum of squares.
void add_saving(Team& team, const int64_t* sums, const Grid& grid, const int64_t* mass,
                int mass_levels, int mass_top, int k, const double* means, WideSum& out);

} // namespace coterie
