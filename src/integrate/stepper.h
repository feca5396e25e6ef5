/* The stepper: state, workspace, and the pieces a formulation is composed of.
 *
 * Two families of formulations share it. Collocated ones (index 3, stabilised index 2) satisfy
 * the dynamics at t_{n+1}; their unknowns are vd = v'_{n+1}, the multipliers and eta:
 *
 *     a_{n+1} = ((1 - alpha_f) vd + alpha_f vd_n - alpha_m a_n)/(1 - alpha_m)
 *     U       = h (v_n + h ((1/2 - beta) a_n + beta a_{n+1})) - h B(q_n)^T eta
 *     v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1}),     q_{n+1} = q_n o R(U)
 *
 * so that dU/dvd = c_q = beta h^2 (1 - alpha_f)/(1 - alpha_m) and dv/dvd = c_v = gamma h
 * (1 - alpha_f)/(1 - alpha_m) (c8 and c7 of [DYM] eqs. (11), (13); 1/beta' and gamma'/beta' of
 * [AB07] eq. (6)). Weighted ones (SOI2, HHT-I3) satisfy a weighted mean of the dynamics at t_n
 * and t_{n+1}; see weighted.c.
 *
 * The linear systems have unknowns (u, d mult, x) with dq = c_q T u, and rows (r, w/c_v,
 * Phi/c_q) in an order of the formulation's choice. In these units no power of h is left in the
 * matrix. Multipliers (lambda, psi) are one array of mp = m + p numbers.
 */
#ifndef GA_INTEGRATE_STEPPER_H
#define GA_INTEGRATE_STEPPER_H

#include "integrate/verdict.h"
#include "la/factor.h"
#include "system/consistent.h"
#include "system/dae.h"

#include <float.h>
#include <galpha/integrate.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ga_stepper ga_stepper;
typedef struct ga_formulation_type ga_formulation_type;

/* The problem: what is given and stays as it is. A stepper has these as its own members, too:
 * s->nv is s->problem.nv. */
#define GA_PROBLEM_MEMBERS                                                                     \
    ga_dae dae;                                                                                \
    ga_integrator_def def;                                                                     \
    ga_coefficient_properties properties;                                                      \
    const ga_formulation_type *form;                                                           \
    int nq, nv, m, p, mp;                                                                      \
    int n; /* unknowns of the iteration matrix */

typedef struct ga_problem {
    GA_PROBLEM_MEMBERS
} ga_problem;

/* The accepted solution. The arrays lie in one piece of memory. */
typedef struct ga_state {
    double t;
    double h;       /* step that led here; after a start, the one it was prepared for */
    long steps;     /* since the start */
    double h_old;   /* of the step before it: for extrapolation */
    double t_old;   /* where the last step began */
    double t_begin; /* where something jumped: the motion may not be followed back beyond it */
    double *q, *v, *vd, *a, *lambda, *eta;
    double *q_old, *v_old; /* at t_old */
    double *a_used;        /* a as the last step used it, for [JN08] eq. (14a) */
    double *v_exact;       /* at the start: the consistent velocity, not perturbed */
    double *vd_old[2], *lambda_old[2]; /* one and two steps ago */
    double *G; /* of the constraints; B, its first part, is needed for eta */
    /* weighted formulations only */
    double *Ma, *Ma_used;      /* M a, and as the last step used it, for (14b) */
    double *F;                 /* f - G^T (lambda, psi) at t */
    double *a_tilde, *l_tilde; /* of the last step */
    double *minimal;           /* dependent constraints: x of regular.c */
    double *memory;            /* all of the above    */
    size_t memory_size;        /* in doubles */
    ga_pool *pool;             /* for copies; borrowed, may be null */
} ga_state;

/* The point where tangents were last taken, in a step of size h: tangents, matrix and factors
 * are a function of it. */
typedef struct ga_tangent_point {
    double t, h;
    double *q, *v, *vd, *U, *multipliers;
} ga_tangent_point;

/* Terms of the iteration matrix; a formulation chooses among them. c = (1-alpha_f)/(1-alpha_m)
 * for weighted formulations, 1 for the others. */
