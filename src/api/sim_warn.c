/* When a simulation warns. */
#include "api/sim.h"
#include "api/sim_report.h"
#include "base/report.h"
#include "element/joint.h"
#include "model/given.h"

#include <math.h>
#include <string.h>

/* Of each kind so many elements are looked at: that may take a solve, or go through the model.
 */
enum { MOST_ASSUMED = 100 };

/* Whether a rate can be other than zero: an impulse along it moves something, by more than a
 * millionth of what it would do to the bodies alone. */
static bool can_move(ga_sim *sim, const ga_element *element, const double *row)
{
    return ga_sim_mobility(sim, element, row, sim->def.t_start,
                           ga_integrator_q(sim->integrator),
                           ga_integrator_v(sim->integrator)) > 1e-6;
}

static void warn_assumptions(ga_sim *sim)
{
    int count = 0;
    for (int e = 0; e < sim->model->element_count && count < MOST_ASSUMED; ++e) {
        const ga_element *element = sim->model->elements[e];
        double rows[2 * GA_TWIST * GA_ELEMENT_MAX_NODES];
        if (!element->type->assumed || sim->model->dimension == 2) continue;
        const ga_element_state state =
            ga_assembly_state(sim->assembly, sim->def.t_start, ga_integrator_q(sim->integrator),
                              ga_integrator_v(sim->integrator), NULL, NULL);
        const int rates = element->type->assumed(element, &state, rows);
        bool moves = false;
        for (int r = 0; r < rates && !moves; ++r)
            moves = can_move(sim, element, rows + r * GA_TWIST * element->node_count);
        if (moves)
            ga_warn(&sim->warnings, GA_WARN_AXIS_NOT_KEPT, element->name, NAN, "%s.%.60s: %s",
                    element->type->section, element->name, element->type->assumption);
        ++count;
    }
}

/* Is this a bearing of a shaft: something that turns about the third of the joint's axes? */
static bool is_bearing(const ga_element *element)
{
    static const char *const names[] = {"revolute", "cylindrical", "screw"};
    for (int k = 0; k < 3; ++k)
        if (strcmp(element->type->name, names[k]) == 0) return true;
    return false;
}

/* The bearing of this shaft, as in the model file, in the frame, or in any if that is null;
 * from element *from on, which becomes the one behind it. */
static const ga_joint *next_bearing(const ga_model *model, int shaft, const int *frame,
                                    int *from)
{
    while (*from < model->element_count) {
        const ga_element *element = model->elements[(*from)++];
        const int *nodes = element->nodes;
        if (!is_bearing(element) || (nodes[0] != shaft && nodes[1] != shaft)) continue;
        if (!frame || nodes[0] == *frame || nodes[1] == *frame)
            return (const ga_joint *)(const void *)element;
    }
    return NULL;
}

/* A universal joint between two shafts in one frame transmits torque along the second of its
 * axes, across those of the cross. */
static void warn_cross(ga_sim *sim, const ga_joint *cross, const ga_joint *bearing)
{
    static const double across = 1e-3;
    const double *y = cross->E + 3, *z = bearing->E + 6;
    if (fabs(y[0] * z[0] + y[1] * z[1] + y[2] * z[2]) > across) return;
    ga_warn(&sim->warnings, GA_WARN_CROSS_AXIS, cross->element.name, NAN,
            "joints.%.60s transmits no torque to the shaft that turns in joints.%.60s",
            cross->element.name, bearing->element.name);
}

static void warn_crosses(ga_sim *sim)
{
    const ga_model *model = sim->model;
    int count = 0;
    for (int e = 0; e < model->element_count && count < MOST_ASSUMED; ++e) {
        const ga_joint *cross = (const ga_joint *)(const void *)model->elements[e];
        const int *shafts = cross->element.nodes;
        const ga_joint *first = NULL, *second = NULL;
        if (strcmp(cross->element.type->name, "universal") != 0) continue;
        for (int from = 0; !second && (first = next_bearing(model, shafts[0], NULL, &from));) {
            const int *sides = first->element.nodes, *frame = sides + (sides[0] == shafts[0]);
            int other = 0;
            if (*frame != shafts[1]) second = next_bearing(model, shafts[1], frame, &other);
        }
        if (second) warn_cross(sim, cross, first);
        if (second) warn_cross(sim, cross, second);
        ++count;
    }
}

