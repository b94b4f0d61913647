// inline.hpp: functions that kernels share with the code around them.
//
// A kernel is compiled once per instruction-set level. An inline function outside of the level's
// namespace, if the compiler did not inline it, would be compiled for each level under one name,
// and the linker would keep any one of them for all: on an older machine that is a crash. So all
// that kernels use from outside is inlined whatever the compiler thinks of it; no_shared_code.py
// looks.
#pragma once

// Vectors must stay in registers, too: a call would send them through memory.
#define COTERIE_INLINE inline __attribute__((always_inline))
