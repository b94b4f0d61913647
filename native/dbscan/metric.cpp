// metric.cpp: the definition of every metric, and the bounds an index may rely on.
#include "dbscan/metric.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace coterie::dbscan {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kRounding = 0x1p-52; // twice the error of one operation: bounds may be generous

template <class T> double squared(const T* a, const T* b, int d, double unit) {
    double s = 0;
    for (int l = 0; l < d; ++l) {
        const double e = (double(a[l]) - double(b[l])) * unit;
        s += e * e;
    }
    return s;
}

template <class T> double manhattan(const T* a, const T* b, int d) {
    double s = 0;
    for (int l = 0; l < d; ++l)
        s += std::fabs(double(a[l]) - double(b[l]));
    return s;
}

template <class T> double chebyshev(const T* a, const T* b, int d) {
    double s = 0;
    for (int l = 0; l < d; ++l)
        s = std::max(s, std::fabs(double(a[l]) - double(b[l])));
    return s;
}

template <class T> double powers(const T* a, const T* b, int d, double p) {
    double s = 0;
    for (int l = 0; l < d; ++l)
        s += std::pow(std::fabs(double(a[l]) - double(b[l])), p);
    return s;
}

// u, v: unit rows. Rounding may leave [0, 2]; the distance does not.
double cosine(const double* u, const double* v, int d) {
    double s = 0;
    for (int l = 0; l < d; ++l)
        s += u[l] * v[l];
    return std::clamp(1.0 - s, 0.0, 2.0);
}

// a, b: latitude, longitude, cosine of the latitude. sin^2 of half the angle between them.
double haversine(const double* a, const double* b) {
    const double lat = std::sin(0.5 * (a[0] - b[0])), lon = std::sin(0.5 * (a[1] - b[1]));
    return lat * lat + a[2] * b[2] * lon * lon;
}

template <class T> bool decide(const T* a, const T* b, int d, const Measure& measure, double unit) {
    const double eps = measure.eps;
    switch (measure.metric) {
    case Metric::manhattan: return manhattan(a, b, d) <= eps;
    case Metric::chebyshev: return chebyshev(a, b, d) <= eps;
    case Metric::minkowski: return powers(a, b, d, measure.p) <= std::pow(eps, measure.p);
    default: return squared(a, b, d, unit) <= (eps * unit) * (eps * unit);
    }
}

} // namespace

Norm Measure::norm() const {
    return metric == Metric::manhattan   ? Norm::sum
           : metric == Metric::chebyshev ? Norm::largest
                                         : Norm::squares;
}

double Measure::unit() const {
    int exponent = 0;
    std::frexp(eps, &exponent);
    return std::ldexp(1.0, std::clamp(-exponent, -1020, 1020));
}

Space::Space(Team& team, const Rows& rows, const Measure& measure)
    : rows_(rows), measure_(measure), width_(rows.d), unit_(measure.unit()) {
    if (rows.sparse())
        throw std::invalid_argument("expected dense rows, got sparse ones");
    if (!(measure.eps > 0) || std::isinf(measure.eps))
        throw std::invalid_argument("expected a positive and finite eps");
    if (measure.metric == Metric::cosine)
        prepare_cosine(team);
    else if (measure.metric == Metric::haversine)
        prepare_haversine(team);
    set_bounds();
}

void Space::prepare_cosine(Team& team) {
    const Rows raw = rows_;
    const int d = raw.d;
    prepared_.resize(static_cast<size_t>(raw.n) * d);
    team.for_chunks(raw.n, 1 + (1 << 15) / d, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            double* u = prepared_.data() + i * d;
            read_row(raw, i, u);
            double squares = 0;
            for (int l = 0; l < d; ++l)
                squares += u[l] * u[l];
            if (const double length = std::sqrt(squares); length > 0)
                for (int l = 0; l < d; ++l)
                    u[l] /= length;
        }
    });
    rows_.kind = Kind::float64;
    rows_.values = prepared_.data();
    for (int64_t i = 0; i < raw.n; ++i) {
        const double* u = prepared_.data() + i * d;
        if (std::all_of(u, u + d, [](double x) { return x == 0; }))
            zero_rows_.push_back(i);
    }
}

