/* Consistent values of a DAE, for any one-step method.
 *
 * A ga_consistent is made from a ga_dae. At a point it factors the saddle matrix of
 * [ABC14] eq. (7),
 *
 *     [ M  G^T ] [ v'          ]   [ f ]
 *     [ G  -e  ] [ lambda, psi ] = [ c ],     G = [B; N],
 *
 * in which e = 0 unless rows of G depend on each other (redundancy.c). With it q is moved onto
 * Phi = 0 and v onto w = (B v + Phi_t, k) = 0, both by the smallest change in the mass metric,
 * and v' and the multipliers follow from the dynamics.
 *
 *     ga_consistent_start           at the start of an integration, or behind a jump: finds
 *                                   dependent rows, moves q and v from afar, and gives v',
 *                                   lambda, psi; errors are explained
 *     ga_consistent_acceleration    v', lambda, psi at consistent q and v
 *     ga_consistent_correct         moves q and v that are nearly consistent
 *
 * Redundancy is found in ga_consistent_start; the other two use what was found there. Nothing
 * is allocated after creation, but for dependent rows, which are listed when they are found.
 */
#ifndef GA_SYSTEM_CONSISTENT_H
#define GA_SYSTEM_CONSISTENT_H

#include "la/factor.h"
#include "la/ldl.h"
#include "system/dae.h"
#include "system/dependence.h"

#include <stdint.h>

/* Rows of G that are zero or depend on each other; see redundancy.c. */
typedef struct ga_redundancy {
    const ga_dae *dae;
    bool active;         /* saddle matrices have a diagonal for the multipliers */
    double eps;          /* of e in the next matrix; 0: no row depends on others */
    double *D;           /* weights of the multipliers */
    double *length;      /* squared lengths of the rows, as last computed */
    bool *zero;          /* rows of length zero, likewise */
    ga_coords diagonal;  /* structure of a diagonal matrix of the multipliers */
    ga_dependence found; /* dependent rows at the start */
    int rank;            /* of G, there */
    double *weakest;     /* direction of the smallest eigenvalue, for inverse iteration */
    double *rows;        /* workspace of that */
    uint64_t seed;       /* of random numbers in it */
} ga_redundancy;

/* What the saddle matrix is made of besides M and G. */
typedef enum ga_saddle_parts {
    GA_SADDLE_ALL = 0,
    GA_SADDLE_HOLONOMIC = 1,   /* without N: psi = 0 */
    GA_SADDLE_FORCES = 2,      /* G^T - L in place of G^T, where forces depend on multipliers */
    GA_SADDLE_SAME_SCALES = 4, /* those of the last factorisation, at a point nearby */
    GA_SADDLE_DEFINITE = 8     /* by LDL^T where M is definite and no pivot is small */
} ga_saddle_parts;

/* The saddle matrix at one point, and its factors. */
typedef struct ga_saddle {
    const ga_dae *dae;
    ga_redundancy *redundancy;
    ga_matrix matrix;
    ga_factor *factor;
    ga_ldl *ldl;           /* takes its place, see GA_SADDLE_DEFINITE; null: too large */
    bool definite;         /* it has */
    double pivot;          /* smallest of the factors, by the size of its column */
    ga_coords Gt;          /* G transposed, a view */
    double *M, *G, *L;     /* values, set before the matrix is factored */
    double *diagonal;      /* of the multipliers: 1 for rows left out, -e for dependent ones */
    double *kept;          /* the part of it that belongs to the equations */
    double eps;            /* of e */
    ga_saddle_parts parts; /* of the factored matrix */
    double typical_reaction; /* multiplier that goes with a unit of acceleration; 0: unknown */
    int singular;            /* column of a singular matrix, or -1 */
    long *factorizations;    /* counts them; may be null */
    double *row_scale, *col_scale;
    double *rhs, *x, *defect; /* nv + mp each, one after the other */
} ga_saddle;

/* Levels of constraints to project on. */
typedef enum ga_levels { GA_POSITION_LEVEL = 1, GA_VELOCITY_LEVEL = 2 } ga_levels;

typedef struct ga_consistent {
    ga_dae *dae; /* borrowed */
    ga_redundancy redundancy;
    ga_saddle saddle;
    ga_projection projection; /* largest changes of q and v by the last start */
    double least;             /* smallest eigenvalue of G M^-1 G^T against D at the start */
    double largest;           /* accelerations, and what reactions alone would cause, so far */
    bool holds;               /* during a start: the factors are those of its position */
    /* workspace */
    double *residual;            /* mp */
    double *c;                   /* mp: right-hand side of the constraints */
    double *f, *step, *last, *x; /* nv */
    double *q, *q0;              /* nq */
    double *v0;                  /* nv */
} ga_consistent;

/* --- consistent.c ------------------------------------------------------------------------- */

ga_status ga_consistent_create(ga_dae *dae, ga_solver solver, ga_consistent *c);
void ga_consistent_destroy(ga_consistent *c); /* a zeroed one is fine */
/* Threads from now on, or none. */
ga_status ga_consistent_use(ga_consistent *c, ga_pool *pool);

/* Moves q and v, which are given and may be far away, onto the constraints; then v' and the
 * multipliers, whose first guesses are given. GA_ERR_INCONSISTENT if q or v changes by more
 * than max_projection. The report is filled if something fails. */
ga_status ga_consistent_start(ga_consistent *c, double t, double *q, double *v,
                              double max_projection, double *vd, double *multipliers,
                              ga_report *report);
/* Parts of it, each with a search for dependent rows: q alone; v alone, at q. */
ga_status ga_consistent_position(ga_consistent *c, double t, double *q, const double *v);
ga_status ga_consistent_velocity(ga_consistent *c, double t, const double *q, double *v);
/* The same from nearby, with the redundancy that is known. */
ga_status ga_consistent_move_position(ga_consistent *c, double t, double *q, const double *v);
ga_status ga_consistent_move_velocity(ga_consistent *c, double t, const double *q, double *v);

