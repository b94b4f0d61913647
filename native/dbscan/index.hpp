// index.hpp: DBSCAN of one array in three steps: count, connect, label.
//
// An index carries out the steps; every index gives the same answer. Clusters are numbered by
// their smallest core row; a border row joins the lowest-numbered cluster that reaches it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dbscan/metric.hpp"

namespace coterie::dbscan {

// The rule for core points: at least this many rows nearby, itself included, or this much
// weight: the exact sum of the weights nearby, rounded once to float64.
struct CoreRule {
    double min_samples = 5;
    const double* weights = nullptr; // (n,) of any sign, or null for ones
    int64_t* counts = nullptr;       // out, or null: (n,) rows nearby each row, itself included
};

class Index {
public:
    virtual ~Index() = default;
    virtual const char* name() const = 0;
    std::string why; // this index and no other

    // Step 1. core: out (n,) 1 for core rows, else 0.
    virtual void count(Team& team, const CoreRule& rule, uint8_t* core) = 0;

    // Step 2. Unite core rows that are nearby each other.
    virtual void connect(Team& team) = 0;

    // Step 3. labels: out (n,) cluster of each row, -1 for noise. Returns the number of clusters.
    virtual int64_t label(Team& team, int64_t* labels) = 0;
};

// Every pair by the definition: for small data, and where coordinates cannot stand for rows.
std::unique_ptr<Index> brute_density(const Space& space);

// A kd-tree; float64 coordinates if it may not be single.
std::unique_ptr<Index> tree_density(Team& team, const Space& space, bool may_be_single);
void tree_reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
                int64_t* out);

// Cells whose points are all nearby each other. Null, and the reason, where they do not suit.
std::unique_ptr<Index> grid_density(Team& team, const Space& space, std::string& why_not);

// The index by name; "auto" chooses by the data and by the questions to come: `every` if all
// neighbours of every point are to be found, as for weights. A grid that is impossible is a tree.
std::unique_ptr<Index> make_index(Team& team, const Space& space, const std::string& name,
                                  bool every = false);

// For each query the lowest-numbered cluster with a core row nearby, or -1. So a core row gets its
// own cluster, a border row the one it joined, and noise stays noise.
// core_labels: (cores.n(),); out: (queries.n(),).
void reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
           const std::string& index, int64_t* out);
void brute_reach(Team& team, const Space& cores, const int64_t* core_labels, const Space& queries,
                 int64_t* out);

// The kinds and the core rows that a fit of dense rows keeps. kind: out (n,) 0 for noise, 1 for
// border, 2 for core rows.
class CoreRows {
public:
    CoreRows(Team& team, const Rows& rows, const uint8_t* core, const int64_t* labels,
             uint8_t* kind);
    int64_t count() const { return places_.back(); }
    // indices: out (count,); values: out (count, d), of the type of the rows.
    void copy(Team& team, int64_t* indices, void* values) const;

private:
    const Rows& rows_;
    const uint8_t* core_;
    int64_t chunk_;
    std::vector<int64_t> places_; // core rows before each chunk
};

// Exact sum of the weights, rounded once, at least min_samples? `values` is used up.
bool enough_weight(std::vector<double>& values, double min_samples);

} // namespace coterie::dbscan
