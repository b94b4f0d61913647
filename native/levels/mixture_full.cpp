// mixture_full.cpp: full covariances of five and more columns, by register tiles.
//
// E step: rows times triangular factors; of components that stand apart only those that matter to
// a row. M step: products of the rows that matter to a component, see mixture_panel.hpp; where most
// rows matter to most components, those of all at once, see mixture_products.hpp.
#include <atomic>

#include "mixture_panel.hpp"
#include "mixture_products.hpp"
#include "mixture_screen.hpp"
#include "mixture_tiles.hpp"

namespace coterie::COTERIE_LEVEL {
namespace {

constexpr double kCrowded = 0.4; // it pays to leave densities out up to this part that matters

struct Scratch {
    size_t component; // numbers per component: mass (8), first (padded), blocks of the second
    double* sums;     // (k, component) if wanted
    double* rows;     // (256, padded) of the leaf, if it is there by columns too
    double* moved;    // (kBatch / 8, padded, 8) rows less a mean
    Panel panel;

    static size_t per_component(int padded) { return 8 + padded + blocks_of(padded / 4); }
    static size_t doubles(const MixtureTask& task) {
        const size_t padded = (task.shape.d + 3) / 4 * 4;
        const size_t sums = task.sums ? task.shape.k * per_component(padded) : 0;
        return sums + (kBatch + (task.sums ? kLeafRows : 0)) * padded + Panel::doubles(padded) +
               Screen::doubles(task) + Products::doubles(task);
    }
    Scratch(const MixtureTask& task, const Leaf& leaf)
        : component(per_component(leaf.padded)), sums(leaf.rest),
          rows(sums + (task.sums ? leaf.k * component : 0)),
          moved(rows + (task.sums ? kLeafRows * leaf.padded : 0)),
          panel(leaf.padded, moved + kBatch * leaf.padded) {}
};

void densities(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch,
               const Pause& pause) {
    for (int g = 0; g < leaf.groups; g += kBatch / 8) {
        const int groups = std::min(kBatch / 8, leaf.groups - g);
        for (int c = 0; c < leaf.k; ++c) {
            pause();
            leaf.ask_ahead(task, 8 * g + kBatch * c / leaf.k, 8 * g + kBatch * (c + 1) / leaf.k);
            log_densities(task, c, leaf.group(g), 8 * leaf.padded, groups, scratch.moved,
                          leaf.logs(g) + 8 * c, 8 * leaf.k);
        }
    }
}

// Gathers the rows that matter to component c, and adds them to its moments.
void maximise(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch, int c) {
    double* mass = scratch.sums + c * scratch.component;
    double *first = mass + 8, *second = first + leaf.padded;
    const Panel& panel = scratch.panel;
    const auto share = [&](int v) __attribute__((always_inline)) {
        return load<VD>(leaf.logs(v / kParts) + 8 * c + v % kParts * kLanes) *
               load<VD>(leaf.share + v * kLanes);
    };
    const auto columns = [rows = leaf.rows, padded = leaf.padded](int b) {
        return [from = rows + 4 * b, padded](int place) __attribute__((always_inline)) {
            return load<D4>(from + static_cast<size_t>(place) * padded);
        };
    };
    panel.choose(leaf.groups * kParts, share, mass, [&](int rows) {
        panel.gather(columns, task.centres + static_cast<size_t>(c) * leaf.d, leaf.d, rows, first);
        panel.multiply_rows(rows, 0, panel.blocks, second);
    });
}

// Returns false if the sums of products lost too many digits.
bool write_sums(const MixtureTask& task, const Leaf& leaf, const Scratch& scratch,
                const Products* products, double* out) {
    const int k = leaf.k, d = leaf.d;
    const int64_t triangle = task.shape.second();
    double *first = out + 1 + k, *second = first + static_cast<int64_t>(k) * d;
    std::fill(out + 1, out + task.shape.size(), 0.0);
    for (int c = 0; c < k; ++c) {
        const double* from = scratch.sums + c * scratch.component;
        out[1 + c] = across(from);
        add_moments(from + 8, from + 8 + leaf.padded, 0, scratch.panel.blocks, d,
                    first + static_cast<int64_t>(c) * d, second + c * triangle);
    }
    return !products || products->write(task.centres, out + 1, first, second);
}

void write_shares(const MixtureTask& task, const Leaf& leaf) {
    for (int c = 0; c < leaf.k; ++c) {
        double* out =
            task.shares + static_cast<size_t>(c) * kStretch + leaf.first - task.shared_from;
        for (int g = 0; g < leaf.groups; ++g)
            for (int p = 0; p < kParts; ++p)
                store(out + 8 * g + p * kLanes, load<VD>(leaf.logs(g) + 8 * c + p * kLanes) *
                                                    load<VD>(leaf.share + 8 * g + p * kLanes));
    }
}

// together: may moments of all components be taken at once? Returns false if that lost digits.
bool sweep(const MixtureTask& task, int64_t begin, int64_t end, bool together, double* memory,
           double* out, const Pause& pause) {
    Leaf leaf(task, memory);
    const Scratch scratch(task, leaf);
    const Products products(leaf, scratch.panel.rest);
    const Screen screen(leaf, scratch.moved, together ? products.rest : scratch.panel.rest);
    double* const values = leaf.columns;
    const int k = leaf.k;
    const double* limits = task.degrees ? nullptr : task.limits;
    if (task.sums)
        std::memset(scratch.sums, 0, sizeof(double) * k * scratch.component);
    if (together)
        std::memset(products.sums, 0, sizeof(double) * products.count * products.wide);
    for (int64_t at = begin; at < end; at += kLeafRows) {
        leaf.place(at, std::min<int64_t>(end, at + kLeafRows));
        const bool screened = task.screened() && !task.crowded->load();
        // Bounds want rows, densities of all components columns, and sums rows.
        leaf.columns = screened ? nullptr : values;
        const bool in_place = screened && !task.sums && Screen::reads_in_place(task);
        leaf.rows = task.sums ? scratch.rows : screened && !in_place ? values : nullptr;
        if ((task.sums || task.computed()) && !in_place)
            leaf.read(task);
        if (task.computed()) {
            if (screened) {
                const int64_t computed = screen.log_densities(task, leaf, pause);
                if (computed > kCrowded * leaf.n * k)
                    task.crowded->store(true); // the rest of this sweep
            } else {
                densities(task, leaf, scratch, pause);
            }
            if (task.labels) {
                leaf.choose_labels(task.labels + at);
                continue;
            }
            leaf.exponentiate(0, leaf.groups, true, limits);
            leaf.finish(task);
        } else {
            leaf.take_given(task);
        }
        if (task.shares)
            write_shares(task, leaf);
        if (together && Products::pay(leaf))
            products.add(leaf);
        else if (task.sums)
            for (int c = 0; c < k; ++c) {
                pause();
                maximise(task, leaf, scratch, c);
            }
    }
    if (out)
        out[0] = leaf.likelihood.value();
    return !task.sums || write_sums(task, leaf, scratch, together ? &products : nullptr, out);
}

} // namespace

size_t mixture_full_doubles(const MixtureTask& task) {
    return Leaf::doubles(task) + Scratch::doubles(task);
}

void mixture_full(const MixtureTask& task, int64_t begin, int64_t end, double* memory, double* out,
                  const Pause& pause) {
    if (!Products::suit(task) || !sweep(task, begin, end, true, memory, out, pause))
        sweep(task, begin, end, false, memory, out, pause);
}

} // namespace coterie::COTERIE_LEVEL
