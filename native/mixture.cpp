// mixture.cpp: preparing a mixture for the kernels.
#include "coterie/mixture.hpp"

#include <algorithm>

namespace coterie {
namespace {

// A factor times a mean far from the origin loses digits; then the mean is subtracted first.
constexpr double kFarMean = 4096.0;

// Directions between means are of use up to this many columns: beyond, a row is as far from its own
// mean as means are from each other. And there should not be too many.
constexpr int kDirectedColumns = 128;
constexpr size_t kSeparations = size_t{1} << 20;

} // namespace

Mixture::Mixture(Covariance kind, int k, int d, const double* offsets, const double* means,
                 const double* factors, const double* centres, const double* negligible)
    : kind_(kind), k_(k), d_(d), offsets_(offsets, offsets + k),
      means_(means, means + size_t(k) * d),
      centres_(centres ? centres : means, (centres ? centres : means) + size_t(k) * d) {
    const size_t square = static_cast<size_t>(d) * d;
    for (double& offset : offsets_)
        offset *= 2 * kHalf; // to the base 2
    if (!factors)
        return;
    const double root = std::sqrt(kHalf);
    switch (kind) {
    case Covariance::diag:
        factors_.resize(size_t(k) * d);
        for (size_t i = 0; i < factors_.size(); ++i)
            factors_[i] = factors[i] * root;
        break;
    case Covariance::spherical:
        factors_.resize(k);
        for (int c = 0; c < k; ++c)
            factors_[c] = kHalf * factors[c] * factors[c];
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
        break;
    case Covariance::full: {
        limits_.assign(k, kNegligible);
        if (negligible)
            limits_.assign(negligible, negligible + k);
        prepare_full(factors);
    }
    }
}

void Mixture::prepare_full(const double* factors) {
    const int k = k_, d = d_;
    const size_t triangle = triangle_row(d, d);
    if (d <= kFewAxes) {
        factors_.resize(static_cast<size_t>(k) * d * d);
        for (int c = 0; c < k; ++c)
            for (int i = 0; i < d; ++i)
                for (int j = 0; j < d; ++j)
                    factors_[(static_cast<size_t>(c) * d + i) * d + j] =
                        i <= j ? factors[c * triangle + triangle_row(d, i) + j - i] : 0.0;
        return;
    }
    const double root = std::sqrt(kHalf);
    factors_.resize(k * packed_factor(d));
    shifts_.resize(size_t(k) * d);
    direct_.resize(k);
    std::vector<double> sum(d), reach(d);
    for (int c = 0; c < k; ++c) {
        const double *u = factors + c * triangle, *mean = means_.data() + size_t(c) * d;
        double* out = factors_.data() + c * packed_factor(d);
        for (int j0 = 0; j0 < d; j0 += kTile)
            for (int i = 0; i < std::min(d, j0 + kTile); ++i) {
                const double* row = u + triangle_row(d, i);
                for (int j = j0; j < std::min(d, j0 + kTile); ++j)
                    *out++ = i <= j ? row[j - i] * root : 0.0;
            }
        std::fill(sum.begin(), sum.end(), 0.0);
        std::fill(reach.begin(), reach.end(), 0.0);
        for (int i = 0; i < d; ++i)
            for (int j = i; j < d; ++j) {
                const double term = *u++ * root;
                sum[j] += term * mean[i];
                reach[j] += std::fabs(term * mean[i]);
            }
        std::copy(sum.begin(), sum.end(), shifts_.begin() + size_t(c) * d);
        direct_[c] = *std::max_element(reach.begin(), reach.end()) > kFarMean;
    }
    prepare_screen();
    if (d <= kDirectedColumns && k * directions_of(k, d) <= kSeparations)
        prepare_directions();
}

// y = U'z - shift in float32 is off by at most (d + 4) 2^-24 (|U|'|z| + |shift|) in any column, so
// that the squares of all errors add up to less than twice that factor squared times
// |U|^2 |z|^2 + |shift|^2; mixture_screen.cpp needs 2^9 times as much.
void Mixture::prepare_screen() {
    const size_t size = packed_factor(d_);
    screen_factors_.resize(k_ * size);
    screen_shifts_.assign(shifts_.begin(), shifts_.end());
    screen_means_.assign(means_.begin(), means_.end());
    screen_halves_.resize(k_);
    screen_base_.resize(k_);
    screen_slope_.resize(k_);
    const double unit = (d_ + 4) * 0x1p-24, room = 1.01 * 0x1p10 * unit * unit;
    for (int c = 0; c < k_; ++c) {
        double length = 0.0, shift = 0.0, half = 0.0;
        for (size_t i = c * size; i < (c + 1) * size; ++i) {
            screen_factors_[i] = static_cast<float>(factors_[i]);
            length += factors_[i] * factors_[i];
        }
        for (size_t i = size_t(c) * d_; i < size_t(c + 1) * d_; ++i) {
            shift += shifts_[i] * shifts_[i];
            half += 0.5 * means_[i] * means_[i];
        }
        screen_halves_[c] = static_cast<float>(half);
        screen_base_[c] = static_cast<float>(offsets_[c] + room * shift);
        screen_slope_[c] = static_cast<float>(room * length);
    }
}

// With F the factor of component c, y = F'(z - m). Towards the mean of `own` lies v = F'(m_own - m)
// / |F'(m_own - m)|, and v'y = (F v)'z - (F v)'m. Rounding changes that by less than 2^-40 |F| (|z|
// + |m|).
void Mixture::prepare_directions() {
    const size_t size = packed_factor(d_), all = directions_of(k_, d_);
    directions_.resize(k_ * all);
    directions_.zero();
    direction_base_.resize(k_);
    direction_slope_.resize(k_);
    std::vector<double> v(d_), along(d_);
    for (int c = 0; c < k_; ++c) {
        const double *factor = factors_.data() + c * size, *mean = means_.data() + size_t(c) * d_;
        double length = 0.0, far = 0.0;
        for (size_t i = 0; i < size; ++i)
            length += factor[i] * factor[i];
        for (int i = 0; i < d_; ++i)
            far += mean[i] * mean[i];
        direction_slope_[c] = 0x1p-40 * std::sqrt(length);
        direction_base_[c] = direction_slope_[c] * std::sqrt(far);
        for (int own = 0; own < k_; ++own) {
            if (own == c)
                continue;
            const double *other = means_.data() + size_t(own) * d_, *u = factor;
            double square = 0.0;
            for (int j0 = 0; j0 < d_; j0 += kTile) {
                const int wide = std::min(kTile, d_ - j0);
                double sum[kTile] = {};
                for (int i = 0; i < j0 + wide; ++i, u += wide)
                    for (int j = 0; j < wide; ++j)
                        sum[j] += u[j] * (other[i] - mean[i]);
                for (int j = 0; j < wide; ++j)
                    v[j0 + j] = sum[j], square += sum[j] * sum[j];
            }
            if (!(square > 0 && square < 1e300))
                continue; // zeros bound nothing
            std::fill(along.begin(), along.end(), 0.0);
            u = factor;
            for (int j0 = 0; j0 < d_; j0 += kTile) {
                const int wide = std::min(kTile, d_ - j0);
                for (int i = 0; i < j0 + wide; ++i, u += wide)
                    for (int j = 0; j < wide; ++j)
                        along[i] += u[j] * v[j0 + j];
            }
            double* out =
                directions_.data() + own * all + size_t(c / kTile) * kTile * (d_ + 1) + c % kTile;
            const double unit = 1 / std::sqrt(square);
            for (int i = 0; i < d_; ++i) {
                out[kTile * (i + 1)] = along[i] * unit;
                out[0] += along[i] * unit * mean[i];
            }
        }
    }
}

void Mixture::describe(MixtureTask& task) const {
    task.offsets = offsets_.data();
    task.means = means_.data();
    task.factors = factors_.data();
    task.shifts = shifts_.data();
    task.direct = direct_.data();
    task.limits = limits_.data();
    task.screen_factors = screen_factors_.data();
    task.screen_shifts = screen_shifts_.data();
    task.screen_means = screen_means_.data();
    task.screen_halves = screen_halves_.data();
    task.screen_base = screen_base_.data();
    task.screen_slope = screen_slope_.data();
    task.directions = direction_base_.empty() ? nullptr : directions_.data();
    task.direction_base = direction_base_.data();
    task.direction_slope = direction_slope_.data();
    task.whitener = whitener_.data();
    task.centres = centres_.data();
}

} // namespace coterie
