/* The stepper: state, workspace, and the pieces a formulation is composed of.
 *
 * One step solves for the accelerations vd = v'_{n+1}, the multipliers lambda and, with
 * constraints on velocity level, eta. Everything else is linear in vd:
 *
 *     a_n     = a_0 + kappa vd                       kappa = 0 but for the implicit start
 *     a_{n+1} = a_1 + c_a vd
 *     U       = U_0 + c_q vd - h B(q_n)^T eta,       q_{n+1} = q_n o R(U)
 *     v_{n+1} = v_0 + c_v vd
 *
 * with c_q = beta h^2 (1 - alpha_f)/(1 - alpha_m) and c_v = gamma h (1 - alpha_f)/(1 - alpha_m)
 * (c8 and c7 of [DYM] eqs. (11), (13); 1/beta' and gamma'/beta' of [AB07] eq. (6)).
 *
 * The linear systems have unknowns (u, d lambda, x) with dq = c_q T u, d vd = u + B_n^T x and
 * d eta = (c_q/h) x, and rows (r, Phi/c_q, (B v + Phi_t)/c_v). In these units no power of h is
 * left in the matrix.
 */
#ifndef GA_INTEGRATE_STEPPER_H
#define GA_INTEGRATE_STEPPER_H

#include "la/factor.h"
#include "system/dae.h"

#include <galpha/integrate.h>
#include <stddef.h>

typedef struct ga_stepper ga_stepper;

/* The accepted solution. The arrays lie in one piece of memory. */
typedef struct ga_state {
    double t;
    double h;        /* step that led here; after a start, the one it was prepared for */
    long steps;      /* since the start */
    double h_old[2]; /* the steps before it: for extrapolation */
    double *q, *v, *vd, *a, *lambda, *eta;
    double *a_used;  /* a as the last step used it, for [JN08] eq. (14a) */
    double *v_exact; /* at the start: the consistent velocity, not perturbed */
    double *vd_old[2], *lambda_old[2]; /* one and two steps ago */
    double *B;                         /* B(q), for constraints on velocity level */
    double *memory;                    /* all of the above */
    size_t memory_size;                /* in doubles */
} ga_state;

/* Terms of the iteration matrix; a formulation chooses among them. */
typedef enum ga_term {
    GA_TERM_MASS,               /* M                 */
    GA_TERM_DAMPING,            /* c_v C             */
    GA_TERM_STIFFNESS,          /* c_q K T           */
    GA_TERM_PENALTY,            /* c_q p B^T B T     */
    GA_TERM_REACTION,           /* B^T               */
    GA_TERM_FORCE_LAMBDA,       /* -L                */
    GA_TERM_POSITION,           /* B T               */
    GA_TERM_VELOCITY,           /* B                 */
    GA_TERM_VELOCITY_STIFFNESS, /* (c_q/c_v) Z T     */
    GA_TERM_ETA_MASS,           /* M B_n^T           */
    GA_TERM_ETA_DAMPING,        /* c_v C B_n^T       */
    GA_TERM_ETA_VELOCITY,       /* B B_n^T           */
    GA_TERM_COUNT
} ga_term;

typedef struct ga_term_place {
    ga_term term;
    int row, column; /* in blocks: 0 dynamics or u, 1 Phi or lambda, 2 velocity level or eta */
} ga_term_place;

typedef struct ga_formulation_type {
    const char *name;
    int constraint_rows; /* rows per constraint: 1, or 2 with the velocity level */
    ga_start start;      /* what GA_START_AUTO means */
    bool penalty;        /* knows the augmented Lagrangian */
    const ga_term_place *terms;
    int term_count;
    /* r from the trial state; rows as above, divided by 1, c_q, c_v. */
    ga_status (*residual)(ga_stepper *s, double *r);
    /* Trial unknowns += solution of the linear system. */
    void (*correct)(ga_stepper *s, const double *x);
} ga_formulation_type;

const ga_formulation_type *ga_formulation_get(ga_formulation formulation);

/* The saddle system [M B^T; B 0] at one configuration, [ABC14] eq. (7). */
typedef struct ga_saddle {
    ga_matrix matrix;
    ga_factor *factor;
    ga_coords Bt; /* B transposed, a view */
    double *M, *B, *L;
    bool with_lambda; /* the factored matrix has B^T - L in place of B^T */
    double *row_scale, *col_scale, *scale_work;
    double *x, *rhs, *defect; /* nv + m each */
    double *lambda, *f, *c;
    double *q, *v, *vd[2], *guess; /* states beside t_n, for v'' */
    double *step;                  /* nv */
} ga_saddle;

struct ga_stepper {
    ga_dae dae;
    ga_integrator_def def;
    ga_method_properties method;
    const ga_formulation_type *form;
    int nq, nv, m, n; /* n: unknowns */

    double t_start, h_grid; /* as given to start */
    long grid;              /* grid steps done */
    bool started;
    ga_projection projection;

