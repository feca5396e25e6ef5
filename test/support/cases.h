/* Every problem of problems/ in one list, a pendulum whose force depends on lambda, and small
 * helpers of the tests that run through the list. */
#ifndef GA_TEST_CASES_H
#define GA_TEST_CASES_H

#include "problems/problems.h"
#include "test/support/unit.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NQ = 40, MAX_NV = 40, MAX_NC = 32 };

/* value <= bound, NaN is not; says what and which problem. */
#define assert_below(value, bound, where)                                                      \
    do {                                                                                       \
        const double value_ = (value), bound_ = (bound);                                       \
        if (!(value_ <= bound_)) fail_msg("%s: %s = %g > %g", where, #value, value_, bound_);  \
    } while (0)

/* status and, on a surprise, the message. */
#define assert_status(call, expected, report)                                                  \
    do {                                                                                       \
        const ga_status status_ = (call);                                                      \
        if (status_ != (expected))                                                             \
            fail_msg("%s: %s (%s), expected %s", #call, ga_status_name(status_),               \
                     (report).message, ga_status_name(expected));                              \
    } while (0)

#define assert_message(report, text)                                                           \
    do {                                                                                       \
        if (!strstr((report).message, text))                                                   \
            fail_msg("\"%s\" does not say \"%s\"", (report).message, text);                    \
    } while (0)

/* Pendulum with friction: f = (0, -g) - mu lambda^2 v [- q lambda]. --------------------------
 */

typedef struct friction {
    double q0[2], v0[2], mu;
    bool in_force; /* the reaction -B^T lambda is part of f */
} friction;

static inline ga_eval friction_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}
static inline ga_eval friction_force(void *user, const ga_point *at, double *f)
{
    const friction *p = user;
    const double l = at->lambda[0], reaction = p->in_force ? l : 0;
    for (int i = 0; i < 2; ++i) f[i] = -p->mu * l * l * at->v[i] - reaction * at->q[i];
    f[1] -= 9.81;
    return GA_EVAL_OK;
}
static inline ga_eval friction_constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = 0.5 * (at->q[0] * at->q[0] + (at->q[1] - 1) * (at->q[1] + 1));
    return GA_EVAL_OK;
}
static inline ga_eval friction_gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = at->q[0];
    B[1] = at->q[1];
    return GA_EVAL_OK;
}
static inline ga_eval friction_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    c[0] = -at->v[0] * at->v[0] - at->v[1] * at->v[1];
    return GA_EVAL_OK;
}
static inline ga_eval friction_stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    K[0] = K[3] = at->lambda[0];
    K[1] = K[2] = 0;
    return GA_EVAL_OK;
}
static inline ga_eval friction_damping(void *user, const ga_point *at, double *C)
{
    const friction *p = user;
    C[0] = C[3] = p->mu * at->lambda[0] * at->lambda[0];
    C[1] = C[2] = 0;
    return GA_EVAL_OK;
}
static inline ga_eval friction_velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = at->v[0];
    Z[1] = at->v[1];
    return GA_EVAL_OK;
}
static inline ga_eval friction_lambda(void *user, const ga_point *at, double *L)
{
    const friction *p = user;
    for (int i = 0; i < 2; ++i)
        L[i] = -2 * p->mu * at->lambda[0] * at->v[i] - (p->in_force ? at->q[i] : 0);
    return GA_EVAL_OK;
}

static inline ga_status friction_create(bool in_force, pb_problem **out)
{
    static const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    *out = NULL;
    pb_problem *problem = calloc(1, sizeof *problem);
    friction *p = calloc(1, sizeof *p);
    if (!problem || !p) {
        free(problem);
        free(p);
        return GA_ERR_MEMORY;
    }
    *p = (friction){{0.6, -0.8}, {0.8, 0.6}, 0.003, in_force};
    *problem = (pb_problem){.name = in_force ? "reactions in force" : "friction",
                            .t_end = 1,
                            .q0 = p->q0,
                            .v0 = p->v0,
                            .data = p};
    problem->system =
        (ga_system){.struct_size = sizeof(ga_system),
                    .user = p,
                    .node_count = 1,
                    .nodes = &node,
                    .constraint_count = 1,
                    .mass = friction_mass,
                    .mass_is_constant = true,
                    .force = friction_force,
                    .force_uses_multipliers = true,
                    .reactions = in_force ? GA_REACTIONS_IN_FORCE : GA_REACTIONS_ADDED,
                    .constraint = friction_constraint,
                    .gradient = friction_gradient,
                    .acceleration_rhs = friction_rhs,
                    .stiffness = friction_stiffness,
                    .damping = friction_damping,
                    .velocity_stiffness = friction_velocity_stiffness,
                    .force_multipliers = friction_lambda};
    *out = problem;
    return GA_OK;
}

