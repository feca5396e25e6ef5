/* Gradients are handed on from role to role, not copied: no role may change what another one
 * reads, so everything has to come out as with copies, bit by bit. */
#include "api/integrator.h"
#include "test/support/cases.h"
#include "test/support/unit.h"

#include <string.h>

enum { RODS = 130, STEPS = 30 };

/* A chain whose constraints cannot be evaluated now and then: steps are cut in pieces, and some
 * of them fail altogether. */
typedef struct stumbling {
    ga_system system; /* as it was */
    long calls;
    long bad_from, bad_end; /* of the calls in each thousand */
} stumbling;

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    stumbling *s = user;
    const long call = s->calls++ % 1000;
    if (call >= s->bad_from && call < s->bad_end) return GA_EVAL_RECOVERABLE;
    return s->system.constraint(s->system.user, at, Phi);
}

#define FORWARDED(name)                                                                        \
    static ga_eval name(void *user, const ga_point *at, double *out)                           \
    {                                                                                          \
        const stumbling *s = user;                                                             \
        return s->system.name(s->system.user, at, out);                                        \
    }
FORWARDED(mass)
FORWARDED(force)
FORWARDED(gradient)
FORWARDED(stiffness)
FORWARDED(damping)
FORWARDED(acceleration_rhs)
FORWARDED(velocity_stiffness)

static ga_system disturbed(stumbling *s)
{
    ga_system system = s->system;
    system.user = s;
    system.mass = mass;
    system.force = force;
    system.constraint = constraint;
    system.gradient = gradient;
    system.all = NULL;
    system.equations = NULL;
    if (system.stiffness) system.stiffness = stiffness;
    if (system.damping) system.damping = damping;
    if (system.acceleration_rhs) system.acceleration_rhs = acceleration_rhs;
    if (system.velocity_stiffness) system.velocity_stiffness = velocity_stiffness;
    return system;
}

static void roles_keep_apart(ga_stepper *s)
{
    ga_gradient_make_room(s);
    const double *others[] = {s->now.G, s->saved.G, s->G_tangent, s->B_eta};
    for (size_t k = 0; k < sizeof others / sizeof *others; ++k)
        assert_ptr_not_equal(s->G, others[k]);
}

/* What the state is made of, after each step or failure, one behind the other. */
typedef struct record {
    double *numbers;
    size_t count, most;
    int failed;
} record;

static void take_down(record *r, const ga_stepper *s)
{
    const size_t size = s->now.memory_size;
    assert_true(r->count + size + 1 <= r->most);
    r->numbers[r->count++] = s->now.t;
    memcpy(r->numbers + r->count, s->now.memory, size * sizeof *r->numbers);
    r->count += size;
}

static void go(ga_formulation formulation, bool adaptive, bool copies, record *r)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(RODS, &p), GA_OK);
    stumbling s = {.system = p->system, .bad_from = 60, .bad_end = adaptive ? 64 : 75};
    const ga_system system = disturbed(&s);
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    def.max_halvings = 2;
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(&system, &def, &run, &report), GA_OK, report);
    ga_stepper *stepper = &run->stepper;
    assert_true(stepper->now.hands_on); /* or there is nothing to see */
    if (copies) stepper->now.hands_on = stepper->saved.hands_on = false;
    if (adaptive) {
        ga_simulation simulation = ga_simulation_default();
        simulation.t_end = 0.05;
        simulation.control.relative = simulation.control.absolute_translation =
            simulation.control.absolute_rotation = 1e-4;
        assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &simulation, &report),
                      GA_OK, report);
        take_down(r, stepper);
    } else {
        assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                      report);
        for (int k = 0; k < STEPS; ++k) {
            r->failed += ga_integrator_step(run, &report) != GA_OK;
            take_down(r, stepper);
            if (!copies) roles_keep_apart(stepper);
        }
    }
    ga_integrator_destroy(run);
    pb_destroy(p);
}

static record empty_record(void)
{
    const size_t most = (size_t)STEPS * (size_t)RODS * 400;
    double *numbers = calloc(most, sizeof *numbers);
    assert_non_null(numbers);
    return (record){numbers, 0, most, 0};
}

static void same_as_copies(void **state)
{
    (void)state;
    static const ga_formulation formulations[] = {GA_INDEX2, GA_INDEX3, GA_SOI2};
    for (int k = 0; k < 3; ++k)
        for (int adaptive = 0; adaptive < 2; ++adaptive) {
            record shared = empty_record(), copied = empty_record();
            go(formulations[k], adaptive, false, &shared);
            go(formulations[k], adaptive, true, &copied);
            assert_int_equal(shared.count, copied.count);
            assert_int_equal(shared.failed, copied.failed);
            assert_true(adaptive || shared.failed > 0); /* some went back */
            assert_memory_equal(shared.numbers, copied.numbers, shared.count * sizeof(double));
            free(shared.numbers);
            free(copied.numbers);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
