/* Runs of problems with all their steps, the solution at the same times, errors and orders.
 *
 *     vf_job job = {.problem = top, .def = vf_def(0.9, GA_INDEX3, GA_START_PLAIN), .h = 1e-3};
 *     vf_states states = {0}, exact = {0};
 *     if (vf_steps(run, &job, &states) && vf_solution(run, top, &states, &exact)) {
 *         vf_errors e = vf_largest_errors(run, top, &states, &exact, VF_NORM_LARGEST, 0, 1);
 *         vf_paper(run, "max |e_lambda|", "1.23e-1", e.of[VF_LAMBDA]);
 *     }
 *     vf_states_free(&exact);
 *     vf_states_free(&states);
 *
 * Whatever fails is reported to `run`; the functions then return false or null, and their
 * results are empty and may be freed.
 */
#ifndef VERIFY_LADDER_H
#define VERIFY_LADDER_H

#include "problems/problems.h"
#include "verify/verify.h"

#include <galpha/plot.h>
#include <stddef.h>

/* n zeros, to be freed; null after telling `run`. */
double *vf_numbers(vf_run *run, size_t n);

/* --- runs --------------------------------------------------------------------------------- */

/* Row k of each array belongs to t[k]. */
typedef struct vf_states {
    int count;
    int nq, nv, m, p;
    double *t, *q, *v, *vd, *lambda, *psi;
    double *a, *eta;          /* zero in a solution */
    ga_statistics statistics; /* of a run */
} vf_states;

typedef struct vf_job {
    const pb_problem *problem;
    ga_integrator_def def;
    double h;
    double t_end; /* counted from the problem's t0; 0: to the problem's end */
    /* Steps h pattern[n % pattern_count]; none: all are h. t_end is a multiple of the whole. */
    int pattern_count;
    const double *pattern;
} vf_job;

/* The defaults with these. rho_inf must be in [0, 1]. */
ga_integrator_def vf_def(double rho_inf, ga_formulation formulation, ga_start start);

/* The start and every step. */
bool vf_steps(vf_run *run, const vf_job *job, vf_states *states);

/* The solution at the times of `like`: in closed form, or, where none is known, by
 * extrapolation of order up to 12 to 1e-12 per step, without generalized-alpha. */
bool vf_solution(vf_run *run, const pb_problem *problem, const vf_states *like,
                 vf_states *solution);
/* The same at those times that are not before `first`. */
bool vf_solution_from(vf_run *run, const pb_problem *problem, const vf_states *like,
                      double first, vf_states *solution);
/* The same at ascending times, none before the problem's t0. */
bool vf_solution_at(vf_run *run, const pb_problem *problem, int count, const double *t,
                    vf_states *solution);

void vf_states_free(vf_states *states);

/* Column i of rows of `width` numbers: a curve for a figure. To be freed. */
double *vf_column(vf_run *run, int count, const double *rows, int width, int i);

/* Adds the curve through (x, y) and frees y; null is left out. The series says how it looks. */
void vf_curve(ga_figure *figure, int panel, ga_plot_series series, int count, const double *x,
              double *y);

/* --- errors ------------------------------------------------------------------------------- */

typedef enum vf_kind { VF_Q, VF_V, VF_VD, VF_LAMBDA, VF_PSI, VF_KINDS } vf_kind;

typedef enum vf_norm { VF_NORM_LARGEST, VF_NORM_EUCLIDEAN } vf_norm;

/* Norms of errors, and the number of the state that has the largest. */
typedef struct vf_errors {
    double of[VF_KINDS];
    int at[VF_KINDS];
    int compared; /* states */
} vf_errors;

/* Of q in the Lie algebra: exact o exp(e) = q. error has room for nv, m or p numbers. */
void vf_error(const pb_problem *problem, const vf_states *states, int i, const vf_states *exact,
              int j, vf_kind kind, double *error);
/* Over first <= t <= last, at the times both have. */
vf_errors vf_largest_errors(vf_run *run, const pb_problem *problem, const vf_states *states,
                            const vf_states *exact, vf_norm norm, double first, double last);
/* lambda_i - exact lambda_i at every state; both have the same times. To be freed. */
double *vf_lambda_error(vf_run *run, const vf_states *states, const vf_states *exact, int i);

/* Number of the state at time t, -1 if there is none. Looks from `from` on. */
int vf_state_at(const vf_states *states, int from, double t);

/* --- ladders ------------------------------------------------------------------------------ */

enum { VF_MAX_LEVELS = 12 };

typedef struct vf_ladder {
    int levels;
    double h[VF_MAX_LEVELS];
    double error[VF_KINDS][VF_MAX_LEVELS];
} vf_ladder;

/* The job with each of the steps h, against the solution on [first, last]. A null solution is
 * computed, at the times of the finest step (the last one; all others are multiples). */
bool vf_climb(vf_run *run, const vf_job *job, int levels, const double *h, vf_norm norm,
              double first, double last, const vf_states *solution, vf_ladder *ladder);

/* Between levels k - 1 and k; k = -1: between the last two. */
double vf_order(const vf_ladder *ladder, vf_kind kind, int k);

/* Adds errors against h; the series says how it looks. */
void vf_plot_ladder(ga_figure *figure, int panel, ga_plot_series series,
                    const vf_ladder *ladder, vf_kind kind);

#endif
