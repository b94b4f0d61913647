// module.cpp: table of contents of coterie.kernels._native.
#include "bindings/arrays.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Native kernels. Python talks to them through coterie.kernels.";
    bind_machine(m);      // instruction sets, threads
    bind_exact(m);        // exact means and errors from integer sums
    bind_block(m);        // a block of rows: ranges, moments, distances
    bind_lloyd(m);        // assignment updates of a block
    bind_seeding(m);      // passes that choose initial means
    bind_mixture(m);      // Gaussian mixtures: sweeps over a block
    bind_triangles(m);    // their matrices
    bind_density(m);      // DBSCAN of one block
    bind_reachability(m); // DBSCAN for every eps
    bind_interleave(m);   // columns of a table become rows
}
