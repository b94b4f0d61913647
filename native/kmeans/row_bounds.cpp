// row_bounds.cpp: groups of means, trials of bounds, and times for new directions.
#include "kmeans/row_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace coterie::kmeans {
namespace {

constexpr int kMostFloats = 64;        // of bounds by group: a group is a bit of a 64-bit word
constexpr double kWorthwhile = 0.7;    // work with bounds over work without
constexpr int64_t kFewProducts = 3000; // a row meets all means sooner than it reads its bounds
constexpr int kLongRow = 4 * kSketch;  // columns from which sketches pay
constexpr int64_t kPatience = 4;       // passes over the rows after which directions are chosen

// The record of a row, bounds by group and its reach, may take a quarter of the row, and eight
// floats always. One group per mean if that is affordable, else groups of whole panels. Up to two
// panels have none: a row that is read meets them all sooner than one by one (784 columns and 10
// means: 2.8 s with a bound per mean, 2.3 s without); nor have few means of few columns.
void plan_groups(const Rows& rows, int width, Model& model) {
    const int panels = (model.k + width - 1) / width;
    const int per_row = rows.kind == Kind::float64 ? rows.d / 2 : rows.d / 4;
    if (panels <= 2 || static_cast<int64_t>(model.k) * rows.d < kFewProducts)
        return;
    if (model.k < per_row) {
        model.yinyang.groups = model.k;
    } else {
        const int most = std::clamp(rows.d / 2 / 8 * 8, 8, kMostFloats) - 1;
        model.yinyang.panels_per_group = (panels + most - 1) / most;
        model.yinyang.groups =
            (panels + model.yinyang.panels_per_group - 1) / model.yinyang.panels_per_group;
    }
    model.yinyang.record = model.yinyang.groups / 8 * 8 + 8;
}

} // namespace

void RowBounds::start(const Rows& rows, const Level& level, Model& model, bool low) {
    const bool many_columns = !low && !rows.sparse() && !model.brute;
    model.yinyang.groups = model.yinyang.panels_per_group = model.yinyang.record = 0;
    if (many_columns)
        plan_groups(rows, level.width, model);
    groups_ = model.yinyang.groups;
    grouped_ = joining_ = false;
    sketches_ = many_columns && groups_ == 0 && rows.d >= kLongRow;
    sketch_.drop();
    read_ = decided_ = 0;
    if (!model.brute)
        slack_limit_.resize(rows.n);
    bounds_.resize(rows.n * static_cast<size_t>(model.yinyang.record));
}

// Directions are chosen once the rows have been read often enough, and again when sketches have
// let as many through; if these were most, they are given up.
void RowBounds::choose_directions(const Rows& rows, const Model& model) {
    if (!sketches_ || read_ <= kPatience * rows.n)
        return;
    if (sketch_.exists() && decided_ < read_) {
        sketch_.drop();
        row_sketches_ = {};
        sketches_ = false;
    } else {
        sketch_.build(rows, model.scaling, model.means, model.k);
        row_sketches_.resize(rows.n * kSketch);
        for (int64_t i = 0; i < rows.n; ++i)
            row_sketches_[i * kSketch + kDirections] = HUGE_VALF; // none yet
    }
    read_ = decided_ = 0;
}

void RowBounds::prepare_sketches(Team& team, const Level& level, Model& model) {
    model.sketch = {};
    if (sketch_.exists())
        sketch_.prepare(team, level, model.means, model);
}

RowState RowBounds::state(int32_t* labels, bool trial, bool fresh) {
    return {labels, slack_limit_.data(), trial || grouped_ ? bounds_.data() : nullptr,
            sketch_.exists() ? row_sketches_.data() : nullptr, fresh || (joining_ && !trial)};
}

void RowBounds::learn(const BoundsTrial& trial, int64_t read, int64_t decided, bool fresh) {
    read_ += read;
    decided_ += decided;
    // Would bounds by group have spared the other chunks work, as they did where they were tried?
    const auto share = [&trial](int with, int of) {
        return static_cast<double>(trial.work[with]) * static_cast<double>(trial.rows[of]);
    };
    joining_ = groups_ > 0 && !grouped_ && !fresh && share(1, 0) < kWorthwhile * share(0, 1);
    grouped_ = grouped_ || joining_;
}

} // namespace coterie::kmeans