typedef enum ga_term {
    GA_TERM_MASS,                   /* M                 */
    GA_TERM_DAMPING,                /* c c_v C           */
    GA_TERM_STIFFNESS,              /* c c_q K T         */
    GA_TERM_PENALTY,                /* c_q p B^T B T     */
    GA_TERM_REACTION,               /* G^T               */
    GA_TERM_FORCE_MULTIPLIERS,      /* -L                */
    GA_TERM_POSITION,               /* B T               */
    GA_TERM_VELOCITY,               /* G                 */
    GA_TERM_NONHOLONOMIC,           /* N                 */
    GA_TERM_VELOCITY_STIFFNESS,     /* (c_q/c_v) Z T     */
    GA_TERM_NONHOLONOMIC_STIFFNESS, /* (c_q/c_v) Z_N T */
    GA_TERM_ETA_MASS,               /* M B_n^T           */
    GA_TERM_ETA_DAMPING,            /* c_v C B_n^T       */
    GA_TERM_ETA_VELOCITY,           /* G B_n^T           */
    GA_TERM_REGULAR,                /* -e, see regular.c */
    GA_TERM_ETA_REGULAR,
    GA_TERM_COUNT
} ga_term;

/* Values of a term, or of a factor of one: from this number on, in an array that may be another
 * one next time. */
typedef struct ga_source {
    double *const *array;
    int from;
} ga_source;

/* Where a block begins: dynamics or u; multipliers; the nonholonomic part of these; eta or the
 * position level of formulations that have both. */
typedef enum ga_block_place {
    GA_AT_U,
    GA_AT_MULT,
    GA_AT_PSI,
    GA_AT_ETA,
    GA_PLACE_COUNT
} ga_block_place;

typedef struct ga_term_place {
    ga_term term;
    ga_block_place row, column;
} ga_term_place;

/* Largest components met since the start: translations (with all of R^n), rotations. */
typedef struct ga_scales {
    double q[2], v[2], lambda;
} ga_scales;

/* Kinds of increments: those of coordinates, and states, which are measured in units of their
 * own and have no q. */
enum { GA_STATES = 2, GA_INCREMENTS };

/* What increments are compared with, by kind. */
typedef struct ga_increment_limits {
    double q[GA_INCREMENTS], v[GA_INCREMENTS], lambda;     /* tolerances, at least round-off */
    double floor_q[GA_INCREMENTS], floor_v[GA_INCREMENTS]; /* round-off; of v also through q */
    double part_q, part_v; /* largest part of a tolerance that its round-off is */
    double noise;          /* round-off of accelerations */
} ga_increment_limits;

struct ga_formulation_type {
    const char *name;
    bool velocity_level;     /* B v + Phi_t = 0 at every step */
    bool weighted;           /* needs M a, F of the state */
    bool second_system;      /* also solves with the plain saddle matrix */
    bool has_eta;            /* one more block of m unknowns */
    ga_block_place position; /* where the rows of Phi begin */
    ga_start start;          /* what GA_START_AUTO means */
    bool penalty;            /* knows the augmented Lagrangian */
    const ga_term_place *terms;
    int term_count;
    /* Coefficients and whatever is known before the iteration; known.v and known.a are set. */
    ga_status (*begin)(ga_stepper *s);
    void (*predict)(ga_stepper *s);  /* first guess of the unknowns */
    void (*evaluate)(ga_stepper *s); /* unknowns -> v, U;  q = q_n o R(U) */
    /* Fills s->newton.r; what is not finite in it may be left to show in the increments. */
    ga_status (*residual)(ga_stepper *s);
    /* Solves, corrects the unknowns, measures the increments. */
    void (*correct)(ga_stepper *s);
    void (*finish)(
        ga_stepper *s); /* the converged trial -> a, vd and what the next step needs */
};

const ga_formulation_type *ga_formulation_get(ga_formulation formulation);

/* Terms of formulations with one row per constraint: Phi and k. */
enum { GA_TERMS_ONE_LEVEL = 10 };
extern const ga_term_place ga_terms_one_level[GA_TERMS_ONE_LEVEL];

