// full_moments_shared.cpp: the moments of one component of many columns, or some of them, which are
// added to sums that all threads share.
#include "mixture/kernels/full_moments_gathered.hpp"

namespace coterie::COTERIE_LEVEL::mixture {
namespace {

// Columns that rows are gathered by, all rows before the next columns: those are asked for
// meanwhile, since the rows have left all but the largest cache.
constexpr int kNext = kGathered * kBlock;

// The first block row of a part of a triangle: parts have about as many blocks each.
int part_begins(int blocks, int part, int parts) {
    const int left = static_cast<int>(blocks * std::sqrt(double(parts - part) / parts) + 0.5);
    return blocks - left;
}

struct Memory {
    Panel panel;
    double* sums; // mass (8), first moments and blocks of the second

    Memory(int d, Scratch& scratch) : panel(d, scratch) {
        sums = scratch.take<double>(8 + panel.blocks * kBlock + blocks_of(panel.blocks));
    }
};

template <class T>
void add(const MixtureTask& task, int64_t end, int c, int part, int parts, void* scratch,
         double* out, const Pause& pause) {
    const int k = task.shape.k, d = task.shape.d;
    Scratch pieces(scratch);
    Memory memory(d, pieces);
    Panel& panel = memory.panel;
    const int padded = panel.blocks * kBlock;
    const int from = part_begins(panel.blocks, part, parts),
              to = part_begins(panel.blocks, part + 1, parts);
    panel.first = from;
    double *mass = memory.sums, *first = mass + 8, *second = first + padded;
    std::memset(mass, 0,
                sizeof(double) *
                    (8 + padded + blocks_of(panel.blocks - from) - blocks_of(panel.blocks - to)));
    const T* x = static_cast<const T*>(task.rows.block->values) + task.m_step.shared_from * d;
    const auto columns = [&](int b) {
        const int j = kBlock * b, left = d - j;
        const Line origin = load_line(task.rows.origin + j, left),
                   scale = load_line(task.rows.scale + j, left);
        return [from = x + j, d, left, origin, scale](int place) __attribute__((always_inline)) {
            const T* at = from + static_cast<int64_t>(place) * d;
            __builtin_prefetch(at + kNext);
            return (load_line(at, left) - origin) * scale;
        };
    };
    const double* shares = task.m_step.shares + static_cast<size_t>(c) * kStretch;
    const int vectors = static_cast<int>((end - task.m_step.shared_from + kLanes - 1) / kLanes);
    panel.choose(
        vectors,
        [&](int v) __attribute__((always_inline)) { return load<VD>(shares + v * kLanes); }, mass,
        [&](int rows) {
            pause();
            panel.gather(columns, task.model.centres + static_cast<size_t>(c) * d, d, rows, first);
            panel.multiply_rows(rows, from, to, second);
        });
    if (part == 0)
        out[1 + c] += across(mass);
    double* firsts = out + 1 + k;
    add_moments(first, second, from, to, d, firsts + static_cast<int64_t>(c) * d,
                firsts + static_cast<int64_t>(k) * d + c * task.shape.second());
}

} // namespace

size_t moments_scratch(const MixtureTask& task) {
    Scratch count;
    Memory(task.shape.d, count);
    return count.used;
}

void add_moments(const MixtureTask& task, int64_t end, int component, int part, int parts,
                 void* scratch, double* out, const Pause& pause) {
    if (task.rows.block->kind == Kind::float32)
        add<float>(task, end, component, part, parts, scratch, out, pause);
    else
        add<double>(task, end, component, part, parts, scratch, out, pause);
}

} // namespace coterie::COTERIE_LEVEL::mixture
