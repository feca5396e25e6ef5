/* Integrates a ga_system with a method of the generalized-alpha family, or a companion of
 * higher order.
 *
 *     ga_integrator_def def = ga_integrator_def_default();
 *     ga_integrator *run = NULL;
 *     ga_report report;
 *     if (ga_integrator_create(&system, &def, &run, &report)) puts(report.message);
 *     if (ga_integrator_start(run, 0, q0, v0, 1e-3, &report)) puts(report.message);
 *     while (ga_integrator_time(run) < 1 && !ga_integrator_step(run, &report)) ...
 *     ga_integrator_destroy(run);
 *
 * Memory is allocated in create and in start; a step allocates nothing. A report argument may
 * be null. After a failed step the state is that before the step, bit for bit.
 */
#ifndef GALPHA_INTEGRATE_H
#define GALPHA_INTEGRATE_H

#include <galpha/coefficients.h>
#include <galpha/system.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_formulation {
    GA_INDEX3, /* dynamics and Phi = 0 at every step, [AB07] algorithm 1, [ABC14] eq. (9) */
    GA_INDEX2, /* and B v + Phi_t = 0, by eta in the increment of q, [ABC14] eq. (58) */
    GA_SOI2,   /* a weighted mean of the dynamics, Phi = 0 and B v + Phi_t = 0, [JN08] (13) */
    GA_HHT_I3, /* a weighted mean of the dynamics and Phi = 0; for comparison */
    GA_FORMULATION_COUNT
} ga_formulation;

typedef enum ga_start {
    GA_START_AUTO,      /* perturbed in GA_INDEX3, GA_HHT_I3; else shifted */
    GA_START_PLAIN,     /* a_0 = v'(t_0) */
    GA_START_SHIFTED,   /* a_0 = v'(t_0 + Delta_alpha h) + O(h^2), [ABC14] eq. (57) */
    GA_START_PERTURBED, /* shifted, and v_0 perturbed by O(h^2) against order reduction, (56) */
    GA_START_IMPLICIT   /* a_0 from v'_0 and the unknown v'_1, [JN08] eq. (8); GA_INDEX3,
                           GA_INDEX2 */
} ga_start;

/* Finite difference for v''(t_0), [ABC14] section 4.2. */
typedef enum ga_start_difference {
    GA_DIFFERENCE_CENTRAL, /* second order, spacing h */
    GA_DIFFERENCE_FORWARD  /* first order, spacing h/100, one evaluation fewer */
} ga_start_difference;

/* Treatment of a change of step size. */
typedef enum ga_step_change {
    GA_CHANGE_AUTO,    /* adjust; in index 3 reset, or rescale near singular positions */
    GA_CHANGE_NONE,    /* nothing: first order in a and the multipliers */
    GA_CHANGE_ADJUST,  /* a and M a by [JN08] eqs. (14a), (14b) */
    GA_CHANGE_RESET,   /* and, in index 3, v perturbed again by [ABC14] eq. (56): robust */
    GA_CHANGE_RESCALE, /* and, in index 3, the residual B v + Phi_t scaled: cheaper, for ratios
                          up to 1.5 */
    GA_CHANGE_COUNT
} ga_step_change;

/* (M a)_n of SOI2 with a mass matrix that is not constant. */
typedef enum ga_mass_average {
    GA_MASS_PROPAGATED, /* from the previous step, with (14b) */
    GA_MASS_RECOMPUTED  /* M at t_n + Delta_alpha h, explicitly */
} ga_mass_average;

/* Scaling of the linear equations; results differ by round-off only. */
typedef enum ga_scaling {
    GA_SCALING_AUTO,  /* powers of h removed, then equilibrated */
    GA_SCALING_NONE,  /* unknowns (Delta q, Delta lambda), as in [AB07] eq. (8) */
    GA_SCALING_AB07,  /* [AB07] eq. (10) */
    GA_SCALING_DYMORE /* [DYM] eqs. (22)-(25) */
} ga_scaling;

typedef enum ga_newton { GA_NEWTON_MODIFIED, GA_NEWTON_FULL } ga_newton;