/* Constraints that depend on each other, in steps; see regular.c. */
typedef struct ga_regular {
    double eps;        /* in the matrix in use; 0: no row depends on others */
    double row_length; /* mean length of the rows of G in it */
    /* the monitor of the smallest eigenvalue */
    bool watching;    /* the smallest eigenvalue is known */
    bool seen;        /* there was a factorisation in this trial */
    double least;     /* the eigenvalue */
    double least_old; /* that of the last accepted step that had one */
    double t_old;     /* where that was */
    int alert;        /* for so many steps a singular position may be near */
    int rested;       /* factorisations without an eigenvalue since the last one */
    double ahead;     /* time to the next singular position, at the speed of the last two */
    double still;     /* the same for an eigenvalue that falls or rises */
    /* arrays */
    double *value, *eta_value; /* on its diagonal */
    bool *zero;                /* rows of G that are zero in it */
    ga_coords etas;            /* structure of a diagonal matrix of eta */
    double *rhs, *part, *rows; /* workspace: n, n (both in scale_work), mp */
    double *minimal;           /* x of this trial */
} ga_regular;

/* The size of this step, and what follows from it. */
typedef struct ga_step_size {
    double h, t1;
    double c_q, c_v; /* dU/du, dv/du */
    double kappa;    /* of the implicit start, else 0 */
    double weight;   /* of the dynamics at t1 */
} ga_step_size;

/* What is known of a step before the iteration. */
typedef struct ga_known {
    double *v, *a;         /* v_n and a_n, adapted to h */
    double *Ma;            /* M a_n */
    double *U, *v0, *rest; /* weighted: parts of U, v and the dynamics */
} ga_known;

/* Values at the trial. */
typedef struct ga_evaluation {
    double *U;               /* q = q_n o R(U) */
    double *v_tilde;         /* weighted */
    double *mu;              /* lambda with what the penalty adds */
    double *M, *Phi, *f, *w; /* w = B v + Phi_t, then k */
    double *rate;            /* Phi_t, then k */
    double *Ma, *F;          /* weighted: of the converged trial */
    ga_values filled;        /* what was evaluated, and not yet checked for being finite */
} ga_evaluation;

/* Tangents at s->point. */
typedef struct ga_tangent {
    double *M, *G, *C, *K, *Z, *L, *T;
    double *B_eta;           /* B_n of the terms with eta */
    ga_coords Bt, Gt;        /* transposed views */
    bool flat;               /* T is the identity */
    double *mass;            /* diagonal of M */
    double mean_mass;        /* mean of that */
    double typical_reaction; /* multiplier that goes with a unit of acceleration */
    double arm;              /* longest, between rotations and what they move; 0: none */
    double penalty;          /* p in use */
} ga_tangent;

/* The terms of the iteration matrix, and their places in it. */
typedef struct ga_terms {
    int place[GA_PLACE_COUNT];
    double *BT_values, *ZT_values;   /* where they are needed for more */
    ga_coords coords[GA_TERM_COUNT]; /* views */
    ga_source values[GA_TERM_COUNT];
    ga_product plan[GA_TERM_COUNT];           /* of terms that are products */
    const ga_product *product[GA_TERM_COUNT]; /* added as computed: no values are kept */
    ga_source second[GA_TERM_COUNT];          /* of the second factor */
} ga_terms;

/* The iteration matrix and its factors. */
typedef struct ga_jacobian {
    ga_matrix matrix;
    ga_backend_kind backend; /* of all linear systems */
    ga_factor *factor;
    double *row_scale, *col_scale, *scale_work;
    int scaled_for;     /* matrices that these scales may still serve */
    double scaled_c_q;  /* c_q they were made for */
    double h, c_q, c_v; /* of the step it was made for */
    int singular;       /* column of a singular matrix, or -1 */
} ga_jacobian;

/* What error control asks of steps. */
typedef struct ga_step_mode {
    bool steady;          /* no extrapolation: accelerations may be those of stiff modes */
    bool estimates;       /* errors are estimated, which takes all of Z */
    bool projects;        /* steps end off the constraints, ga_start_project takes them back */
    double enough;        /* relative tolerance of Newton's method where no other is given */
    double enough_lambda; /* the same for multipliers */
} ga_step_mode;

/* What was learned in steps before. */
typedef struct ga_policy {
    double age, lifetime;    /* steps the tangents have served, and are expected to */
    double growth;           /* of the lifetime in a step */
    ga_newton_memory newton; /* of increments */
    ga_scales scale;         /* largest components so far */
} ga_policy;

