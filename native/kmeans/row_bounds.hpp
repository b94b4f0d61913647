// row_bounds.hpp: the memory of a row beyond its label: a slack limit, bounds by group of means,
// a sketch. Each is kept once it spares more than it takes.
#pragma once

#include "kmeans/sketch.hpp"

namespace coterie::kmeans {

// The work of a thread in chunks without bounds by group [0], and in those that try them [1].
struct BoundsTrial {
    int64_t work[2] = {}, rows[2] = {};
};

class RowBounds {
public:
    // Nothing is kept yet. low: vectors hold rows.
    void start(const Rows& rows, const Level& level, Model& model, bool low);

    // Before every step but the first: directions are chosen, or given up, when it is time.
    void choose_directions(const Rows& rows, const Model& model);
    void prepare_sketches(Team& team, const Level& level, Model& model);

    // Does this chunk try bounds by group?
    bool tries(int64_t chunk) const { return groups_ > 0 && chunk % kTrial == 0; }
    RowState state(int32_t* labels, bool trial, bool fresh);

    // After a step: do bounds pay, and how much did sketches decide?
    void learn(const BoundsTrial& trial, int64_t read, int64_t decided, bool fresh);

private:
    static constexpr int kTrial = 16; // of so many chunks, one tries

    Buffer<float> slack_limit_, bounds_;
    int groups_ = 0;
    bool grouped_ = false; // all rows have bounds by group, not only those that try them
    bool joining_ = false; // the others get them in the next step

    // Very many columns, few means.
    bool sketches_ = false; // they may pay
    SketchOwner sketch_;
    Buffer<float> row_sketches_;
    int64_t read_ = 0, decided_ = 0; // rows, with the directions in use
};

} // namespace coterie::kmeans