void Space::prepare_haversine(Team& team) {
    if (rows_.d != 2)
        throw std::invalid_argument("haversine expects 2 columns, latitude and longitude");
    const Rows raw = rows_;
    prepared_.resize(static_cast<size_t>(raw.n) * 3);
    team.for_chunks(raw.n, 1 << 12, [&](int, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            double* out = prepared_.data() + i * 3;
            read_row(raw, i, out);
            out[2] = std::cos(out[0]);
        }
    });
    rows_.kind = Kind::float64;
    rows_.values = prepared_.data();
    rows_.d = width_ = 3;
}

bool Space::nearby(int64_t i, const Space& other, int64_t j) const {
    const int d = rows_.d;
    if (rows_.kind == Kind::float32)
        return decide(static_cast<const float*>(rows_.values) + i * d,
                      static_cast<const float*>(other.rows_.values) + j * d, d, measure_, unit_);
    const double* a = static_cast<const double*>(rows_.values) + i * d;
    const double* b = static_cast<const double*>(other.rows_.values) + j * d;
    if (measure_.metric == Metric::cosine)
        return cosine(a, b, d) <= measure_.eps;
    if (measure_.metric == Metric::haversine) {
        const double half = std::sin(0.5 * measure_.eps);
        return measure_.eps >= kPi || haversine(a, b) <= half * half;
    }
    return decide(a, b, d, measure_, unit_);
}

bool Space::nearby(int64_t i, int64_t j) const { return i == j || nearby(i, *this, j); }

void Space::coordinates(int64_t i, double* out) const {
    if (measure_.metric != Metric::haversine) {
        read_row(rows_, i, out);
        // A zero row has distance one to every other row, also to another zero row: far away
        // from all of them while eps is below one, which is when an index is used.
        const auto zero = std::lower_bound(zero_rows_.begin(), zero_rows_.end(), i);
        if (zero != zero_rows_.end() && *zero == i)
            out[0] = 4.0 * static_cast<double>(1 + (zero - zero_rows_.begin()));
        return;
    }
    const double* a = static_cast<const double*>(rows_.values) + i * 3;
    out[0] = a[2] * std::cos(a[1]);
    out[1] = a[2] * std::sin(a[1]);
    out[2] = std::sin(a[0]);
}

// Widened by more than the definition's own rounding, and by that of computed coordinates.
void Space::set_bounds() {
    const double d = width_, eps = measure_.eps;
    const double rounding = (d + 16) * kRounding;
    double inner = eps, outer = eps, slack = 0;
    switch (measure_.metric) {
    case Metric::minkowski: {
        // Between norms: |x|_p <= |x|_2 <= d^(1/2 - 1/p) |x|_p for p >= 2, reversed below.
        const double factor = std::pow(d, 0.5 - 1.0 / measure_.p);
        inner = eps * std::min(1.0, factor) * (1 - 1e-9);
        outer = eps * std::max(1.0, factor) * (1 + 1e-9);
        break;
    }
    case Metric::cosine: // chord^2 = 2 (1 - cos), and a cosine is off by some d roundings
        inner = std::sqrt(std::max(0.0, 2 * (eps - rounding)));
        outer = std::sqrt(2 * (eps + rounding));
        slack = 4 * kRounding * std::sqrt(d);
        break;
    case Metric::haversine: { // chord = 2 sin(angle / 2)
        double largest = 1;
        for (int64_t i = 0; i < rows_.n; ++i) {
            const double* a = static_cast<const double*>(rows_.values) + i * 3;
            largest = std::max({largest, std::fabs(a[0]), std::fabs(a[1])});
        }
        inner = outer = eps >= kPi ? 4.0 : 2 * std::sin(0.5 * eps);
        slack = 64 * largest * kRounding;
        break;
    }
    default: break;
    }
    bounds_ = {std::max(0.0, inner * (1 - rounding) - slack), outer * (1 + rounding) + slack};
}

} // namespace coterie::dbscan
