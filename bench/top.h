/* The heavy top written out by hand; equations in problems/heavy_top.c. The error at t = 1 is
 * the largest component of the position (m) and of the rotation vector (rad) between the
 * computed and the true orientation. */
#ifndef BENCH_TOP_H
#define BENCH_TOP_H

#include "bench/bench.h"

#include <problems/problems.h>

/* Callbacks that make the matrix of rotation once for each configuration. */
ga_status top_create(pb_problem **problem);
/* q = (x, quaternion), of any length. */
double top_error(const double *q);
/* Generalized-alpha on R3xSO(3), index 3, rho_inf 0.9, 9 unknowns, value = h. */
bench_function top_loop, top_loop_index2;
/* IDA with a quaternion, value = tolerance, data: ida_options, form 0: stabilised index 2,
 * 1: index 1. */
bench_function top_ida;

#endif
