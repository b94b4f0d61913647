// check.hpp: as much of a test framework as these tests need.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Ends the program with the place and the condition that did not hold.
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (false)

// Random words; the same in every run.
struct Random {
    uint64_t state;
    uint64_t word() {
        state += 0x9E3779B97F4A7C15ull;
        uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    int below(int end) { return static_cast<int>(word() % static_cast<uint64_t>(end)); }
    double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; } // [0, 1)
};

void test_exact_sum();
void test_team();
void test_lloyd();
void test_density();
void test_reachability();
void test_mixture();
void test_kmeans_seeding();
void test_table();
void test_triangles();
