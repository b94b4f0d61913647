// drift_bounds.hpp: the drift of the means, kept so that a row need not ask until it matters.
//
// Hamerly's bounds: the drift of the own mean and of the fastest other uses up the slack of the
// rows of a cluster. The sum only grows: a row whose limit it has not reached keeps its label.
#pragma once

#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "core/team.hpp"
#include "kmeans/kernels.hpp"

namespace coterie::kmeans {

class DriftBounds {
public:
    // No slack is used up, by the means of the model, whose panels have this width. local: only
    // neighbouring means use slack up, and rows meet lists of these where they are many; the model
    // must have a table.
    void start(Model& model, int width, bool local);
    // The means have become those of the model: used slack, drifts and neighbours follow.
    void advance(Team& team, Model& model);
    // The radii that a thread measured: (k,) the farthest row of each cluster. With local
    // bounds only.
    void widen(const float* radius);

private:
    void measure_drift(Team& team, const Model& model);
    void advance_all(const Model& model);
    void look_around(Team& team, Model& model);
    void list_neighbours(const Model& model, int a, std::vector<std::pair<float, int32_t>>& near);
    void show(Model& model);

    bool local_ = false, listed_ = false;
    int steps_ = 0, width_ = 1;
    float cap_ = 1e30f;         // no slack is trusted beyond this
    Buffer<double> means_;      // (k, d) of the last step
    std::vector<double> drift_; // (k,) since then in scaled units, rounded up
    std::vector<float> used_slack_, look_below_, own_drift_, group_drift_;

    std::vector<double> radius_, growth_;
    std::vector<uint8_t> refresh_;
    std::vector<std::vector<float>> lists_;
    std::vector<const float*> list_pointers_;
    std::vector<int32_t> list_lengths_;
};

} // namespace coterie::kmeans
