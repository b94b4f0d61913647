// main.cpp: runs the tests that need no Python.
#include "tests/check.hpp"

int main() {
    test_exact_sum();
    test_team();
    test_lloyd();
    test_density();
    test_reachability();
    test_mixture();
    test_kmeans_seeding();
    test_table();
    test_triangles();
    std::puts("native tests passed");
}
