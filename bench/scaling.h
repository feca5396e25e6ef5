#ifndef BENCH_SCALING_H
#define BENCH_SCALING_H

#include "bench/bench.h"

/* What `galpha_bench --child` does: prints times and memory of one run. Exit code. */
int scaling_child(bench *b, int n, int steps, int threads);

#endif
