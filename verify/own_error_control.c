/* The tolerance asked for against the error obtained. */
#include "verify/ladder.h"

#include <galpha/simulate.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 4, MAX_DIGITS = 6, MAX_NQ = 16 };

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status top(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_R3SO3, out); }
static ga_status disc(pb_problem **out) { return pb_rolling_disc_create(0, out); }

#define NAMES(what)                                                                            \
    {                                                                                          \
        what ", tolerance 1e-2", what ", tolerance 1e-3", what ", tolerance 1e-4",             \
            what ", tolerance 1e-5", what ", tolerance 1e-6"                                   \
    }

static const struct {
    const char *label, *steps, *richardson;
    ga_status (*create)(pb_problem **out);
    ga_plot_marker marker;
    const char *name[MAX_DIGITS - 1];
} problems[PROBLEMS] = {
    {"pendulum", "pendulum: steps for one digit more",
     "pendulum: estimate of Richardson by error", pendulum, GA_MARKER_CIRCLE,
     NAMES("pendulum: error by tolerance")},
    {"heavy top", "heavy top: steps for one digit more",
     "heavy top: estimate of Richardson by error", top, GA_MARKER_SQUARE,
     NAMES("heavy top: error by tolerance")},
    {"Andrews' mechanism", "Andrews: steps for one digit more",
     "Andrews: estimate of Richardson by error", pb_andrews_relative_create, GA_MARKER_TRIANGLE,
     NAMES("Andrews: error by tolerance")},
    {"rolling disc", "rolling disc: steps for one digit more",
     "rolling disc: estimate of Richardson by error", disc, GA_MARKER_DIAMOND,
     NAMES("rolling disc: error by tolerance")},
};

/* --- one run -------------------------------------------------------------------------------
 */

/* What a tolerance of 1 means: 0.01 and the largest value so far, by kind: [0] translations and
 * coordinates of R^n, [1] rotations. */
typedef struct scale {
    const ga_system *system;
    double q[2], v[2];
} scale;

/* Every problem here has one node: R^n, or a body whose last three velocities are rotations. */
static int kind_of(const ga_system *system, int i)
{
    return system->nodes[0].group != GA_GROUP_RN && i >= 3;
}

static ga_eval watch(void *user, const ga_sample *sample)
{
    scale *s = user;
    for (int i = 0; i < ga_system_nv(s->system); ++i) {
        const int k = kind_of(s->system, i);
        s->q[k] = k ? 1.01 : fmax(s->q[k], 0.01 + fabs(sample->q[i]));
        s->v[k] = fmax(s->v[k], 0.01 + fabs(sample->v[i]));
    }
    return GA_EVAL_OK;
}

static double largest(const ga_system *system, const double *error, const double *unit)
{
    double most = 0;
    for (int i = 0; i < ga_system_nv(system); ++i)
        most = fmax(most, fabs(error[i]) / unit[kind_of(system, i)]);
    return most;
}

static ga_simulation simulation(const pb_problem *p, double tolerance, ga_error_mode mode)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = p->t_end;
    s.control.relative = tolerance;
    s.control.absolute_translation = s.control.absolute_rotation = 0.01 * tolerance;
    s.control.absolute_velocity = s.control.absolute_angular_velocity = 0.01 * tolerance;
    s.control.mode = mode;
    s.multipliers = GA_MULTIPLIERS_SCHEME;
    return s;
}

typedef struct outcome {
    double error; /* at the end, weighted: 1 is a relative error of 1 */
    double steps;
} outcome;

/* The solution at the end: in closed form, or as the problem knows it. */
static void known_end(const pb_problem *p, double *q, double *v)
{
    const pb_reference *end = p->references + p->reference_count - 1;
    if (p->exact) {
        p->exact(p, p->t_end, q, v, NULL, NULL);
        return;
    }
    memcpy(q, end->q, (size_t)ga_system_nq(&p->system) * sizeof *q);
    memcpy(v, end->v, (size_t)ga_system_nv(&p->system) * sizeof *v);
}

