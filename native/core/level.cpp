// level.cpp: which level the machine can run, and which is in use.
#include "core/level.hpp"
#include "dbscan/grid_kernels.hpp"
#include "dbscan/path_kernels.hpp"
#include "dbscan/tree_kernels.hpp"

#include <atomic>
#include <cstring>

namespace coterie {

#define COTERIE_DECLARE(level)                                                                     \
    namespace level {                                                                              \
    extern const Kernels table;                                                                    \
    }
COTERIE_DECLARE(baseline)
#ifdef COTERIE_HAS_avx2
COTERIE_DECLARE(avx2)
COTERIE_DECLARE(avx512)
#endif

namespace {

struct Levels {
    const Kernels* table[3];
    const char* names[3];
    int count = 0;
    std::atomic<const Kernels*> chosen;

    void offer(const Kernels& kernels) {
        table[count] = &kernels;
        names[count++] = kernels.name;
        chosen = &kernels;
    }
    Levels() {
        offer(baseline::table);
#ifdef COTERIE_HAS_avx2
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            offer(avx2::table);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
            offer(avx512::table);
#endif
    }
};

Levels& levels() {
    static Levels instance;
    return instance;
}

} // namespace

const Kernels& kernels() { return *levels().chosen.load(std::memory_order_relaxed); }

template <> TreeKernels<float> tree_kernels(Norm norm, int width) {
    return kernels().float_tree(norm, width);
}
template <> TreeKernels<double> tree_kernels(Norm norm, int width) {
    return kernels().double_tree(norm, width);
}

GridKernels grid_kernels() { return kernels().grid(); }

ReachKernels reach_kernels(Norm norm, int width) { return kernels().reach_tree(norm, width); }

const char* const* level_names(int& count) {
    count = levels().count;
    return levels().names;
}

bool use_level(const char* name) {
    for (int i = 0; i < levels().count; ++i)
        if (std::strcmp(levels().names[i], name) == 0) {
            levels().chosen = levels().table[i];
            return true;
        }
    return false;
}

} // namespace coterie
