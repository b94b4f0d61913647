// full.cpp: full covariances of five and more columns, by register tiles.
//
// E step: rows times triangular factors; of components that stand apart only those that matter to
// a row. M step: products of the rows that matter to a component, see full_moments_gathered.hpp;
// where most rows matter to most components, those of all at once, see full_moments_together.hpp.
#include <atomic>

#include "mixture/kernels/full_densities.hpp"
#include "mixture/kernels/full_moments_gathered.hpp"
#include "mixture/kernels/full_moments_together.hpp"
#include "mixture/kernels/screen.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

struct Memory {
    Leaf leaf;
    size_t component; // numbers per component: mass (8), first (by blocks), blocks of the second
    double* sums;     // (k, component) if wanted
    double* rows;     // (256, padded) of the leaf, if sums are wanted: columns may be there too
    double* moved;    // (kBatch / 8, padded, 8) rows less a mean
    Panel panel;
    Products products;
    Screen screen;

    static size_t per_component(int d) {
        return 8 + blocks_over(d) * kBlock + blocks_of(blocks_over(d));
    }
    Memory(const MixtureTask& task, Scratch& scratch)
        : leaf(task, scratch), component(per_component(leaf.d)),
          sums(scratch.take<double>(task.m_step.sums ? leaf.k * component : 0)),
          rows(scratch.take<double>(task.m_step.sums ? kLeafRows * leaf.padded : 0)),
          moved(scratch.take<double>(kBatch * leaf.padded)), panel(leaf.d, scratch),
          products(task, scratch), screen(leaf, moved, scratch) {}
};

void densities(const MixtureTask& task, const Leaf& leaf, const Memory& memory,
               const Pause& pause) {
    const int asked = (kBatch + leaf.k - 1) / leaf.k; // rows, by each component
    for (int g = 0; g < leaf.groups; g += kBatch / 8) {
        const int groups = std::min(kBatch / 8, leaf.groups - g);
        for (int c = 0; c < leaf.k; ++c) {
            pause();
            leaf.ask_ahead(task, 8 * g + std::min(kBatch, asked * c),
                           8 * g + std::min(kBatch, asked * (c + 1)));
            log_densities(task, c, leaf.group(g), 8 * leaf.padded, groups, memory.moved,
                          leaf.logs(g) + 8 * c, 8 * leaf.k);
        }
    }
}

// Gathers the rows that matter to component c, and adds them to its moments. pairs: those of the
// leaf, or null if all are there.
void maximise(const MixtureTask& task, const Leaf& leaf, const Memory& memory, const Pairs* pairs,
              int c) {
    double* mass = memory.sums + c * memory.component;
    const Panel& panel = memory.panel;
    double *first = mass + 8, *second = first + panel.blocks * kBlock;
    const auto columns = [rows = leaf.rows, padded = leaf.padded](int b) {
        return [from = rows + kBlock * b, padded, left = padded - kBlock * b](int place)
                   __attribute__((always_inline)) {
                       const double* at = from + static_cast<size_t>(place) * padded;
                       if constexpr (kBlock > 4) // than rows are padded to
                           return load_line(at, left);
                       else
                           return load<Line>(at);
                   };
    };
    const auto add = [&](int rows) {
        panel.gather(columns, task.model.centres + static_cast<size_t>(c) * leaf.d, leaf.d, rows,
                     first);
        panel.multiply_rows(rows, 0, panel.blocks, second);
    };
    if (pairs) {
        const int from = pairs->starts[c], count = pairs->starts[c + 1] - from;
        panel.choose_listed(pairs->places + from, pairs->values + from, count, mass, add);
    } else {
        const auto share = [&](int v) __attribute__((always_inline)) {
            return load<VD>(leaf.logs(v / kParts) + 8 * c + v % kParts * kLanes);
        };
        panel.choose(leaf.groups * kParts, share, mass, add);
    }
}

// Writes the sums of gathered rows.
void write_sums(const MixtureTask& task, const Leaf& leaf, const Memory& memory, double* out) {
    const int k = leaf.k, d = leaf.d;
    const int64_t triangle = task.shape.second();
    double *first = out + 1 + k, *second = first + static_cast<int64_t>(k) * d;
    std::fill(out + 1, out + task.shape.size(), 0.0);
    for (int c = 0; c < k; ++c) {
        const double *from = memory.sums + c * memory.component, *firsts = from + 8;
        const int blocks = memory.panel.blocks;
        out[1 + c] = across(from);
        add_moments(firsts, firsts + blocks * kBlock, 0, blocks, d,
                    first + static_cast<int64_t>(c) * d, second + c * triangle);
    }
}

