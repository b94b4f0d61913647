// density.cpp: which index suits the data.
#include "coterie/density.hpp"

#include <limits>
#include <stdexcept>

namespace coterie {
namespace {

// A zero row has cosine distance one to all rows; no coordinates give it that once it is nearby.
bool beyond_coordinates(const Space& space) {
    return !space.zero_rows().empty() && space.measure().eps >= 1;
}

} // namespace

std::unique_ptr<DensityIndex> density_index(Team& team, const Space& space,
                                            const std::string& name) {
    if (space.n() > std::numeric_limits<int32_t>::max() / 2)
        throw std::invalid_argument("expected at most 2^30 rows");
    if (name == "brute" || beyond_coordinates(space))
        return brute_density(space);
    if (name == "auto" || name == "tree")
        return tree_density(team, space, true);
    if (name == "tree64")
        return tree_density(team, space, false);
    throw std::invalid_argument("expected index auto, tree, tree64 or brute, got " + name);
}

void reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
           const std::string& index, int64_t* out) {
    if (index == "brute" || cores.n() == 0 || beyond_coordinates(cores) ||
        beyond_coordinates(queries))
        brute_reach(team, cores, core_labels, queries, out);
    else
        tree_reach(team, cores, core_labels, queries, out);
}

} // namespace coterie
