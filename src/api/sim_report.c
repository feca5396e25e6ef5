/* What a simulation warns of: what its start changed, and what its whole run was like. */
#include "api/sim_report.h"

#include "api/row_text.h"
#include "api/sim_joints.h"
#include "base/report.h"

#include <galpha/lie.h>
#include <math.h>

static const double degrees = 57.29577951308232; /* of a rad */

/* --- warnings ----------------------------------------------------------------------------- */

void ga_sim_warn_model(ga_warnings *warnings, const ga_model *model)
{
    if (!model->aligned.count) return;
    const ga_element *element = model->aligned.element;
    ga_warn(warnings, GA_WARN_AXES_ALIGNED, element->name, NAN,
            "the loop does not close exactly: axes of %d joints were rotated by up to %.2g rad "
            "(%s.%.60s) to make them parallel or perpendicular to those of others (%.60s)",
            model->aligned.count, model->aligned.angle, ga_section_of(element), element->name,
            model->aligned.with);
}

/* A loop that cannot move though its joints look as if it could. */
static void warn_locked(ga_warnings *warnings, const ga_assembly *a,
                        const ga_integrator *integrator)
{
    const ga_model *model = a->model;
    if (!(model->misaligned.angle > 0) || ga_integrator_rank(integrator) < a->nv) return;
    ga_warn(warnings, GA_WARN_AXES_MISALIGNED, model->misaligned.element->name, NAN,
            "the mechanism is locked: the axes of joints %.60s and %.60s in a loop are %.2g "
            "rad off parallel or perpendicular",
            model->misaligned.element->name, model->misaligned.with, model->misaligned.angle);
}

bool ga_sim_has_moved(const ga_assembly *a, int node, const double *q0, const double *q,
                      double *distance, double *angle)
{
    double x[GA_NODE_MAX_NV], squares[2] = {0, 0};
    const double *p = a->model->nodes[node].position;
    const double size = 1 + fabs(p[0]) + fabs(p[1]) + fabs(p[2]), round_off = 1e-12;
    ga_nodes_difference(1, a->nodes + node, q0 + a->q_at[node], q + a->q_at[node], x);
    for (int k = 0; k < ga_node_nv(a->nodes[node]); ++k)
        squares[k >= a->model->dimension] += x[k] * x[k];
    *distance = sqrt(squares[0]);
    *angle = sqrt(squares[1]);
    if (*distance <= round_off * size) *distance = 0;
    if (*angle <= round_off) *angle = 0;
    return *distance > 0 || *angle > 0;
}

enum { MOST_NAMED = 3 };

typedef struct moved {
    int node;
    double distance, angle;
} moved;

/* Keeps the largest few, largest first. */
static void rank(moved *most, int *count, moved one)
{
    int k = *count < MOST_NAMED ? (*count)++ : MOST_NAMED;
    for (; k > 0 && most[k - 1].distance + most[k - 1].angle < one.distance + one.angle; --k)
        if (k < MOST_NAMED) most[k] = most[k - 1];
    if (k < MOST_NAMED) most[k] = one;
}

/* The change of velocity of a node, in m/s and rad/s. */
static moved change_of_velocity(const ga_assembly *a, int node, const ga_sim_initial *start)
{
    double squares[2] = {0, 0};
    for (int k = 0; k < ga_node_nv(a->nodes[node]); ++k) {
        const int at = a->v_at[node] + k;
        const double change = start->v[at] - start->v0[at];
        squares[k >= a->model->dimension] += change * change;
    }
    return (moved){node, sqrt(squares[0]), sqrt(squares[1])};
}

/* The node whose velocity has changed most; its number is negative if none has. Where the model
 * gives no velocities, only motions can have changed them, which is what motions are for. */
static moved most_accelerated(const ga_assembly *a, const ga_sim_initial *start)
{
    moved most = {.node = -1};
    bool given = false;
    for (int i = 0; i < a->model->node_count; ++i)
        for (int k = 0; k < ga_node_nv(a->nodes[i]); ++k)
            given = given || start->v0[a->v_at[i] + k] != 0;
    for (int i = 0; i < a->model->node_count && given; ++i) {
        const moved one = change_of_velocity(a, i, start);
        if (one.distance + one.angle > most.distance + most.angle) most = one;
    }
    return most;
}

