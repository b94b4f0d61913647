// packed_means.cpp: packing the means for the kernels.
#include "kmeans/packed_means.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coterie::kmeans {

OwnedScaling::OwnedScaling(const Ranges& ranges, const double* means, int k, bool sparse) {
    const int d = static_cast<int>(ranges.low.size());
    centre_.assign(d, 0.0);
    std::vector<double> low = ranges.low, high = ranges.high;
    for (int l = 0; l < d && !sparse; ++l) {
        const double middle = 0.5 * low[l] + 0.5 * high[l], half = 0.5 * high[l] - 0.5 * low[l];
        if (std::fabs(middle) > 2 * half)
            centre_[l] = middle;
    }
    for (int c = 0; c < k; ++c, means += d)
        for (int l = 0; l < d; ++l) {
            low[l] = std::min(low[l], means[l]);
            high[l] = std::max(high[l], means[l]);
        }
    double largest = 0.0;
    for (int l = 0; l < d; ++l)
        largest =
            std::max({largest, std::fabs(low[l] - centre_[l]), std::fabs(high[l] - centre_[l])});
    int exponent = 0;
    std::frexp(largest, &exponent);
    if (largest > 0 && std::abs(exponent) > 12)
        unit_ = std::ldexp(1.0, -exponent);
}

Scaling OwnedScaling::view() const {
    const bool centred =
        std::any_of(centre_.begin(), centre_.end(), [](double c) { return c != 0.0; });
    return {centre_.data(), unit_, !centred && unit_ == 1.0};
}

void PreparedModel::prepare(Team& team, const Level& level, const Rows& rows, const double* means,
                            int k, const Scaling& scaling, const std::vector<int32_t>& order) {
    const int d = rows.d, width = level.width;
    const int kp = (k + width - 1) / width * width, d_padded = (d + 15) / 16 * 16;
    low_ = rows_in_lanes(rows, k);
    model.k = k;
    model.d = d;
    model.packed.kp = kp;
    model.packed.d_padded = d_padded;
    model.means = means;
    model.scaling = scaling;

    order_.assign(kp, -1);
    position_.resize(k);
    for (int p = 0; p < k; ++p) {
        order_[p] = order.empty() ? p : order[p];
        position_[order_[p]] = p;
    }
    model.packed.order = order_.data();
    model.packed.position = position_.data();

    const std::vector<double> lengths = rows.sparse() ? pack_columns(team) : pack_means(level);
    squares_.resize(kp);
    for (int p = 0; p < kp; ++p)
        squares_[p] = order_[p] < 0 ? 1e30f : static_cast<float>(lengths[p]);
    for (int c = 0; c < k && low_; ++c)
        table_[static_cast<size_t>(c) * (d + 1)] = squares_[c];
    const double longest = *std::max_element(lengths.begin(), lengths.end());
    model.packed.squares = squares_.data();
    model.near.table = table_.data();
    model.packed.flat = flat_.data();
    model.packed.panels = panels_.data();
    model.packed.by_column = by_column_.data();
    model.packed.reach = static_cast<float>(std::sqrt(longest) * 1.00001);
    model.packed.roundings = level.fused ? 1 : 2;
    model.packed.error = model.packed.error_of(d);
    model.means_t = means_t_.data();
    model.packed.live = live_.data();
    model.packed.n_live = static_cast<int>(live_.size());
}

// Column l of all means by the definition, and of the one at position p, scaled.
void PreparedModel::transpose_column(int64_t l) {
    const int stride = (model.k + 7) / 8 * 8;
    double* out = means_t_.data() + l * stride;
    for (int c = 0; c < stride; ++c)
        out[c] = c < model.k ? model.means[static_cast<size_t>(c) * model.d + l] : HUGE_VAL;
}
float PreparedModel::scaled(int p, int64_t l) const {
    if (order_[p] < 0)
        return 0.f;
    const double mean = model.means[static_cast<size_t>(order_[p]) * model.d + l];
    return static_cast<float>((mean - model.scaling.centre[l]) * model.scaling.unit);
}

