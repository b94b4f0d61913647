// every_eps.hpp: DBSCAN of one array for every eps at once.
//
// A point is core from the distance of its (min_samples - 1)-th nearest point on. Two core points
// are nearby from their mutual reachability on: the largest of their distance and of
// their core distances. So the core points of one cluster at eps are those that edges of at most
// eps of a minimum spanning tree connect. A point that is not core at eps has fewer than
// min_samples points nearby, and all of them are among its nearest: it joins by these.
//
// Distances are kept as the definition compares them: squares for euclidean, not rooted.
#pragma once

#include <memory>
#include <vector>

#include "dbscan/metric.hpp"

namespace coterie::dbscan {

// The results of nearest() and span(), all (n,) unless said otherwise; memory of the caller.
struct NearestRows {
    double* core;        // out: from here on a row is core
    double* member;      // out: from here on a row is in a cluster, as core or border
    double* sums;        // out: (n, k) distances of the nearest rows, increasing
    int32_t* neighbours; // out: (n, k) these rows; -1 where the distance is infinite
};
struct ReachabilityPlot {
    int32_t* order; // out: rows such that those that ever belong together lie side by side
    double* height; // out: from here on order[i] and order[i + 1] belong together
};

class MutualReachability {
public:
    // unit: a power of two by which coordinates are multiplied, so that no square overflows.
    // Metric: euclidean, manhattan or chebyshev.
    MutualReachability(Team& team, const Rows& rows, Metric metric, double unit,
                       int64_t min_samples);
    ~MutualReachability();

    int64_t n() const;
    int64_t k() const; // nearest rows kept for each row
    void nearest(Team& team, const NearestRows& out);
    // After nearest(), whose output it reads.
    void span(Team& team, const NearestRows& near, const ReachabilityPlot& out);

private:
    struct Work;
    std::unique_ptr<Work> work_;
};

// The structure as it is read afterwards.
struct ReachabilityStructure {
    int64_t n = 0, k = 0;
    const double *core = nullptr, *member = nullptr, *sums = nullptr, *height = nullptr;
    const int32_t *neighbours = nullptr, *order = nullptr;
};

// labels: out (n,) as DBSCAN gives them where distances of at most `reach` are nearby. Returns the
// number of clusters.
int64_t cut(Team& team, const ReachabilityStructure& path, double reach, int64_t* labels);

} // namespace coterie::dbscan