// Weights times responsibilities of all rows, component by component.
void write_shares(const MixtureTask& task, const Leaf& leaf, const Pairs* pairs) {
    for (int c = 0; c < leaf.k; ++c) {
        double* out = task.m_step.shares + static_cast<size_t>(c) * kStretch + leaf.first -
                      task.m_step.shared_from;
        if (pairs) {
            std::fill(out, out + 8 * leaf.groups, 0.0);
            for (int t = pairs->starts[c]; t < pairs->starts[c + 1]; ++t)
                out[pairs->places[t]] = pairs->values[t];
        } else {
            for (int g = 0; g < leaf.groups; ++g)
                std::memcpy(out + 8 * g, leaf.logs(g) + 8 * c, sizeof(double) * 8);
        }
    }
}

// One sweep over a chunk. together: where it pays, moments of all components are taken at once.
class Sweep {
public:
    Sweep(const MixtureTask& task, bool together, Scratch scratch, const Pause& pause)
        : task_(task), pause_(pause), together_(together), memory_(task, scratch),
          columns_(leaf_.columns),
          limits_(task.out.responsibilities ? nullptr : task.model.limits) {
        if (task.m_step.sums)
            std::memset(memory_.sums, 0, sizeof(double) * leaf_.k * memory_.component);
        if (together)
            products_.clear();
    }

    // Returns false if sums of all components lost too many digits.
    bool run(int64_t begin, int64_t end, double* out) {
        for_leaves(
            task_, leaf_, begin, end, pause_, [this] { expect(); }, [this] { take_given(); },
            [this] { maximise_all(); });
        if (out)
            out[0] = leaf_.likelihood.value();
        if (!task_.m_step.sums)
            return true;
        write_sums(task_, leaf_, memory_, out);
        const int k = leaf_.k;
        double *first = out + 1 + k, *second = first + static_cast<int64_t>(k) * leaf_.d;
        return !together_ || products_.write(task_.model.centres, out + 1, first, second);
    }

private:
    void take_given() {
        pairs_ = nullptr;
        read(false, task_.m_step.sums);
        leaf_.take_given(task_);
    }
    void expect() {
        pairs_ = nullptr;
        if (task_.path.screened && !task_.events->abandoned.load() && expect_few())
            pairs_ = &screen_.pairs;
        else
            expect_all();
    }

    void read(bool by_columns, bool by_rows) {
        leaf_.columns = by_columns ? columns_ : nullptr;
        leaf_.rows = !by_rows ? nullptr : task_.m_step.sums ? memory_.rows : columns_;
        if (by_columns || by_rows)
            leaf_.read(task_);
    }

    void expect_all() {
        read(true, task_.m_step.sums && !together_);
        densities(task_, leaf_, memory_, pause_);
        if (task_.out.labels)
            return leaf_.choose_labels(task_.out.labels + leaf_.first);
        leaf_.exponentiate(0, leaf_.groups, true, limits_);
    }

    // Computes the densities that matter. Returns false if they are so many that all had better be
    // computed, in the rest of this sweep as well.
    bool expect_few() {
        read(false, task_.m_step.sums || !Screen::reads_in_place(task_));
        const int64_t computed = screen_.log_densities(task_, leaf_, pause_);
        if (computed > kMostLeftOver * leaf_.n * leaf_.k) {
            task_.events->abandoned.store(true);
            return false;
        }
        if (task_.out.labels)
            screen_.pairs.choose_labels(leaf_, task_.out.labels + leaf_.first);
        else
            screen_.pairs.exponentiate(leaf_, limits_);
        return true;
    }

    void maximise_all() {
        int64_t matter = 0; // of pairs no more than kMostLeftOver: too few for all at once
        if (pairs_)
            pairs_->weigh(leaf_);
        else
            matter = leaf_.weigh();
        if (task_.m_step.shares)
            return write_shares(task_, leaf_, pairs_);
        if (together_ && Products::pay(leaf_, matter))
            return products_.add(leaf_);
        if (!leaf_.rows)
            read(false, true);
        for (int c = 0; c < leaf_.k; ++c) {
            pause_();
            maximise(task_, leaf_, memory_, pairs_, c);
        }
    }

    const MixtureTask& task_;
    const Pause& pause_;
    const bool together_;
    Memory memory_;
    Leaf& leaf_ = memory_.leaf;
    const Products& products_ = memory_.products;
    const Screen& screen_ = memory_.screen;
    const Pairs* pairs_ = nullptr; // of the leaf, if bounds left densities out
    double* const columns_;        // of the leaf, where it has them
    const double* const limits_;   // (k,) or null
};

} // namespace

size_t full_scratch(const MixtureTask& task) {
    Scratch count;
    Memory(task, count);
    return count.used;
}

void sweep_full(const MixtureTask& task, int64_t begin, int64_t end, void* memory, double* out,
                const Pause& pause) {
    sum_moments(task, [&]<bool Together>() {
        return Sweep(task, Together, Scratch(memory), pause).run(begin, end, out);
    });
}

} // namespace coterie::COTERIE_LEVEL::mixture
