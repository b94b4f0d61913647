// sketch.cpp: directions for sketches, and means in short.
#include "kmeans/sketch.hpp"

#include <algorithm>
#include <cmath>

namespace coterie::kmeans {
namespace {

constexpr int kSample = 512; // rows that show the directions of most variance

// Eight sums side by side, for vectors.
template <class T> T dot(const T* a, const T* b, int d) {
    T s[8] = {};
    int l = 0;
    for (; l + 8 <= d; l += 8)
        for (int q = 0; q < 8; ++q)
            s[q] += a[l + q] * b[l + q];
    for (; l < d; ++l)
        s[0] += a[l] * b[l];
    return (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// Signs without a pattern: a bit of a scrambled counter.
float sign(uint64_t counter) {
    uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z >> 63 ? 1.f : -1.f;
}

void add(float* to, float factor, const float* from, int d) {
    for (int l = 0; l < d; ++l)
        to[l] += factor * from[l];
}

} // namespace

// Gram and Schmidt, twice for digits; a direction that is nearly spanned already adds nothing.
void SketchOwner::append(const std::vector<double>& direction) {
    const int d = static_cast<int>(direction.size());
    double* row = &basis_[static_cast<size_t>(found_) * d];
    std::copy(direction.begin(), direction.end(), row);
    const double before = std::sqrt(dot(row, row, d));
    for (int turn = 0; turn < 2; ++turn)
        for (int b = 0; b < found_; ++b) {
            const double* other = &basis_[static_cast<size_t>(b) * d];
            const double along = dot(row, other, d);
            for (int l = 0; l < d; ++l)
                row[l] -= along * other[l];
        }
    const double after = std::sqrt(dot(row, row, d));
    const bool new_one = after > 1e-5 * before;
    for (int l = 0; l < d; ++l)
        row[l] = new_one ? static_cast<float>(row[l] / after) : 0.0; // as kernels will have it
    found_ += new_one;
}

// The means, and random sums of a sample of rows after one power iteration of their covariance.
void SketchOwner::build(const Rows& rows, const Scaling& scaling, const double* means, int k) {
    const int d = rows.d;
    const size_t stride = d;
    basis_.assign(kDirections * stride, 0.0);
    found_ = 0;
    std::vector<double> row(d);
    const auto scaled = [&](double* x) {
        for (int l = 0; l < d; ++l)
            x[l] = (x[l] - scaling.centre[l]) * scaling.unit;
    };
    for (int c = 0; c < k && found_ < kDirections; ++c) {
        std::copy(means + c * stride, means + (c + 1) * stride, row.begin());
        scaled(row.data());
        append(row);
    }
    const int more = kDirections - found_, m = static_cast<int>(std::min<int64_t>(rows.n, kSample));
    std::vector<float> sample(m * stride), first(more * stride), second(stride);
    for (int j = 0; j < m; ++j) {
        read_row(rows, rows.n * j / m, row.data());
        scaled(row.data());
        for (int b = 0; b < found_; ++b) {
            const double* other = &basis_[b * stride];
            const double along = dot(row.data(), other, d);
            for (int l = 0; l < d; ++l)
                row[l] -= along * other[l];
        }
        std::copy(row.begin(), row.end(), sample.begin() + j * stride);
        for (int i = 0; i < more; ++i)
            add(&first[i * stride], sign(static_cast<uint64_t>(j) * kDirections + i),
                &sample[j * stride], d);
    }
    for (int i = 0; i < more; ++i) {
        std::fill(second.begin(), second.end(), 0.f);
        for (int j = 0; j < m; ++j) {
            const float* other = &sample[j * stride];
            add(second.data(), dot(&first[i * stride], other, d), other, d);
        }
        append({second.begin(), second.end()});
    }

    gram_.assign(kDirections * kDirections, 0.0);
    slant_ = 0.0;
    for (int a = 0; a < found_; ++a) {
        double line = 0.0;
        for (int b = 0; b < found_; ++b) {
            gram_[a * kDirections + b] =
                dot(&basis_[a * stride], &basis_[b * stride], d) - (a == b ? 1.0 : 0.0);
            line += std::fabs(gram_[a * kDirections + b]);
        }
        slant_ = std::max(slant_, line);
    }
    const int padded = (d + 15) / 16 * 16;
    short_basis_.resize(static_cast<size_t>(kDirections) * padded);
    short_basis_.zero();
    for (int b = 0; b < kDirections; ++b)
        for (int l = 0; l < d; ++l)
            short_basis_[static_cast<size_t>(b) * padded + l] =
                static_cast<float>(basis_[b * stride + l]);
    view_.basis = short_basis_.data();
}

void SketchOwner::prepare(Team& team, const Level& level, const double* means, Model& model) {
    const int d = model.d, width = level.width;
    means_.resize(static_cast<size_t>(model.packed.kp) * kDirections);
    means_.zero();
    apart_.resize(model.packed.kp);
    apart_.zero();
    team.for_chunks(model.k, 1, [&](int, int64_t p, int64_t) {
        std::vector<double> c(d), b(kDirections);
        for (int l = 0; l < d; ++l)
            c[l] = (means[static_cast<size_t>(model.packed.order[p]) * d + l] -
                    model.scaling.centre[l]) *
                   model.scaling.unit;
        for (int i = 0; i < found_; ++i) {
            b[i] = dot(&basis_[static_cast<size_t>(i) * d], c.data(), d);
            means_[(static_cast<size_t>(p / width) * kDirections + i) * width + p % width] =
                static_cast<float>(-2 * b[i]);
        }
        // |c - B'b|^2 = |c|^2 - |b|^2 + b'(BB' - 1) b for b = Bc, up to the rounding of float64.
        const double square = dot(c.data(), c.data(), d);
        double left = square - dot(b.data(), b.data(), kDirections) + 1e-12 * square;
        for (int i = 0; i < found_; ++i)
            left += b[i] * dot(&gram_[i * kDirections], b.data(), kDirections);
        apart_[p] = static_cast<float>(std::sqrt(std::max(left, 0.0)) * 1.000001);
    });
    // A product of a row is a sum in at least four lanes: so many terms are rounded one by one.
    const double rounding = (d / 4 + 20) * 0x1p-24 * (level.fused ? 1.01 : 2.02);
    const double slip = std::sqrt(static_cast<double>(kDirections)) * rounding;
    view_.means = means_.data();
    view_.apart = apart_.data();
    view_.slip = static_cast<float>(2.3 * model.packed.reach * (slip + slant_));
    view_.spread = static_cast<float>(2.3 * slip + 1.1 * slant_ + 8 * rounding);
    model.sketch = view_;
}

} // namespace coterie::kmeans
