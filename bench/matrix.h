/* The step matrix of a model, as KLU sees it: [M + c_v C + c_q K, B^T; B, 0] at a state near
 * the start, entries that are zero whatever the state left out, the better of KLU's two orders.
 */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#include "bench/galpha.h"

/* value = h, data: galpha_file. One klu_refactor and one klu_solve; the matrix is kept for the
 * next call with the same model and n. `steps` is 1. */
bench_function matrix_refactor_solve;
void matrix_forget(void);

#endif
