/* An integration that is saved and loaded into a fresh object continues with the same bits: all
 * methods and formulations, fixed steps and error control, also with dependent and nonholonomic
 * constraints, forces that depend on multipliers, first-order states, restarts, and with output
 * that only one of the two has. */
#include "integrate/control.h"
#include "integrate/grid.h"
#include "test/support/states.h"

enum { BEFORE = 23, AFTER = 30 };

static pb_problem *create_problem(int k)
{
    pb_problem *p = NULL;
    const ga_status status = k == 0   ? pb_heavy_top_create(GA_GROUP_R3SO3, &p)
                             : k == 1 ? pb_rolling_disc_create(0.2, &p)
                             : k == 2 ? pb_andrews_absolute_create(&p)
                             : k == 3 ? pb_spatial_four_bar_create(false, true, &p)
                             : k == 4 ? pb_oscillator_create(1e2, 1e2, 0.1, &p)
                             : k == 5 ? pb_heavy_top_create(GA_GROUP_SE3, &p)
                             : k == 6 ? pb_bricard_create(&p)
                             : k == 7 ? friction_create(false, &p)
                                      : pb_pendulum_create(0.2, &p);
    assert_int_equal(status, GA_OK);
    if (k < 8) return p;
    const states_def def = {.size = 1e5, .decay = 1.5, .multipliers = true};
    assert_int_equal(states_create(p, &def, &p), GA_OK);
    return p;
}
/* Step sizes in proportion to the motion. */
static const double steps[] = {1e-3, 5e-3, 2e-5, 5e-3, 1e-2, 1e-3, 5e-3, 1e-2, 5e-3};
/* Those of the generalized-alpha family, and all. The last one has first-order states. */
static const int of_alpha[] = {0, 1, 2, 3, 4, 8};
enum { PROBLEMS = sizeof of_alpha / sizeof *of_alpha, MORE_PROBLEMS = 9 };

/* What is integrated, and how. */
typedef struct setting {
    int problem, before;
    const char *method;
    ga_formulation formulation;
    ga_solver solver;
    ga_control control;
    bool restarts; /* once more after the last step */
} setting;

typedef struct integration {
    ga_onestep *m;
    ga_grid grid;
    ga_controller control;
    bool adaptive;
} integration;

static void create(const pb_problem *p, const setting *set, integration *x)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_simulation run = ga_simulation_default();
    ga_report report;
    def.formulation = set->formulation;
    def.solver = set->solver;
    run.control = set->control;
    x->adaptive = set->control.relative > 0;
    assert_status(ga_onestep_find(set->method)->create(&p->system, &def, &x->m, &report), GA_OK,
                  report);
    if (x->m->type->prepare) assert_int_equal(x->m->type->prepare(x->m, &run), GA_OK);
    assert_int_equal(ga_controller_create(x->m, &set->control, &x->control), GA_OK);
    x->control.tolerance.duration = 1;
    x->grid = (ga_grid){.m = x->m};
}

static void destroy(integration *x)
{
    ga_controller_destroy(&x->control);
    x->m->type->destroy(x->m);
}

static void start(const pb_problem *p, double h, integration *x)
{
    ga_report report;
    assert_status(x->m->type->begin(x->m, p->t0, p->q0, p->v0, p->lambda_guess, &report), GA_OK,
                  report);
    if (x->adaptive) {
        assert_int_equal(ga_controller_start(&x->control, 0), GA_OK);
    } else {
        assert_int_equal(x->m->type->start(x->m, h, false), GA_OK);
        ga_grid_begin(&x->grid, h);
    }
}

static void step(integration *x, const char *name)
{
    ga_report report;
    bool jumped;
    const ga_status status = x->adaptive
                                 ? ga_controller_step(&x->control, 1e3, &jumped, &report)
                                 : ga_grid_step(&x->grid, 1e3, &report);
    if (status != GA_OK) fail_msg("%s: %s", name, report.message);
}

