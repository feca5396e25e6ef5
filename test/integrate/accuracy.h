/* Runs a problem with error control and measures what came out, in units of the tolerance. */
#ifndef GA_TEST_INTEGRATE_ACCURACY_H
#define GA_TEST_INTEGRATE_ACCURACY_H

#include "test/support/cases.h"

/* 0 for translations and coordinates of R^n, 1 for rotations: of velocity component i. */
static inline int kind_of(const ga_system *system, int i)
{
    for (int k = 0;; ++k) {
        const ga_node node = system->nodes[k];
        const int n = ga_node_nv(node);
        if (i >= n) {
            i -= n;
            continue;
        }
        switch (node.group) {
        case GA_GROUP_RN:
        case GA_GROUP_STATE:
            return 0;
        case GA_GROUP_R2SO2:
        case GA_GROUP_SE2:
            return i >= 2;
        case GA_GROUP_R3SO3:
        case GA_GROUP_SE3:
            return i >= 3;
        case GA_GROUP_SO2:
        case GA_GROUP_SO3:
            return 1;
        }
    }
}

/* What a run delivers: sizes that tolerances are relative to, by kind, and the outputs. */
typedef struct watcher {
    const ga_system *system;
    double q_size[2], v_size[2];
    long outputs;
    double t_last;
} watcher;

static inline ga_eval watch(void *user, const ga_sample *sample)
{
    watcher *w = user;
    int at = 0, i = 0; /* in q, in v */
    for (int k = 0; k < w->system->node_count; ++k) {
        const ga_node node = w->system->nodes[k];
        for (int j = 0; j < ga_node_nv(node); ++j, ++i) {
            const int kind = kind_of(w->system, i);
            const double x = kind ? 1 : fabs(sample->q[at + j]);
            w->q_size[kind] = fmax(w->q_size[kind], x);
            w->v_size[kind] = fmax(w->v_size[kind], fabs(sample->v[i]));
        }
        at += ga_node_nq(node);
    }
    ++w->outputs;
    w->t_last = sample->t;
    return GA_EVAL_OK;
}

/* Relative tolerance x, absolute ones a hundredth of it, as in the defaults. */
static inline ga_simulation simulation(const pb_problem *p, double x)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = p->t_end;
    s.control.relative = x;
    s.control.absolute_translation = s.control.absolute_rotation = 0.01 * x;
    s.control.absolute_velocity = s.control.absolute_angular_velocity = 0.01 * x;
    s.multipliers = GA_MULTIPLIERS_SCHEME;
    return s;
}

static inline ga_integrator *integrator(const ga_system *system, ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    def.formulation = formulation;
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    return run;
}

/* The solution at t_end: exact, or the last reference. */
static inline void solution(const pb_problem *p, double *q, double *v, double *lambda)
{
    if (p->exact) {
        p->exact(p, p->t_end, q, v, NULL, p->system.constraint_count ? lambda : NULL);
        return;
    }
    assert_true(p->reference_count > 0);
    const pb_reference *r = p->references + p->reference_count - 1;
    assert_true(r->t == p->t_end);
    memcpy(q, r->q, (size_t)ga_system_nq(&p->system) * sizeof *q);
    memcpy(v, r->v, (size_t)ga_system_nv(&p->system) * sizeof *v);
    if (r->lambda && lambda)
        memcpy(lambda, r->lambda, (size_t)p->system.constraint_count * sizeof *lambda);
}

/* Errors by their tolerances, the largest of each kind: [kind] and of all. */
typedef struct accuracy {
    double q[2], v[2], worst;
    ga_control_statistics steps;
    ga_statistics work;
} accuracy;

static inline accuracy assess(const pb_problem *p, const ga_integrator *run,
                              const ga_control *control, const watcher *w)
{
    accuracy r = {.steps = ga_integrator_control_statistics(run),
                  .work = ga_integrator_statistics(run)};
    const double absolute_q[2] = {control->absolute_translation, control->absolute_rotation};
    const double absolute_v[2] = {control->absolute_velocity,
                                  control->absolute_angular_velocity};
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], error[MAX_NV];
    solution(p, q, v, lambda);
    ga_nodes_difference(p->system.node_count, p->system.nodes, ga_integrator_q(run), q, error);
    for (int i = 0; i < ga_system_nv(&p->system); ++i) {
        const int k = kind_of(&p->system, i);
        const double error_v = v[i] - ga_integrator_v(run)[i];
        const double w_q = absolute_q[k] + control->relative * w->q_size[k];
        const double w_v = absolute_v[k] + control->relative * w->v_size[k];
        r.q[k] = fmax(r.q[k], fabs(error[i]) / w_q);
        r.v[k] = fmax(r.v[k], fabs(error_v) / w_v);
        if (!isfinite(error[i] + error_v)) r.q[k] = INFINITY;
    }
    r.worst = fmax(fmax(r.q[0], r.q[1]), fmax(r.v[0], r.v[1]));
    return r;
}

/* A whole run to t_end. s is used as it stands, but for the output. */
static inline accuracy run_problem(const pb_problem *p, ga_integrator *run,
                                   const ga_simulation *s)
{
    ga_simulation watched = *s;
    watcher w = {.system = &p->system};
    ga_report report;
    watched.output = watch;
    watched.user = &w;
    assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &watched, &report), GA_OK,
                  report);
    assert_true(ga_integrator_time(run) == s->t_end);
    assert_true(w.t_last == s->t_end);
    return assess(p, run, &s->control, &w);
}

/* Slope of y over x, least squares. */
static inline double slope_of(const double *x, const double *y, int n)
{
    double mx = 0, my = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; ++i) mx += x[i] / n, my += y[i] / n;
    for (int i = 0; i < n; ++i) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / xx;
}

#endif
