/* Dormand and Prince's method 8(5,3), [HNW93] section II.10, for smooth motions that are not
 * stiff. One chart per step: with q = q_n o exp(xi),
 *
 *     xi' = T^-1(xi) v,     [ M  G^T ] [ v'          ]   [ f ]
 *                           [ G   0  ] [ lambda, psi ] = [ c ]
 *
 * and the saddle matrix is factored in every stage: older factors would cost the order. Forces
 * that depend on the multipliers make the system nonlinear; Newton's method solves it to
 * round-off in every stage.
 *
 * A step of 12 stages leads to (xi, v), which is judged, and then projected on Phi = 0 and on
 * B v + Phi_t = 0, k = 0. v' and the multipliers at the projected point are the first stage of
 * the next step, whose chart begins there, where T = 1.
 *
 *     explicit.c          the method as runs see it: starts, steps, error, reports
 *     explicit_stages.c   the equations at a stage, singular positions, sums of stages
 *     explicit_project.c  the projection of a step
 *     explicit_output.c   dense output
 *     explicit_stiff.c    is stability what limits the steps?
 */
#ifndef GA_INTEGRATE_EXPLICIT_H
#define GA_INTEGRATE_EXPLICIT_H

#include "integrate/dop853.h"
#include "integrate/ends.h"
#include "integrate/stiffness.h"

/* The stages of a step. */
typedef struct ga_stages {
    double t, h;    /* the step leads from t to t + h */
    double *q0;     /* where its chart begins */
    double *xi, *v; /* the end, projected */
    double *z;      /* h sum b_i lambda_i */
    double *v0;
    double *memory;
    double *k;  /* of each stage: xi', v', multipliers */
    bool known; /* to the end */
    bool dense; /* and those of the dense output */
} ga_stages;

/* A point where the equations are evaluated, or what becomes of it. */
typedef struct ga_explicit_point {
    double *q, *xi, *v, *vd, *multipliers;
} ga_explicit_point;

typedef struct ga_explicit {
    ga_onestep base;
    ga_integrator_def def;
    ga_dae dae;
    ga_statistics stats;
    ga_consistent consistent;
    ga_consistent output; /* in its place where steps are not to be touched */
    /* state */
    ga_ends now, saved;
    ga_stages last, next;   /* of the accepted step, and of the attempt */
    ga_explicit_point end;  /* of the attempt */
    ga_explicit_point here; /* workspace: a stage */
    double h, t1;           /* of the attempt */
    double *dq, *dv;        /* by which it is projected */
    double *F;              /* of the dense output */
    double *Phi, *w;        /* residuals of constraints */
    int width;              /* of a stage: 2 nv + mp */
    bool *turns;            /* of each node: T has singular points */
    /* policy */
    bool redundant;                /* constraints, at the start */
    bool near;                     /* a singular position */
    double excess;                 /* of the last accepted step */
    double failed_h, failed_local; /* the attempt before, if it was rejected; else 0 */
    bool futile;                   /* the last rejection shows no convergence */
    ga_probe probe;                /* of stiffness */
    double stable;                 /* longest stable step; 0: not known */
    int alarms;                    /* looks in a row that found it stiff */
    bool stiff;                    /* too stiff to go on */
    int tiny;                      /* steps in a row that lead nowhere */
} ga_explicit;

extern const ga_onestep_type ga_explicit_type;

static inline void ga_explicit_copy(double *to, const double *from, int n)
{
    for (int i = 0; i < n; ++i) to[i] = from[i];
}

/* --- explicit_stages.c -------------------------------------------------------------------- */

/* v' and multipliers, the latter from a guess. */
typedef ga_status ga_explicit_solve(ga_explicit *x, double t, const double *q, const double *v,
                                    double *vd, double *multipliers);
/* For the end of a step; for stages, with the scales of the last end; for output. */
ga_explicit_solve ga_explicit_solve_step, ga_explicit_solve_nearby, ga_explicit_solve_output;
/* At a start. */
void ga_explicit_look_at_constraints(ga_explicit *x);

/* Nodes whose charts end after a full turn; those of the plane add angles up. */
bool ga_explicit_turns(ga_node node);
/* xi' = T^-1(xi) v. */
void ga_explicit_chart_rate(const ga_explicit *x, const double *xi, const double *v,
                            double *rate);
/* Largest rotation, or rate of it, of those nodes. */
double ga_explicit_turning(const ga_explicit *x, const double *velocity);

/* Stage i. */
static inline double *ga_explicit_stage(const ga_explicit *x, const ga_stages *stages, int i)
{
    return stages->k + (size_t)i * (size_t)x->width;
}
/* sum += factor weights[j] k_j, of n numbers from `at` on in each stage. */
void ga_explicit_add(const ga_explicit *x, const ga_stages *stages, int count,
                     const double *weights, double factor, int at, int n, double *sum);
/* (xi, v) = (0, v_0) + h sum weights_j k_j. */
void ga_explicit_combine(const ga_explicit *x, const ga_stages *stages, int count,
                         const double *weights, double *xi, double *v);
/* Stage i, at what those before it give, of a step to t1. */
ga_status ga_explicit_evaluate(ga_explicit *x, ga_stages *stages, int i, double t1,
                               ga_explicit_solve *solve);
/* A chart may be used up to this angle; T^-1 is singular at 2 pi. */
static const double GA_EXPLICIT_MOST_TURNED = 5;

/* --- explicit_project.c ------------------------------------------------------------------- */

/* Moves q and v at t onto the constraints, with the factors of the last stage; by x->dq, x->dv.
 */
bool ga_explicit_project(ga_explicit *x, double t, double *q, double *v);

/* --- explicit_output.c -------------------------------------------------------------------- */

void ga_explicit_interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                             double *multipliers);

/* --- explicit_stiff.c --------------------------------------------------------------------- */

/* Before the attempt is accepted: is it stability that asks for more steps than anybody wants
 * to take? */
bool ga_explicit_is_too_stiff(ga_explicit *x);

#endif