static outcome outcome_of(const pb_problem *p, ga_integrator *integrator, const scale *unit)
{
    const ga_system *system = &p->system;
    double q[MAX_NQ], v[MAX_NQ], e[MAX_NQ];
    known_end(p, q, v);
    ga_nodes_difference(system->node_count, system->nodes, q, ga_integrator_q(integrator), e);
    double error = largest(system, e, unit->q);
    for (int i = 0; i < ga_system_nv(system); ++i) e[i] = v[i] - ga_integrator_v(integrator)[i];
    error = fmax(error, largest(system, e, unit->v));
    return (outcome){error, (double)ga_integrator_control_statistics(integrator).accepted};
}

/* Index 2, rho_inf 0.9: the defaults. */
static outcome simulate(vf_run *run, const pb_problem *p, double tolerance, ga_error_mode mode)
{
    const ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    outcome result = {NAN, NAN};
    scale unit = {.system = &p->system};
    ga_simulation s = simulation(p, tolerance, mode);
    s.output = watch;
    s.user = &unit;
    ga_status status = ga_integrator_create(&p->system, &def, &integrator, &report);
    if (status == GA_OK)
        status = ga_integrator_simulate(integrator, p->t0, p->q0, p->v0, &s, &report);
    if (vf_ok(run, status, &report)) result = outcome_of(p, integrator, &unit);
    ga_integrator_destroy(integrator);
    return result;
}

/* Largest error of q that Richardson's extrapolation tells, by the true one. */
static double richardson(vf_run *run, const pb_problem *p, double tolerance)
{
    const ga_integrator_def def = ga_integrator_def_default();
    const ga_system *system = &p->system;
    const double one[2] = {1, 1};
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    double q[MAX_NQ], v[MAX_NQ], e[MAX_NQ], estimate[MAX_NQ], better[MAX_NQ], ratio = NAN;
    const ga_simulation s = simulation(p, tolerance, GA_ERROR_FULL);
    ga_status status = ga_integrator_create(system, &def, &integrator, &report);
    if (status == GA_OK)
        status = ga_integrator_richardson(integrator, p->t0, p->q0, p->v0, &s, 2, better, NULL,
                                          estimate, NULL, &report);
    if (status == GA_OK)
        status = ga_integrator_simulate(integrator, p->t0, p->q0, p->v0, &s, &report);
    if (vf_ok(run, status, &report)) {
        known_end(p, q, v);
        ga_nodes_difference(system->node_count, system->nodes, q, ga_integrator_q(integrator),
                            e);
        ratio = largest(system, estimate, one) / largest(system, e, one);
    }
    ga_integrator_destroy(integrator);
    return ratio;
}

/* --- tolerances ----------------------------------------------------------------------------
 */

static void check_problem(vf_run *run, int k, int digits, ga_figure *figure, int panel)
{
    pb_problem *p = NULL;
    double tolerance[MAX_DIGITS], error[MAX_DIGITS];
    outcome before = {0}, now = {0};
    if (!vf_ok(run, problems[k].create(&p), NULL)) return;
    for (int i = 0; i < digits - 1; ++i) {
        tolerance[i] = pow(10, -(i + 2));
        before = now;
        now = simulate(run, p, tolerance[i], GA_ERROR_FULL);
        error[i] = now.error;
        vf_between(run, problems[k].name[i], 0.1, 0.8, now.error / tolerance[i],
                   "near the tolerance, and below: these motions are stable");
    }
    vf_between(run, problems[k].steps, 3, 3.3, now.steps / before.steps,
               "second order: the square root of ten");
    vf_between(run, problems[k].richardson, 0.99, 1.01, richardson(run, p, 1e-4),
               "tolerance 1e-4; what is left is of third order");
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = problems[k].label,
                                       .marker = problems[k].marker,
                                       .count = (size_t)digits - 1,
                                       .x = tolerance,
                                       .y = error,
                                       .width = 1});
    pb_destroy(p);
}

