// level.cpp: the levels that the machine can run, and the one in use.
#include "core/level.hpp"

#include <atomic>
#include <cstring>

namespace coterie {

#define COTERIE_DECLARE(name)                                                                      \
    namespace name {                                                                               \
    extern const Level level;                                                                      \
    }
COTERIE_DECLARE(baseline)
#ifdef COTERIE_HAS_avx2
COTERIE_DECLARE(avx2)
COTERIE_DECLARE(avx512)
#endif

namespace {

struct Levels {
    const Level* all[3];
    const char* names[3];
    int count = 0;
    std::atomic<const Level*> chosen;

    void offer(const Level& one) {
        all[count] = &one;
        names[count++] = one.name;
        chosen = &one;
    }
    Levels() {
        offer(baseline::level);
#ifdef COTERIE_HAS_avx2
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            offer(avx2::level);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
            offer(avx512::level);
#endif
    }
};

Levels& levels() {
    static Levels instance;
    return instance;
}

} // namespace

const Level& level() { return *levels().chosen.load(std::memory_order_relaxed); }

const char* const* level_names(int& count) {
    count = levels().count;
    return levels().names;
}

bool use_level(const char* name) {
    for (int i = 0; i < levels().count; ++i)
        if (std::strcmp(levels().names[i], name) == 0) {
            levels().chosen = levels().all[i];
            return true;
        }
    return false;
}

} // namespace coterie