/* Newton's method: the last increment. */
typedef struct ga_newton_attempt {
    double *r, *x; /* residual and increment */
    int iteration;
    ga_increment_limits limits;
    ga_progress progress;         /* of the attempt, up to the increment before */
    double last_v[GA_INCREMENTS]; /* delta_v of that */
    double delta_q[GA_INCREMENTS], delta_v[GA_INCREMENTS], delta_lambda; /* largest, by kind */
    double *unit;                                                        /* of each state */
    const double *increment_q, *increment_v;                             /* u and dv/c_v, nv */
    double norm_q, norm_v, norm_lambda; /* by their tolerances */
    struct ga_trust {
        double *u, *u_v, *force, *K, *C;
    } trust;            /* of trust.c */
    int unmet;          /* the constraint that a converged trial does not satisfy, or -1 */
    bool near_singular; /* the trial ends where the constraints are singular, nearly */
} ga_newton_attempt;

typedef struct ga_workspace {
    double *one, *two, *zero;                                /* nv */
    double *c, *step, *q, *v, *vd[2], *guess, *vdd, *vd_hat; /* of starts */
} ga_workspace;

struct ga_stepper {
    union {
        ga_problem problem;
        struct {
            GA_PROBLEM_MEMBERS
        };
    };
    ga_pool *pool; /* borrowed; null: one thread */
    /* state */
    ga_state now;   /* changes only when a step is accepted */
    ga_state saved; /* to go back to */
    ga_state trial; /* at t1; in weighted formulations vd is a_{n+1} until `finish` */
    ga_tangent_point point;
    ga_step_size step;
    ga_known known;
    /* policy */
    ga_step_mode mode;
    ga_policy policy;
    /* cache: what can be recomputed */
    unsigned valid; /* ga_validity */
    ga_evaluation at;
    ga_tangent tangent;
    ga_terms terms;
    ga_jacobian jacobian;
    ga_newton_attempt newton;
    ga_saddle second; /* SOI2: the system of a - a~ */
    ga_regular regular;
    ga_consistent start; /* consistent values, redundancy */
    ga_workspace work;
    ga_statistics stats;
};

/* Is there anything in w besides B v? */
static inline bool ga_stepper_has_rate(const ga_stepper *s)
{
    return s->dae.rheonomic || s->p > 0;
}

/* The numbers of a term, or of a factor. */
static inline const double *ga_source_values(ga_source source)
{
    return source.array ? *source.array + source.from : NULL;
}

/* stepper.c */
ga_status ga_stepper_create(const ga_system *system, const ga_integrator_def *def,
                            ga_stepper *s, ga_report *report);
void ga_stepper_destroy(ga_stepper *s); /* a zeroed one is fine */
/* Threads from now on, or none; they must outlive their use. The same bits come out. */
ga_status ga_stepper_use(ga_stepper *s, ga_pool *pool);
void ga_state_copy(ga_state *to, const ga_state *from);

/* step.c */
/* A step of size h to t1: the converged trial, with vd and a set. */
ga_status ga_step_try(ga_stepper *s, double h, double t1);
/* Tangents at the current state, with the coefficients of a step of size h. */
ga_status ga_step_linearise(ga_stepper *s, double h);
/* KLU: evaluates and factors once at the current state, so that the steps need no memory. */
ga_status ga_step_warm(ga_stepper *s); /* GA_OK or GA_ERR_MEMORY */
/* Everything that follows from the unknowns. */
void ga_step_complete(ga_stepper *s);

/* accept.c */
/* Is the converged trial a root that has nothing to do with the motion? before: the scales
 * when the attempt began. */
bool ga_step_is_astray(const ga_stepper *s, const ga_scales *before);
/* Are |Phi| and |w| at the end of a step as small as they can be? */
bool ga_step_is_at_round_off(const ga_stepper *s, double position, double velocity);
/* The trial becomes the state, if it satisfies the constraints. */
ga_status ga_step_accept(ga_stepper *s);