static void check_tolerances(vf_run *run)
{
    const int digits = vf_is_quick(run) ? 4 : MAX_DIGITS;
    static const double line[2] = {1e-7, 1e-1};
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "tolerance", .scale = GA_SCALE_LOG},
                                 .y = {.label = "error at the end", .scale = GA_SCALE_LOG}});
    for (int k = 0; k < PROBLEMS; ++k) check_problem(run, k, digits, figure, panel);
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "as asked for",
                                       .count = 2,
                                       .x = line,
                                       .y = line,
                                       .line = GA_LINE_DASHED,
                                       .color = GA_COLOR_GRAY,
                                       .width = 1});
    vf_figure(run, figure,
              "Errors at the end, of positions or velocities, whichever is larger, relative to "
              "the largest values during the run, against the tolerance. They are proportional "
              "to it and stay just below.");
}

/* --- steps ---------------------------------------------------------------------------------
 */

static void check_work(vf_run *run)
{
    static const struct {
        ga_error_mode mode;
        const char *label, *name;
        double slope;
        ga_plot_marker marker;
    } modes[2] = {
        {GA_ERROR_FULL, "default", "heavy top: order against steps, default", 2,
         GA_MARKER_CIRCLE},
        {GA_ERROR_EXTRAPOLATE, "extrapolate", "heavy top: order against steps, extrapolate", 3,
         GA_MARKER_SQUARE},
    };
    const int digits = vf_is_quick(run) ? 4 : MAX_DIGITS;
    pb_problem *p = NULL;
    if (!vf_ok(run, top(&p), NULL)) return;
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "steps", .scale = GA_SCALE_LOG},
                                 .y = {.label = "error at the end", .scale = GA_SCALE_LOG}});
    for (int k = 0; k < 2; ++k) {
        double steps[MAX_DIGITS], error[MAX_DIGITS];
        const int count = digits - 1;
        for (int i = 0; i < count; ++i) {
            const outcome o = simulate(run, p, pow(10, -(i + 2 + 2 * k)), modes[k].mode);
            steps[i] = o.steps;
            error[i] = o.error;
        }
        vf_between(run, modes[k].name, modes[k].slope - 0.1, modes[k].slope + 0.2,
                   log(error[count - 2] / error[count - 1]) /
                       log(steps[count - 1] / steps[count - 2]),
                   k ? "third order" : "second order");
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = modes[k].label,
                                           .marker = modes[k].marker,
                                           .count = (size_t)count,
                                           .x = steps,
                                           .y = error,
                                           .width = 1});
    }
    vf_figure(run, figure,
              "Heavy top: error against number of steps. Subtracting the estimated error after "
              "each step gives third order.");
    pb_destroy(p);
}

/* --- stiffness -----------------------------------------------------------------------------
 */

enum { MAX_SAMPLES = 4000 };

typedef struct record {
    int count;
    double t[MAX_SAMPLES], angle[MAX_SAMPLES];
} record;

static const double rest = 4.71238898038468986; /* 3 pi/2 */

static ga_eval keep(void *user, const ga_sample *sample)
{
    record *r = user;
    if (r->count == MAX_SAMPLES) return GA_EVAL_FATAL;
    r->t[r->count] = sample->t;
    r->angle[r->count++] = sample->q[2] - rest;
    return GA_EVAL_OK;
}

/* Steps of the pendulum [JN08] eq. (16) with stiffness k. The record is given back. */
static double steps_of(vf_run *run, double k, ga_error_mode mode, double t_end, record *r)
{
    pb_pendulum_model_def model = pb_pendulum_model_default();
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *integrator = NULL;
    pb_problem *p = NULL;
    ga_report report = {0};
    double steps = NAN;
    model.k = k;
    r->count = 0;
    if (!vf_ok(run, pb_pendulum_model_create(&model, &p), NULL)) return steps;
    ga_simulation s = simulation(p, 1e-3, mode);
    s.t_end = t_end;
    s.output = keep;
    s.user = r;
    ga_coefficients_generalized_alpha(0.3, &def.coefficients, NULL);
    ga_status status = ga_integrator_create(&p->system, &def, &integrator, &report);
    if (status == GA_OK)
        status = ga_integrator_simulate(integrator, p->t0, p->q0, p->v0, &s, &report);
    if (vf_ok(run, status, &report))
        steps = (double)ga_integrator_control_statistics(integrator).accepted;
    ga_integrator_destroy(integrator);
    pb_destroy(p);
    return steps;
}

