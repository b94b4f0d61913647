// index.cpp: the choice of an index for the data.
#include "dbscan/index.hpp"

#include <limits>
#include <stdexcept>

namespace coterie::dbscan {
namespace {

// A zero row has cosine distance one to all rows; no coordinates give it that once it is nearby.
bool beyond_coordinates(const Space& space) {
    return !space.zero_rows().empty() && space.measure().eps >= 1;
}

std::unique_ptr<Index> because(std::unique_ptr<Index> index, std::string why) {
    if (index->why.empty())
        index->why = std::move(why);
    return index;
}

} // namespace

std::unique_ptr<Index> make_index(Team& team, const Space& space, const std::string& name,
                                  bool every) {
    if (space.n() > std::numeric_limits<int32_t>::max() / 2)
        throw std::invalid_argument("expected at most 2^30 rows");
    const bool chosen = name == "auto";
    if (!chosen && name != "grid" && name != "tree" && name != "tree64" && name != "brute")
        throw std::invalid_argument("expected index auto, grid, tree, tree64 or brute, got " +
                                    name);
    if (name == "brute")
        return because(brute_density(space), "asked for");
    if (beyond_coordinates(space))
        return because(brute_density(space), "rows of zeros have no place in a tree");
    std::string why_not;
    if (chosen && every)
        why_not = "all neighbours of every point are asked for";
    else if (chosen || name == "grid")
        if (auto grid = grid_density(team, space, why_not))
            return because(std::move(grid), chosen ? "" : "asked for");
    return because(tree_density(team, space, name != "tree64"),
                   why_not.empty() ? "asked for" : why_not);
}

void reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
           const std::string& index, int64_t* out) {
    if (index == "brute" || cores.n() == 0 || beyond_coordinates(cores) ||
        beyond_coordinates(queries)) {
        brute_reach(team, cores, core_labels, queries, out);
        return;
    }
    tree_reach(team, cores, core_labels, queries, out);
    // Zero rows of the two spaces have the same places, and are not nearby each other.
    for (const int64_t i : queries.zero_rows())
        out[i] = -1;
}

} // namespace coterie::dbscan
