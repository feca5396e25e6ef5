/* A mechanical system given by callbacks, as the integrators see it:
 *
 *     q' = q o v~                                 configuration on a product of Lie groups
 *     M(q,t) v' = f(q,v,t) - B^T lambda - N^T psi dynamics
 *     Phi(q,t) = 0                                holonomic constraints, B(q,t) = D Phi
 *     k(q,v,t) = 0                                nonholonomic constraints, N(q,v,t) = dk/dv
 *     M_x x' = r(q,v,x,t,lambda,psi)              first-order states
 *
 * States x (currents, pressures, integrals of errors) are velocities without a position: nodes
 * of the group GA_GROUP_STATE, behind all others. They are the last entries of v, v' holds x',
 * and their equations are the last rows of M v' = f: M_x is usually the identity, r is part of
 * f, and its derivatives are rows of K, C and [df/dlambda, df/dpsi]. Columns of states in B, Z
 * and K are zero. Every method integrates x to the order it has in v.
 *
 * Derivatives with respect to q are left-trivialised: column j of D g is d/ds g(q o exp(s e_j))
 * at s = 0. On R^n this is the ordinary derivative.
 *
 * Initialise a ga_system with {.struct_size = sizeof(ga_system)}; members that stay zero are
 * absent. One whose size differs, from a program compiled with other headers, is refused. The
 * arrays it points to are borrowed and must outlive the integrator. Callbacks are called from
 * the thread that calls the integrator, possibly many times per step, and with states that are
 * never accepted.
 */
#ifndef GALPHA_SYSTEM_H
#define GALPHA_SYSTEM_H

#include <galpha/lie.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a callback. Recoverable: it failed at this state, try a smaller step. */
typedef enum ga_eval { GA_EVAL_OK, GA_EVAL_RECOVERABLE, GA_EVAL_FATAL } ga_eval;

/* Point of evaluation. A callback may read only what its comment in ga_system lists; the other
 * pointers may be null. */
typedef struct ga_point {
    double t;
    const double *q, *v, *vd, *lambda, *psi;
} ga_point;

/* Writes all of out (earlier contents are undefined); keeps no pointer. */
typedef ga_eval ga_callback(void *user, const ga_point *at, double *out);

/* Where a matrix has entries, in one of three forms.
 *
 * Blocks: block k has height[k] rows and width[k] columns from (row[k], col[k]) on, and the
 * callback writes one block after the other, each column by column. Natural blocks are those of
 * one constraint, or one part of a node, by one part of a node (its translations, its
 * rotations): products are computed by blocks, and the solver for large systems eliminates
 * together what a block couples. A block may contain zeros, but they are treated like
 * other entries.
 * Entries, where height and width are null: the callback's number k belongs to (row[k],
 * col[k]). A full matrix, where all members are zero: column by column.
 *
 * Where blocks or entries overlap, they are added, so elements may write theirs independently.
 */
typedef struct ga_pattern {
    int count; /* of blocks or entries */
    const int *row, *col;
    const int *height, *width;
} ga_pattern;

/* How many numbers a callback writes for a matrix of this size. */
GA_API int ga_pattern_size(const ga_pattern *pattern, int rows, int cols);

/* Quantities requested at one point; null members are not. Sizes and contents are those of the
 * single callbacks of ga_system. */
typedef struct ga_wanted {
    double *mass;                         /* M */
    double *constraint, *gradient, *rate; /* Phi, B, Phi_t */
    double *nonholonomic, *nonholonomic_gradient;
    double *force;
} ga_wanted;

typedef enum ga_reactions {
    GA_REACTIONS_ADDED,   /* the library adds -B^T lambda - N^T psi to what force returns */
    GA_REACTIONS_IN_FORCE /* force returns everything, f(q,v,t,lambda,psi) in any form */
} ga_reactions;

