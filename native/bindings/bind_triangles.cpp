// bind_triangles.cpp: matrices of a mixture as upper triangles.
#include <stdexcept>

#include "bindings.hpp"
#include "coterie/kernels.hpp"
#include "coterie/team.hpp"
#include "coterie/triangles.hpp"

using namespace nb::literals;

namespace {

void check(bool fits) {
    if (!fits)
        throw std::invalid_argument("expected (k, d, d) matrices and (k, d (d + 1) / 2) triangles");
}

void fold(Input<double, 3> matrices, InOut<double, 2> triangles) {
    const size_t k = matrices.shape(0), d = matrices.shape(1), size = coterie::triangle_size(d);
    check(matrices.shape(2) == d && triangles.shape(0) == k && triangles.shape(1) == size);
    for (size_t c = 0; c < k; ++c)
        coterie::fold(matrices.data() + c * d * d, d, triangles.data() + c * size);
}

void unfold(Input<double, 2> triangles, InOut<double, 3> matrices, bool symmetric) {
    const size_t k = matrices.shape(0), d = matrices.shape(1), size = coterie::triangle_size(d);
    check(matrices.shape(2) == d && triangles.shape(0) == k && triangles.shape(1) == size);
    for (size_t c = 0; c < k; ++c)
        coterie::unfold(triangles.data() + c * size, d, symmetric, matrices.data() + c * d * d);
}

void covariance_about(Input<double, 1> second, double mass, Input<double, 1> first,
                      Input<double, 1> shift, InOut<double, 1> out) {
    const size_t d = first.shape(0), size = coterie::triangle_size(d);
    check(second.shape(0) == size && shift.shape(0) == d && out.shape(0) == size);
    coterie::covariance_about(second.data(), mass, first.data(), shift.data(), d, out.data());
}

double largest_reach(Input<double, 2> triangles, Input<double, 2> vectors) {
    const size_t k = vectors.shape(0), d = vectors.shape(1), size = coterie::triangle_size(d);
    check(triangles.shape(0) == k && triangles.shape(1) == size);
    std::vector<double> sums(d);
    double largest = 0.0;
    for (size_t c = 0; c < k; ++c) {
        const double reach = coterie::largest_reach(triangles.data() + c * size,
                                                    vectors.data() + c * d, d, sums.data());
        largest = reach <= largest ? largest : reach;
    }
    return largest;
}

bool cholesky(InOut<double, 1> triangle, int d) {
    check(triangle.shape(0) == coterie::triangle_size(d));
    nb::gil_scoped_release release;
    return coterie::kernels().cholesky(triangle.data(), d);
}

// Which of them has no root, the first one; or -1.
int64_t inverse_roots(coterie::Team& team, InOut<double, 2> triangles, Input<int64_t, 1> which,
                      int d) {
    const size_t size = coterie::triangle_size(d), count = which.shape(0);
    bool fits = triangles.shape(1) == size;
    for (size_t i = 0; i < count; ++i)
        fits &= which(i) >= 0 && static_cast<size_t>(which(i)) < triangles.shape(0);
    check(fits);
    std::vector<uint8_t> found(count);
    nb::gil_scoped_release release;
    team.for_chunks(static_cast<int64_t>(count), 1, [&](int, int64_t i, int64_t) {
        found[i] = coterie::kernels().inverse_root(triangles.data() + which(i) * size, d);
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
    m.def("covariance_about", &covariance_about, "second"_a, "mass"_a, "first"_a, "shift"_a,
          "out"_a, "out: the covariance about centre + shift, from moments about the centre.");
    m.def("largest_reach", &largest_reach, "triangles"_a, "vectors"_a,
          "The largest entry of |U|'|v| of each upper U and its v.");
    m.def("cholesky", &cholesky, "triangle"_a, "d"_a,
          "Becomes the upper R with R'R = C; false if C is not positive definite.");
    m.def("inverse_roots", &inverse_roots, "team"_a, "triangles"_a, "which"_a, "d"_a,
          "Those named become the upper U with U U' = C^-1; the first that is not positive "
          "definite, or -1.");
}