/* The coordinate that a motion drives. */
static const ga_channel_type *driven_value(const ga_element *element)
{
    for (const ga_channel_type *c = element->type->channels; c && c->name; ++c)
        if (strcmp(c->name, "value") == 0 && (!c->there || c->there(element))) return c;
    return NULL;
}

/* The integral of f from t0 to t1 by the midpoint rule, and that of |f|: of what so many steps
 * resolve. */
static double integral(const ga_function *f, double t0, double t1, long steps, double *way)
{
    const long panels = 1000 + 4 * steps;
    const double h = (t1 - t0) / (double)panels;
    double sum = 0;
    *way = 0;
    for (long k = 0; k < panels; ++k) {
        const double t = t0 + h * ((double)k + 0.5);
        double x[3];
        ga_function_rates(f, &t, x);
        sum += h * x[0];
        *way += h * fabs(x[0]);
    }
    return sum;
}

/* With fixed steps a coordinate that is driven by its velocity has the error of the method,
 * which nothing else shows: the rate is exact, and the energy balance closes. At the start an
 * angle is the nearest to that of the file. */
static void warn_lag(ga_sim *sim)
{
    static const double much = 0.01, turn = 6.283185307179586;
    const double t0 = sim->from_t, t1 = sim->balance.last_t;
    const long steps = ga_integrator_statistics(sim->integrator).steps;
    if (sim->def.control.relative > 0) return;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        const ga_given given = ga_given_at_all(element, 0);
        const ga_channel_type *value = driven_value(element);
        double from, to, way;
        if (!value || !given.function || given.level != GA_GIVEN_VELOCITY ||
            ga_function_variables(given.function) > 1)
            continue;
        ga_element_state state =
            ga_assembly_state(sim->assembly, t0, sim->from_q, sim->from_v, NULL, NULL);
        value->value(element, &state, &from);
        state = ga_assembly_state(sim->assembly, t1, ga_integrator_q(sim->integrator),
                                  ga_integrator_v(sim->integrator), NULL, NULL);
        value->value(element, &state, &to);
        if (strcmp(value->unit, "rad") == 0) from = remainder(from, turn);
        const double leads = integral(given.function, t0, t1, steps, &way);
        if (!(fabs(to - from - leads) > much * way)) continue;
        ga_warn(
            &sim->warnings, GA_WARN_LAG, element->name, t1,
            "%s.%.60s: the coordinate has moved by %.5g %s, and its prescribed velocity leads "
            "to %.5g %s",
            element->type->section, element->name, to - from, value->unit, leads, value->unit);
    }
}

static double positions_tolerance(const ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    return control->mode == GA_ERROR_POSITIONS ? control->relative : 0;
}

/* By the largest position, if radau made most of the steps. */
static double radau_tolerance(const ga_sim *sim)
{
    const ga_method_use use = ga_integrator_method_use(sim->integrator);
    long others = 0;
    for (int k = 0; k < GA_METHOD_COUNT; ++k)
        if (k != GA_METHOD_RADAU) others += use.steps[k];
    if (!(sim->def.control.relative > 0) || use.steps[GA_METHOD_RADAU] <= others) return 0;
    double of_q[2], of_v[2];
    ga_integrator_sizes(sim->integrator, of_q, of_v);
    return sim->def.control.relative + sim->def.control.absolute_translation / of_q[0];
}

/* If all velocities are below the largest position, or 1 rad, by the duration. */
static double slow_tolerance(const ga_sim *sim)
{
    static const double round_off = 1e-12;
    const double duration = sim->def.t_end - sim->def.t_start;
    double of_q[2], of_v[2];
    if (!(sim->def.control.relative > 0) || positions_tolerance(sim) > 0) return 0;
    ga_integrator_sizes(sim->integrator, of_q, of_v);
    for (int k = 0; k < 2; ++k)
        if (!(of_v[k] * duration <= of_q[k] * (1 + round_off))) return 0;
    return sim->def.control.relative + sim->def.control.absolute_translation / of_q[0];
}

