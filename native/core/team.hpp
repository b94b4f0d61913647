// team.hpp: the threads of one fit.
//
// A team starts with a fit and ends with it, so nothing survives between calls: fork is safe and
// no other thread pool is touched. Waits spin briefly, give way to others for a millisecond, and
// then sleep, which keeps a busy machine usable. Work is handed out in chunks; results must not
// depend on the thread that takes one.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "core/memory.hpp"

namespace coterie {

class Team {
public:
    // `poll` is called on the calling thread between chunks; it may throw to end the work.
    explicit Team(int n_threads, std::function<void()> poll = {});
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return size_; }

    // Calls work(thread, begin, end) for consecutive chunks of [0, n). The first exception of any
    // thread ends the loop everywhere and is thrown here.
    void for_chunks(int64_t n, int64_t chunk,
                    const std::function<void(int, int64_t, int64_t)>& work);

    // For work that stays long in one chunk: polls on the calling thread, and throws on the others
    // once the work has ended elsewhere.
    void check(int thread);

    // Memory that stays from one piece of work to the next, not set: each thread has its own, and
    // at size() there is some for all together. The first touch of a page costs more
    // than most work on it.
    void* room(int thread, size_t bytes) {
        rooms_[thread].resize((bytes + sizeof(double) - 1) / sizeof(double));
        return rooms_[thread].data();
    }
    void give_rooms_back() {
        for (auto& room : rooms_)
            room = {};
    }

private:
    struct Ended {};
    void run_chunks(int thread);
    void wait_and_work(int thread);

    int size_;
    std::function<void()> poll_;
    std::vector<std::thread> threads_;
    std::vector<Buffer<double, Pages>> rooms_;

    const std::function<void(int, int64_t, int64_t)>* work_ = nullptr;
    int64_t n_ = 0, chunk_ = 1;
    std::atomic<int64_t> next_{0};
    std::atomic<uint32_t> round_{0};
    std::atomic<int> busy_{0};
    std::atomic<bool> failed_{false}, closing_{false};
    std::exception_ptr error_;
};

} // namespace coterie
