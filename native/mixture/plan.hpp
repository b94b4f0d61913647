// plan.hpp: the way in which a sweep goes over a mixture, chosen in one place, with the reason.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace coterie::mixture {

struct MixtureTask;

enum class MixtureKernel : uint8_t {
    few_columns, // full covariances of few columns: vectors hold rows
    axes,        // diagonal, spherical and tied ones
    tiles,       // full ones of more columns: rows times a triangular factor, by register tiles
};

struct MixturePath {
    MixtureKernel kernel = MixtureKernel::axes;
    // Rows are measured from the origin, and moments of all components moved to their centres
    // afterwards. Of `tiles` only the moments, and only of leaves where most responsibilities
    // matter.
    bool about_origin = false;
    bool screened = false; // densities that are sure not to matter are left out
    bool directed = false; // bounds on them look towards the means of other components, too
    bool shared = false;   // threads add to one set of moments
};

struct MixturePlan {
    MixturePath path;
    std::string why;
};

MixturePlan plan_of(const MixtureTask& task);

// Events on the way of a sweep: the answer is the same, but it took longer.
struct MixtureEvents {
    std::atomic<int64_t> repeated{0};   // chunks whose sums lost digits and were taken again
    std::atomic<bool> abandoned{false}; // so many densities mattered that all were computed
};

// Columns of full covariances, at most, whose moments are summed about the origin: with more of
// them products of all columns cost more than those of gathered rows.
constexpr int kMostTogether = 24;
// Of a screened sweep: leaving densities out pays up to this part that matters.
constexpr double kMostLeftOver = 0.4;
// Of moments about the origin: adding all components at once pays from this part on.
constexpr double kManyMatter = 0.6;

} // namespace coterie::mixture