/* With less damping unresolved oscillations decay too slowly, or grow where steps change. */
static const double POSITIONS_RHO = 0.6;

static void warn_damping(ga_sim *sim)
{
    const double rho = ga_coefficients_describe(&sim->def.integrator.coefficients).rho_infinity;
    if (!(positions_tolerance(sim) > 0) || !(rho > POSITIONS_RHO)) return;
    ga_warn(&sim->warnings, GA_WARN_DAMPING, NULL, NAN,
            "`error: positions` with rho_inf = %.3g: oscillations that are not resolved decay "
            "slowly, and the error may be far above the tolerance",
            rho);
}

/* Without round-off the sum would be at most 1. */
static void warn_tolerance(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    if (!(stats.error_sum > 2)) return;
    ga_warn(&sim->warnings, GA_WARN_TOLERANCE, NULL, NAN,
            "the tolerance of %.3g was not met: the estimated errors of the steps add up to "
            "%.3g times the tolerance",
            sim->def.control.relative, stats.error_sum);
}

/* `tolerance: 1e-6` is also absolute, in metres: as large as a mechanism of micrometres. Where
 * bodies turn, angles are controlled as well, and positions with them. */
static void warn_coarse(ga_sim *sim)
{
    static const double part = 1e-3, times = 100, round_off = 1e-12;
    const ga_control *control = &sim->def.control;
    const double absolute = control->absolute_translation;
    const double duration = sim->def.t_end - sim->def.t_start;
    double of_q[2], of_v[2];
    ga_integrator_sizes(sim->integrator, of_q, of_v);
    if (!(of_q[0] > round_off) || of_v[1] * duration > 1 + round_off) return;
    if (absolute != control->absolute_rotation) return; /* chosen for this kind */
    if (!(absolute > part * of_q[0] && absolute > times * control->relative * of_q[0])) return;
    ga_warn(&sim->warnings, GA_WARN_COARSE, NULL, NAN,
            "the absolute tolerance of %.3g m is %.2g times the largest position, %.3g m: "
            "errors may be as large",
            absolute, absolute / of_q[0], of_q[0]);
}

static void warn_grazing(ga_sim *sim)
{
    const ga_impact_errors *least = NULL;
    const ga_element *element = NULL;
    for (int k = 0; k < sim->model->event_count; ++k) {
        const ga_impact_errors *errors = sim->impact_errors + k;
        if (errors->graze == INFINITY || (least && fabs(least->graze) <= fabs(errors->graze)))
            continue;
        least = errors;
        element = sim->model->elements[sim->event_element[k]];
    }
    if (!least) return;
    const bool beyond = least->graze < 0;
    ga_warn(&sim->warnings, GA_WARN_GRAZING, element->name, least->graze_at,
            "joints.%.60s grazes its stop: at t = %.6g s it %s %.2g %s %s it, which "
            "is less than the errors that must be expected; whether it strikes is not certain",
            element->name, least->graze_at, beyond ? "would turn back" : "turns back",
            fabs(least->graze), least->angular ? "rad" : "m", beyond ? "beyond" : "before");
}

/* Errors are within ten tolerances where nothing multiplies them. */
static const double SENSITIVE = 10;

static void warn_impacts(ga_sim *sim)
{
    const double duration = sim->def.t_end - sim->def.t_start;
    const ga_element *element = NULL;
    ga_impact_errors most = {.most = SENSITIVE};
    for (int k = 0; k < sim->model->event_count; ++k) {
        ga_impact_errors errors = sim->impact_errors[k];
        if (!(errors.impacts > 0)) continue;
        ga_impact_errors_fly(&errors, sim->t, duration);
        if (!(errors.most > most.most)) continue;
        most = errors;
        element = sim->model->elements[sim->event_element[k]];
    }
    if (!element) return;
    ga_warn(&sim->warnings, GA_WARN_SENSITIVE_IMPACTS, element->name, most.when,
            "impacts at the stop of joints.%.60s multiply earlier errors by about %.2g up to "
            "t = %.6g s",
            element->name, most.most, most.when);
}