/* newton.c */
/* Round-off of a number, with a margin. */
static const double GA_ROUND_OFF = 4 * DBL_EPSILON;
/* Forgets the attempt before. */
void ga_newton_begin(ga_stepper *s);
/* Sizes that tolerances are relative to, at the prediction. */
void ga_newton_measure_scales(ga_stepper *s);
/* Tolerances of increments, from these. */
void ga_newton_find_limits(ga_stepper *s);
/* The verdict about the last increment; what it shows enters the policy. */
ga_newton_decision ga_newton_judge(ga_stepper *s);
/* A sentence about a step from the current state that failed; false: nothing special. */
bool ga_newton_explain(const ga_stepper *s, ga_status status, ga_report *report);
/* Relative tolerances of increments where the user asks for none. */
void ga_newton_set(ga_stepper *s, double enough, double enough_lambda);
/* Are fewer digits asked for than round-off leaves? */
bool ga_newton_is_tolerant(const ga_stepper *s);
/* ga_norm_raise for increments of q, for v and for v', without states. */
double ga_newton_raise(const ga_stepper *s, const double *x, double factor, double size[2]);
/* Sets delta_q, delta_v, delta_lambda from increments u of dq/c_q and dv/c_v, and l of the
 * multipliers. */
void ga_newton_measure(ga_stepper *s, const double *u, const double *dvd, const double *l);

/* trust.c */
/* May the last increment, which is small enough, be taken for a small error? It has passed so
 * many times in a row with tangents made anew. */
ga_status ga_trust_is_earned(ga_stepper *s, int passes, bool *earned);

/* collocated.c: index 3 and index 2 */
ga_status ga_collocated_begin(ga_stepper *s);
void ga_collocated_predict(ga_stepper *s);
void ga_collocated_evaluate(ga_stepper *s);
void ga_collocated_finish(ga_stepper *s);

/* weighted.c: SOI2 and HHT-I3 */
ga_status ga_weighted_begin(ga_stepper *s);
void ga_weighted_predict(ga_stepper *s);
void ga_weighted_evaluate(ga_stepper *s);
/* r = M_1 a + rest - c F(multipliers). */
ga_status ga_weighted_dynamics(ga_stepper *s, const double *a, const double *multipliers,
                               double *r);
void ga_weighted_finish(ga_stepper *s);

/* formulation.c: shared by the formulations; all at the trial */
/* x at t1 by the polynomial through up to three values. */
void ga_step_extrapolate(const ga_stepper *s, int n, const double *x0, double *const *old,
                         double *result);
ga_status ga_block_dynamics(ga_stepper *s, double *r);
void ga_block_position(ga_stepper *s, double *r); /* Phi/c_q */
/* w, not divided. */
void ga_block_velocity(ga_stepper *s, double *w);
/* k at any v. */
ga_status ga_block_nonholonomic(ga_stepper *s, const double *v, double *k);
void ga_block_divide(int n, double c, double *r);
/* f with these multipliers; valid until the next call. */
ga_status ga_block_force(ga_stepper *s, const double *multipliers, const double **f);
/* lambda with what the penalty adds, [DYM] eq. (26), and psi. */
const double *ga_block_augmented(ga_stepper *s);

/* terms.c: terms of the iteration matrix */
ga_status ga_terms_create(ga_stepper *s);
void ga_terms_destroy(ga_stepper *s);
double ga_terms_coefficient(const ga_stepper *s, ga_term term);

/* cache.c: what is valid of the values that can be recomputed. */
typedef enum ga_validity {
    GA_VALID_MASS = 1,     /* at.M, which is constant */
    GA_VALID_DYNAMICS = 2, /* newton.r has the dynamics of the trial */
    GA_VALID_FRESH = 4,    /* the tangents are of this attempt */
    GA_VALID_FACTORS = 8,  /* of the iteration matrix, made of the tangents */
    GA_VALID_DIAGONAL = 16 /* tangent.M, which is constant, and what is known of its diagonal */
} ga_validity;

static inline bool ga_cache_has(const ga_stepper *s, ga_validity what)
{
    return s->valid & what;
}
/* No factors: the next attempt takes tangents, and chooses scales. */
void ga_cache_forget(ga_stepper *s);
/* Tangents are not fresh any more. */
void ga_cache_begin_attempt(ga_stepper *s);
/* What values at the trial are wanted for. */
enum { GA_WANTED_TANGENTS = 1, GA_WANTED_RESIDUAL = 2 };
/* M (collocated only), G, Phi, Phi_t, k, and the force or all of the dynamics for a residual.
 * What is not finite in them shows in the residual, or when tangents are made of them. */
