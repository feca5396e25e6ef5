/* A problem of problems/ with two first-order states beside it, coupled both ways:
 *
 *     x0' = -a (x0 - S sin 2t) + 2 S cos 2t + S b (p - p_e)
 *     x1' = -c (x1^2 - S^2 (2 + cos t)^2)/S + (x0 - S sin 2t) - S sin t
 *     f  += w ((x0 - S sin 2t)/S + (x1^2/S^2 - (2 + cos t)^2))
 *
 * with p a combination of sin q_0, v, lambda and psi, p_e its value on the solution where that
 * is known, else 0. Then x = S (sin 2t, 2 + cos t) is the solution beside that of the problem.
 */
#ifndef GA_TEST_STATES_H
#define GA_TEST_STATES_H

#include "test/support/cases.h"

typedef struct states_def {
    double size;      /* S */
    double decay;     /* a */
    bool multipliers; /* p depends on them */
    bool differences; /* no derivative is given */
} states_def;

enum { STATES = 2 };

typedef struct states {
    states_def def;
    const pb_problem *inner;
    int nv, nm, m, p; /* nv with, nm without states */
    ga_node nodes[MAX_NV];
    double q0[MAX_NQ], v0[MAX_NV], lambda0[MAX_NC], psi0[MAX_NC];
} states;

static const double states_b = 0.4, states_c = 0.3;

/* w of the force and of p, and of multipliers in p. */
static inline double states_weight(int i) { return 0.3 - 0.1 * (i % 4); }
static inline double states_reaction(int j) { return 0.05 - 0.02 * (j % 3); }

static inline double states_sum(const states *s, const double *q, const double *v,
                                const double *lambda, const double *psi)
{
    double sum = sin(q[0]);
    for (int i = 0; i < s->nm; ++i) sum += states_weight(i) * v[i];
    for (int j = 0; s->def.multipliers && j < s->m; ++j) sum += states_reaction(j) * lambda[j];
    for (int j = 0; s->def.multipliers && j < s->p; ++j)
        sum += states_reaction(s->m + j) * psi[j];
    return sum;
}

/* p_e */
static inline double states_exact_sum(const states *s, double t)
{
    const pb_problem *inner = s->inner;
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], psi[MAX_NC];
    if (!inner->exact) return 0;
    inner->exact(inner, t, q, v, NULL, lambda);
    if (s->p) inner->exact_psi(inner, t, psi);
    return states_sum(s, q, v, lambda, psi);
}

/* Entries of a matrix of the inner problem, rows x cols, into one with `height` rows. */
static inline ga_eval states_embed(const states *s, ga_callback *callback,
                                   const ga_pattern *pattern, int rows, int cols, int height,
                                   const ga_point *at, double *out)
{
    double *values =
        calloc((size_t)(pattern->row ? pattern->count : rows * cols) + 1, sizeof *values);
    assert_non_null(values);
    const ga_eval answer = callback(s->inner->system.user, at, values);
    const int count = pattern->row ? pattern->count : rows * cols;
    for (int k = 0; k < count; ++k) {
        const int i = pattern->row ? pattern->row[k] : k % rows;
        const int j = pattern->row ? pattern->col[k] : k / rows;
        out[i + height * j] += values[k];
    }
    free(values);
    return answer;
}

static inline void states_zero(int n, double *x) { memset(x, 0, (size_t)n * sizeof *x); }

static inline ga_eval states_mass(void *user, const ga_point *at, double *M)
{
    const states *s = user;
    states_zero(s->nv * s->nv, M);
    for (int i = s->nm; i < s->nv; ++i) M[i + s->nv * i] = 1;
    return states_embed(s, s->inner->system.mass, &s->inner->system.mass_pattern, s->nm, s->nm,
                        s->nv, at, M);
}

static inline ga_eval states_force(void *user, const ga_point *at, double *f)
{
    const states *s = user;
    const double S = s->def.size, t = at->t, *x = at->v + s->nm;
    const double e0 = x[0] - S * sin(2 * t), second = 2 + cos(t);
    const double e1 = x[1] * x[1] / (S * S) - second * second;
    const ga_eval answer = s->inner->system.force(s->inner->system.user, at, f);
    for (int i = 0; i < s->nm; ++i) f[i] += states_weight(i) * (e0 / S + e1);
    const double p = states_sum(s, at->q, at->v, at->lambda, at->psi) - states_exact_sum(s, t);
    f[s->nm] = -s->def.decay * e0 + 2 * S * cos(2 * t) + S * states_b * p;
    f[s->nm + 1] = -states_c * S * e1 + e0 - S * sin(t);
    return answer;
}

