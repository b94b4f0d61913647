// density.cpp: which index suits the data.
#include "coterie/density.hpp"

#include <stdexcept>

namespace coterie {

std::unique_ptr<DensityIndex> density_index(Team&, const Space& space, const std::string& name) {
    if (name == "auto" || name == "brute")
        return brute_density(space);
    throw std::invalid_argument("expected index 'auto' or 'brute', got '" + name + "'");
}

void reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
           const std::string&, int64_t* out) {
    brute_reach(team, cores, core_labels, queries, out);
}

} // namespace coterie