static void check_stiffness(vf_run *run)
{
    record *r = malloc(sizeof *r);
    if (!r) {
        run->out_of_memory = true;
        return;
    }
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "time", .unit = "s", .low = 0, .high = 2},
                                 .y = {.label = "θ - 3π/2", .unit = "rad"}});
    vf_check(run, "stiff pendulum: steps, k = 3000, positions", 443,
             steps_of(run, 3000, GA_ERROR_POSITIONS, 2, r), 20,
             "borderline decisions may differ between machines");
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "k = 3000",
                                       .marker = GA_MARKER_CIRCLE,
                                       .marker_every = 1,
                                       .count = (size_t)r->count,
                                       .x = r->t,
                                       .y = r->angle,
                                       .width = 1});
    vf_check(run, "stiff pendulum: steps, k = 1e9, positions", 8,
             steps_of(run, 1e9, GA_ERROR_POSITIONS, 2, r), 2,
             "borderline decisions may differ between machines");
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "k = 10^{9}",
                                       .marker = GA_MARKER_SQUARE,
                                       .marker_every = 1,
                                       .count = (size_t)r->count,
                                       .x = r->t,
                                       .y = r->angle,
                                       .width = 1});
    vf_check(run, "stiff pendulum: angle at the end, k = 1e9", 0,
             r->count ? r->angle[r->count - 1] : NAN, 4.7e-3,
             "it has died out, to the tolerance: 1e-3 of 4.7");
    vf_between(run, "stiff pendulum: steps for 0.01 s, k = 1e8, default", 100, 4000,
               steps_of(run, 1e8, GA_ERROR_FULL, 0.01, r),
               "velocities are not small: 3 of 600 periods are followed");
    vf_figure(run, figure,
              "Positions only, tolerance 1e-3: every mark is a step. With k = 3000 the "
              "oscillation is resolved; with k = 1e9 its amplitude of 0.0016 is below the "
              "tolerance, 1e-3 of 4.7, and it is not.");
    free(r);
}

static void run_error_control(vf_run *run)
{
    check_tolerances(run);
    check_work(run);
    check_stiffness(run);
}

const vf_problem vf_own_error_control = {
    .name = "own-error-control",
    .title = "Error control: tolerance and error at the end",
    .source = "own; pendulum and heavy top of [ABC14], Andrews' mechanism of [AB07], rolling "
              "disc, stiff pendulum of [JN08] equation (16)",
    .statement =
        "The step sizes are chosen so that the error at the end, not that of a step, stays "
        "near the tolerance. Four problems with known solutions are run with tolerances from "
        "1e-2 down; the error is that of positions or velocities, relative to the largest "
        "value during the run. It should be below the tolerance, but not far below, which "
        "would be wasted work. A second-order method takes 3.2 times as many steps for each "
        "further digit; subtracting the estimated error after each step gives third order. "
        "Repeating a run with halved steps gives its error to a few percent.\n"
        "\n"
        "Where a stiff spring oscillates with an amplitude below the tolerance, control of "
        "positions only does not resolve it: the pendulum with torsion spring takes 443 steps "
        "with k = 3000 and 8 with k = 1e9.",
    .parameters = "generalized-alpha, index 2, rho_inf 0.9; absolute tolerances 0.01 of the "
                  "relative one\n"
                  "tolerances 1e-2 to 1e-6 (--quick: 1e-4); extrapolation 1e-4 to 1e-8 "
                  "(--quick: 1e-6)\n"
                  "stiff pendulum: rho_inf 0.3, positions only, tolerance 1e-3",
    .quick = true,
    .run = run_error_control,
};
