/* Stiff springs and tight tolerances: a point mass on a spring, let go from the horizontal.
 *
 *     M = 1,  f = (0, -g) - k (r - 1) (x, y)/r,  q_0 = (1, 0), v_0 = 0
 *
 * Positions at t = 2 up to k = 1e8 are from scipy's DOP853 with rtol 1e-12; beyond, from the
 * slow motion, an equation for the angle with r = 1 + (w^2 + g cos)/k, by DOP853 with rtol
 * 1e-13. At k = 1e8 the two differ by 1.4e-13. */
#include "integrate/verdict.h"
#include "test/integrate/accuracy.h"

static const double g = 9.81;

typedef struct reference {
    double k, x, y;
} reference;

static const reference references[] = {{1e4, 0.7871633793412922, -0.6196905748220375},
                                       {1e6, 0.7935027808726072, -0.6085960545263597},
                                       {1e8, 0.7935655612627245, -0.6084850516915662},
                                       {1e10, 0.7935661890024691, -0.6084839416563382},
                                       {1e12, 0.7935661952798608, -0.6084839305559854}};
enum { REFERENCES = sizeof references / sizeof *references };

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval spring(void *user, const ga_point *at, double *f)
{
    const double k = *(const double *)user, r = hypot(at->q[0], at->q[1]);
    f[0] = -k * (r - 1) * at->q[0] / r;
    f[1] = -k * (r - 1) * at->q[1] / r - g;
    return GA_EVAL_OK;
}

/* k n n^T + k (r - 1)/r (I - n n^T). */
static ga_eval spring_stiffness(void *user, const ga_point *at, double *K)
{
    const double k = *(const double *)user, r = hypot(at->q[0], at->q[1]);
    const double n[2] = {at->q[0] / r, at->q[1] / r}, across = k * (r - 1) / r;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            K[i + 2 * j] = (k - across) * n[i] * n[j] + (i == j ? across : 0);
    return GA_EVAL_OK;
}

static ga_eval no_damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    memset(C, 0, 4 * sizeof *C);
    return GA_EVAL_OK;
}

static ga_eval attraction(void *user, const ga_point *at, double *f)
{
    (void)user;
    const double r = hypot(at->q[0], at->q[1]), r3 = r * r * r;
    f[0] = -at->q[0] / r3;
    f[1] = -at->q[1] / r3;
    return GA_EVAL_OK;
}

static ga_system plane(ga_callback *force, double *k)
{
    static const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    ga_system system = {.struct_size = sizeof(ga_system),
                        .user = k,
                        .node_count = 1,
                        .nodes = &node,
                        .mass = mass};
    system.force = force;
    system.mass_is_constant = true;
    system.damping = no_damping;
    return system;
}

static ga_integrator *create(const ga_system *system, double rho, ga_newton newton)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    def.newton = newton;
    assert_int_equal(ga_coefficients_generalized_alpha(rho, &def.coefficients, NULL), GA_OK);
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    return run;
}

static ga_simulation adaptive(double t_end, double tolerance, ga_error_mode mode)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = t_end;
    s.control.relative = tolerance;
    s.control.absolute_translation = s.control.absolute_rotation = 0;
    s.control.absolute_velocity = s.control.absolute_angular_velocity = 0;
    s.control.mode = mode;
    return s;
}

/* --- when an increment is trusted --------------------------------------------------------- */

