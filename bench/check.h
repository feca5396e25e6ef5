#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "bench/bench.h"

/* What `galpha_bench --check` does: nothing is timed, everybody must get the right result.
 * Exit code. */
int check_run(bench *b);

#endif