static inline ga_eval states_constraint(void *user, const ga_point *at, double *out)
{
    const states *s = user;
    return s->inner->system.constraint(s->inner->system.user, at, out);
}

static inline ga_eval states_rate(void *user, const ga_point *at, double *out)
{
    const states *s = user;
    return s->inner->system.constraint_rate(s->inner->system.user, at, out);
}

static inline ga_eval states_rhs(void *user, const ga_point *at, double *out)
{
    const states *s = user;
    return s->inner->system.acceleration_rhs(s->inner->system.user, at, out);
}

static inline ga_eval states_k(void *user, const ga_point *at, double *out)
{
    const states *s = user;
    return s->inner->system.nonholonomic(s->inner->system.user, at, out);
}

static inline ga_eval states_k_rhs(void *user, const ga_point *at, double *out)
{
    const states *s = user;
    return s->inner->system.nonholonomic_rhs(s->inner->system.user, at, out);
}

static inline ga_eval states_gradient(void *user, const ga_point *at, double *B)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->m * s->nv, B);
    return states_embed(s, in->gradient, &in->gradient_pattern, s->m, s->nm, s->m, at, B);
}

static inline ga_eval states_Z(void *user, const ga_point *at, double *Z)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->m * s->nv, Z);
    return states_embed(s, in->velocity_stiffness, &in->velocity_stiffness_pattern, s->m, s->nm,
                        s->m, at, Z);
}

static inline ga_eval states_N(void *user, const ga_point *at, double *N)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->p * s->nv, N);
    return states_embed(s, in->nonholonomic_gradient, &in->nonholonomic_gradient_pattern, s->p,
                        s->nm, s->p, at, N);
}

static inline ga_eval states_k_q(void *user, const ga_point *at, double *Z)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->p * s->nv, Z);
    return states_embed(s, in->nonholonomic_stiffness, &in->nonholonomic_stiffness_pattern,
                        s->p, s->nm, s->p, at, Z);
}

/* D_q sin q_0: q_0 is a coordinate of R^n, a translation, an angle, or, on SO(3), w. */
static inline void states_add_D(const states *s, const double *q, double factor, double *row)
{
    const ga_node node = s->nodes[0];
    double R[9];
    switch (node.group) {
    case GA_GROUP_SE3:
        ga_quaternion_to_matrix(q + 3, R);
        for (int j = 0; j < 3; ++j) row[s->nv * j] += factor * cos(q[0]) * R[3 * j];
        return;
    case GA_GROUP_SE2:
        row[0] += factor * cos(q[0]) * cos(q[2]);
        row[s->nv] -= factor * cos(q[0]) * sin(q[2]);
        return;
    case GA_GROUP_SO3: /* w' = -(x, y, z).Omega/2 */
        for (int j = 0; j < 3; ++j) row[s->nv * j] -= 0.5 * factor * cos(q[0]) * q[1 + j];
        return;
    default:
        row[0] += factor * cos(q[0]);
    }
}

static inline ga_eval states_K(void *user, const ga_point *at, double *K)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->nv * s->nv, K);
    states_add_D(s, at->q, -s->def.size * states_b, K + s->nm);
    if (!in->stiffness) return GA_EVAL_OK;
    return states_embed(s, in->stiffness, &in->stiffness_pattern, s->nm, s->nm, s->nv, at, K);
}

static inline ga_eval states_C(void *user, const ga_point *at, double *C)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    const double S = s->def.size, slope = 2 * at->v[s->nm + 1] / (S * S);
    const int n = s->nv, x0 = s->nm, x1 = s->nm + 1;
    states_zero(n * n, C);
    for (int i = 0; i < s->nm; ++i) {
        C[i + n * x0] = -states_weight(i) / S;
        C[i + n * x1] = -states_weight(i) * slope;
        C[x0 + n * i] = -S * states_b * states_weight(i);
    }
    C[x0 + n * x0] = s->def.decay;
    C[x1 + n * x0] = -1;
    C[x1 + n * x1] = states_c * S * slope;
    if (!in->damping) return GA_EVAL_OK;
    return states_embed(s, in->damping, &in->damping_pattern, s->nm, s->nm, n, at, C);
}

