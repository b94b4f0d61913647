// bind_triangles.cpp: matrices of a mixture as upper triangles.
#include "bindings/arrays.hpp"
#include "core/level.hpp"
#include "core/team.hpp"
#include "mixture/kernels.hpp"
#include "mixture/triangles.hpp"

using namespace nb::literals;

namespace {

using coterie::mixture::Kernels;
using coterie::mixture::triangle_size;

void fold(Input<double, 3> matrices, InOut<double, 2> triangles) {
    const size_t k = matrices.shape(0), d = matrices.shape(1), size = triangle_size(d);
    expect_shape("matrices", matrices, {k, d, d});
    expect_shape("triangles", triangles, {k, size});
    for (size_t c = 0; c < k; ++c)
        coterie::mixture::fold(matrices.data() + c * d * d, d, triangles.data() + c * size);
}

void unfold(Input<double, 2> triangles, InOut<double, 3> matrices, bool symmetric) {
    const size_t k = matrices.shape(0), d = matrices.shape(1), size = triangle_size(d);
    expect_shape("matrices", matrices, {k, d, d});
    expect_shape("triangles", triangles, {k, size});
    for (size_t c = 0; c < k; ++c)
        coterie::mixture::unfold(triangles.data() + c * size, d, symmetric,
                                 matrices.data() + c * d * d);
}

// Calls work(c) for c in [0, count), of which each takes about so many operations.
template <class Work>
void share_out(coterie::Team& team, size_t count, double operations, const Work& work) {
    constexpr double kWorthwhile = 1 << 15; // for another thread
    const double chunk = std::max(1.0, kWorthwhile / operations);
    nb::gil_scoped_release release;
    team.for_chunks(static_cast<int64_t>(count), static_cast<int64_t>(chunk),
                    [&](int, int64_t begin, int64_t end) {
                        for (int64_t c = begin; c < end; ++c)
                            work(static_cast<size_t>(c));
                    });
}

// A triangle becomes a root of it; false if it is not positive definite.
bool root_of(bool (*Kernels::*root)(double*, int, void*), double* triangle, int d) {
    const Kernels& kernels = *coterie::level().mixture;
    coterie::Buffer<char> scratch(kernels.root_scratch(d));
    return (kernels.*root)(triangle, d, scratch.data());
}

void covariances_about(coterie::Team& team, Input<double, 2> second, Input<double, 1> mass,
                       Input<double, 2> first, Input<double, 2> shift, InOut<double, 2> out) {
    const size_t k = first.shape(0), d = first.shape(1), size = triangle_size(d);
    expect_shape("second", second, {k, size});
    expect_shape("mass", mass, {k});
    expect_shape("shift", shift, {k, d});
    expect_shape("out", out, {k, size});
    share_out(team, k, static_cast<double>(size), [&](size_t c) {
        std::vector<double> means(d);
        coterie::mixture::covariance_about(second.data() + c * size, mass(c), first.data() + c * d,
                                           shift.data() + c * d, d, means.data(),
                                           out.data() + c * size);
    });
}

std::vector<bool> wider_than(coterie::Team& team, Input<double, 2> triangles, Input<double, 1> root,
                             double times) {
    const size_t k = triangles.shape(0), d = root.shape(0), size = triangle_size(d);
    expect_shape("triangles", triangles, {k, size});
    std::vector<uint8_t> found(k);
    share_out(team, k, static_cast<double>(size) * d, [&](size_t c) {
        coterie::Buffer<double, coterie::Pages> rest(size);
        coterie::mixture::less_unit(triangles.data() + c * size, root.data(), times, d,
                                    rest.data());
        found[c] = root_of(&Kernels::cholesky, rest.data(), static_cast<int>(d));
    });
    return {found.begin(), found.end()};
}

double largest_reach(Input<double, 2> triangles, Input<double, 2> vectors) {
    const size_t k = vectors.shape(0), d = vectors.shape(1), size = triangle_size(d);
    expect_shape("triangles", triangles, {k, size});
    std::vector<double> sums(d);
    double largest = 0.0;
    for (size_t c = 0; c < k; ++c) {
        const double reach = coterie::mixture::largest_reach(
            triangles.data() + c * size, vectors.data() + c * d, d, sums.data());
        largest = reach <= largest ? largest : reach;
    }
    return largest;
}

bool cholesky(InOut<double, 1> triangle, int d) {
    expect_shape("triangle", triangle, {triangle_size(d)});
    nb::gil_scoped_release release;
    return root_of(&Kernels::cholesky, triangle.data(), d);
}

// Which of them has no root, the first one; or -1.
int64_t inverse_roots(coterie::Team& team, Input<double, 2> triangles, Input<int64_t, 1> which,
                      int d, InOut<double, 2> out) {
    const size_t size = triangle_size(d), count = which.shape(0), k = triangles.shape(0);
    expect_shape("triangles", triangles, {k, size});
    expect_shape("out", out, {k, size});
    for (size_t i = 0; i < count; ++i)
        if (which(i) < 0 || static_cast<size_t>(which(i)) >= k)
            throw std::invalid_argument("which: expected numbers of triangles, got " +
                                        std::to_string(which(i)));
    std::vector<uint8_t> found(count);
    share_out(team, count, static_cast<double>(size) * d, [&](size_t i) {
        const double* from = triangles.data() + which(i) * size;
        double* to = out.data() + which(i) * size;
        if (from != to)
            std::copy(from, from + size, to);
        found[i] = root_of(&Kernels::inverse_root, to, d);
    });
    for (size_t i = 0; i < count; ++i)
        if (!found[i])
            return which(i);
    return -1;
}

} // namespace

void bind_triangles(nb::module_& m) {
    m.def(
        "paged",
        [](size_t size) { return array_of(coterie::Buffer<double, coterie::Pages>(size)); },
        "size"_a, "An array of numbers, not set, whose memory returns to the system with it.");
    m.def("fold", &fold, "matrices"_a, "triangles"_a,
          "triangles: the upper triangles of the matrices, row by row.");
    m.def("unfold", &unfold, "triangles"_a, "matrices"_a, "symmetric"_a,
          "matrices: with these upper triangles; below them the same, or zeros.");
    m.def("covariances_about", &covariances_about, "team"_a, "second"_a, "mass"_a, "first"_a,
          "shift"_a, "out"_a,
          "out: covariances about centre + shift, from moments about the centre.");
    m.def("wider_than", &wider_than, "team"_a, "triangles"_a, "root"_a, "times"_a,
          "Which matrices, in units of root by column, spread more than so much everywhere.");
    m.def("largest_reach", &largest_reach, "triangles"_a, "vectors"_a,
          "The largest entry of |U|'|v| of each upper U and its v.");
    m.def("cholesky", &cholesky, "triangle"_a, "d"_a,
          "Becomes the upper R with R'R = C; false if C is not positive definite.");
    m.def("inverse_roots", &inverse_roots, "team"_a, "triangles"_a, "which"_a, "d"_a, "out"_a,
          "out: of those named the upper U with U U' = C^-1; the first that is not positive "
          "definite, or -1.");
}
