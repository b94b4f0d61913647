// lloyd.hpp: assignment updates of one block, with what is remembered between them.
//
// step() is a pure function of (rows, means): labels and exact sums. The bounds that let it skip
// most of the work are a cache; forgetting them costs time and never changes the answer.
#pragma once

#include <optional>

#include "coterie/sketch.hpp"

namespace coterie {

enum class Algorithm : uint8_t { brute, bounds };

struct StepCounts {
    int64_t moved = 0;     // rows whose label changed
    int64_t evaluated = 0; // rows compared with means at all
    int64_t settled = 0;   // rows decided by the float64 definition
};

class Lloyd {
public:
    // labels: (n,) kept by the caller; what they hold before the first step does not matter.
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
    void advance_clocks(const double* means, int k);
    void look_around(Team& team, const double* means, int k);
    void list_neighbours(int a, std::vector<std::pair<float, int32_t>>& near);
    void plan_groups(int k);
    bool bounds_pay() const;
    void sketch_rows(Team& team, const double* means, int k);
    void collect(std::vector<Thread>& threads, int k);

    Rows rows_;
    Ranges ranges_;
    int32_t* labels_;
    std::optional<Grid> grid_, mass_grid_;
    Algorithm algorithm_;
    bool low_ = false; // vectors hold rows
    const Kernels* kernels_ = nullptr;

    int k_ = 0;
    bool fresh_ = true; // no bound is valid
    bool blank_ = true; // there are no labels
    int steps_ = 0;
    std::optional<FrameOwner> frame_;
    PreparedModel prepared_;
    Buffer<double> means_;      // (k, d) of the last step
    std::vector<double> drift_; // (k,) in frame units, rounded up
    Buffer<float> deadline_, bounds_;
    std::vector<float> clock_, expiry_, own_drift_, group_drift_;
    Buffer<int64_t> sums_, masses_;
    std::vector<Thread> threads_;

    // Rows in lanes: clocks that follow only neighbouring means, and lists of these if many.
    bool local_ = false, near_ = false;
    float cap_ = 1e30f;
    std::vector<double> radius_, growth_;
    std::vector<uint8_t> refresh_;
    std::vector<std::vector<float>> lists_;
    std::vector<const float*> list_pointers_;
    std::vector<int32_t> list_lengths_;

    // Many columns, many means.
    std::vector<int32_t> order_;
    int groups_ = 0, panels_per_group_ = 0, record_ = 0;
    bool grouped_ = false; // all rows have bounds by group, not only those that try them
    bool joining_ = false; // the others get them in the next step

    // Very many columns, few means.
    bool sketches_ = false; // they may pay
    SketchOwner sketch_;
    Buffer<float> row_sketches_;
    int64_t read_ = 0, decided_ = 0; // rows, with the directions in use
};

} // namespace coterie
