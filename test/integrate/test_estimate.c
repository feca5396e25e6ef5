/* The estimated local error against the true one.
 *
 * True: from the state (t_n, q_n, v_n) of an adaptive run the oracle, of twelfth order and
 * without generalized-alpha, goes to t_{n+1}; what it finds there minus (q_{n+1}, v_{n+1}) is
 * the local error. In index 3, whose v is off the constraints by a known O(h^2), both ends are
 * made consistent first, in the mass metric, as the method itself does.
 *
 * A step counts if its error is at least a fifth of the largest met in the run: where an error
 * passes zero, its leading term says nothing. On all steps together the mean difference,
 * sum |estimate - true| / sum |true|, is to vanish with h.
 *
 * With an argument on the command line all numbers are printed.
 */
#include "test/order/oracle.h"
#include "test/support/cases.h"

enum { MAX_SEEN = 400, MAX_LEVELS = 4 };

static bool print_all;

/* Estimated and true local errors of some steps of a run. */
typedef struct comparison {
    const pb_problem *problem;
    ga_integrator *run;
    oracle truth;
    int every, calls, seen, nv;
    double t, q[MAX_NQ], v[MAX_NV]; /* of the step before */
    double h_min, h_max;
    /* [0] q, [1] v: largest components of the true error and of the difference, and the
     * estimate's by that of the true one */
    double size[2][MAX_SEEN], gap[2][MAX_SEEN], ratio[2][MAX_SEEN];
} comparison;

static void compare(comparison *c, int kind, const double *estimate, const double *truth)
{
    double size = largest_of(truth, c->nv);
    c->size[kind][c->seen] = size;
    c->gap[kind][c->seen] = distance_of(estimate, truth, c->nv);
    c->ratio[kind][c->seen] = largest_of(estimate, c->nv) / size;
}

static void look_at_step(comparison *c, const ga_sample *sample)
{
    const ga_system *system = &c->problem->system;
    oracle *o = &c->truth;
    double q[MAX_NQ], v[MAX_NV], error[MAX_NV];
    /* the end of the step, made consistent */
    oracle_begin(o, sample->t, sample->q, sample->v);
    memcpy(q, o->q, (size_t)o->nq * sizeof *q);
    memcpy(v, o->v, (size_t)o->nv * sizeof *v);
    oracle_begin(o, c->t, c->q, c->v);
    o->step = 0;
    oracle_advance(o, sample->t);
    ga_nodes_difference(system->node_count, system->nodes, q, o->q, error);
    compare(c, 0, ga_integrator_error_q(c->run), error);
    for (int i = 0; i < c->nv; ++i) error[i] = o->v[i] - v[i];
    compare(c, 1, ga_integrator_error_v(c->run), error);
    ++c->seen;
}

static ga_eval look(void *user, const ga_sample *sample)
{
    comparison *c = user;
    if (c->calls > 0) {
        double h = sample->t - c->t;
        c->h_min = c->calls == 1 ? h : fmin(c->h_min, h);
        c->h_max = fmax(c->h_max, h);
        /* the first ten, then some */
        if (c->seen < MAX_SEEN && (c->calls <= 10 || c->calls % c->every == 0))
            look_at_step(c, sample);
    }
    ++c->calls;
    c->t = sample->t;
    memcpy(c->q, sample->q, (size_t)ga_system_nq(&c->problem->system) * sizeof *c->q);
    memcpy(c->v, sample->v, (size_t)c->nv * sizeof *c->v);
    return GA_EVAL_OK;
}

/* What a run says: mean difference, and the extreme ratios of the steps that count. */
typedef struct verdict {
    double mean[2], low[2], high[2], h_min, h_max;
    int steps, counted[2];
} verdict;