/* Runs that take more steps than this and might take far fewer say so. */
static const long MANY_STEPS = 10000;

static bool is_long(const ga_sim *sim, const ga_control_statistics *stats)
{
    return sim->def.control.relative > 0 && stats->accepted + stats->rejected >= MANY_STEPS;
}

static void warn_chattering(ga_sim *sim, const ga_control_statistics *stats)
{
    if (stats->rejected <= 2 * stats->accepted && stats->jumps <= stats->accepted / 20) return;
    if (ga_warnings_have(&sim->warnings, GA_WARN_CHATTERING)) return;
    ga_warn(&sim->warnings, GA_WARN_CHATTERING, NULL, sim->t,
            "a force jumps again and again: %ld jumps found, %ld steps rejected, %ld accepted "
            "up to t = %.6g s",
            stats->jumps, stats->rejected, stats->accepted, sim->t);
}

/* A chattering force may keep a run from ever ending, so this cannot wait for the end. */
void ga_sim_warn_step(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    if (stats.accepted % 1000 == 0 && is_long(sim, &stats)) warn_chattering(sim, &stats);
}

/* Methods of higher order take far fewer steps. Where `auto` has tried them it knows better;
 * with friction that depends on reactions, or a loose tolerance, it does not try. A run that
 * failed has other troubles. */
static void warn_many_steps(ga_sim *sim, const ga_control_statistics *stats)
{
    const ga_method_use use = ga_integrator_method_use(sim->integrator);
    const long steps = use.steps[GA_METHOD_GENERALIZED_ALPHA];
    const bool told = ga_warnings_have(&sim->warnings, GA_WARN_STIFF_STEPS) ||
                      ga_warnings_have(&sim->warnings, GA_WARN_CHATTERING);
    if (told || sim->failed || steps < MANY_STEPS || steps < stats->accepted) return;
    ga_warn(&sim->warnings, GA_WARN_MANY_STEPS, NULL, NAN,
            "%ld steps of generalized-alpha, %ld of them of third order, for a tolerance of "
            "%.3g: methods of higher order take far fewer",
            steps, stats->third_order, sim->def.control.relative);
}

/* Comparisons of step sizes would be wrong. */
static void warn_cut_steps(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    const long cut = ga_integrator_statistics(sim->integrator).halvings;
    const bool fixed = sim->def.step > 0 && !(sim->def.control.relative > 0);
    if (!fixed || sim->failed || cut * 20 <= stats.accepted) return;
    ga_warn(&sim->warnings, GA_WARN_STEPS_CUT, NULL, NAN,
            "%ld times a step did not converge and was halved; the shortest of %ld steps has "
            "%.3g s instead of %.3g s",
            cut, stats.accepted, stats.step_min, sim->def.step);
}

/* What makes a run expensive, and what to do about it. */
static void warn_cost(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    if (!is_long(sim, &stats)) return;
    if (stats.stiff > stats.accepted / 2)
        ga_warn(&sim->warnings, GA_WARN_STIFF_STEPS, NULL, NAN,
                "most of %ld steps are ten times shorter than the positions need: they follow "
                "fast, small oscillations or decays",
                stats.accepted);
    warn_chattering(sim, &stats);
    warn_many_steps(sim, &stats);
}

ga_status ga_sim_warn_begin(ga_sim *sim)
{
    const ga_sim_initial start = {.t = sim->def.t_start,
                                  .q0 = sim->q0,
                                  .v0 = sim->v0,
                                  .q = ga_integrator_q(sim->integrator),
                                  .v = ga_integrator_v(sim->integrator)};
    GA_TRY(ga_sim_warn_start(&sim->warnings, sim->assembly, sim->integrator,
                             sim->method_warnings, &start));
    warn_assumptions(sim);
    warn_crosses(sim);
    warn_damping(sim);
    return GA_OK;
}

/* One by the inertia of a body about an axis of a joint, from the gradient of its angle in body
 * axes; 0 for the ground. */
