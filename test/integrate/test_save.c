/* An integration that is saved and loaded into a fresh object continues with the same bits: all
 * formulations, fixed steps and error control, also with dependent and nonholonomic
 * constraints. */
#include "integrate/control.h"
#include "integrate/grid.h"
#include "test/support/cases.h"

enum { BEFORE = 23, AFTER = 30 };

static pb_problem *create_problem(int k)
{
    pb_problem *p = NULL;
    const ga_status status = k == 0   ? pb_heavy_top_create(GA_GROUP_R3SO3, &p)
                             : k == 1 ? pb_rolling_disc_create(0.2, &p)
                             : k == 2 ? pb_andrews_absolute_create(&p)
                             : k == 3 ? pb_spatial_four_bar_create(false, true, &p)
                                      : pb_oscillator_create(1e2, 1e2, 0.1, &p);
    assert_int_equal(status, GA_OK);
    return p;
}
static const char *const names[] = {"heavy top", "rolling disc", "Andrews", "four-bar",
                                    "oscillator"};
/* Step sizes in proportion to the motion. */
static const double steps[] = {1e-3, 5e-3, 2e-5, 5e-3, 1e-2};
enum { PROBLEMS = 5 };

typedef struct integration {
    ga_onestep *m;
    ga_grid grid;
    ga_controller control;
    bool adaptive;
} integration;

static void create(const pb_problem *p, ga_formulation form, ga_solver solver,
                   const ga_control *control, integration *x)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_simulation run = ga_simulation_default();
    ga_report report;
    def.formulation = form;
    def.solver = solver;
    run.control = *control;
    x->adaptive = control->relative > 0;
    assert_status(
        ga_onestep_find("generalized-alpha")->create(&p->system, &def, &x->m, &report), GA_OK,
        report);
    assert_int_equal(x->m->type->prepare(x->m, &run), GA_OK);
    assert_int_equal(ga_controller_create(x->m, control, &x->control), GA_OK);
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
    assert_status(x->m->type->begin(x->m, p->t0, p->q0, p->v0, NULL, &report), GA_OK, report);
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
    assert_int_equal(x->m->stats->factorizations, y->m->stats->factorizations);
}

/* Saved after some steps, loaded into a fresh object. */
static void compare(int problem, ga_formulation form, const ga_control *control, int before)
{
    char name[100];
    pb_problem *p = create_problem(problem);
    integration x = {0}, y = {0};
    /* the block solver leaves Andrews' matrices to KLU, whose pivots are of earlier matrices */
    const ga_solver solver = problem == 2 ? GA_SOLVER_DENSE : GA_SOLVER_AUTO;
    create(p, form, solver, control, &x);
    snprintf(name, sizeof name, "%s, formulation %d, tolerance %g, mode %d, %d steps",
             names[problem], (int)form, control->relative, (int)control->mode, before);
    start(p, steps[problem], &x);
    for (int k = 0; k < before; ++k) step(&x, name);

    const size_t size = x.m->type->save(x.m, NULL);
    void *bytes = malloc(size), *numbers = malloc(GA_CONTROLLER_BYTES);
    assert_non_null(bytes);
    assert_non_null(numbers);
    assert_int_equal(x.m->type->save(x.m, bytes), size);
    ga_controller_save(&x.control, numbers);

    create(p, form, solver, control, &y);
    assert_int_equal(y.m->type->load(y.m, bytes, size), GA_OK);
    if (y.adaptive) ga_controller_load(&y.control, numbers);
    y.grid = x.grid;
    y.grid.m = y.m;
    assert_same(&x, &y, name, 0);
    for (int k = 1; k <= AFTER; ++k) {
        step(&x, name);
        step(&y, name);
        assert_same(&x, &y, name, k);
    }
    destroy(&x);
    destroy(&y);
    free(bytes);
    free(numbers);
    pb_destroy(p);
}

static void test_fixed_steps(void **state)
{
    (void)state;
    const ga_control none = {0};
    for (int problem = 0; problem < PROBLEMS; ++problem)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
            compare(problem, (ga_formulation)form, &none, 0);
            compare(problem, (ga_formulation)form, &none, BEFORE);
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
                compare(problem, (ga_formulation)form, &control, BEFORE);
            }
}

/* Bytes of another method are refused. */
static void test_other_bytes(void **state)
{
    (void)state;
    const ga_control none = {0};
    pb_problem *p = create_problem(0);
    integration x = {0}, y = {0};
    create(p, GA_INDEX2, GA_SOLVER_AUTO, &none, &x);
    create(p, GA_INDEX3, GA_SOLVER_AUTO, &none, &y);
    start(p, 1e-3, &x);
    const size_t size = x.m->type->save(x.m, NULL);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    x.m->type->save(x.m, bytes);
    assert_int_equal(y.m->type->load(y.m, bytes, size), GA_ERR_ARGUMENT);
    assert_int_equal(x.m->type->load(x.m, bytes, size - 1), GA_ERR_ARGUMENT);
    assert_int_equal(x.m->type->load(x.m, bytes, size), GA_OK);
    destroy(&x);
    destroy(&y);
    free(bytes);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fixed_steps),
                                       cmocka_unit_test(test_error_control),
                                       cmocka_unit_test(test_other_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
