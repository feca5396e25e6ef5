/* The DAE as an integrator sees it: every quantity of a ga_system, checked, with difference
 * quotients where the user gave no derivative.
 *
 *     r   = M(q,t) vd - f(q,v,t,lambda) + B(q,t)^T lambda        dynamics
 *     Phi(q,t),   w = B v + Phi_t,   c = -(d/dt w at vd = 0)     constraints on three levels
 *     K = D_q r,  C = -df/dv,  Z = D_q w,  L = df/dlambda        tangents
 *
 * With GA_REACTIONS_IN_FORCE the term B^T lambda is absent from r.
 * All functions return GA_OK, GA_ERR_RECOVERABLE, GA_ERR_CALLBACK or GA_ERR_NOT_FINITE and
 * leave the reason in `fault`.
 */
#ifndef GA_SYSTEM_DAE_H
#define GA_SYSTEM_DAE_H

#include "la/coords.h"

#include <galpha/system.h>

typedef struct ga_dae {
    ga_system sys;
    int nq, nv, m;
    bool commutative; /* every T(x) is the identity for the exponential map */
    bool rheonomic;
    bool reactions_added;

    ga_coords M, B, K, C, Z, L; /* structures; L is empty unless forces use lambda */
    ga_coords T;                /* tangent operators, block-diagonal by node */
    ga_coloring color_B, color_K, color_C, color_Z, color_L; /* for what is left out */
    bool *first_B, *first_K, *first_C, *first_Z, *first_L;   /* entries that get the value */

    double *M_constant; /* values of a constant mass matrix, once evaluated */
    bool M_known;

    /* workspace of the difference quotients */
    double *direction, *q_plus, *q_minus, *q_side, *v_work, *lambda_work;
    double *plus, *minus; /* max(nv, m) each */
    double *r_plus, *r_minus;
    double *M_work, *B_work;

    struct {
        const char *what; /* name of the callback */
        int row;          /* first entry that is not finite, or -1 */
        ga_status status;
    } fault;
} ga_dae;

/* The system has been validated; it is copied, its arrays are borrowed. */
ga_status ga_dae_create(const ga_system *system, ga_dae *dae);
void ga_dae_destroy(ga_dae *dae); /* a zeroed one is fine */

/* One sentence about the last failure. */
void ga_dae_explain(const ga_dae *dae, double t, ga_report *report);

ga_status ga_dae_mass(ga_dae *dae, double t, const double *q, double *M);
ga_status ga_dae_force(ga_dae *dae, const ga_point *at, double *f);
ga_status ga_dae_constraint(ga_dae *dae, double t, const double *q, double *Phi);
ga_status ga_dae_gradient(ga_dae *dae, double t, const double *q, double *B);
/* Phi_t; zero for constraints that do not depend on time. */
ga_status ga_dae_rate(ga_dae *dae, double t, const double *q, double *Phi_t);
ga_status ga_dae_acceleration_rhs(ga_dae *dae, double t, const double *q, const double *v,
                                  double *c);
ga_status ga_dae_stiffness(ga_dae *dae, const ga_point *at, double *K);
ga_status ga_dae_damping(ga_dae *dae, const ga_point *at, double *C);
ga_status ga_dae_velocity_stiffness(ga_dae *dae, const ga_point *at, double *Z);
ga_status ga_dae_force_lambda(ga_dae *dae, const ga_point *at, double *L);

/* r from M and B already evaluated at this point. */
ga_status ga_dae_dynamics(ga_dae *dae, const ga_point *at, const double *M, const double *B,
                          double *r);

/* q1 = q o map(x). */
void ga_dae_update(const ga_dae *dae, ga_map map, const double *q, const double *x, double *q1);
/* Values of T(x) in the structure dae->T. */
void ga_dae_tangent(ga_dae *dae, ga_map map, const double *x, double *T);

/* Difference quotients alone, whatever the user gave; same arguments as above. */
ga_status ga_difference_gradient(ga_dae *dae, double t, const double *q, double *B);
ga_status ga_difference_rate(ga_dae *dae, double t, const double *q, double *Phi_t);
ga_status ga_difference_acceleration_rhs(ga_dae *dae, double t, const double *q,
                                         const double *v, double *c);
ga_status ga_difference_stiffness(ga_dae *dae, const ga_point *at, double *K);
ga_status ga_difference_damping(ga_dae *dae, const ga_point *at, double *C);
ga_status ga_difference_velocity_stiffness(ga_dae *dae, const ga_point *at, double *Z);
ga_status ga_difference_force_lambda(ga_dae *dae, const ga_point *at, double *L);

/* Largest absolute value; 0 for n = 0, NaN if there is one. */
double ga_norm_max(int n, const double *x);

#endif
