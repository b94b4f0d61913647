// team.cpp: starting, feeding and ending the threads of one fit.
#include "core/team.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace coterie {
namespace {

constexpr int kSpins = 2000; // some ten microseconds: longer than a barrier, shorter than a nap

inline void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// As long as a driver takes between two sweeps. To wake a thread takes a good part of that, and the
// sweep that waits for it is often no longer: fits of 20 000 rows and 2 columns take 0.73 of the
// time. Others on the same processor go first.
constexpr auto kWatch = std::chrono::milliseconds(1);

template <class T> void wait_while_equal(std::atomic<T>& value, T seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
        if (value.load(std::memory_order_acquire) != seen)
            return;
        pause_briefly();
    }
    using Clock = std::chrono::steady_clock;
    for (const auto until = Clock::now() + kWatch; Clock::now() < until;) {
        if (value.load(std::memory_order_acquire) != seen)
            return;
        std::this_thread::yield();
    }
    while (value.load(std::memory_order_acquire) == seen)
        value.wait(seen, std::memory_order_acquire);
}

} // namespace

Team::Team(int n_threads, std::function<void()> poll)
    : size_(std::max(1, n_threads)), poll_(std::move(poll)), rooms_(size_ + 1) {
    threads_.reserve(size_ - 1); // the last failure that may leave the constructor
    try {
        for (int t = 1; t < size_; ++t)
            threads_.emplace_back([this, t] { wait_and_work(t); });
    } catch (const std::system_error&) {
        size_ = static_cast<int>(threads_.size()) + 1;
    } catch (const std::bad_alloc&) {
        size_ = static_cast<int>(threads_.size()) + 1;
    }
    // No more threads were granted: the team works with those it has, and the answer is the same.
    // An exception that left now would destroy running threads, which ends the process.
}

Team::~Team() {
    closing_.store(true, std::memory_order_release);
    round_.fetch_add(1, std::memory_order_acq_rel);
    round_.notify_all();
    for (auto& thread : threads_)
        thread.join();
}

void Team::for_chunks(int64_t n, int64_t chunk,
                      const std::function<void(int, int64_t, int64_t)>& work) {
    work_ = &work;
    n_ = n;
    chunk_ = std::max<int64_t>(1, chunk);
    error_ = nullptr;
    failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    const bool alone = size_ == 1 || n <= chunk_;
    if (!alone) {
        busy_.store(size_ - 1, std::memory_order_release);
        round_.fetch_add(1, std::memory_order_acq_rel);
        round_.notify_all();
    }
    run_chunks(0);
    if (!alone)
        for (int left; (left = busy_.load(std::memory_order_acquire)) != 0;)
            wait_while_equal(busy_, left);
    failed_.store(false, std::memory_order_relaxed);
    if (error_)
        std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::run_chunks(int thread) {
    try {
        while (!failed_.load(std::memory_order_relaxed)) {
            if (thread == 0 && poll_)
                poll_();
            const int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
            if (begin >= n_)
                return;
            (*work_)(thread, begin, std::min(n_, begin + chunk_));
        }
    } catch (...) {
        if (!failed_.exchange(true)) // only the first to fail writes the error
            error_ = std::current_exception();
    }
}

void Team::check(int thread) {
    if (failed_.load(std::memory_order_relaxed))
        throw Ended();
    if (thread == 0 && poll_)
        poll_();
}

void Team::wait_and_work(int thread) {
    uint32_t seen = 0;
    for (;;) {
        wait_while_equal(round_, seen);
        ++seen;
        if (closing_.load(std::memory_order_acquire))
            return;
        run_chunks(thread);
        if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            busy_.notify_one();
    }
}

} // namespace coterie
