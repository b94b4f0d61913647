// cell_pairs.cpp: is any point of one full cell nearby any point of another?
#include <algorithm>

#include "dbscan/kernels.hpp"

namespace coterie::dbscan {
namespace {

constexpr int64_t kFewPairs = 256;

struct Box {
    float low[2], high[2];
};

// Two sets of slots, halved until their boxes tell, or until few pairs are left.
class PairSearch {
public:
    PairSearch(const GridTask& task, int thread) : task_(task), thread_(thread) {}

    bool operator()(int32_t* a, int32_t count_a, int32_t* b, int32_t count_b) const {
        const GridView& g = task_.grid;
        Box own = box(a, count_a), other = box(b, count_b);
        if (gap(own, other) > g.outer)
            return false;
        if (static_cast<int64_t>(count_a) * count_b <= kFewPairs)
            return any_of(a, count_a, b, count_b);
        if (count_a < count_b) {
            std::swap(a, b);
            std::swap(count_a, count_b);
            std::swap(own, other);
        }
        const bool wide = own.high[0] - own.low[0] > own.high[1] - own.low[1];
        const float* along = wide ? g.x : g.y;
        int32_t half = count_a / 2, rest = count_a - half;
        int32_t *near = a, *far = a + half;
        std::nth_element(a, far, a + count_a,
                         [along](int32_t p, int32_t q) { return along[p] < along[q]; });
        if (gap(box(far, rest), other) < gap(box(near, half), other)) {
            std::swap(near, far);
            std::swap(half, rest);
        }
        return (*this)(near, half, b, count_b) || (*this)(far, rest, b, count_b);
    }

private:
    bool any_of(const int32_t* a, int32_t count_a, const int32_t* b, int32_t count_b) const {
        task_.team->check(thread_);
        for (int32_t i = 0; i < count_a; ++i)
            for (int32_t j = 0; j < count_b; ++j)
                if (nearby(a[i], b[j]))
                    return true;
        return false;
    }

    Box box(const int32_t* slots, int32_t count) const {
        const GridView& g = task_.grid;
        Box box{{g.x[*slots], g.y[*slots]}, {g.x[*slots], g.y[*slots]}};
        for (int32_t i = 1; i < count; ++i) {
            const float at[2] = {g.x[slots[i]], g.y[slots[i]]};
            for (int l = 0; l < 2; ++l) {
                box.low[l] = std::min(box.low[l], at[l]);
                box.high[l] = std::max(box.high[l], at[l]);
            }
        }
        return box;
    }

    // Rounded like the distance of a pair, for which the outer radius has room.
    static float gap(const Box& a, const Box& b) {
        const float x = std::max({0.0f, a.low[0] - b.high[0], b.low[0] - a.high[0]});
        const float y = std::max({0.0f, a.low[1] - b.high[1], b.low[1] - a.high[1]});
        return x * x + y * y;
    }

    bool nearby(int32_t i, int32_t j) const {
        const GridView& g = task_.grid;
        const float x = g.x[i] - g.x[j], y = g.y[i] - g.y[j], s = x * x + y * y;
        return s <= g.inner || (s <= g.outer && task_.space->nearby(g.row[i], g.row[j]));
    }

    const GridTask& task_;
    int thread_;
};

} // namespace

bool any_nearby(const GridTask& task, int thread, int32_t a_begin, int32_t a, int32_t b_begin,
                int32_t b) {
    std::vector<int32_t> slots(static_cast<size_t>(a) + b);
    for (int32_t i = 0; i < a; ++i)
        slots[i] = a_begin + i;
    for (int32_t i = 0; i < b; ++i)
        slots[a + i] = b_begin + i;
    return PairSearch(task, thread)(slots.data(), a, slots.data() + a, b);
}

} // namespace coterie::dbscan