static void add_velocity(char text[GA_MESSAGE_SIZE], const char *name, const moved *most)
{
    const double round_off =
        1e-12; /* of one kind against the other, in mechanisms of any size */
    const bool moves = most->distance > round_off * most->angle;
    const bool turns = most->angle > round_off * most->distance;
    ga_message_add(text, " velocities were changed, that of body %.40s by", name);
    if (moves) ga_message_add(text, " %.3g m/s", most->distance);
    if (moves && turns) ga_message_add(text, " and");
    if (turns) ga_message_add(text, " %.3g rad/s", most->angle);
}

static void warn_moved(ga_warnings *warnings, const ga_assembly *a, bool is_v_changed,
                       const ga_sim_initial *start)
{
    moved most[MOST_NAMED] = {{0}};
    int count = 0, total = 0;
    for (int i = 0; i < a->model->node_count; ++i) {
        moved one = {.node = i};
        if (!ga_sim_has_moved(a, i, start->q0, start->q, &one.distance, &one.angle)) continue;
        ++total;
        rank(most, &count, one);
    }
    moved fastest = {.node = -1};
    if (is_v_changed) fastest = most_accelerated(a, start);
    if (!total && fastest.node < 0) return;
    char text[GA_MESSAGE_SIZE] = "";
    const char *apart = total ? ga_sim_joints_apart(a->model, start->t, text) : NULL;
    if (!apart) ga_message_add(text, "the initial values do not satisfy the constraints:");
    for (int k = 0; k < count; ++k) {
        const char *name = a->model->nodes[most[k].node].name;
        ga_message_add(text, "%s body %.40s was", k ? "," : "", name);
        if (most[k].distance > 0) ga_message_add(text, " moved by %.3g m", most[k].distance);
        if (most[k].distance > 0 && most[k].angle > 0) ga_message_add(text, " and");
        if (most[k].angle > 0)
            ga_message_add(text, " rotated by %.3g rad (%.3g deg)", most[k].angle,
                           most[k].angle * degrees);
    }
    if (total > count) ga_message_add(text, ", and %d more", total - count);
    if (fastest.node >= 0) {
        if (total) ga_message_add(text, ";");
        add_velocity(text, a->model->nodes[fastest.node].name, &fastest);
    }
    const char *body = a->model->nodes[total ? most[0].node : fastest.node].name;
    ga_warn(warnings, apart ? GA_WARN_JOINT_APART : GA_WARN_START_MOVED, apart ? apart : body,
            NAN, "%s", text);
}

ga_status ga_sim_warn_start(ga_warnings *warnings, const ga_assembly *a,
                            const ga_integrator *integrator, int count,
                            const ga_sim_initial *start)
{
    for (int k = 0; k < count; ++k)
        ga_warn(warnings, GA_WARN_METHOD, NULL, NAN, "%s",
                ga_integrator_warning(integrator, k));
    const ga_projection projection = ga_integrator_projection(integrator);
    if (projection.q > 0 || projection.v > 0) warn_moved(warnings, a, projection.v > 0, start);
    warn_locked(warnings, a, integrator);
    char redundant[GA_MESSAGE_SIZE];
    const char *element = ga_redundant_text(a, integrator, redundant);
    if (!redundant[0]) return GA_OK;
    int singular = 0;
    GA_TRY(ga_integrator_is_singular(integrator, &singular));
    if (singular)
        ga_warn(
            warnings, GA_WARN_SINGULAR_START, element, NAN,
            "the mechanism starts in a singular position (stretched, folded or flat): "
            "constraints of %.60s depend on others there, though not elsewhere, so a motion "
            "from there may not be unique, or may not exist",
            element);
    else
        ga_warn(warnings, GA_WARN_REDUNDANT, element, NAN, "%s", redundant);
    return GA_OK;
}

/* --- warnings of a run -------------------------------------------------------------------- */

/* How far bodies are apart, or from the origin: a length to compare with. */
static double extent(const ga_model *model)
{
    double size = 0;
    for (int i = 0; i < model->node_count; ++i)
        for (int k = 0; k < 3; ++k) size = fmax(size, fabs(model->nodes[i].position[k]));
    return size;
}

