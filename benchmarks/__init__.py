"""Side-by-side benchmarks: Coterie and every fast peer, in one process, on the same data.

    python -m benchmarks kmeans --quick        a smoke run
    python -m benchmarks --help                the table of contents

Every answer that is timed is also checked. Peers take turns,
so a noisy minute hits all of them. Every result carries the machine, versions, load and command.
"""