static void increments_are_trusted_by_what_tangents_withhold(void **state)
{
    (void)state;
    static const struct {
        double norm, withheld;
        bool soft;
        const char *why;
    } rows[] = {
        {0, 0, true, "nothing is left"},
        {1e6, 0, true, "no stiffness"},
        {1e6, 1e5, true, "mass outweighs stiffness"},
        {1e6, 4e5, false, "stiffness matters, and is above the tolerance"},
        {1e-3, 1, true, "what may be hidden is within the tolerance"},
        {1e-3, 2, false, "a small increment, a million times as much behind it"},
        {1e-9, 1e3, false, "tangents stiffer than the solution"},
        {1, INFINITY, false, "overflow"},
        {1, NAN, false, "not a number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        if (ga_trust_is_soft(rows[i].norm, rows[i].withheld) != rows[i].soft)
            fail_msg("%s", rows[i].why);
    assert_true(ga_trust_is_solved(0) && ga_trust_is_solved(1));
    assert_false(ga_trust_is_solved(1.1) || ga_trust_is_solved(NAN));
}

/* --- steps of fixed size ------------------------------------------------------------------ */

/* The method with rho_inf 0.3 damps; energy can only come from steps that are not solved. */
static void fixed_steps_create_no_energy(void **state)
{
    (void)state;
    static const double steps[] = {0.1, 0.05, 0.02, 0.01};
    for (int i = 0; i < REFERENCES; ++i)
        for (int j = 0; j < 4; ++j)
            for (int full = 0; full < 2; ++full) {
                double k = references[i].k;
                ga_system system = plane(spring, &k);
                system.stiffness = spring_stiffness;
                ga_integrator *run =
                    create(&system, 0.3, full ? GA_NEWTON_FULL : GA_NEWTON_MODIFIED);
                const double q0[2] = {1, 0}, v0[2] = {0, 0}, h = steps[j];
                ga_simulation s = ga_simulation_default();
                s.t_end = 2;
                s.control.relative = 0;
                s.step = h;
                ga_report report;
                assert_status(ga_integrator_simulate(run, 0, q0, v0, &s, &report), GA_OK,
                              report);
                const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
                const double stretch = hypot(q[0], q[1]) - 1;
                const double energy =
                    0.5 * (v[0] * v[0] + v[1] * v[1]) + g * q[1] + 0.5 * k * stretch * stretch;
                char where[60];
                snprintf(where, sizeof where, "k = %g, h = %g, full %d", k, h, full);
                assert_below(energy, 1e-6, where);
                /* a pendulum of 2.2 rad/s and more: second order with a constant of about 30 */
                const double error = hypot(q[0] - references[i].x, q[1] - references[i].y);
                assert_below(error, 60 * h * h, where);
                ga_integrator_destroy(run);
            }
}

/* --- positions only ----------------------------------------------------------------------- */

static void positions_keep_their_word(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-3, 1e-4, 1e-5, 1e-6};
    static const double rhos[] = {0.3, 0.6};
    for (int i = 0; i < REFERENCES; ++i)
        for (int j = 0; j < 4; ++j)
            for (int r = 0; r < 2; ++r) {
                double k = references[i].k;
                ga_system system = plane(spring, &k);
                system.stiffness = spring_stiffness;
                ga_integrator *run = create(&system, rhos[r], GA_NEWTON_MODIFIED);
                const double q0[2] = {1, 0}, v0[2] = {0, 0}, tolerance = tolerances[j];
                const ga_simulation s = adaptive(2, tolerance, GA_ERROR_POSITIONS);
                ga_report report;
                assert_status(ga_integrator_simulate(run, 0, q0, v0, &s, &report), GA_OK,
                              report);
                const double *q = ga_integrator_q(run);
                const double error =
                    fmax(fabs(q[0] - references[i].x), fabs(q[1] - references[i].y));
                const ga_control_statistics c = ga_integrator_control_statistics(run);
                char where[60];
                snprintf(where, sizeof where, "k = %g, tolerance %g, rho %g", k, tolerance,
                         rhos[r]);
                assert_below(error / tolerance, 30, where);
                /* whatever k is: 1e12 has 320,000 periods */
                assert_below((double)c.accepted, 30 / sqrt(tolerance), where);
                assert_below(c.error_sum, 1, where);
                ga_integrator_destroy(run);
            }
}

/* A stretched spring oscillates about the motion with the amplitude of its stretch, which is
 * below the tolerance here: it is passed over, and no energy comes of it. */
static void prestretched_springs_are_passed_over(void **state)
{
    (void)state;
    for (int i = 2; i < REFERENCES; ++i) {
        double k = references[i].k;
        ga_system system = plane(spring, &k);
        system.stiffness = spring_stiffness;
        ga_integrator *run = create(&system, 0.3, GA_NEWTON_MODIFIED);
        const double q0[2] = {1 + 1e-4, 0}, v0[2] = {0, 0};
        const ga_simulation s = adaptive(2, 1e-3, GA_ERROR_POSITIONS);
        ga_report report;
        assert_status(ga_integrator_simulate(run, 0, q0, v0, &s, &report), GA_OK, report);
        const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
        const double error = hypot(q[0] - references[i].x, q[1] - references[i].y);
        assert_below(error, 30e-3, "position");
        assert_below(0.5 * (v[0] * v[0] + v[1] * v[1]) + g * q[1], 0.1, "energy of the motion");
        assert_below((double)ga_integrator_control_statistics(run).accepted, 2000, "steps");
        ga_integrator_destroy(run);
    }
}

/* --- tight tolerances --------------------------------------------------------------------- */

/* Kepler's problem, eccentricity 0.6, three periods: the error is nine times the tolerance by
 * nature; at 1e-11 the round-off of 230,000 steps doubles it, and the sum of the estimates says
 * so. Less than that is refused. */
static void tight_tolerances_are_met_or_owned_up(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-8, 1e-10, 1e-11};
    ga_system system = plane(attraction, NULL);
    for (int j = 0; j < 3; ++j) {
        ga_integrator *run = create(&system, 0.9, GA_NEWTON_MODIFIED);
        const double q0[2] = {0.4, 0}, v0[2] = {0, 2};
        const ga_simulation s = adaptive(6 * 3.14159265358979324, tolerances[j], GA_ERROR_AUTO);
        ga_report report;
        assert_status(ga_integrator_simulate(run, 0, q0, v0, &s, &report), GA_OK, report);
        const double *q = ga_integrator_q(run);
        const double error = fmax(fabs(q[0] - 0.4), fabs(q[1])) / (1.6 * tolerances[j]);
        const double sum = ga_integrator_control_statistics(run).error_sum;
        assert_below(error, sum <= 2 ? 12 : 30, "Kepler");
        if (j < 2) assert_below(sum, 2, "Kepler");
        ga_integrator_destroy(run);
    }
}