static verdict judge(const comparison *c)
{
    verdict r = {.low = {INFINITY, INFINITY}, .h_min = c->h_min, .h_max = c->h_max};
    r.steps = c->calls - 1;
    for (int kind = 0; kind < 2; ++kind) {
        double sum = 0, gaps = 0, largest = largest_of(c->size[kind], c->seen);
        for (int k = 0; k < c->seen; ++k) {
            sum += c->size[kind][k];
            gaps += c->gap[kind][k];
            if (c->size[kind][k] < 0.2 * largest) continue;
            ++r.counted[kind];
            r.low[kind] = fmin(r.low[kind], c->ratio[kind][k]);
            r.high[kind] = fmax(r.high[kind], c->ratio[kind][k]);
        }
        r.mean[kind] = gaps / sum;
    }
    return r;
}

/* How steps are chosen: by the tolerance; all of the same size; or growing from a first one a
 * thousandth of max_step. */
typedef enum sizes { BY_ERROR, CONSTANT, GROWING } sizes;

static verdict run_once(const pb_problem *p, const ga_integrator_def *def, sizes sizes,
                        double tolerance, double h, double t_end)
{
    static comparison c; /* large */
    ga_report report;
    memset(&c, 0, sizeof c);
    c.problem = p;
    c.nv = ga_system_nv(&p->system);
    assert_status(ga_integrator_create(&p->system, def, &c.run, &report), GA_OK, report);
    oracle_create(&c.truth, &p->system, p->t0, p->q0, p->v0);
    ga_simulation s = ga_simulation_default();
    s.t_end = t_end;
    s.control.relative = tolerance;
    s.control.absolute_translation = s.control.absolute_rotation = 0.01 * tolerance;
    s.control.absolute_velocity = s.control.absolute_angular_velocity = 0.01 * tolerance;
    s.output = look;
    s.user = &c;
    s.multipliers = GA_MULTIPLIERS_SCHEME;
    if (sizes != BY_ERROR) {
        s.control.relative = 0.5; /* never the reason */
        s.control.max_step = h;
        s.control.first_step = sizes == CONSTANT ? h : 1e-3 * h;
        double steps = (t_end - p->t0) / h;
        c.every = steps > 60 ? (int)(steps / 60) : 1;
    } else {
        c.every = tolerance >= 1e-3 ? 4 : (int)(4 * sqrt(1e-3 / tolerance));
    }
    assert_status(ga_integrator_simulate(c.run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                  report);
    verdict r = judge(&c);
    oracle_destroy(&c.truth);
    ga_integrator_destroy(c.run);
    return r;
}

typedef struct ladder {
    case_name problem; /* CASES: the rolling disc */
    ga_formulation formulation;
    ga_map map;
    double rho_inf;
    sizes sizes;
    int levels;
    double first; /* tolerance, divided by 10 from level to level; or h, by 2 */
    double share; /* of the interval */
} ladder;

static const char *formulation_name(ga_formulation f)
{
    return f == GA_INDEX2 ? "index2" : f == GA_INDEX3 ? "index3" : "soi2";
}

static void run_ladder(const ladder *l)
{
    static const char *const size_names[] = {"by error", "constant", "growing"};
    pb_problem *p = NULL;
    ga_report report;
    if (l->problem == CASES)
        assert_int_equal(pb_rolling_disc_create(0, &p), GA_OK);
    else
        p = case_create(l->problem);
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = l->formulation;
    def.map = l->map;
    assert_status(ga_method_generalized_alpha(l->rho_inf, &def.method, &report), GA_OK, report);
    verdict r[MAX_LEVELS];
    char where[120];
    snprintf(where, sizeof where, "%s, %s, %s, rho %g, %s", p->name,
             formulation_name(l->formulation), l->map == GA_MAP_CAYLEY ? "Cayley" : "exp",
             l->rho_inf, size_names[l->sizes]);
    if (print_all) printf("%s\n", where);
    for (int k = 0; k < l->levels; ++k) {
        double x = l->first / pow(l->sizes == BY_ERROR ? 10 : 2, k);
        double t_end = p->t0 + l->share * (p->t_end - p->t0);
        r[k] = run_once(p, &def, l->sizes, x, x, t_end);
        if (!print_all) continue;
        printf("  %7.1e: %5d steps, h %.1e ... %.1e |", x, r[k].steps, r[k].h_min, r[k].h_max);
        for (int kind = 0; kind < 2; ++kind)
            printf(" %s: %3d in %.3f ... %.3f, mean gap %.4f |", kind ? "v" : "q",
                   r[k].counted[kind], r[k].low[kind], r[k].high[kind], r[k].mean[kind]);
        printf("\n");
    }
    pb_destroy(p);
}

static void estimates_are_right(void **state)
{
    (void)state;
    static const ladder ladders[] = {
        {CASE_PENDULUM, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_PENDULUM, GA_INDEX2, GA_MAP_EXP, 0.5, BY_ERROR, 4, 1e-2, 1},
        {CASE_PENDULUM, GA_INDEX2, GA_MAP_EXP, 0, CONSTANT, 4, 2e-2, 1},
        {CASE_PENDULUM, GA_INDEX2, GA_MAP_EXP, 0.5, GROWING, 4, 2e-2, 1},
        {CASE_PENDULUM, GA_INDEX3, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_PENDULUM, GA_INDEX3, GA_MAP_EXP, 0.5, CONSTANT, 4, 2e-2, 1},
        {CASE_PENDULUM, GA_SOI2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_PENDULUM, GA_SOI2, GA_MAP_EXP, 0.5, BY_ERROR, 4, 1e-2, 1},
        {CASE_PENDULUM, GA_SOI2, GA_MAP_EXP, 0.5, CONSTANT, 4, 2e-2, 1},
        {CASE_ANDREWS_RELATIVE, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_ANDREWS_RELATIVE, GA_INDEX3, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_ANDREWS_RELATIVE, GA_SOI2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_TOP_R3SO3, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_R3SO3, GA_INDEX2, GA_MAP_CAYLEY, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_R3SO3, GA_INDEX3, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_R3SO3, GA_SOI2, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_SE3, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_SE3, GA_INDEX2, GA_MAP_CAYLEY, 0.5, CONSTANT, 3, 1e-3, 0.2},
        {CASE_TOP_SE3, GA_INDEX3, GA_MAP_CAYLEY, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_TOP_SE3, GA_SOI2, GA_MAP_CAYLEY, 0.9, BY_ERROR, 3, 1e-2, 0.2},
        {CASE_FREE_TOP, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_FREE_TOP, GA_INDEX2, GA_MAP_CAYLEY, 0.5, BY_ERROR, 4, 1e-2, 1},
        {CASE_FREE_TOP, GA_SOI2, GA_MAP_CAYLEY, 0.9, CONSTANT, 4, 5e-2, 1},
        {CASE_FREE_TOP, GA_INDEX3, GA_MAP_EXP, 0.9, GROWING, 4, 5e-2, 1},
        {CASE_RHEONOMIC_BODY, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_RHEONOMIC_BODY, GA_INDEX2, GA_MAP_CAYLEY, 0.5, BY_ERROR, 4, 1e-2, 1},
        {CASE_RHEONOMIC_BODY, GA_INDEX3, GA_MAP_EXP, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASE_RHEONOMIC_BODY, GA_SOI2, GA_MAP_CAYLEY, 0.9, BY_ERROR, 4, 1e-2, 1},
        {CASES, GA_INDEX2, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 1},
        {CASES, GA_INDEX3, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 1},
        {CASES, GA_SOI2, GA_MAP_EXP, 0.9, BY_ERROR, 3, 1e-2, 1},
    };
    for (size_t k = 0; k < sizeof ladders / sizeof *ladders; ++k) run_ladder(ladders + k);
}

int main(int argc, char **argv)
{
    (void)argv;
    print_all = argc > 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
