// mixture.cpp: preparing a mixture for the kernels.
#include "mixture/mixture.hpp"

#include <algorithm>

namespace coterie::mixture {
namespace {

// A factor times a mean far from the origin loses digits; then the mean is subtracted first.
constexpr double kFarMean = 4096.0;

// Entries of factors that are worth another thread.
constexpr int64_t kShared = 1 << 14;

// Sums over the rows of a tile, for each of its columns.
struct TileSums {
    double shift[kTile] = {}, reach[kTile] = {}, squares[kTile] = {};
};

// Columns [start, start + Wide) of an upper triangle of d columns, as the kernels read them: in
// both precisions, with zeros below the diagonal.
template <int Wide>
void pack_tile(const double* triangle, int d, int start, const double* mean, double* out,
               float* narrow, TileSums& sums) {
    const double root = std::sqrt(kHalf);
    double shift[Wide] = {}, reach[Wide] = {}, squares[Wide] = {};
    const auto take = [&](int i, int j, double entry) {
        out[j] = entry;
        narrow[j] = static_cast<float>(entry);
        shift[j] += entry * mean[i];
        reach[j] += std::fabs(entry * mean[i]);
        squares[j] += entry * entry;
    };
    for (int i = 0; i < start; ++i, out += Wide, narrow += Wide) {
        const double* row = triangle + triangle_row(d, i) + (start - i);
        for (int j = 0; j < Wide; ++j)
            take(i, j, row[j] * root);
    }
    for (int i = 0; i < Wide; ++i, out += Wide, narrow += Wide) {
        const double* row = triangle + triangle_row(d, start + i);
        for (int j = 0; j < Wide; ++j)
            take(start + i, j, j < i ? 0.0 : row[j - i] * root);
    }
    for (int j = 0; j < Wide; ++j)
        sums.shift[j] = shift[j], sums.reach[j] = reach[j], sums.squares[j] = squares[j];
}

// Is a point near the origin? precision: half of it, in the exponent of 2.
bool is_near(const double* point, int d, double precision) {
    double far = 0.0;
    for (int j = 0; j < d; ++j)
        far += point[j] * point[j];
    return far * precision < kNearOrigin * kHalf;
}

} // namespace

Mixture::Mixture(Team& team, Covariance kind, int k, int d, const double* offsets,
                 const double* means, const double* factors, const double* centres,
                 const double* negligible)
    : kind_(kind), k_(k), d_(d), offsets_(offsets, offsets + k),
      means_(means, means + size_t(k) * d),
      centres_(centres ? centres : means, (centres ? centres : means) + size_t(k) * d),
      own_centres_(centres_ == means_) {
    const size_t square = static_cast<size_t>(d) * d;
    for (double& offset : offsets_)
        offset *= 2 * kHalf; // to the base 2
    if (!factors)
        return;
    const double root = std::sqrt(kHalf);
    switch (kind) {
    case Covariance::diag:
        factors_.resize(size_t(k) * d);
        shifts_.resize(size_t(k) * d);
        for (size_t i = 0; i < factors_.size(); ++i) {
            factors_[i] = factors[i] * root;
            shifts_[i] = factors_[i] * means_[i];
        }
        near_ = all_near(shifts_.data());
        break;
    case Covariance::spherical:
        factors_.resize(k);
        near_ = true;
        for (int c = 0; c < k; ++c) {
            factors_[c] = kHalf * factors[c] * factors[c];
            near_ = near_ && is_near(means_.data() + size_t(c) * d, d, factors_[c]);
        }
        break;
    case Covariance::tied:
        whitener_.resize(square);
        for (int j = 0; j < d; ++j)
            for (int i = 0; i < d; ++i)
                whitener_[size_t(j) * d + i] = i <= j ? factors[size_t(i) * d + j] * root : 0.0;
        for (int c = 0; c < k; ++c)
            for (int j = 0; j < d; ++j) {
                double sum = 0.0;
                for (int i = 0; i <= j; ++i)
                    sum = std::fma(means[size_t(c) * d + i], whitener_[size_t(j) * d + i], sum);
                means_[size_t(c) * d + j] = sum;
            }
        near_ = all_near(means_.data());
        break;
    case Covariance::full: {
        limits_.assign(k, kNegligible);
        if (negligible)
            limits_.assign(negligible, negligible + k);
        d <= kFewAxes ? prepare_few(factors) : prepare_full(team, factors);
        near_ = all_near(shifts_.data());
    }
    }
}

// shifts: (k, d) means as the factors make them.
bool Mixture::all_near(const double* shifts) const {
    for (int c = 0; c < k_; ++c)
        if (!is_near(shifts + size_t(c) * d_, d_, 1.0))
            return false;
    return true;
}

void Mixture::prepare_few(const double* factors) {
    const double root = std::sqrt(kHalf);
    factors_.resize(static_cast<size_t>(k_) * d_ * d_);
    shifts_.assign(static_cast<size_t>(k_) * d_, 0.0);
    double* out = factors_.data();
    for (int c = 0; c < k_; ++c)
        for (int i = 0; i < d_; ++i)
            for (int j = 0; j < d_; ++j, ++out) {
                *out = i <= j ? *factors++ * root : 0.0;
                shifts_[c * d_ + j] += *out * means_[c * d_ + i];
            }
}

void Mixture::prepare_full(Team& team, const double* factors) {
    const int k = k_, d = d_;
    const size_t triangle = triangle_row(d, d);
    factors_.resize(k * packed_factor(d));
    screen_factors_.resize(k * packed_factor(d));
    shifts_.resize(size_t(k) * d);
    screen_shifts_.resize(size_t(k) * d);
    direct_.resize(k);
    const size_t wide = side_by_side(k);
    screen_means_.assign(product_size(k, d), 0.f);
    std::fill(screen_means_.begin() + k, screen_means_.begin() + wide, INFINITY);
    for (int c = 0; c < k; ++c)
        for (int i = 0; i < d; ++i)
            screen_means_[(i + 1) * wide + c] = static_cast<float>(means_[size_t(c) * d + i]);
    for (std::vector<float>* one :
         {&screen_base_, &screen_slope_, &direction_base_, &direction_slope_})
        one->assign(wide, 0.f);
    team.for_chunks(k, std::max<int64_t>(1, kShared / (int64_t{d} * d)),
                    [&](int, int64_t begin, int64_t end) {
                        for (int64_t c = begin; c < end; ++c)
                            prepare_screen(c, pack_factor(c, factors + c * triangle));
                    });
}

// Returns the sum of the squares of its entries.
double Mixture::pack_factor(int64_t c, const double* triangle) {
    const double* mean = means_.data() + c * d_;
    double* out = factors_.data() + c * packed_factor(d_);
    float* narrow = screen_factors_.data() + c * packed_factor(d_);
    double length = 0.0, reach = 0.0;
    for (int j = 0; j < d_; j += kTile) {
        const int wide = std::min(kTile, d_ - j);
        constexpr decltype(&pack_tile<1>) kTiles[] = {nullptr,      pack_tile<1>, pack_tile<2>,
                                                      pack_tile<3>, pack_tile<4>, pack_tile<5>,
                                                      pack_tile<6>};
        TileSums sums;
        kTiles[wide](triangle, d_, j, mean, out, narrow, sums);
        out += static_cast<size_t>(j + wide) * wide;
        narrow += static_cast<size_t>(j + wide) * wide;
        for (int l = 0; l < wide; ++l) {
            shifts_[c * d_ + j + l] = sums.shift[l];
            screen_shifts_[c * d_ + j + l] = static_cast<float>(sums.shift[l]);
            reach = std::max(reach, sums.reach[l]);
            length += sums.squares[l];
        }
    }
    direct_[c] = reach > kFarMean;
    return length;
}

// y = F'z - shift in float32 is off by at most (d + 4) 2^-24 (|F|'|z| + |shift|) in any column, so
// that the squares of all errors add up to less than twice that factor squared times
// |F|^2 (|z|^2 + |m|^2); mixture/kernels/screen.cpp needs 2^9 times as much. Along a direction v of
// length one it compares v'y = (F v)'z - (F v)'m, off by that factor times |F| (|z| + |m|), with
// sums of some v y, off by 1.5 times that for y and once for adding. length: |F|^2.
void Mixture::prepare_screen(int64_t c, double length) {
    const double unit = (d_ + 4) * 0x1p-24, room = 1.01 * 0x1p10 * unit * unit;
    double far = 0.0;
    for (int i = 0; i < d_; ++i)
        far += means_[c * d_ + i] * means_[c * d_ + i];
    screen_means_[c] = static_cast<float>(far / 2);
    // One more than the limit for the rounding of the bound, and its own if it is large.
    const double base = offsets_[c] - (limits_[c] - 1) + room * length * far;
    screen_base_[c] =
        static_cast<float>(std::isfinite(base) ? base + 0x1p-21 * std::fabs(base) : base);
    screen_slope_[c] = static_cast<float>(room * length);
    direction_slope_[c] = static_cast<float>(4 * unit * std::sqrt(length));
    direction_base_[c] = static_cast<float>(4 * unit * std::sqrt(length * far));
}

void Mixture::describe(MixtureTask& task) const {
    task.model.offsets = offsets_.data();
    task.model.means = means_.data();
    task.model.factors = factors_.data();
    task.model.shifts = shifts_.data();
    task.model.direct = direct_.data();
    task.model.limits = limits_.data();
    task.screen.factors = screen_factors_.data();
    task.screen.shifts = screen_shifts_.data();
    task.screen.means = screen_means_.data();
    task.screen.base = screen_base_.data();
    task.screen.slope = screen_slope_.data();
    task.screen.factor = static_cast<float>(1.002 / (1 - (d_ + 16) * 0x1p-23));
    task.screen.direction_base = direction_base_.data();
    task.screen.direction_slope = direction_slope_.data();
    task.model.whitener = whitener_.data();
    task.model.centres = centres_.data();
    task.model.near = near_;
    task.model.own_centres = own_centres_;
}

} // namespace coterie::mixture
