/* clang-format off */
/* The DAE as an integrator sees it: every quantity of a ga_system, checked, with difference
 * quotients where the user gave no derivative.
 *
 *     r = M(q,t) vd - f(q,v,t,lambda,psi) + G^T (lambda, psi)     dynamics
 *     Phi(q,t)                                                    position level, m rows
 *     w = (B v + Phi_t, k), G = dw/dv = [B; N], Z = D_q w         velocity level, m + p rows
 *     G vd = c                                                    acceleration level
 *     K = D_q r,  C = dr/dv,  L = df/d(lambda, psi)               tangents
 *
 * Multipliers (lambda, psi) are one array of m + p numbers throughout. B is the first part of
 * G, in its rows and in its values. With GA_REACTIONS_IN_FORCE the term G^T (lambda, psi) is
 * absent from r.
 * All functions return GA_OK, GA_ERR_RECOVERABLE, GA_ERR_CALLBACK or GA_ERR_NOT_FINITE and
 * leave the reason in `fault`.
 */
/* clang-format on */
#ifndef GA_SYSTEM_DAE_H
#define GA_SYSTEM_DAE_H

#include "la/coords.h"
#include "system/coloring.h"

#include <galpha/system.h>

#include <stddef.h>

enum { GA_DAE_MAX_OWNED = 64 };

typedef struct ga_tangents {
    double *K, *C, *L, *Z;
} ga_tangents;

/* Entries of a matrix in the rows of states. */
typedef struct ga_state_rows {
    int count;
    struct ga_state_entry {
        int k, row, col; /* value k stands there */
    } * entry;
} ga_state_rows;

typedef struct ga_dae {
    ga_system sys;
    int nq, nv, m, p, mp; /* mp = m + p */
    int nm, nx;           /* nv = nm + nx: velocities of positions, then first-order states */
    int *kind;            /* of velocities: 0 translation (and R^n), 1 rotation; nm numbers */
    bool commutative;     /* every T(x) is the identity for the exponential map */
    bool alike;           /* all nodes are of one kind */
    bool rheonomic;
    bool reactions_added;
    bool at_once; /* the user computes all of G and w himself, in one call */
    bool summed;  /* ... and adds up the dynamics */
    double noise; /* of w relative to v, where G or Phi_t are difference quotients */

    ga_coords M, G, K, C, Z, L;   /* structures; L is empty unless forces use multipliers */
    ga_coords B, N;               /* the two parts of G; views, N with rows from 0 */
    ga_coords ZB, ZN;             /* the two parts of Z; views */
    ga_coords T;                  /* tangent operators, block-diagonal by node */
    int *owned[GA_DAE_MAX_OWNED]; /* arrays of these that are not the system's */
    int owned_count;
    /* many nodes are updated in pieces, by threads: where q, v and T of each begin */
    ga_pool *pool; /* borrowed; null: one thread */
    struct ga_dae_piece *pieces;
    /* for what is left out: columns that move together, and entries that get the value */
    ga_coloring color_B, color_N, color_K, color_C, color_ZB, color_ZN, color_L;

    /* Of the states: largest values so far, the least sizes that errors are relative to, and
     * the largest values when these were found, all in one array; and the entries of M, K, C,
     * L in their rows. */
    double *state_size, *state_least, *state_known;
    ga_state_rows M_states, K_states, C_states, L_states;
    ga_tangents state_tangents; /* workspace, without Z */
    double *state_work;         /* nx numbers for users, then those of states.c */

    double *M_constant; /* values of a constant mass matrix, once evaluated */
    bool M_known, M_is_diagonal;
    double *M_diagonal; /* if it is, whatever the pattern */

    /* workspace of the difference quotients, where there are any; M_work also for states */
    double *direction, *q_plus, *q_minus, *q_side, *v_work, *v_side, *lambda_work, *rate_work;
    double *plus, *minus; /* max(nv, m + p) each */
    double *r_plus, *r_minus;
    double *M_work, *G_work;

    struct {
        const char *what; /* name of the callback */
        int row;          /* first entry that is not finite, or -1 */
        ga_status status;
    } fault;
} ga_dae;