typedef enum ga_method {
    GA_METHOD_GENERALIZED_ALPHA, /* the family of ga_coefficients: for all systems */
    /* Dormand and Prince's explicit Runge-Kutta method of order 8 on the acceleration level,
     * with projection: for high accuracy in smooth, non-stiff motions. Coefficients,
     * formulation, map, start, Newton iteration and scaling have no effect. */
    GA_METHOD_EXPLICIT,
    /* Radau IIA with three stages, order 5, on the stabilised index-2 form: for high accuracy
     * in stiff motions. Coefficients, formulation, map, start, Newton tolerances and scaling
     * have no effect; it cannot pass through singular positions. */
    GA_METHOD_RADAU,
    /* One of the three above, chosen to suit the motion; the choice may change during a run.
     * The explicit method by default; radau where the motion is stiff and the steps of radau
     * are much longer; generalized-alpha with friction, loose tolerances and fixed steps, and
     * where the other two cannot continue. Coefficients and formulation apply to
     * generalized-alpha. A change of method allocates memory and restarts from consistent
     * values. */
    GA_METHOD_AUTO,
    GA_METHOD_COUNT
} ga_method;

typedef struct ga_integrator_def {
    size_t struct_size; /* set by the function that gives defaults */
    ga_method method;
    ga_coefficients coefficients;
    bool allow_first_order; /* accept a method that violates gamma = 1/2 - Delta_alpha */
    ga_formulation formulation;
    ga_map map; /* map from increments to the group */

    ga_start start;
    ga_start_difference start_difference;
    /* Initial values further than this from the constraints (largest increment of q or v
     * needed) are an error; infinity accepts any, 0 none. */
    double max_projection;

    ga_step_change step_change;
    ga_mass_average mass_average; /* SOI2 only */
    bool reduced;                 /* SOI2 only: psi~ = psi, one equation k = 0 fewer */

    ga_scaling scaling;
    /* Augmented Lagrangian of index 3, [DYM] eqs. (16)-(17), (26): mu = lambda + p Phi in the
     * dynamics. 0: none; > 0: p; GA_PENALTY_AUTO: p = s of (22). */
    double penalty;

    ga_newton newton;
    int max_iterations; /* per attempt */
    int max_halvings;   /* how often a failing step may be halved; 0: never */
    /* Newton stops when the expected next increment is below absolute + relative * (largest
     * component so far), for each of q, v, multipliers. Tolerances below round-off are raised
     * to it. If all are zero, the default, Newton iterates to round-off with fixed steps. With
     * error control it iterates to 1e-5 of the control's tolerance (1e-11 at most), for
     * multipliers to 1e-3 of it; with GA_ERROR_EXTRAPOLATE to 1e-3 of it for all, and in
     * third-order steps of GA_ERROR_AUTO to that or to a tenth of what a step may contribute.
     * For round-off accuracy with error control set relative to 1e-15. */
    double relative, absolute_q, absolute_v, absolute_lambda;

    ga_solver solver;
} ga_integrator_def;

#define GA_PENALTY_AUTO (-1.0)

/* generalized-alpha, rho_inf 0.9, index 2, exponential map, all else automatic. */
GA_API void ga_integrator_def_fill(ga_integrator_def *def, size_t size);
static inline ga_integrator_def ga_integrator_def_default(void)
{
    ga_integrator_def def;
    ga_integrator_def_fill(&def, sizeof def);
    return def;
}

typedef struct ga_integrator ga_integrator;

GA_API ga_status ga_integrator_create(const ga_system *system, const ga_integrator_def *def,
                                      ga_integrator **integrator, ga_report *report);
GA_API void ga_integrator_destroy(ga_integrator *integrator);

/* Warnings of create and start, one sentence each; null past the last. */
GA_API const char *ga_integrator_warning(const ga_integrator *integrator, int k);

/* Initial guess of lambda (m numbers) and psi (p numbers) for the next start: needed only if
 * forces depend on the multipliers so nonlinearly that zero fails. Null means zero. */
GA_API void ga_integrator_guess(ga_integrator *integrator, const double *lambda,
                                const double *psi);

/* Makes (q0, v0) consistent, computes v'_0 and lambda_0, then the start values for steps of
 * size h. May be called again at any time. */
GA_API ga_status ga_integrator_start(ga_integrator *integrator, double t0, const double *q0,
                                     const double *v0, double h, ga_report *report);
/* How far the last start changed the initial values. */
GA_API ga_projection ga_integrator_projection(const ga_integrator *integrator);