static double total_mass(const ga_assembly *a)
{
    double sum = 0;
    for (int i = 0; i < a->model->body_count; ++i) sum += a->model->bodies[i].mass;
    return sum;
}

/* Of a model in which every body moves by less than 1e-7 of the model's size. */
static double energy_at_rest(const ga_assembly *a, double duration)
{
    static const double rest = 1e-7;
    const double size = extent(a->model), speed = rest * (size > 0 ? size : 1) / duration;
    return duration > 0 ? 0.5 * total_mass(a) * speed * speed : 0;
}

double ga_sim_energy_round_off(const ga_assembly *a, double energy, double duration)
{
    static const double round_off = 1e-13;
    const double *g = a->model->gravity;
    const double weight =
        total_mass(a) * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * extent(a->model);
    return round_off * (energy + weight) + energy_at_rest(a, duration);
}

/* Energies that mean nothing in a balance: round-off of large potentials, and what a model at
 * rest has. */
static double negligible_energy(const ga_assembly *a, const ga_sim_end *end)
{
    static const double round_off = 1e-9;
    return round_off * (end->kinetic + end->potential) + energy_at_rest(a, end->duration);
}

/* Kinetic energy at the start of the centre of mass of all. */
static double energy_of_translation(const ga_assembly *a)
{
    const double mass = total_mass(a);
    double square = 0;
    for (int k = 0; k < 3 && mass > 0; ++k) {
        double momentum = 0;
        for (int i = 0; i < a->model->body_count; ++i)
            momentum += a->model->bodies[i].mass * a->model->bodies[i].velocity[k];
        square += momentum / mass * momentum / mass;
    }
    return 0.5 * mass * square;
}

/* What the error of the balance is compared with. Where little is exchanged, as in a body that
 * spins, it is part of the kinetic energy; translation, which is not at risk, is left out. */
static double energy_at_stake(const ga_assembly *a, const ga_sim_end *end)
{
    static const double part = 0.2;
    return fmax(end->exchanged, part * (end->kinetic - energy_of_translation(a)));
}

static void warn_balance(ga_warnings *warnings, const ga_assembly *a, const ga_sim_end *end)
{
    static const double tolerated = 0.05;
    const double stake = energy_at_stake(a, end);
    if (!(end->duration > 0)) return;
    if (isfinite(end->drift) && end->drift <= tolerated * stake) return;
    if (end->drift <= negligible_energy(a, end)) return;
    ga_warn(warnings, GA_WARN_ENERGY_BALANCE, NULL, end->drift_time,
            "the energy balance error is %.3g J at t = %.6g s, where %.3g J were exchanged and "
            "the kinetic energy is at most %.3g J: do not trust the motion",
            end->drift, end->drift_time, end->exchanged, end->kinetic);
}

/* Where only positions count, oscillations that steps do not resolve are damped, and their
 * energy is lost. If their frequencies depend on the position, it acts on the motion like a
 * potential: without it positions are off by about this part of the size. Spring pendulums and
 * chains of 1 to 4 masses, k = 1e4 to 1e12, and all examples, tolerances 1e-3 to 1e-6: motions
 * without such oscillations lose up to 10 tolerances; where 35 were lost, positions were off
 * by 35. Radau damps oscillations whose velocities are small by the tolerance, which may be all
 * of a short run: examples lose up to 2.1 tolerances at 1e-3 to 1e-6. With tighter ones the
 * balance has errors of its own. */
static void warn_oscillations(ga_warnings *warnings, const ga_assembly *a,
                              const ga_sim_end *end)
{
    static const double tolerated = 20, least = 1e-6;
    const bool positions = end->positions_tolerance > 0;
    const double energy = fmax(end->exchanged, end->kinetic);
    const double tolerance = positions ? end->positions_tolerance : end->radau_tolerance;
    if (ga_warnings_have(warnings, GA_WARN_ENERGY_BALANCE)) return;
    if (!(tolerance > 0)) return;
    if (end->drift <= tolerated * (positions ? tolerance : fmax(tolerance, least)) * energy)
        return;
    if (end->drift <= negligible_energy(a, end)) return;
    ga_warn(warnings, GA_WARN_OSCILLATIONS_LOST, NULL, end->drift_time,
            "the energy balance error is %.3g J of %.3g J, %.2g times the tolerance: with `%s` "
            "fast oscillations are damped instead of followed; what their energy does to the "
            "motion is missing, and positions may be off by as much",
            end->drift, energy, end->drift / (energy * tolerance),
            positions ? "error: positions" : "method: radau");
}