// Dense rows: all means, and the squares of their lengths by position.
std::vector<double> PreparedModel::pack_means(const Level& level) {
    const int k = model.k, d = model.d, kp = model.packed.kp, width = level.width;
    const size_t padded = model.packed.d_padded;
    means_t_.resize(static_cast<size_t>(d) * ((k + 7) / 8 * 8));
    for (int l = 0; l < d; ++l)
        transpose_column(l);
    if (low_) {
        table_.resize(static_cast<size_t>(k) * (d + 1));
    } else {
        flat_.resize(kp * padded);
        flat_.zero();
        panels_.resize(static_cast<size_t>(kp) * d);
    }
    std::vector<double> lengths(kp);
    for (int p = 0; p < kp; ++p)
        for (int l = 0; l < d; ++l) {
            const float value = scaled(p, l);
            lengths[p] += static_cast<double>(value) * value;
            if (!low_) {
                flat_[p * padded + l] = -2 * value;
                panels_[(static_cast<size_t>(p / width) * d + l) * width + p % width] = -2 * value;
            } else if (p < k) {
                table_[static_cast<size_t>(p) * (d + 1) + 1 + l] = -2 * value;
            }
        }
    return lengths;
}

// Sparse rows: columns are many, and shared out.
std::vector<double> PreparedModel::pack_columns(Team& team) {
    constexpr int64_t kTogether = 1024; // whatever the threads, sums are the same
    const int k = model.k, d = model.d, kp = model.packed.kp;
    means_t_.resize(static_cast<size_t>(d) * ((k + 7) / 8 * 8));
    by_column_.resize(static_cast<size_t>(d) * kp);
    std::vector<double> parts((d / kTogether + 1) * kp), lengths(kp);
    std::vector<uint8_t> alive(d);
    team.for_chunks(d, kTogether, [&](int, int64_t begin, int64_t end) {
        double* part = &parts[begin / kTogether * kp];
        for (int64_t l = begin; l < end; ++l) {
            transpose_column(l);
            for (int p = 0; p < kp; ++p) {
                const float value = scaled(p, l);
                part[p] += static_cast<double>(value) * value;
                by_column_[l * kp + p] = -2 * value;
                alive[l] |= p < k && model.means[static_cast<size_t>(p) * d + l] != 0.0;
            }
        }
    });
    for (size_t q = 0; q < parts.size(); ++q)
        lengths[q % kp] += parts[q];
    live_.clear();
    for (int l = 0; l < d; ++l)
        if (alive[l])
            live_.push_back(l);
    return lengths;
}

namespace {

void split(const double* means, int d, int width, int32_t* order, int count) {
    if (count <= width)
        return;
    double widest = -1.0;
    int along = 0;
    for (int l = 0; l < d; ++l) {
        double mean = 0.0, spread = 0.0;
        for (int j = 0; j < count; ++j)
            mean += means[static_cast<size_t>(order[j]) * d + l] / count;
        for (int j = 0; j < count; ++j) {
            const double e = means[static_cast<size_t>(order[j]) * d + l] - mean;
            spread += e * e;
        }
        if (spread > widest) {
            widest = spread;
            along = l;
        }
    }
    const int panels = (count + width - 1) / width;
    const int half = panels / 2 * width;
    std::nth_element(order, order + half, order + count, [&](int32_t a, int32_t b) {
        return means[static_cast<size_t>(a) * d + along] <
               means[static_cast<size_t>(b) * d + along];
    });
    split(means, d, width, order, half);
    split(means, d, width, order + half, count - half);
}

} // namespace

std::vector<int32_t> neighbouring_order(const double* means, int k, int d, int width) {
    std::vector<int32_t> order(k);
    std::iota(order.begin(), order.end(), 0);
    split(means, d, width, order.data(), k);
    return order;
}

} // namespace coterie::kmeans