static inline ga_eval states_L(void *user, const ga_point *at, double *L)
{
    const states *s = user;
    const ga_system *in = &s->inner->system;
    states_zero(s->nv * (s->m + s->p), L);
    for (int j = 0; s->def.multipliers && j < s->m + s->p; ++j)
        L[s->nm + s->nv * j] = s->def.size * states_b * states_reaction(j);
    if (!in->force_uses_multipliers) return GA_EVAL_OK;
    return states_embed(s, in->force_multipliers, &in->force_multipliers_pattern, s->nm,
                        s->m + s->p, s->nv, at, L);
}

static inline void states_exact(const pb_problem *problem, double t, double *q, double *v,
                                double *vd, double *lambda)
{
    const states *s = problem->data;
    const double S = s->def.size;
    s->inner->exact(s->inner, t, q, v, vd, lambda);
    if (v) v[s->nm] = S * sin(2 * t), v[s->nm + 1] = S * (2 + cos(t));
    if (vd) vd[s->nm] = 2 * S * cos(2 * t), vd[s->nm + 1] = -S * sin(t);
}

static inline void states_exact_psi(const pb_problem *problem, double t, double *psi)
{
    const states *s = problem->data;
    s->inner->exact_psi(s->inner, t, psi);
}

/* The inner problems live until states_end. */
static pb_problem *states_inner[128];
static int states_inner_count;

static inline int states_end(void **state)
{
    (void)state;
    while (states_inner_count > 0) pb_destroy(states_inner[--states_inner_count]);
    return 0;
}

/* Takes the inner problem. */
static inline ga_status states_create(pb_problem *inner, const states_def *def,
                                      pb_problem **out)
{
    const ga_system *in = &inner->system;
    states *s = calloc(1, sizeof *s);
    pb_problem *problem = calloc(1, sizeof *problem);
    assert_true(s && problem && states_inner_count < 128);
    states_inner[states_inner_count++] = inner;
    *s = (states){.def = *def,
                  .inner = inner,
                  .nm = ga_system_nv(in),
                  .nv = ga_system_nv(in) + STATES,
                  .m = in->constraint_count,
                  .p = in->nonholonomic_count};
    assert_true(s->nv <= MAX_NV && in->node_count < MAX_NV);
    memcpy(s->nodes, in->nodes, (size_t)in->node_count * sizeof *s->nodes);
    s->nodes[in->node_count] = (ga_node)GA_NODE(GA_GROUP_STATE, STATES);
    memcpy(s->q0, inner->q0, (size_t)ga_system_nq(in) * sizeof *s->q0);
    memcpy(s->v0, inner->v0, (size_t)s->nm * sizeof *s->v0);
    s->v0[s->nm] = def->size * sin(2 * inner->t0);
    s->v0[s->nm + 1] = def->size * (2 + cos(inner->t0));
    *problem = (pb_problem){.name = inner->name,
                            .t0 = inner->t0,
                            .t_end = inner->t_end,
                            .q0 = s->q0,
                            .v0 = s->v0,
                            .exact = inner->exact ? states_exact : NULL,
                            .exact_psi = inner->exact_psi ? states_exact_psi : NULL,
                            .lambda_guess = inner->lambda_guess,
                            .psi_guess = inner->psi_guess,
                            .data = s};
    const bool given = !def->differences;
    const bool uses = in->force_uses_multipliers || (def->multipliers && s->m + s->p);
    problem->system = (ga_system){
        .struct_size = sizeof(ga_system),
        .user = s,
        .node_count = in->node_count + 1,
        .nodes = s->nodes,
        .constraint_count = s->m,
        .nonholonomic_count = s->p,
        .mass = states_mass,
        .mass_is_constant = in->mass_is_constant,
        .force = states_force,
        .force_uses_multipliers = uses,
        .reactions = in->reactions,
        .constraint = s->m ? states_constraint : NULL,
        .constraint_uses_time = in->constraint_uses_time || in->constraint_rate,
        .nonholonomic = s->p ? states_k : NULL,
    };
    if (given) {
        ga_system *sys = &problem->system;
        if (in->gradient) sys->gradient = states_gradient;
        if (in->constraint_rate) sys->constraint_rate = states_rate;
        if (in->acceleration_rhs) sys->acceleration_rhs = states_rhs;
        if (in->velocity_stiffness) sys->velocity_stiffness = states_Z;
        if (in->nonholonomic_gradient) sys->nonholonomic_gradient = states_N;
        if (in->nonholonomic_rhs) sys->nonholonomic_rhs = states_k_rhs;
        if (in->nonholonomic_stiffness) sys->nonholonomic_stiffness = states_k_q;
        sys->stiffness = states_K;
        sys->damping = states_C;
        if (uses) sys->force_multipliers = states_L;
    }
    *out = problem;
    return GA_OK;
}

#endif
