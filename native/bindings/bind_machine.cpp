// bind_machine.cpp: instruction sets, and the threads of a fit.
#include <chrono>

#include "bindings/arrays.hpp"
#include "core/level.hpp"
#include "core/team.hpp"

using namespace nb::literals;

namespace {

// Between chunks the calling thread looks for signals, at most every few milliseconds.
std::function<void()> signal_check() {
    using Clock = std::chrono::steady_clock;
    auto last = std::make_shared<Clock::time_point>(Clock::now());
    return [last] {
        const auto now = Clock::now();
        if (now - *last < std::chrono::milliseconds(5))
            return;
        *last = now;
        nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0)
            throw nb::python_error();
    };
}

} // namespace

void bind_machine(nb::module_& m) {
    m.def(
        "simd_level", [] { return std::string(coterie::level().name); },
        "Name of the instruction-set level in use.");
    m.def(
        "simd_levels",
        [] {
            int count;
            const char* const* names = coterie::level_names(count);
            return std::vector<std::string>(names, names + count);
        },
        "Levels this machine can run, lowest first.");
    m.def(
        "use_simd_level", [](const std::string& name) { return coterie::use_level(name.c_str()); },
        "name"_a, "Use another level from now on; False if the machine cannot run it.");

    nb::class_<coterie::Team>(m, "Team", "The threads of one fit.")
        .def(
            "__init__",
            [](coterie::Team* self, int n_threads) {
                new (self) coterie::Team(n_threads, signal_check());
            },
            "n_threads"_a)
        .def_prop_ro("size", &coterie::Team::size);
}