/* The system has been validated; it is copied, its arrays are borrowed. */
ga_status ga_dae_create(const ga_system *system, ga_dae *dae);
/* Threads for what follows, but for callbacks. The same bits come out. */
ga_status ga_dae_use(ga_dae *dae, ga_pool *pool);
void ga_dae_destroy(ga_dae *dae); /* a zeroed one is fine */

/* One sentence about the last failure. */
void ga_dae_explain(const ga_dae *dae, double t, ga_report *report);

/* What is evaluated at one point; null members are not. G is [B; N], w is (Phi_t, k). */
typedef struct ga_values {
    double *M, *G, *Phi, *w, *f;
} ga_values;

/* All of it, in one call of the user's if he offers that. */
ga_status ga_dae_evaluate(ga_dae *dae, const ga_point *at, const ga_values *values);
/* The two parts of it: the numbers as they come, and a look at whether they are finite. */
ga_status ga_dae_fill(ga_dae *dae, const ga_point *at, const ga_values *values);
ga_status ga_dae_check_values(ga_dae *dae, const ga_values *values);
/* Does the user add up the dynamics himself? Then r comes with the numbers, as they come. */
static inline bool ga_dae_has_equations(const ga_dae *dae) { return dae->summed; }
/* The same where G (or null) and Phi are all that is asked for, M is known, and m > 0. */
ga_status ga_dae_fill_sum(ga_dae *dae, const ga_point *at, const ga_values *values, double *r);
ga_status ga_dae_fill_equations(ga_dae *dae, const ga_point *at, const ga_values *values,
                                double *r);

ga_status ga_dae_mass(ga_dae *dae, double t, const double *q, double *M);
ga_status ga_dae_force(ga_dae *dae, const ga_point *at, double *f);
ga_status ga_dae_constraint(ga_dae *dae, double t, const double *q, double *Phi);
/* G; only its first part B where v is null. */
ga_status ga_dae_gradient(ga_dae *dae, double t, const double *q, const double *v, double *G);
/* w, from G at this point. */
ga_status ga_dae_velocity(ga_dae *dae, double t, const double *q, const double *v,
                          const double *G, double *w);
/* k alone. */
ga_status ga_dae_nonholonomic(ga_dae *dae, double t, const double *q, const double *v,
                              double *k);
ga_status ga_dae_acceleration_rhs(ga_dae *dae, double t, const double *q, const double *v,
                                  double *c);
ga_status ga_dae_stiffness(ga_dae *dae, const ga_point *at, double *K);
ga_status ga_dae_damping(ga_dae *dae, const ga_point *at, double *C);
/* K, C, L and, if velocities is true, Z as they come, Z else only in its second part; and a
 * look at whether K, C and Z are finite. */
ga_status ga_dae_fill_tangents(ga_dae *dae, const ga_point *at, bool velocities,
                               const ga_tangents *tangents);
ga_status ga_dae_check_tangents(ga_dae *dae, const ga_tangents *tangents);
/* At Z alone; at its second part where holonomic is false. */
ga_status ga_dae_check_velocity_stiffness(ga_dae *dae, bool holonomic, const double *Z);
/* Z; only its second part where holonomic is false. */
ga_status ga_dae_velocity_stiffness(ga_dae *dae, const ga_point *at, bool holonomic, double *Z);
ga_status ga_dae_force_multipliers(ga_dae *dae, const ga_point *at, double *L);

/* r from M and G already evaluated at this point. at->psi follows at->lambda in memory. */
ga_status ga_dae_dynamics(ga_dae *dae, const ga_point *at, const double *M, const double *G,
                          double *r);
/* A point whose multipliers lie in one array. */
static inline ga_point ga_dae_point(const ga_dae *dae, double t, const double *q,
                                    const double *v, const double *vd,
                                    const double *multipliers)
{
    return (ga_point){t, q, v, vd, multipliers, multipliers ? multipliers + dae->m : NULL};
}

/* y += M x, with M of ga_dae_fill or ga_dae_mass. */
void ga_dae_add_inertia(const ga_dae *dae, const double *M, const double *x, double *y);
/* r = M x - f, likewise. */
void ga_dae_inertia_less(const ga_dae *dae, const double *M, const double *x, const double *f,
                         double *r);
/* q1 = q o map(x). */
void ga_dae_update(const ga_dae *dae, ga_map map, const double *q, const double *x, double *q1);
/* x += scale c(v), what the Cayley map lacks to the exponential: ga_lie_cayley_defect by nodes.
 */