/* Velocities that are small against the sizes their tolerances are relative to. Less than a
 * thousandth of the energy is not worth a warning. */
static void warn_slow(ga_warnings *warnings, const ga_assembly *a, const ga_sim_end *end)
{
    static const double tolerated = 20, least = 1e-3;
    const double energy = fmax(end->exchanged, end->kinetic), tolerance = end->slow_tolerance;
    if (ga_warnings_have(warnings, GA_WARN_ENERGY_BALANCE)) return;
    if (ga_warnings_have(warnings, GA_WARN_OSCILLATIONS_LOST)) return;
    if (!(tolerance > 0) || end->drift <= fmax(tolerated * tolerance, least) * energy) return;
    if (end->drift <= negligible_energy(a, end)) return;
    ga_warn(
        warnings, GA_WARN_SLOW, NULL, end->drift_time,
        "the energy balance error is %.3g J of %.3g J, %.2g times the tolerance, which takes "
        "velocities for at least as large as the largest position, or 1 rad, by the "
        "duration; they are smaller",
        end->drift, energy, end->drift / (energy * tolerance));
}

/* The tolerance allows an error of speed besides that of an angle: what keeps turning is ahead
 * or behind by what it makes in all turns. If the error of the balance grows evenly and is one
 * of speed, that is a dE/(4 E) after an angle a. Flywheels and pendulums that go over the top,
 * by generalized-alpha and radau, at 1e-3 and 1e-5: errors were 0.4 to 9 times this, and those
 * above ten tolerances 0.9 to 5 times. */
static void warn_turning(ga_warnings *warnings, const ga_assembly *a, const ga_sim_end *end)
{
    static const double tolerated = 3;
    const double error = end->turned * end->drift / (4 * end->kinetic);
    if (!end->turning || !(end->angle_tolerance > 0)) return;
    if (ga_warnings_have(warnings, GA_WARN_ENERGY_BALANCE)) return;
    if (!(error > tolerated * end->angle_tolerance)) return;
    if (end->drift <= negligible_energy(a, end)) return;
    ga_warn(warnings, GA_WARN_TURNING, end->turning, end->drift_time,
            "joints.%.60s has turned by %.3g rad, and the energy balance error is %.2g of the "
            "kinetic energy: its speed is off by half as much, and its angle may be off by "
            "%.2g rad, %.2g times the tolerance",
            end->turning, end->turned, end->drift / end->kinetic, error,
            error / end->angle_tolerance);
}

static void warn_residuals(ga_warnings *warnings, const ga_assembly *a, const ga_sim_end *end)
{
    static const double tolerated = 1e-8, small = 1e-2; /* of the size, m */
    const double size = fmax(extent(a->model), small);
    const double mass = total_mass(a), speed = mass > 0 ? sqrt(2 * end->kinetic / mass) : 0;
    if (!(end->position_residual <= tolerated * size))
        ga_warn(warnings, GA_WARN_POSITION_RESIDUAL, NULL, end->t,
                "constraints are violated by up to %.3g (m or rad), in a model of "
                "%.3g m",
                end->position_residual, size);
    else if (end->keeps_velocities && end->duration > 0 &&
             !(end->velocity_residual <= tolerated * fmax(speed, size / end->duration) * 10))
        ga_warn(warnings, GA_WARN_VELOCITY_RESIDUAL, NULL, end->t,
                "velocities violate the constraints by up to %.3g (m/s or rad/s), in a model "
                "with speeds up to %.3g m/s",
                end->velocity_residual, speed);
}

void ga_sim_warn_end(ga_warnings *warnings, const ga_assembly *a, const ga_sim_end *end)
{
    warn_balance(warnings, a, end);
    warn_oscillations(warnings, a, end);
    warn_slow(warnings, a, end);
    warn_turning(warnings, a, end);
    warn_residuals(warnings, a, end);
}