static double ease_about(const ga_assembly *a, const ga_joint *joint, int b,
                         const double *gradient)
{
    const int node = joint->element.nodes[b];
    const double *p = joint->marker[b].p, *n = gradient + GA_TWIST * b + 3;
    if (node < 0 || !a->has_body[node]) return 0;
    const double *J = a->inertia + (size_t)(a->model->dimension == 2 ? 1 : 9) * (size_t)node;
    const double along = p[0] * n[0] + p[1] * n[1] + p[2] * n[2];
    const double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - along * along;
    double inertia = a->mass[node] * square;
    if (a->model->dimension == 2) return 1 / (inertia + J[0]);
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) inertia += n[i] * J[i + 3 * k] * n[k];
    return 1 / inertia;
}

/* Only where what turns has much of the energy is the error of the balance likely to be one of
 * its speed. */
static void find_turning(ga_sim *sim, ga_sim_end *end)
{
    static const double turn = 6.283185307179586, much = 0.3;
    ga_assembly *a = sim->assembly;
    const ga_element_state state =
        ga_assembly_state(a, sim->balance.last_t, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), NULL, NULL);
    if (ga_sim_is_driven(sim->model)) return;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_joint *joint = (const ga_joint *)(const void *)sim->model->elements[e];
        if (!sim->model->elements[e]->type->is_joint) continue;
        for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
            ga_scalar s;
            if (!ga_joint_coordinate_type(joint, k)->angular) continue;
            ga_joint_coordinate(joint, k, &state, GA_ORDER_GRADIENT, &s);
            const double angle = fabs(s.value), speed = angle / end->duration;
            const double ease = ease_about(a, joint, 0, s.g) + ease_about(a, joint, 1, s.g);
            if (!(angle > fmax(turn, end->turned))) continue;
            if (0.5 * speed * speed < much * end->kinetic * ease) continue;
            end->turning = joint->element.name;
            end->turned = angle;
        }
    }
}

/* Of angles; 0 where none is asked for, or only positions count. */
static double angle_tolerance(const ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    if (!(control->relative > 0) || positions_tolerance(sim) > 0) return 0;
    return control->relative + control->absolute_rotation;
}

static void warn_end(ga_sim *sim)
{
    const ga_integrator *integrator = sim->integrator;
    const ga_sample at = {.t = ga_integrator_time(integrator), /* before what failed */
                          .q = ga_integrator_q(integrator),
                          .v = ga_integrator_v(integrator)};
    ga_moment moment = {.model = sim->model};
    ga_sim_residuals(sim, &at, &moment);
    const ga_formulation formulation = sim->def.integrator.formulation;
    const ga_statistics steps = ga_integrator_statistics(integrator);
    ga_sim_end end = {
        .t = sim->t,
        .duration = sim->balance.last_t - sim->def.t_start,
        .drift = sim->balance.drift_max,
        .drift_time = sim->balance.drift_time,
        .exchanged = fmax(sim->balance.exchanged,
                          sim->balance.largest_kinetic - sim->balance.least_kinetic),
        .kinetic = sim->balance.largest_kinetic,
        .potential = sim->balance.largest_potential,
        .position_residual = fmax(moment.position_residual, steps.position_residual_max),
        .velocity_residual = fmax(moment.velocity_residual, steps.velocity_residual_max),
        .keeps_velocities = formulation == GA_INDEX2 || formulation == GA_SOI2,
        .positions_tolerance = positions_tolerance(sim),
        .radau_tolerance = radau_tolerance(sim),
        .slow_tolerance = slow_tolerance(sim),
        .angle_tolerance = angle_tolerance(sim),
    };
    if (end.angle_tolerance > 0 && end.duration > 0) find_turning(sim, &end);
    ga_sim_warn_end(&sim->warnings, sim->assembly, &end);
}

void ga_sim_warn_over(ga_sim *sim)
{
    if (sim->started) warn_end(sim);
    warn_tolerance(sim);
    warn_coarse(sim);
    warn_grazing(sim);
    warn_impacts(sim);
    warn_cut_steps(sim);
    if (sim->started) warn_lag(sim);
    warn_cost(sim);
}