static void assert_same(const integration *x, const integration *y, const char *name, int k)
{
    const ga_dae *dae = x->m->dae;
    const ga_solution *a = &x->m->now, *b = &y->m->now;
    const bool same =
        a->t == b->t && a->h == b->h && a->steps == b->steps &&
        !memcmp(a->q, b->q, (size_t)dae->nq * sizeof *a->q) &&
        !memcmp(a->v, b->v, (size_t)dae->nv * sizeof *a->v) &&
        !memcmp(a->vd, b->vd, (size_t)dae->nv * sizeof *a->vd) &&
        !memcmp(a->multipliers, b->multipliers, (size_t)dae->mp * sizeof *a->multipliers);
    if (!same)
        fail_msg("%s: step %d after the load differs, t = %.17g and %.17g", name, k, a->t,
                 b->t);
    assert_int_equal(x->m->stats->iterations, y->m->stats->iterations);
    const char *type = x->m->type->name; /* of generalized-alpha, those of output are counted */
    if (strcmp(type, "generalized-alpha") && strcmp(type, "auto"))
        assert_int_equal(x->m->stats->factorizations, y->m->stats->factorizations);
}

/* Within the last step. */
static void look_between(const integration *x, double *q, double *v, double *vd, double *l)
{
    const ga_solution *now = &x->m->now;
    ga_dense_output(x->m, now->t_old + 0.3 * (now->t - now->t_old), q, v, vd, l);
}

static void assert_same_between(const integration *x, const integration *y, const char *name)
{
    const ga_dae *dae = x->m->dae;
    double q[2][MAX_NQ], v[2][MAX_NV], vd[2][MAX_NV], l[2][MAX_NC];
    look_between(x, q[0], v[0], vd[0], l[0]);
    look_between(y, q[1], v[1], vd[1], l[1]);
    if (memcmp(q[0], q[1], (size_t)dae->nq * sizeof **q) ||
        memcmp(v[0], v[1], (size_t)dae->nv * sizeof **v) ||
        memcmp(vd[0], vd[1], (size_t)dae->nv * sizeof **vd) ||
        memcmp(l[0], l[1], (size_t)dae->mp * sizeof **l))
        fail_msg("%s: the dense output differs at %g", name, x->m->now.t);
}

static void start_anew(integration *x)
{
    ga_onestep *m = x->m;
    ga_report report;
    assert_status(m->type->restart(m, m->now.t, m->now.q, m->now.v, m->now.t, &report), GA_OK,
                  report);
    if (x->adaptive) assert_int_equal(ga_controller_start(&x->control, 0), GA_OK);
}

/* All that a controller has but its method and its memory. */
static void take_numbers(ga_controller *to, const ga_controller *from)
{
    const ga_controller own = *to;
    *to = *from;
    to->m = own.m;
    to->trial.q = own.trial.q;
    to->trial.v = own.trial.v;
    to->m->tolerance = &to->tolerance;
}

/* The method as bytes; the caller frees them. */
static void *save(ga_onestep *m, size_t *size)
{
    ga_archive a = {.mode = GA_ARCHIVE_COUNT};
    assert_int_equal(m->type->archive(m, &a), GA_OK);
    *size = a.at;
    a = (ga_archive){.mode = GA_ARCHIVE_WRITE, .bytes = malloc(*size), .size = *size};
    assert_non_null(a.bytes);
    assert_int_equal(m->type->archive(m, &a), GA_OK);
    assert_true(!a.failed && a.at == *size);
    return a.bytes;
}

/* Are the bytes, all of them, those of such a method? */
static bool load(ga_onestep *m, void *bytes, size_t size)
{
    ga_archive a = {.mode = GA_ARCHIVE_READ, .bytes = bytes, .size = size};
    assert_int_equal(m->type->archive(m, &a), GA_OK);
    return !a.failed && a.at == size;
}

/* Saved after some steps, loaded into a fresh object. If there were any, only the first has
 * output then. (The last digits of output may depend on that of other times, by the pivots of
 * KLU.) */