void ga_dae_add_cayley_defect(const ga_dae *dae, double scale, const double *v, double *x);
/* Where the map treats the first components of a node as a vector space of their own, T is the
 * identity there; the rest is a full block. */
int ga_dae_flat_components(ga_node node);
/* Values of T(x) in the structure dae->T. */
void ga_dae_tangent(ga_dae *dae, ga_map map, const double *x, double *T);

/* Difference quotients alone, whatever the user gave. */
ga_status ga_difference_gradient(ga_dae *dae, double t, const double *q, double *B);
ga_status ga_difference_nonholonomic_gradient(ga_dae *dae, double t, const double *q,
                                              const double *v, double *N);
ga_status ga_difference_rate(ga_dae *dae, double t, const double *q, double *Phi_t);
ga_status ga_difference_acceleration_rhs(ga_dae *dae, double t, const double *q,
                                         const double *v, double *c);
ga_status ga_difference_nonholonomic_rhs(ga_dae *dae, double t, const double *q,
                                         const double *v, double *d);
ga_status ga_difference_stiffness(ga_dae *dae, const ga_point *at, double *K);
ga_status ga_difference_damping(ga_dae *dae, const ga_point *at, double *C);
ga_status ga_difference_velocity_stiffness(ga_dae *dae, const ga_point *at, double *Z);
ga_status ga_difference_nonholonomic_stiffness(ga_dae *dae, const ga_point *at, double *Z);
ga_status ga_difference_force_multipliers(ga_dae *dae, const ga_point *at, double *L);
/* Phi_t as given or by differences; zero for constraints that do not depend on time. */
ga_status ga_dae_rate(ga_dae *dae, double t, const double *q, double *Phi_t);

/* states.c */
enum { GA_STATE_NUMBERS = 3 };               /* of each state, from state_size on */
ga_status ga_dae_create_states(ga_dae *dae); /* the structures are there */
void ga_dae_destroy_states(ga_dae *dae);
/* Sizes as at the beginning; and at least those of the states in v. */
void ga_dae_forget_sizes(ga_dae *dae);
void ga_dae_copy_sizes(ga_dae *to, const ga_dae *from); /* of the same system */
void ga_dae_observe_states(ga_dae *dae, const double *v);
/* What errors of state i are relative to; 0 if there is nothing. */
static inline double ga_dae_state_size(const ga_dae *dae, int i)
{
    const double size = dae->state_size[i], least = dae->state_least[i];
    return size > least ? size : least;
}
/* The largest of these changes of states by their sizes; x has nv numbers. NaN if one is. */
double ga_dae_weigh_states(const ga_dae *dae, const double *x);
/* Sizes, or errors, of what rates depend on: q and v by kind, each state, multipliers; and x',
 * for what depends on time alone. */
typedef struct ga_influence {
    double q[2], v[2];
    const double *x;
    double multipliers;
    const double *rate; /* may be null */
} ga_influence;
/* By how much the terms of their rates, each by itself, change states within `time`. */
void ga_dae_state_changes(const ga_dae *dae, const double *M, const ga_tangents *at,
                          double time, const ga_influence *from, double *change);
/* The same with M and tangents at this point. */
ga_status ga_dae_state_changes_at(ga_dae *dae, const ga_point *at, double time,
                                  const ga_influence *from, double *change);

/* Brings quaternions to unit length; one of length zero is no rotation. */
ga_status ga_dae_normalise(const ga_dae *dae, double *q, ga_report *report);
/* Largest translation or R^n coordinate in q. */
double ga_dae_translation(const ga_dae *dae, const double *q);
/* Largest absolute value; 0 for n = 0, NaN if there is one. */
double ga_norm_max(int n, const double *x);
/* Sum of squares. */
double ga_norm_squares(int n, const double *x);
/* Raises size[kind[i]] to factor |x[i]|, for all i; kinds are 0 and 1. Returns 0, or NaN if x
 * is not finite; a kind with a NaN keeps its size. */
double ga_norm_raise(int n, const double *x, const int *kind, double factor, double size[2]);
/* Sums of |A| over each row, by the kinds of its columns, 0 or 1. */
void ga_norm_rows(const ga_coords *A, const double *values, const int *kind, double *sums[2]);

#endif
