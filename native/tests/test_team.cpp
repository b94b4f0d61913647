// test_team.cpp: every chunk once, whatever the number of threads; exceptions arrive; memory and
// threads may run out.
#include "core/team.hpp"

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "tests/check.hpp"

using coterie::Team;

namespace {

// Allocations that still succeed; below zero: all do.
std::atomic<int> allocations_left{-1};

} // namespace

// All of this program's `new` goes through here, so that a test can let one of them fail.
void* operator new(size_t bytes) {
    if (allocations_left >= 0 && allocations_left-- <= 0) {
        allocations_left = 0;
        throw std::bad_alloc();
    }
    if (void* memory = std::malloc(bytes ? bytes : 1))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

void every_chunk_once() {
    for (int threads = 1; threads <= 16; ++threads) {
        Team team(threads);
        CHECK(team.size() == threads);
        for (int64_t n : {0, 1, 7, 64, 1000})
            for (int64_t chunk : {0, 1, 3, 64, 5000}) {
                std::vector<std::atomic<int>> seen(n);
                std::atomic<int> outside{0};
                team.for_chunks(n, chunk, [&](int thread, int64_t begin, int64_t end) {
                    if (thread < 0 || thread >= team.size() || begin >= end || end > n)
                        ++outside;
                    for (int64_t i = begin; i < end; ++i)
                        ++seen[i];
                });
                CHECK(outside == 0);
                for (int64_t i = 0; i < n; ++i)
                    CHECK(seen[i] == 1);
            }
    }
}

// Each thread's own values are visible after the loop, without locks.
void results_are_visible() {
    Team team(4);
    std::vector<int64_t> sums(4);
    for (int round = 0; round < 3000; ++round) {
        sums.assign(4, 0);
        team.for_chunks(100, 9, [&](int thread, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                sums[thread] += i;
        });
        CHECK(sums[0] + sums[1] + sums[2] + sums[3] == 4950);
    }
}

void exceptions_arrive() {
    for (int threads : {1, 2, 5, 16}) {
        Team team(threads);
        for (int64_t culprit : {0, 17, 99}) {
            std::string caught;
            try {
                team.for_chunks(100, 1, [&](int, int64_t begin, int64_t) {
                    if (begin == culprit)
                        throw std::runtime_error("row " + std::to_string(begin));
                });
            } catch (const std::runtime_error& error) {
                caught = error.what();
            }
            CHECK(caught == "row " + std::to_string(culprit));
            // The team goes on.
            std::atomic<int64_t> count{0};
            team.for_chunks(100, 3, [&](int, int64_t begin, int64_t end) { count += end - begin; });
            CHECK(count == 100);
        }
        // All fail at once: one error arrives.
        bool failed = false;
        try {
            team.for_chunks(100, 1, [](int, int64_t, int64_t) { throw 42; });
        } catch (int number) {
            failed = number == 42;
        }
        CHECK(failed);
    }
}

struct Interrupt {};

void polls_may_end_the_work() {
    for (int threads : {1, 3}) {
        int calls = 0;
        Team team(threads, [&calls] {
            if (++calls == 5)
                throw Interrupt();
        });
        bool interrupted = false;
        try {
            for (;;)
                team.for_chunks(1000, 10, [](int, int64_t, int64_t) {});
        } catch (const Interrupt&) {
            interrupted = true;
        }
        CHECK(interrupted);
        CHECK(calls == 5);
        std::atomic<int64_t> count{0};
        team.for_chunks(50, 1, [&](int, int64_t, int64_t) { ++count; });
        CHECK(count == 50);
    }
}

void teams_come_and_go() {
    for (int turn = 0; turn < 200; ++turn) {
        auto team = std::make_unique<Team>(1 + turn % 7);
        if (turn % 3 == 0)
            continue; // never used
        std::atomic<int> count{0};
        team->for_chunks(10, 1, [&](int, int64_t, int64_t) { ++count; });
        CHECK(count == 10);
    }
}

// A team whose threads find no memory is not made, or works with fewer threads.
void memory_runs_out_while_threads_start() {
    int none = 0, fewer = 0, all = 0;
    for (int granted = 0; all == 0; ++granted) {
        std::unique_ptr<Team> team;
        allocations_left = granted;
        try {
            team.reset(new Team(5));
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
        ++(!team ? none : team->size() < 5 ? fewer : all);
        if (!team)
            continue;
        std::atomic<int> count{0};
        team->for_chunks(100, 1, [&](int, int64_t, int64_t) { ++count; });
        CHECK(count == 100);
    }
    CHECK(none > 0 && fewer > 0);
}

} // namespace

void test_team() {
    every_chunk_once();
    results_are_visible();
    exceptions_arrive();
    polls_may_end_the_work();
    teams_come_and_go();
    memory_runs_out_while_threads_start();
}