/* The list. ---------------------------------------------------------------------------------
 */

typedef enum case_name {
    CASE_PENDULUM,
    CASE_PENDULUM_SIDE,
    CASE_TOP_R3SO3,
    CASE_TOP_SE3,
    CASE_SLIDER_CRANK,
    CASE_ANDREWS_RELATIVE,
    CASE_ANDREWS_ABSOLUTE,
    CASE_PENDULUM_MODEL,
    CASE_RHEONOMIC,
    CASE_RHEONOMIC_BODY,
    CASE_OSCILLATOR,
    CASE_FREE_TOP,
    CASE_CHAIN,
    CASE_FRICTION,
    CASE_REACTIONS_IN_FORCE,
    CASES,
    CASE_BRICARD = CASES /* not for tests that take the multipliers for unique */
} case_name;

static inline pb_problem *case_create(case_name name)
{
    pb_problem *p = NULL;
    ga_status status = GA_ERR_ARGUMENT;
    switch (name) {
    case CASE_PENDULUM:
        status = pb_pendulum_create(0, &p);
        break;
    case CASE_PENDULUM_SIDE:
        status = pb_pendulum_create(0.2, &p);
        break;
    case CASE_TOP_R3SO3:
        status = pb_heavy_top_create(GA_GROUP_R3SO3, &p);
        break;
    case CASE_TOP_SE3:
        status = pb_heavy_top_create(GA_GROUP_SE3, &p);
        break;
    case CASE_SLIDER_CRANK:
        status = pb_slider_crank_create(&p);
        break;
    case CASE_ANDREWS_RELATIVE:
        status = pb_andrews_relative_create(&p);
        break;
    case CASE_ANDREWS_ABSOLUTE:
        status = pb_andrews_absolute_create(&p);
        break;
    case CASE_PENDULUM_MODEL:
        status = pb_pendulum_model_create(NULL, &p);
        break;
    case CASE_RHEONOMIC:
        status = pb_rheonomic_create(&p);
        break;
    case CASE_RHEONOMIC_BODY:
        status = pb_rheonomic_body_create(&p);
        break;
    case CASE_OSCILLATOR:
        status = pb_oscillator_create(4, 3, 0.1, &p);
        break;
    case CASE_FREE_TOP:
        status = pb_free_top_create(&p);
        break;
    case CASE_CHAIN:
        status = pb_chain_create(5, &p);
        break;
    case CASE_FRICTION:
        status = friction_create(false, &p);
        break;
    case CASE_REACTIONS_IN_FORCE:
        status = friction_create(true, &p);
        break;
    case CASE_BRICARD:
        status = pb_bricard_create(&p);
        break;
    }
    assert_int_equal(status, GA_OK);
    assert_true(ga_system_nq(&p->system) <= MAX_NQ);
    assert_true(p->system.constraint_count <= MAX_NC);
    return p;
}

/* A step that resolves the motion, so that every method converges without halving. */
static inline double case_step(case_name name)
{
    switch (name) {
    case CASE_ANDREWS_RELATIVE:
    case CASE_ANDREWS_ABSOLUTE:
        return 2e-5;
    case CASE_TOP_R3SO3:
    case CASE_TOP_SE3:
        return 5e-4;
    case CASE_SLIDER_CRANK:
        return 1e-3;
    default:
        return 5e-3;
    }
}

/* Uniform in [-1, 1], the same on every machine. */
static inline double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static inline double largest_of(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) most = fabs(x[i]) <= most ? most : fabs(x[i]); /* keeps NaN */
    return most;
}

static inline double distance_of(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        double d = fabs(x[i] - y[i]);
        most = d <= most ? most : d;
    }
    return most;
}

#endif
