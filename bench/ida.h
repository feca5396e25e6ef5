/* SUNDIALS IDA, as a peer: F(t, y, y') = 0 with an analytic Jacobian, dense or KLU. */
#ifndef BENCH_IDA_H
#define BENCH_IDA_H

#include "bench/bench.h"

/* How it is tuned; data of a case. */
typedef struct ida_options {
    int form;            /* of the problem: which index */
    bool keep_algebraic; /* algebraic variables take part in the error test */
    int max_order;       /* 0: 5, IDA's own */
    double newton;       /* 0: 0.33, IDA's own coefficient of the iteration's test */
    int ordering;        /* of KLU: 0 AMD, 1 COLAMD, 2 as it stands */
} ida_options;

typedef struct ida_problem {
    int n;
    const void *data;
    void (*residual)(const void *data, const double *y, const double *yp, double *r);
    /* J = F_y + cj F_y'. Dense, column-major and zeroed; or the values of the pattern. */
    void (*jacobian)(const void *data, double cj, const double *y, const double *yp, double *J);
    /* compressed columns; null: dense */
    const int *colptr, *rowind;
    double *y, *yp;             /* consistent start; the end comes back in y */
    const double *differential; /* 1 or, for algebraic variables, 0 */
    const double *scale;        /* absolute tolerance is the relative one times this */
    bool relative;              /* else the tolerance is absolute alone */
    double t_end;
    double first_step; /* 0: IDA's own */
} ida_problem;

/* Fills steps, iterations, ... of the outcome. */
bool ida_solve(bench *b, ida_problem *problem, double tolerance, const ida_options *options,
               bench_outcome *outcome);

/* A sparse matrix written by a function that always puts the same places in the same order:
 * the first pass records them, the pattern gives each its slot. */
typedef struct ida_pattern {
    int n, count, room;
    int *row, *col, *slot;
    int *colptr, *rowind;
} ida_pattern;

bool ida_pattern_put(ida_pattern *p, int row, int col);
bool ida_pattern_finish(ida_pattern *p);
void ida_pattern_free(ida_pattern *p);

#endif