ga_status ga_cache_evaluate(ga_stepper *s, unsigned wanted);
/* GA_OK if these n numbers of a residual are finite, else whose fault it is. */
ga_status ga_cache_check_residual(ga_stepper *s, int n, const double *r);
/* The same for what the iteration matrix is made of. */
ga_status ga_cache_check_tangents(ga_stepper *s);
/* Tangents at the trial, whose values have been evaluated. */
ga_status ga_cache_tangents(ga_stepper *s);
/* The scaled iteration matrix for the coefficients of this step. */
void ga_cache_assemble(ga_stepper *s, ga_scaling scaling);
/* The same, and its factors. */
ga_status ga_cache_factor(ga_stepper *s);
/* The same, and the monitor of singular positions has a look. */
ga_status ga_cache_factor_and_watch(ga_stepper *s);
/* After a load: tangents and factors where they were taken, with the same bits. */
ga_status ga_cache_restore(ga_stepper *s);
/* Are the factors those of the tangents and of the coefficients of this step? */
bool ga_cache_fits(const ga_stepper *s);
/* x = J^-1 r, scaling undone; filtered where constraints depend on each other. */
void ga_cache_solve(ga_stepper *s, const double *r, double *x);
void ga_cache_solve_once(ga_stepper *s, const double *r, double *x); /* not filtered */

/* regular.c */
ga_status ga_regular_create(ga_stepper *s);
void ga_regular_destroy(ga_stepper *s);
/* After a start at t. */
void ga_regular_reset(ga_stepper *s, double t);
/* -e for the iteration matrix to be assembled. */
void ga_regular_prepare(ga_stepper *s);
/* x - F x, x a solution with the iteration matrix. */
void ga_regular_filter(ga_stepper *s, double *x);
/* Largest component of G^T l, by the mean size of a row of G: l without its null space. */
double ga_regular_reaction(ga_stepper *s, const double *G, const double *l);
/* The trial's multipliers with the same G^T lambda and minimal norm. keep: only x follows. */
void ga_regular_minimise(ga_stepper *s, bool keep);
/* The prediction of eta, without null vectors of B_n^T. */
void ga_regular_predict_eta(ga_stepper *s);
/* The smallest eigenvalue, after a factorisation of the iteration matrix. True if the matrix
 * should have a smaller eps. */
bool ga_regular_watch(ga_stepper *s);
/* True if a small pivot of the iteration matrix would make the watch begin. */
bool ga_regular_doubts(const ga_stepper *s);
/* True if the converged trial ends too near a singular position. */
bool ga_regular_near(const ga_stepper *s);
/* True if a singular position may lie within the next steps. */
bool ga_regular_weakens(const ga_stepper *s);
/* Records that one does. */
void ga_regular_alert(ga_stepper *s);
void ga_regular_accept(ga_stepper *s);

/* start.c */
/* Consistent q, v, vd, multipliers in s->now. guess (may be null) of the multipliers: only for
 * forces that depend on them. */
ga_status ga_start_consistent(ga_stepper *s, double t0, const double *q0, const double *v0,
                              const double *guess, ga_report *report);
/* All of it in the middle of a run, where something has jumped: q and v may be those of the
 * state. */
ga_status ga_start_again(ga_stepper *s, double t, const double *q, const double *v,
                         ga_report *report);
/* a and v for a first step of size h. */
ga_status ga_start_values(ga_stepper *s, double h, double *a, double *v);
/* a and v (and M a in s->known.Ma) for a step of size h after one of another size. */
ga_status ga_start_change(ga_stepper *s, double h, double *a, double *v);

/* v'' and v''' at the current state by one-sided differences with spacing ds, [ABC14] eq. (7)
 * along the Taylor path. */
ga_status ga_start_derivatives(ga_stepper *s, double ds, double *vdd, double *vddd);
/* a and v for a first step of size h from these, one order more accurate than (57). */
ga_status ga_start_refined(ga_stepper *s, double h, const double *vdd, const double *vddd);
/* Puts q and v of the trial back on the constraints, if an extrapolation has moved them, with
 * the matrix of the step alone; Phi, w and G follow. False if that does not do. */
bool ga_start_project_in_step(ga_stepper *s);
/* The same by any means. */
ga_status ga_start_project(ga_stepper *s);

#endif
