// plan.cpp: the choice of kernels for a sweep over a mixture, with the reasons.
#include "mixture/plan.hpp"

#include "mixture/task.hpp"

namespace coterie::mixture {
namespace {

// Bounds on densities pay from this number of columns on.
constexpr int kScreened = 16;

// Directions towards other means pay for rows enough, and should not take too much memory.
constexpr int64_t kDirectedRows = 8; // for each component
constexpr size_t kMostDirections = size_t{1} << 20;

MixtureKernel kernel_of(const SumsShape& shape) {
    if (shape.kind != Covariance::full)
        return MixtureKernel::axes;
    return shape.d <= kFewAxes ? MixtureKernel::few_columns : MixtureKernel::tiles;
}

// The reason not to measure rows from the origin, or null if they are.
const char* own_centres(const MixtureTask& task, MixtureKernel kernel) {
    if (!task.computed())
        return "responsibilities are given";
    if (!task.model.own_centres)
        return "other centres than the means are asked for";
    if (!task.model.near)
        return "a mean is more than 8 standard deviations from the origin";
    if (kernel != MixtureKernel::tiles)
        return nullptr;
    if (!task.m_step.sums || !task.m_step.moments)
        return "no moments are asked for";
    if (task.shape.d > kMostTogether)
        return "columns are more than 24";
    if (2 * task.shape.k < task.shape.d)
        return "components are fewer than half the columns";
    return nullptr;
}

// The reason to compute all densities, or null if bounds may leave some out.
const char* no_bounds(const MixtureTask& task) {
    if (!task.computed())
        return "responsibilities are given";
    if (task.shape.d < kScreened)
        return "columns are fewer than 16";
    if (task.shape.k == 1)
        return "there is one component";
    if (task.out.responsibilities)
        return "responsibilities are shown, however small";
    return nullptr;
}

// The reason for bounds not to look towards other means, or null if they do.
const char* no_directions(const MixtureTask& task) {
    const int64_t n = task.rows.block->n, k = task.shape.k;
    if (n < kDirectedRows * k)
        return "rows are fewer than 8 for each component";
    if (k * product_size(task.shape.k, task.shape.d) > kMostDirections)
        return "directions between all components would take 4 MiB or more";
    return nullptr;
}

} // namespace

MixturePlan plan_of(const MixtureTask& task) {
    MixturePlan plan;
    MixturePath& path = plan.path;
    std::string& why = plan.why;
    const auto because = [&](const char* so, const char* otherwise, const char* reason) {
        why += reason ? std::string("; ") + otherwise + ": " + reason : std::string("; ") + so;
        return !reason;
    };
    path.kernel = kernel_of(task.shape);
    switch (path.kernel) {
    case MixtureKernel::few_columns:
        why = "full covariances of at most 4 columns: vectors hold rows";
        break;
    case MixtureKernel::axes: why = "covariances along the axes: sums over columns"; break;
    case MixtureKernel::tiles:
        why = "full covariances of 5 columns or more: rows times factors, by register tiles";
    }
    path.about_origin = because("moments of all components about the origin, then moved",
                                "moments about each centre", own_centres(task, path.kernel));
    if (path.kernel != MixtureKernel::tiles)
        return plan;
    path.screened = because("bounds leave densities out", "all densities", no_bounds(task));
    path.directed = path.screened && because("bounds look towards other means",
                                             "bounds by columns alone", no_directions(task));
    path.shared = task.m_step.sums && task.shape.shared();
    if (path.shared)
        why += "; threads share one set of moments: columns are more than 64";
    return plan;
}

} // namespace coterie::mixture
