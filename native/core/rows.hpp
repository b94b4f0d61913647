// rows.hpp: the data of one block, dense or sparse, read row by row.
//
// Kernels see a row in two forms: as float64, where the definition decides, and as float32 about
// a centre and in a convenient unit, where proposals are made.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/inline.hpp"

namespace coterie {

enum class Kind : uint8_t { float64, float32, csr64, csr32 };

struct Rows {
    Kind kind = Kind::float64;
    int64_t n = 0;
    int d = 0;
    const void* values = nullptr;     // dense: (n, d) row-major; sparse: (nnz,)
    const int64_t* starts = nullptr;  // sparse: (n + 1,)
    const int32_t* columns = nullptr; // sparse: (nnz,), increasing within a row
    const double* weights = nullptr;  // (n,) or null for ones

    COTERIE_INLINE bool sparse() const { return kind == Kind::csr64 || kind == Kind::csr32; }
    COTERIE_INLINE double weight(int64_t i) const { return weights ? weights[i] : 1.0; }
};

// out: (d,) row i as float64, zeros where a sparse row has no entry.
COTERIE_INLINE void read_row(const Rows& rows, int64_t i, double* out) {
    const int d = rows.d;
    switch (rows.kind) {
    case Kind::float64:
        std::memcpy(out, static_cast<const double*>(rows.values) + i * d, sizeof(double) * d);
        break;
    case Kind::float32: {
        const float* x = static_cast<const float*>(rows.values) + i * d;
        for (int l = 0; l < d; ++l)
            out[l] = x[l];
        break;
    }
    case Kind::csr64:
    case Kind::csr32:
        std::memset(out, 0, sizeof(double) * d);
        for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
            out[rows.columns[p]] = rows.kind == Kind::csr64
                                       ? static_cast<const double*>(rows.values)[p]
                                       : static_cast<const float*>(rows.values)[p];
        break;
    }
}

} // namespace coterie
