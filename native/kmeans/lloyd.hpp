// lloyd.hpp: assignment updates of one block, and the bounds remembered between them.
//
// step() is a pure function of (rows, means): labels and exact sums. The bounds that let it skip
// most of the work are a cache; forgetting them costs time and never changes the answer.
#pragma once

#include <optional>

#include "kmeans/drift_bounds.hpp"
#include "kmeans/row_bounds.hpp"

namespace coterie::kmeans {

enum class Algorithm : uint8_t { brute, bounds };

struct StepCounts {
    int64_t moved = 0;     // rows whose label changed
    int64_t evaluated = 0; // rows compared with means at all
    int64_t settled = 0;   // rows decided by the float64 definition
};

class Lloyd {
public:
    // labels: (n,) kept by the caller; their values before the first step do not matter.
    // grid, mass: where sums go; without a grid only labels are made.
    Lloyd(const Rows& rows, const Ranges& ranges, int32_t* labels, std::optional<Grid> grid,
          std::optional<Grid> mass, Algorithm algorithm);

    ~Lloyd();

    StepCounts step(Team& team, const double* means, int k);

    // Totals of the block after the last step: sums (k, levels, d), mass (k, mass levels).
    void totals(int64_t* sums, int64_t* mass) const;

private:
    struct Thread;
    void forget(const double* means, int k);
    void ready_threads(const Team& team, size_t scratch);
    void collect(Team& team);

    Rows rows_;
    Ranges ranges_;
    int32_t* labels_;
    std::optional<Grid> grid_, mass_grid_;
    Algorithm algorithm_;

    int k_ = 0;
    bool low_ = false;   // vectors hold rows
    bool local_ = false; // only neighbouring means use slack up
    bool blank_ = true;  // there are no labels
    const Level* level_ = nullptr;
    std::optional<OwnedScaling> scaling_;
    std::vector<int32_t> order_; // position -> mean
    PreparedModel prepared_;
    DriftBounds drift_bounds_;
    RowBounds row_bounds_;
    Buffer<int64_t> sums_, masses_;
    std::vector<Thread> threads_;
};

} // namespace coterie::kmeans