static void compare(const setting *set)
{
    char name[100];
    pb_problem *p = create_problem(set->problem);
    integration x = {0}, y = {0};
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], l[MAX_NC];
    const bool alone = set->before > 0;
    create(p, set, &x);
    snprintf(name, sizeof name, "%s, %s, formulation %d, tolerance %g, mode %d, %d steps",
             p->name, set->method, (int)set->formulation, set->control.relative,
             (int)set->control.mode, set->before);
    start(p, steps[set->problem], &x);
    for (int k = 0; k < set->before; ++k) step(&x, name);
    if (set->restarts) start_anew(&x);

    size_t size;
    void *bytes = save(x.m, &size);

    create(p, set, &y);
    assert_true(load(y.m, bytes, size));
    if (y.adaptive) take_numbers(&y.control, &x.control);
    y.grid = x.grid;
    y.grid.m = y.m;
    assert_same(&x, &y, name, 0);
    assert_same_between(&x, &y, name);
    for (int k = 1; k <= AFTER; ++k) {
        step(&x, name);
        step(&y, name);
        assert_same(&x, &y, name, k);
        if (k == AFTER / 2) start_anew(&x), start_anew(&y);
        if (alone && k % 2) look_between(&x, q, v, vd, l);
    }
    if (!alone) assert_same_between(&x, &y, name);
    destroy(&x);
    destroy(&y);
    free(bytes);
    pb_destroy(p);
}

/* By default, where the block solver leaves Andrews' matrices to KLU; and with KLU always. */
static void compare_alpha(int problem, int form, const ga_control *control, int before)
{
    setting set = {.problem = problem,
                   .before = before,
                   .method = "generalized-alpha",
                   .formulation = (ga_formulation)form,
                   .solver = GA_SOLVER_AUTO,
                   .control = *control};
    compare(&set);
    set.solver = GA_SOLVER_SPARSE;
    if (ga_factor_has_klu) compare(&set);
}

static void test_fixed_steps(void **state)
{
    (void)state;
    const ga_control none = {0};
    for (int problem = 0; problem < PROBLEMS; ++problem)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
            compare_alpha(of_alpha[problem], form, &none, 0);
            compare_alpha(of_alpha[problem], form, &none, BEFORE);
        }
}

static void test_error_control(void **state)
{
    (void)state;
    static const ga_error_mode modes[] = {GA_ERROR_AUTO, GA_ERROR_FULL, GA_ERROR_POSITIONS,
                                          GA_ERROR_EXTRAPOLATE};
    for (int problem = 0; problem < PROBLEMS; ++problem)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
            for (int k = 0; k < 4; ++k) {
                ga_control control = ga_simulation_default().control;
                control.relative = 1e-4;
                control.mode = modes[k];
                compare_alpha(of_alpha[problem], form, &control, BEFORE);
            }
}

static void test_higher_order(void **state)
{
    (void)state;
    static const char *const methods[] = {"explicit", "radau", "auto"};
    static const double tolerances[] = {0, 1e-4, 1e-9};
    for (int problem = 0; problem < MORE_PROBLEMS; ++problem)
        for (int k = 0; k < 3; ++k)
            for (int tolerance = 0; tolerance < 3; ++tolerance)
                for (int part = 0; part < 3; ++part) {
                    setting set = {.problem = problem,
                                   .before = part ? BEFORE : 0,
                                   .method = methods[k],
                                   .solver = GA_SOLVER_AUTO,
                                   .control = ga_simulation_default().control,
                                   .restarts = part == 2};
                    set.control.relative = tolerances[tolerance];
                    compare(&set);
                    set.solver = GA_SOLVER_SPARSE;
                    if (ga_factor_has_klu) compare(&set);
                }
}

/* Bytes of another method are refused. */
static void test_other_bytes(void **state)
{
    (void)state;
    const setting set[] = {{.method = "generalized-alpha", .formulation = GA_INDEX2},
                           {.method = "generalized-alpha", .formulation = GA_INDEX3},
                           {.method = "explicit"},
                           {.method = "radau"},
                           {.method = "auto"}};
    enum { KINDS = sizeof set / sizeof *set };
    pb_problem *p = create_problem(0);
    for (int k = 0; k < KINDS; ++k) {
        integration x = {0};
        create(p, set + k, &x);
        start(p, 1e-3, &x);
        size_t size;
        void *bytes = save(x.m, &size);
        assert_false(load(x.m, bytes, size - 1));
        assert_true(load(x.m, bytes, size));
        for (int j = 0; j < KINDS; ++j) {
            integration y = {0};
            create(p, set + j, &y);
            assert_int_equal(load(y.m, bytes, size), j == k);
            destroy(&y);
        }
        destroy(&x);
        free(bytes);
    }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_steps), cmocka_unit_test(test_error_control),
        cmocka_unit_test(test_higher_order), cmocka_unit_test(test_other_bytes)};
    return cmocka_run_group_tests(tests, NULL, states_end);
}