static void index3_says_what_it_cannot_resolve(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    ga_integrator *run = integrator(&p->system, GA_INDEX3);
    ga_simulation s = simulation(p, 1e-10);
    ga_report report;
    const ga_status status = ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report);
    assert_int_equal(status, GA_ERR_STEP_SIZE);
    assert_message(report, "below what index3 resolves");
    assert_message(report, "index2");
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* --- tolerances of Newton's method ---------------------------------------------------------
 */

/* A pendulum let go from the horizontal. However loose the tolerance: positions stay on the
 * constraints to it, or the run fails. */
static void newton_tolerance_bounds_residuals(void **state)
{
    (void)state;
    static const double steps[] = {0.2, 0.1, 0.05, 0.02, 0.005};
    static const double q0[2] = {1, 0}, v0[2] = {0, 0};
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (int j = 0; j < 5; ++j)
            for (int e = 3; e <= 12; ++e) {
                pb_problem *p = case_create(CASE_PENDULUM_SIDE);
                ga_integrator_def def = ga_integrator_def_default();
                ga_integrator *run = NULL;
                ga_report report;
                def.formulation = (ga_formulation)form;
                def.relative = pow(10, -e);
                assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK,
                              report);
                ga_simulation s = ga_simulation_default();
                s.t_end = 10;
                s.control.relative = 0;
                s.step = steps[j];
                const ga_status status = ga_integrator_simulate(run, 0, q0, v0, &s, &report);
                char where[60];
                snprintf(where, sizeof where, "formulation %d, h = %g, 1e-%d", form, steps[j],
                         e);
                if (status != GA_OK) assert_true(report.message[0] != '\0');
                assert_below(ga_integrator_statistics(run).position_residual_max,
                             4 * fmax(def.relative, 1e-9), where);
                /* steps that are small enough keep the energy */
                const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
                const double energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + g * q[1];
                if (steps[j] < 0.03) {
                    assert_int_equal(status, GA_OK);
                    assert_below(fabs(energy), 0.1, where);
                }
                ga_integrator_destroy(run);
                pb_destroy(p);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_are_trusted_by_what_tangents_withhold),
        cmocka_unit_test(fixed_steps_create_no_energy),
        cmocka_unit_test(positions_keep_their_word),
        cmocka_unit_test(prestretched_springs_are_passed_over),
        cmocka_unit_test(tight_tolerances_are_met_or_owned_up),
        cmocka_unit_test(index3_says_what_it_cannot_resolve),
        cmocka_unit_test(newton_tolerance_bounds_residuals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
