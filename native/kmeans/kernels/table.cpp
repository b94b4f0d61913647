// table.cpp: the kernels of k-means and its seedings, by name.
#include "kmeans/kernels.hpp"

namespace coterie::COTERIE_LEVEL::kmeans {

size_t few_columns_scratch(const Model&);
size_t many_columns_scratch(const Model&);
void assign_few_columns(const Rows&, const Model&, const SumLayout&, RowState, Worker&, int64_t,
                        int64_t);
void assign_many_columns(const Rows&, const Model&, const SumLayout&, RowState, Worker&, int64_t,
                         int64_t);
void distances(const Rows&, const Model&, Worker&, int64_t, int64_t, double*);
void exact_sums(const Rows&, const LimbGrid&, const LimbGrid&, int64_t, int64_t, double*, int64_t*,
                int64_t*);
size_t seed_scratch(const SeedPass&);
void potentials(const SeedPass&, int64_t, int64_t, void*, int64_t*);
double approach(const SeedPass&, int64_t, int64_t, void*, int64_t*);
int64_t seek_buckets(const uint16_t*, int64_t, int64_t, const uint16_t*, int);
void transpose_columns(const SeedPass&, int64_t, int64_t, float*);
void find_cells(const SeedPass&, int64_t, int64_t, const float*, int, uint16_t*);

extern const Kernels kernels;
const Kernels kernels = {
    .few_columns_scratch = few_columns_scratch,
    .assign_few_columns = assign_few_columns,
    .many_columns_scratch = many_columns_scratch,
    .assign_many_columns = assign_many_columns,
    .distances = distances,
    .exact_sums = exact_sums,
    .seed_scratch = seed_scratch,
    .potentials = potentials,
    .approach = approach,
    .seek_buckets = seek_buckets,
    .transpose_columns = transpose_columns,
    .find_cells = find_cells,
};

} // namespace coterie::COTERIE_LEVEL::kmeans