typedef struct ga_system {
    size_t struct_size; /* sizeof(ga_system) */
    void *user;

    int node_count; /* configuration space, then states; nq and nv follow from it */
    const ga_node *nodes;
    /* Typical sizes of the states, positive. Errors of a state are relative to this or to its
     * largest value so far, whichever is larger. Null: to its largest value
     * so far, but at least to a millionth of what the magnitudes of the terms of its rate add
     * up to over the simulation. Without a size, a state that starts at zero with zero rate
     * takes many small steps. */
    const double *state_sizes;
    int constraint_count; /* m, rows of Phi */

    /* M(q,t), nv x nv, reads t, q. May be singular if [M G^T; G 0] is regular, G = [B; N].
     * A constant mass matrix is evaluated once. Required. */
    ga_callback *mass;
    ga_pattern mass_pattern;
    bool mass_is_constant;

    /* f, nv numbers, reads t, q, v and, if force_uses_multipliers, lambda and psi. Includes
     * gyroscopic forces. Required. */
    ga_callback *force;
    bool force_uses_multipliers;
    ga_reactions reactions;

    /* Phi, m numbers, reads t, q. Required if m > 0. */
    ga_callback *constraint;
    /* B, m x nv, reads t, q. */
    ga_callback *gradient;
    ga_pattern gradient_pattern;
    /* Phi_t at fixed q, m numbers, reads t, q. Needed if Phi depends on time: give the
     * callback, or set the flag to use central differences in t. */
    ga_callback *constraint_rate;
    bool constraint_uses_time;
    /* The right-hand side c of B v' = c, m numbers, reads t, q, v:
     * c = -(d/dt (B v + Phi_t)) at v' = 0. */
    ga_callback *acceleration_rhs;

    /* k, p numbers, reads t, q, v. Required if p = nonholonomic_count > 0. */
    int nonholonomic_count;
    ga_callback *nonholonomic;
    /* N = dk/dv, p x nv, reads t, q, v. */
    ga_callback *nonholonomic_gradient;
    ga_pattern nonholonomic_gradient_pattern;
    /* The right-hand side d of N v' = d, p numbers, reads t, q, v: d = -(k_t + D_q k v). */
    ga_callback *nonholonomic_rhs;

    /* Tangents. With r = M v' - f + B^T lambda + N^T psi:
     * K = D_q r at fixed v, v', lambda, psi (nv x nv), reads everything. */
    ga_callback *stiffness;
    ga_pattern stiffness_pattern;
    /* C = dr/dv (nv x nv), reads t, q, v (and lambda, psi). */
    ga_callback *damping;
    ga_pattern damping_pattern;
    /* Z = D_q (B v + Phi_t) at fixed v (m x nv), reads t, q, v. */
    ga_callback *velocity_stiffness;
    ga_pattern velocity_stiffness_pattern;
    /* D_q k at fixed v (p x nv), reads t, q, v. */
    ga_callback *nonholonomic_stiffness;
    ga_pattern nonholonomic_stiffness_pattern;
    /* [df/dlambda, df/dpsi] (nv x (m + p)), reads t, q, v, lambda, psi; only if
     * force_uses_multipliers. */
    ga_callback *force_multipliers;
    ga_pattern force_multipliers_pattern;

    /* Several quantities of one point in one call, if that is cheaper; optional. Requested only
     * for quantities with a callback above, which is still required; reads what these read, and
     * must return bit-for-bit the same numbers. */
    ga_eval (*all)(void *user, const ga_point *at, const ga_wanted *wanted);
    /* The same, and the dynamics r = M v' - f + B^T lambda + N^T psi, nv numbers, computed
     * without matrices; optional, used if reactions are added by the library and forces do not
     * use multipliers. Neither mass nor force is requested; reads everything. */
    ga_eval (*equations)(void *user, const ga_point *at, const ga_wanted *wanted, double *r);
    /* K and C of one point in one call, if that is cheaper; optional, used if both single
     * callbacks are given; must return bit-for-bit the same numbers. */
    ga_eval (*tangents)(void *user, const ga_point *at, double *K, double *C);
} ga_system;
/* Gradients, right-hand sides of the acceleration level and all tangents are optional: finite
 * differences replace them, coloured by the pattern, which must then contain all nonzero
 * entries. */

GA_API int ga_system_nq(const ga_system *system);
GA_API int ga_system_nv(const ga_system *system);

/* Checks sizes, patterns and required callbacks. */
GA_API ga_status ga_system_validate(const ga_system *system, ga_report *report);

/* Solvers of linear equations. */
typedef enum ga_solver {
    GA_SOLVER_AUTO,   /* the one expected to be fastest */
    GA_SOLVER_DENSE,  /* LU of a full matrix */
    GA_SOLVER_SPARSE, /* KLU */
    GA_SOLVER_BLOCK   /* elimination by bodies and joints; KLU where its pivots fail */
} ga_solver;

/* How far values were moved onto the constraints: largest component of the increments. */
typedef struct ga_projection {
    double q, v;
} ga_projection;

typedef enum ga_derivative {
    GA_DERIVATIVE_GRADIENT,
    GA_DERIVATIVE_CONSTRAINT_RATE,
    GA_DERIVATIVE_ACCELERATION_RHS,
    GA_DERIVATIVE_STIFFNESS,
    GA_DERIVATIVE_DAMPING,
    GA_DERIVATIVE_VELOCITY_STIFFNESS,
    GA_DERIVATIVE_FORCE_MULTIPLIERS,
    GA_DERIVATIVE_NONHOLONOMIC_GRADIENT,
    GA_DERIVATIVE_NONHOLONOMIC_RHS,
    GA_DERIVATIVE_NONHOLONOMIC_STIFFNESS,
    GA_DERIVATIVE_COUNT
} ga_derivative;

/* "gradient B", "stiffness matrix K", ... */
GA_API const char *ga_derivative_name(ga_derivative derivative);

/* error = |given - finite difference| / max(1, largest entry of the block), at the worst entry.
 * checked is false for derivatives that are not given; Phi_t of constraints declared
 * independent of time counts as given, with value 0. Entries outside the declared pattern are
 * checked too: their given value is 0. */
typedef struct ga_derivative_check {
    struct {
        bool checked;
        double error, given, expected;
        int row, column;
    } block[GA_DERIVATIVE_COUNT];
    ga_derivative
        worst; /* a wrong gradient or rate takes precedence over what is computed from it */
} ga_derivative_check;

/* Where derivatives are checked, and how closely. Initialise with {.struct_size =
 * sizeof(ga_derivative_check_def)}. */
typedef struct ga_derivative_check_def {
    size_t struct_size;
    double tolerance; /* 0: 1e-5, well above the accuracy of central differences */
    ga_point at;      /* vd, lambda and psi may be null for zero */
} ga_derivative_check_def;

/* Compares every given derivative with finite differences. GA_ERR_DERIVATIVE if an error
 * exceeds the tolerance; the report names block, row and column. Costs O(nv) evaluations and
 * O(nv^2) memory. */
GA_API ga_status ga_system_check(const ga_system *system, const ga_derivative_check_def *def,
                                 ga_derivative_check *result, ga_report *report);

#ifdef __cplusplus
}
#endif
#endif
