// model.cpp: packing the means for the kernels.
#include "coterie/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace coterie {

FrameOwner::FrameOwner(const Ranges& ranges, const double* means, int k, bool sparse) {
    const int d = static_cast<int>(ranges.low.size());
    centre_.assign(d, 0.0);
    double largest = 0.0;
    for (int l = 0; l < d; ++l) {
        double low = ranges.low[l], high = ranges.high[l];
        const double middle = 0.5 * low + 0.5 * high, half = 0.5 * high - 0.5 * low;
        if (!sparse && std::fabs(middle) > 2 * half)
            centre_[l] = middle;
        for (int c = 0; c < k; ++c) {
            low = std::min(low, means[static_cast<size_t>(c) * d + l]);
            high = std::max(high, means[static_cast<size_t>(c) * d + l]);
        }
        largest = std::max({largest, std::fabs(low - centre_[l]), std::fabs(high - centre_[l])});
    }
    int exponent = 0;
    std::frexp(largest, &exponent);
    if (largest > 0 && std::abs(exponent) > 12)
        unit_ = std::ldexp(1.0, -exponent);
}

Frame FrameOwner::view() const {
    const bool centred =
        std::any_of(centre_.begin(), centre_.end(), [](double c) { return c != 0.0; });
    return {centre_.data(), unit_, !centred && unit_ == 1.0};
}

void PreparedModel::prepare(const Kernels& kernels, const Rows& rows, const double* means, int k,
                            const Frame& frame, const std::vector<int32_t>& order) {
    const int d = rows.d, width = kernels.width;
    const int kp = (k + width - 1) / width * width, d_padded = (d + 15) / 16 * 16;
    const bool low = rows_in_lanes(rows, k);
    model.k = k;
    model.d = d;
    model.kp = kp;
    model.d_padded = d_padded;
    model.means = means;
    model.frame = frame;

    const int stride = (k + 7) / 8 * 8;
    means_t_.resize(static_cast<size_t>(d) * stride);
    for (int l = 0; l < d; ++l)
        for (int c = 0; c < stride; ++c)
            means_t_[static_cast<size_t>(l) * stride + c] =
                c < k ? means[static_cast<size_t>(c) * d + l] : HUGE_VAL;
    model.means_t = means_t_.data();

    order_.assign(kp, -1);
    position_.resize(k);
    for (int p = 0; p < k; ++p) {
        order_[p] = order.empty() ? p : order[p];
        position_[order_[p]] = p;
    }
    model.order = order_.data();
    model.position = position_.data();

    squares_.resize(kp);
    if (low) {
        table_.resize(static_cast<size_t>(k) * (d + 1));
    } else if (rows.sparse()) {
        by_column_.resize(static_cast<size_t>(d) * kp);
    } else {
        flat_.resize(static_cast<size_t>(kp) * d_padded);
        panels_.resize(static_cast<size_t>(kp) * d);
    }
    double reach = 0.0;
    for (int p = 0; p < kp; ++p) {
        const int c = order_[p];
        double square = 0.0;
        for (int l = 0; l < d; ++l) {
            const float value =
                c < 0 ? 0.f
                      : static_cast<float>(
                            (means[static_cast<size_t>(c) * d + l] - frame.centre[l]) * frame.unit);
            square += static_cast<double>(value) * value;
            if (low) {
                if (c >= 0)
                    table_[static_cast<size_t>(c) * (d + 1) + 1 + l] = -2 * value;
            } else if (rows.sparse()) {
                by_column_[static_cast<size_t>(l) * kp + p] = -2 * value;
            } else {
                flat_[static_cast<size_t>(p) * d_padded + l] = -2 * value;
                panels_[(static_cast<size_t>(p / width) * d + l) * width + p % width] = -2 * value;
            }
        }
        if (!low && !rows.sparse())
            std::fill(&flat_[static_cast<size_t>(p) * d_padded + d],
                      &flat_[static_cast<size_t>(p) * d_padded] + d_padded, 0.f);
        squares_[p] = c < 0 ? 1e30f : static_cast<float>(square);
        if (low && c >= 0)
            table_[static_cast<size_t>(c) * (d + 1)] = static_cast<float>(square);
        reach = std::max(reach, square);
    }
    model.squares = squares_.data();
    model.table = table_.data();
    model.flat = flat_.data();
    model.panels = panels_.data();
    model.by_column = by_column_.data();
    model.reach = static_cast<float>(std::sqrt(reach) * 1.00001);
    model.roundings = kernels.fused ? 1 : 2;
    model.error = model.error_of(d);
    live_.clear();
    for (int l = 0; rows.sparse() && l < d; ++l)
        if (std::any_of(&means_t_[static_cast<size_t>(l) * stride],
                        &means_t_[static_cast<size_t>(l) * stride] + k,
                        [](double m) { return m != 0.0; }))
            live_.push_back(l);
    model.live = live_.data();
    model.n_live = static_cast<int>(live_.size());
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

} // namespace coterie
