// test_triangles.cpp: triangles of every level against plain loops.
#include "mixture/triangles.hpp"

#include <vector>

#include "core/level.hpp"
#include "mixture/kernels.hpp"
#include "tests/check.hpp"

using namespace coterie;
using namespace coterie::mixture;

namespace {

using Matrix = std::vector<double>; // (d, d)

// A A' + I: positive definite, and far from singular.
Matrix positive_definite(Random& random, int d) {
    Matrix a(d * d), out(d * d);
    for (double& value : a)
        value = 2 * random.uniform() - 1;
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            out[i * d + j] = i == j;
            for (int l = 0; l < d; ++l)
                out[i * d + j] += a[i * d + l] * a[j * d + l];
        }
    return out;
}

// left' right or left right'.
Matrix product(const Matrix& left, bool left_turned, const Matrix& right, bool right_turned,
               int d) {
    Matrix out(d * d);
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            for (int l = 0; l < d; ++l)
                out[i * d + j] += left[left_turned ? l * d + i : i * d + l] *
                                  right[right_turned ? j * d + l : l * d + j];
    return out;
}

bool close(const Matrix& one, const Matrix& other, double tolerance) {
    for (size_t i = 0; i < one.size(); ++i)
        if (!(std::fabs(one[i] - other[i]) <= tolerance))
            return false;
    return true;
}

bool root_of(bool (*Kernels::*root)(double*, int, void*), double* triangle, int d) {
    Buffer<char> scratch(level().mixture->root_scratch(d));
    return (level().mixture->*root)(triangle, d, scratch.data());
}

Matrix upper(const std::vector<double>& triangle, int d) {
    Matrix out(d * d);
    unfold(triangle.data(), d, false, out.data());
    return out;
}

void triangles_hold_matrices(Random& random, int d) {
    const Matrix matrix = positive_definite(random, d);
    std::vector<double> triangle(triangle_size(d));
    fold(matrix.data(), d, triangle.data());
    for (int i = 0; i < d; ++i)
        CHECK(triangle[triangle_row(d, i)] == matrix[i * d + i]);
    Matrix again(d * d, -1.0);
    unfold(triangle.data(), d, true, again.data());
    CHECK(close(again, matrix, 1e-12));
    const Matrix half = upper(triangle, d);
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            CHECK(half[i * d + j] == (j < i ? 0.0 : matrix[i * d + j]));
}

void roots_give_the_matrix_back(Random& random, int d) {
    const Matrix matrix = positive_definite(random, d);
    std::vector<double> root(triangle_size(d));
    fold(matrix.data(), d, root.data());
    std::vector<double> inverse = root;
    CHECK(root_of(&Kernels::cholesky, root.data(), d));
    const Matrix R = upper(root, d);
    CHECK(close(product(R, true, R, false, d), matrix, 1e-11 * d));
    CHECK(root_of(&Kernels::inverse_root, inverse.data(), d));
    const Matrix U = upper(inverse, d), precision = product(U, false, U, true, d);
    Matrix unit(d * d);
    for (int i = 0; i < d; ++i)
        unit[i * d + i] = 1.0;
    CHECK(close(product(precision, false, matrix, false, d), unit, 1e-10 * d));
}

void what_has_no_root_is_refused(Random& random, int d) {
    for (const double bad : {-1.0, 0.0, double(INFINITY), double(NAN)}) {
        const Matrix matrix = positive_definite(random, d);
        std::vector<double> triangle(triangle_size(d));
        fold(matrix.data(), d, triangle.data());
        triangle[triangle_row(d, random.below(d))] = bad;
        std::vector<double> other = triangle;
        CHECK(!root_of(&Kernels::cholesky, triangle.data(), d));
        CHECK(!root_of(&Kernels::inverse_root, other.data(), d));
    }
}

// Of rows x with weights w: sums about a centre become the covariance about centre + shift.
void covariances_move_with_their_centre(Random& random, int d) {
    constexpr int kRows = 9;
    std::vector<double> x(kRows * d), shift(d), first(d), means(d);
    std::vector<double> second(triangle_size(d)), found(second.size());
    double mass = 0.0;
    for (double& value : x)
        value = random.uniform();
    for (double& value : shift)
        value = random.uniform();
    Matrix expected(d * d);
    for (int r = 0; r < kRows; ++r) {
        const double w = 0.5 + random.uniform(), *row = &x[r * d];
        mass += w;
        double* sum = second.data();
        for (int i = 0; i < d; ++i) {
            first[i] += w * row[i];
            for (int j = i; j < d; ++j)
                *sum++ += w * row[i] * row[j];
            for (int j = 0; j < d; ++j)
                expected[i * d + j] += w * (row[i] - shift[i]) * (row[j] - shift[j]);
        }
    }
    for (double& value : expected)
        value /= mass;
    covariance_about(second.data(), mass, first.data(), shift.data(), d, means.data(),
                     found.data());
    Matrix moved(d * d);
    unfold(found.data(), d, true, moved.data());
    CHECK(close(moved, expected, 1e-12));
}

void reach_is_the_largest_entry(Random& random, int d) {
    std::vector<double> triangle(triangle_size(d)), v(d), sums(d);
    for (double& value : triangle)
        value = random.uniform() - 0.5;
    for (double& value : v)
        value = random.uniform() - 0.5;
    const Matrix U = upper(triangle, d);
    double expected = 0.0;
    for (int j = 0; j < d; ++j) {
        double sum = 0.0;
        for (int i = 0; i < d; ++i)
            sum += std::fabs(U[i * d + j]) * std::fabs(v[i]);
        expected = std::max(expected, sum);
    }
    const double found = largest_reach(triangle.data(), v.data(), d, sums.data());
    CHECK(std::fabs(found - expected) <= 1e-14);
    v[random.below(d)] = NAN;
    CHECK(std::isnan(largest_reach(triangle.data(), v.data(), d, sums.data())));
}

} // namespace

void test_triangles() {
    int levels;
    const char* const* names = level_names(levels);
    for (int level = 0; level < levels; ++level) {
        CHECK(use_level(names[level]));
        Random random{5};
        for (int d = 1; d <= 40; ++d) {
            triangles_hold_matrices(random, d);
            roots_give_the_matrix_back(random, d);
            what_has_no_root_is_refused(random, d);
            covariances_move_with_their_centre(random, d);
            reach_is_the_largest_entry(random, d);
        }
    }
}