    ga_state now;   /* changes only when a step is accepted */
    ga_state saved; /* where a grid step began, while it is cut in pieces */

    /* this step */
    double h, t1, c_q, c_v, c_a, kappa;
    double *vn, *an;      /* v_n and a_n, adapted to h */
    double *U0, *v0, *a1; /* parts that do not depend on vd */

    /* trial state at t1 */
    double *q, *v, *vd, *a, *lambda, *eta, *U, *mu;
    double *M, *B, *Phi;
    double *work; /* nv */

    /* the iteration matrix: its parts at the last refresh, their products, the scaled sum and
     * its factors */
    double *M_tangent, *B_tangent, *C, *K, *Z, *L, *T;
    ga_coords Bt; /* B transposed, a view */
    bool flat;    /* T is the identity */
    ga_product KT, BT, ZT, BtBT, MBt, CBt, BBt;
    double *KT_values, *BT_values, *ZT_values, *BtBT_values, *MBt_values, *CBt_values,
        *BBt_values;
    ga_coords term_coords[GA_TERM_COUNT]; /* views */
    const double *term_values[GA_TERM_COUNT];
    ga_matrix matrix;
    ga_factor *factor;
    double *row_scale, *col_scale, *scale_work;
    double penalty;                /* p in use */
    bool usable;                   /* there is a factorisation */
    bool fresh;                    /* its tangents are of this attempt */
    double factor_c_q, factor_c_v; /* coefficients it was made for */
    double served, life;           /* steps the tangents have served, and are expected to */

    /* Newton */
    double *r, *x;
    int iteration;
    double scale_q, scale_v, scale_lambda; /* largest components so far */
    double delta_q, delta_v, delta_lambda; /* last increment */
    double norm_q, norm_v, norm_lambda;    /* the same, weighted */
    int singular;                          /* column of a singular matrix, or -1 */

    ga_saddle saddle;
    ga_statistics stats;
};

/* stepper.c */
ga_status ga_stepper_create(const ga_system *system, const ga_integrator_def *def,
                            ga_stepper *s, ga_report *report);
void ga_stepper_destroy(ga_stepper *s); /* a zeroed one is fine */
void ga_state_copy(ga_state *to, const ga_state *from);

/* step.c */
/* One step of the size given at the start, or up to t_end if that comes first. Cut in pieces
 * where needed. On failure the state is as before, and the report filled. */
ga_status ga_step_grid(ga_stepper *s, double t_end, ga_report *report);
/* Coefficients of a step of size h from the current state to t1; vn and an are set. */
void ga_step_coefficients(ga_stepper *s, double h, double t1);
/* First guess of vd, lambda, eta by extrapolation. */
void ga_step_predict(ga_stepper *s);
/* Unknowns -> a, v, U, q. */
void ga_step_evaluate(ga_stepper *s);

/* blocks.c: shared by the formulations; all at the trial state */
ga_status ga_block_evaluate(ga_stepper *s); /* M, B, Phi */
ga_status ga_block_dynamics(ga_stepper *s, double *r);
void ga_block_position(ga_stepper *s, double *r);
ga_status ga_block_velocity(ga_stepper *s, double *r);
/* Evaluates the tangents and the products with T and B_n^T. */
ga_status ga_block_tangents(ga_stepper *s);
/* Sums the terms for the coefficients of this step, and scales. */
void ga_block_assemble(ga_stepper *s, ga_scaling scaling);
/* The same, and factors. */
ga_status ga_block_factor(ga_stepper *s);
/* x = J^-1 r, scaling undone. */
void ga_block_solve(ga_stepper *s, const double *r, double *x);
ga_status ga_block_create(ga_stepper *s);
void ga_block_destroy(ga_stepper *s);

/* start.c */
/* Consistent q, v, vd, lambda in s->now. */
ga_status ga_start_consistent(ga_stepper *s, double t0, const double *q0, const double *v0,
                              ga_report *report);
/* a and v for a first step of size h. */
ga_status ga_start_values(ga_stepper *s, double h, double *a, double *v);
/* a and v for a step of size h after one of another size. */
ga_status ga_start_change(ga_stepper *s, double h, double *a, double *v);

/* saddle.c */
ga_status ga_saddle_create(ga_stepper *s);
void ga_saddle_destroy(ga_saddle *saddle);
/* Evaluates M and B at (t, q) and factors [M B^T; B 0]. */
ga_status ga_saddle_factor(ga_stepper *s, double t, const double *q);
/* M y + B^T z = top, B y = bottom. Either right-hand side may be null for zero, y or z if not
 * wanted. */
void ga_saddle_solve(ga_stepper *s, const double *top, const double *bottom, double *y,
                     double *z);
/* vd and lambda from the dynamics and the constraints on acceleration level. lambda is a first
 * guess where forces depend on it. */
ga_status ga_saddle_acceleration(ga_stepper *s, double t, const double *q, const double *v,
                                 double *vd, double *lambda);

#endif
