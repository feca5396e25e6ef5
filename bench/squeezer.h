/* Andrews' squeezer written out by hand; equations in problems/andrews.c, relative angles. The
 * error is the largest of the seven angles at t = 0.03, in rad. */
#ifndef BENCH_SQUEEZER_H
#define BENCH_SQUEEZER_H

#include "bench/bench.h"

#include <problems/problems.h>

/* Callbacks as one writes them who cares for speed: sines once for each configuration, as the
 * loop and IDA have it. */
ga_status squeezer_create(pb_problem **problem);
double squeezer_error(const double *q);
/* From the angles by which the joints O, F, B, G, A, H, A have turned. */
double squeezer_turned_error(const double *turned);
/* Generalized-alpha, index 3, rho_inf 0.9, 13 unknowns, value = h. */
bench_function squeezer_loop, squeezer_loop_index2;
/* IDA, value = tolerance, data: ida_options, form 0: stabilised index 2, 1: index 1. */
bench_function squeezer_ida;

#endif
