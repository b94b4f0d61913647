// core_rows.cpp: the kind of each row of a fit, and a copy of the core rows.
#include <algorithm>

#include "dbscan/index.hpp"

namespace coterie::dbscan {
namespace {

int64_t some_rows(const Rows& rows) { return std::clamp(int64_t{1 << 17} / rows.d, 256L, 16384L); }

// Short rows: which one comes next is soon told by its flag, and late by a branch on it.
template <size_t Bytes>
void copy_short(const uint8_t* core, int64_t i, int64_t place, int64_t end, const char* from,
                int64_t* indices, char* to) {
    for (; place < end; place += core[i++]) {
        indices[place] = i;
        std::memcpy(to + place * Bytes, from + i * Bytes, Bytes);
    }
}

} // namespace

CoreRows::CoreRows(Team& team, const Rows& rows, const uint8_t* core, const int64_t* labels,
                   uint8_t* kind)
    : rows_(rows), core_(core), chunk_(some_rows(rows)),
      places_((rows.n + chunk_ - 1) / chunk_ + 1, 0) {
    team.for_chunks(rows.n, chunk_, [&](int, int64_t begin, int64_t end) {
        int64_t found = 0;
        for (int64_t i = begin; i < end; ++i) {
            found += core[i];
            kind[i] = static_cast<uint8_t>((labels[i] >= 0) + core[i]);
        }
        places_[begin / chunk_ + 1] = found;
    });
    for (size_t c = 1; c < places_.size(); ++c)
        places_[c] += places_[c - 1];
}

void CoreRows::copy(Team& team, int64_t* indices, void* values) const {
    const size_t bytes = (rows_.kind == Kind::float64 ? 8 : 4) * static_cast<size_t>(rows_.d);
    const char* from = static_cast<const char*>(rows_.values);
    team.for_chunks(rows_.n, chunk_, [&](int, int64_t begin, int64_t end) {
        int64_t place = places_[begin / chunk_];
        const int64_t last_place = places_[begin / chunk_ + 1];
        const auto copy = bytes == 8    ? copy_short<8>
                          : bytes == 16 ? copy_short<16>
                          : bytes == 24 ? copy_short<24>
                                        : nullptr;
        if (copy)
            return copy(core_, begin, place, last_place, from, indices, static_cast<char*>(values));
        for (int64_t i = begin; i < end;) { // in runs of core rows
            const int64_t first = std::find(core_ + i, core_ + end, 1) - core_;
            const int64_t last = std::find(core_ + first, core_ + end, 0) - core_;
            std::memcpy(static_cast<char*>(values) + place * bytes, from + first * bytes,
                        (last - first) * bytes);
            for (i = first; i < last; ++i)
                indices[place++] = i;
        }
    });
}

} // namespace coterie::dbscan