/* Redundant constraints at the last start. They are handled: the motion is unique. The
 * multipliers are not; those that minimise the sum of D_i lambda_i^2 are taken, with D =
 * diag(G M_d^-1 G^T) at the start, G = [B; N], and M_d the diagonal of M (where that is zero, a
 * thousandth of the mean). Rows are numbered through (lambda, psi). Row `row` is a combination
 * of the rows `with`; of a dependent set the last one is named. Zero rows of G have the
 * multiplier 0 and are not listed. If the constraints contradict each other, the start fails;
 * the rows are available then as well. */
typedef struct ga_redundant_row {
    int row;
    int with_count;
    const int *with; /* valid until the next start */
} ga_redundant_row;

GA_API int ga_integrator_redundant_count(const ga_integrator *integrator);
/* 0 <= k < count, rows ascending. */
GA_API ga_redundant_row ga_integrator_redundant_row(const ga_integrator *integrator, int k);
/* Rank of G at the last start. */
GA_API int ga_integrator_rank(const ga_integrator *integrator);
/* Whether rows of G depend on each other only here: a singular position. Fails only for want of
 * memory. */
GA_API ga_status ga_integrator_is_singular(const ga_integrator *integrator, int *singular);

/* One step of the size given to start. Step n ends at t0 + n h, also after halving; but if the
 * constraints are singular there, or nearly so, it ends at t0 + (n - 0.2) h, and the next one
 * on the grid again. */
GA_API ga_status ga_integrator_step(ga_integrator *integrator, ga_report *report);

/* One step of any size h > 0; the grid of ga_integrator_step restarts where it ends. */
GA_API ga_status ga_integrator_step_by(ga_integrator *integrator, double h, ga_report *report);

/* Called after the start and after every step; any result but GA_EVAL_OK stops the run, which
 * then returns GA_OK. */
typedef ga_eval ga_output(void *user, const ga_integrator *integrator);

/* Steps up to t_end. If t_end - t_0 is not a multiple of h, the last step is shorter. */
GA_API ga_status ga_integrator_run(ga_integrator *integrator, double t_end, ga_output *output,
                                   void *user, ga_report *report);

/* The state; pointers stay valid and follow the integration. */
GA_API double ga_integrator_time(const ga_integrator *integrator);
GA_API const double *ga_integrator_q(const ga_integrator *integrator);
GA_API const double *ga_integrator_v(const ga_integrator *integrator);
GA_API const double *ga_integrator_vd(const ga_integrator *integrator);
GA_API const double *ga_integrator_a(const ga_integrator *integrator);
GA_API const double *ga_integrator_lambda(const ga_integrator *integrator);
GA_API const double *ga_integrator_psi(const ga_integrator *integrator);
/* Of the last step; zero before the first, and in methods and formulations without eta. */
GA_API const double *ga_integrator_eta(const ga_integrator *integrator);

typedef struct ga_statistics {
    long steps;          /* accepted, substeps included */
    long halvings;       /* halved steps */
    long iterations;     /* linear solves in Newton iterations */
    long jacobians;      /* tangents evaluated */
    long factorizations; /* numeric factorisations */
    long evaluations;    /* residuals */
    long evasions; /* steps shortened because they would have ended at a singular position */
    double position_residual_max; /* |Phi| after accepted steps */
    double velocity_residual_max; /* |(B v + Phi_t, k)|; only |k| without velocity level */
} ga_statistics;

GA_API ga_statistics ga_integrator_statistics(const ga_integrator *integrator);

/* Which methods made the steps since the last start; with GA_METHOD_AUTO there may be several.
 */
typedef struct ga_method_use {
    ga_method method;            /* the one in use */
    long steps[GA_METHOD_COUNT]; /* accepted ones of each */
    const char *reason;          /* for the last choice, in plain words */
} ga_method_use;

GA_API ga_method_use ga_integrator_method_use(const ga_integrator *integrator);

/* The Newton matrix at the current state for steps of size h, with the given scaling: n x n,
 * column-major. For studies; index 3 only has (Delta q, Delta lambda) or (Delta v', Delta
 * lambda), index 2 one more block for eta. */
GA_API int ga_integrator_matrix_size(const ga_integrator *integrator);
GA_API ga_status ga_integrator_matrix(ga_integrator *integrator, double h, ga_scaling scaling,
                                      double *matrix, ga_report *report);

#ifdef __cplusplus
}
#endif
#endif