/* v' and multipliers from the dynamics and the constraints on acceleration level. Given: a
 * first guess of the multipliers, used where forces depend on them. */
ga_status ga_consistent_acceleration(ga_consistent *c, double t, const double *q,
                                     const double *v, double *vd, double *multipliers);

/* The same for one of several points that are close to each other, with the scales of the last
 * factorisation and without refinement where constraints are independent. */
ga_status ga_consistent_acceleration_nearby(ga_consistent *c, double t, const double *q,
                                            const double *v, double *vd, double *multipliers);

/* The smallest pivot of the factors by which these two solve, at a point where no one has been
 * solved for yet. */
double ga_consistent_pivot(ga_consistent *c, double t, const double *q, const double *v);

/* Moves q and v, which are close, onto constraints of these levels with one factorization;
 * false if that does not converge. */
bool ga_consistent_correct(ga_consistent *c, double t, double *q, double *v, ga_levels levels);

/* With dependent rows corrections come to rest also where they contradict each other: the first
 * of n rows whose residual is too large for values of this size, G as factored; -1: none. */
int ga_consistent_unmet(ga_consistent *c, int n, const double *residual, double size);

/* Whether rows that depend on each other at q do so only there: a singular position, such as
 * rods stretched straight. y^T G = 0 on all of a motion implies y^T (G' v) = 0, so
 * accelerations exist for every velocity that satisfies the constraints; at a singular position
 * they do not. Has its own workspace. */
ga_status ga_consistent_is_singular(ga_dae *dae, double t, const double *q, bool *singular);

/* The smallest eigenvalue of G M^-1 G^T against D, as factored, in one iteration from the last
 * one; infinite without constraints. */
double ga_consistent_smallest(ga_consistent *c);

/* Evaluates M and G at a point, and factors. */
ga_status ga_consistent_factor(ga_consistent *c, double t, const double *q, const double *v,
                               ga_saddle_parts parts);
/* The smallest y in the mass metric with G y = bottom, G as factored. */
void ga_consistent_lift(ga_consistent *c, const double *bottom, double *y);

/* --- saddle.c ----------------------------------------------------------------------------- */

ga_status ga_saddle_create(const ga_dae *dae, ga_redundancy *redundancy, ga_solver solver,
                           ga_saddle *k);
void ga_saddle_destroy(ga_saddle *k);
ga_status ga_saddle_use(ga_saddle *k, ga_pool *pool);
/* Factors the matrix with the values in k->M, k->G and k->L. */
ga_status ga_saddle_factor(ga_saddle *k, ga_saddle_parts parts);
/* Have the factors lost digits that a sweep of refinement brings back? */
bool ga_saddle_is_rough(const ga_saddle *k);
/* k->x from k->rhs, nv + mp numbers each, with `sweeps` - 1 sweeps of refinement. */
void ga_saddle_solve(ga_saddle *k, int sweeps);
/* The same from the x given, with factors of a matrix nearby: sweeps until what is left is
 * round-off. Their number; 0: more than `most` would be needed. */
int ga_saddle_approach(ga_saddle *k, int most);
/* x from rhs with the matrix as it was factored, e included. */
void ga_saddle_solve_once(const ga_saddle *k, const double *rhs, double *x);
/* Multipliers l without their part in the null space of G^T, by `passes` filters. */
void ga_saddle_filter(ga_saddle *k, int passes, double *l);

/* --- redundancy.c ------------------------------------------------------------------------- */

ga_status ga_redundancy_create(const ga_dae *dae, ga_redundancy *g);
void ga_redundancy_destroy(ga_redundancy *g);
/* What matrices need to know: whether rows depend on each other, eps, D. */
void ga_redundancy_copy(ga_redundancy *to, const ga_redundancy *from);
/* Back to independent rows. */
void ga_redundancy_reset(ga_redundancy *g);
/* From now on rows may be zero, or, if dependent, depend on each other. */
void ga_redundancy_activate(ga_redundancy *g, bool dependent);
/* D from M and G. mass: workspace, nv. */
void ga_redundancy_weigh(ga_redundancy *g, const double *M, const double *G, double *mass);
/* Squared lengths of the rows of G; valid until the next call. */
const double *ga_redundancy_lengths(ga_redundancy *g, const double *G);
/* -e for the rows of G, -1 for those that are zero. */
void ga_redundancy_diagonal(ga_redundancy *g, const double *G, double eps, double *value);
/* Solves with a saddle matrix whose right-hand side is zero but for these rows, and returns the
 * multipliers. */
typedef const double *ga_solve_rows(void *user, const double *rows);
/* Inverse iteration for the smallest eigenvalue of A = G S^-1 G^T against D; eps and diagonal
 * are those in the matrix. Adapts the eps of the next matrix to it. */
double ga_redundancy_smallest(ga_redundancy *g, ga_solve_rows *solve, void *user,
                              const double *diagonal, double eps, int iterations);

/* --- linear.c ----------------------------------------------------------------------------- */

/* The backend for n unknowns, before anything is known of the matrix. */
ga_backend_kind ga_linear_backend(ga_solver solver, int n);
/* May, and should, a full matrix take the place of one by blocks? */
bool ga_linear_may_be_full(ga_solver solver, int n);
bool ga_linear_prefers_full(ga_solver solver, int n, const ga_factor *factor);
/* A factor for a matrix of the unknowns (u, multipliers), followed by eta if it has more. */
ga_status ga_linear_create_factor(const ga_dae *dae, ga_matrix *matrix, ga_backend_kind backend,
                                  ga_factor **factor);

#endif
