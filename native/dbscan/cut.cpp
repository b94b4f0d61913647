// cut.cpp: reading the structure at one eps.
#include <algorithm>
#include <limits>

#include "dbscan/every_eps.hpp"

namespace coterie::dbscan {
namespace {

constexpr int64_t kSomeRows = 1 << 15;

} // namespace

int64_t cut(Team& team, const ReachabilityStructure& path, double reach, int64_t* labels) {
    // Infinite distances are never nearby.
    reach = std::min(reach, std::numeric_limits<double>::max());
    const int64_t n = path.n, k = path.k;
    // 1. Runs of the chain without a gap above `reach` belong together; a run of one row
    //    that is not core is no cluster. Until they are numbered, rows know the first row of
    //    their run.
    Buffer<int32_t> first(n);
    for (int64_t i = 0, looked = 0; i < n;) {
        if (i - looked >= kSomeRows) {
            team.check(0);
            looked = i;
        }
        int64_t end = i + 1;
        int32_t smallest = path.order[i];
        for (; path.height[end - 1] <= reach; ++end)
            smallest = std::min(smallest, path.order[end]);
        for (; i < end; ++i)
            first[path.order[i]] = smallest;
    }
    // 2. Clusters are numbered by their smallest core row.
    int64_t clusters = 0;
    for (int64_t row = 0; row < n; ++row) {
        if (row % kSomeRows == 0)
            team.check(0);
        if (path.core[row] > reach)
            labels[row] = -1;
        else
            labels[row] = first[row] == row ? clusters++ : labels[first[row]];
    }
    // 3. Border rows join the lowest-numbered cluster that reaches them.
    team.for_chunks(n, kSomeRows, [&](int, int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            if (path.core[row] <= reach || path.member[row] > reach)
                continue;
            int64_t lowest = std::numeric_limits<int64_t>::max();
            for (int64_t q = row * k; q < (row + 1) * k && path.sums[q] <= reach; ++q) {
                const int32_t to = path.neighbours[q];
                if (path.core[to] <= reach)
                    lowest = std::min(lowest, labels[to]);
            }
            labels[row] = lowest;
        }
    });
    return clusters;
}

} // namespace coterie::dbscan
