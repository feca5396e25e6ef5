#include "api/sim_report.h"

#include "api/row_text.h"
#include "api/sim_joints.h"
#include "base/memory.h"
#include "base/report.h"
#include "element/joint.h"
#include "model/gap.h"
#include "model/given.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double degrees = 57.29577951308232; /* of a rad */

static const char *section_of(const ga_element *element)
{
    return element->type->section ? element->type->section : "joints";
}

/* --- warnings ----------------------------------------------------------------------------- */

void ga_sim_warn_model(ga_warnings *warnings, const ga_model *model)
{
    if (!model->aligned.count) return;
    const ga_element *element = model->aligned.element;
    ga_warn(warnings, GA_WARN_AXES_ALIGNED, element->name, NAN,
            "the loop does not close exactly: axes of %d joints were rotated by up to %.2g rad "
            "(%s.%.60s) to make them parallel or perpendicular to those of others (%.60s)",
            model->aligned.count, model->aligned.angle, section_of(element), element->name,
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
    warn_residuals(warnings, a, end);
}

/* --- failures ----------------------------------------------------------------------------- */

static void name_row(const ga_assembly *a, int row, ga_report *report)
{
    int local;
    const ga_element *element = ga_assembly_row(a, row, &local);
    report->column = -1;
    report->row = element ? row : -1;
    if (!element) return;
    char text[GA_ROW_TEXT];
    ga_row_text(a, row, text);
    ga_message_add(report->message, " (%s.%.60s: %s)", section_of(element), element->name,
                   text);
}

static void name_column(const ga_assembly *a, int column, ga_report *report)
{
    report->row = -1;
    report->column = column;
    int node = ga_assembly_column(a, column);
    if (node >= 0) ga_message_add(report->message, " (body %.60s)", a->model->nodes[node].name);
}

/* u: coordinates, then (lambda, psi), then perhaps eta. */
static void name_unknown(const ga_assembly *a, int u, ga_report *report)
{
    const int rows = a->model->rows + a->model->speed_rows;
    if (u < a->nv)
        name_column(a, u, report);
    else if (rows)
        name_row(a, (u - a->nv) % rows, report);
}

void ga_sim_explain_misaligned(const ga_assembly *a, ga_report *report)
{
    const ga_model *model = a->model;
    if (!(model->misaligned.angle > 0)) return;
    ga_message_add(
        report->message,
        ": the loop does not close, the axes of joints %.60s and %.60s are %.2g rad off "
        "parallel or perpendicular",
        model->misaligned.element->name, model->misaligned.with, model->misaligned.angle);
    report->remedy =
        "give the axes with more digits (within 1e-5 rad they are aligned automatically), or "
        "replace a `revolute` joint of the loop by a `spherical` or `cylindrical` one";
}

/* --- constraints that contradict each other ----------------------------------------------- */

enum { MOST_PARTNERS = 6 };

typedef struct partners {
    const ga_element *of[1 + MOST_PARTNERS]; /* the first is the one that cannot be satisfied */
    int count;
    bool driven; /* a motion is among them */
    bool sticks; /* stiction or a stop is */
} partners;

static void add_partner(const ga_assembly *a, int row, partners *p)
{
    int local;
    const ga_element *element = ga_assembly_row(a, row, &local);
    for (int k = 0; k < p->count; ++k)
        if (p->of[k] == element) return;
    if (!element || p->count > MOST_PARTNERS) return;
    p->of[p->count++] = element;
    if (element->rheonomic) p->driven = true;
    if (element->type == &ga_drive) p->sticks = true;
}

/* The elements of a row, and of those it depends on or that depend on it. */
static partners find_partners(const ga_assembly *a, const ga_integrator *integrator, int row)
{
    partners p = {.count = 0};
    add_partner(a, row, &p);
    for (int k = 0; k < ga_integrator_redundant_count(integrator); ++k) {
        const ga_redundant_row one = ga_integrator_redundant_row(integrator, k);
        bool concerned = one.row == row;
        for (int i = 0; i < one.with_count; ++i) concerned |= one.with[i] == row;
        if (!concerned) continue;
        add_partner(a, one.row, &p);
        for (int i = 0; i < one.with_count; ++i) add_partner(a, one.with[i], &p);
    }
    return p;
}

/* Do gaps remain at q, where assembly ended? If so, the widest one of these elements as they
 * are given; or of all, as Newton's method spreads a gap over the whole loop. */
static bool find_gap(ga_assembly *a, double t, const double *q0, const double *q,
                     const partners *p, ga_gap *gap)
{
    ga_gap *gaps = GA_NEW(ga_gap, a->model->element_count);
    const bool open = gaps && ga_gaps_find(a, t, q, gaps) > 0;
    const int count = open ? ga_gaps_find(a, t, q0, gaps) : 0;
    bool found = false;
    if (count) *gap = gaps[0];
    for (int k = 0; k < count && !found; ++k)
        for (int i = 0; i < p->count && !found; ++i) {
            found = strcmp(gaps[k].element, p->of[i]->name) == 0;
            if (found) *gap = gaps[k];
        }
    ga_free(gaps);
    return count > 0;
}

static void add_gap(char *text, const ga_gap *gap)
{
    const double distance = gap->distance, angle = gap->angle;
    if (!(distance > 0) && !(angle > 0)) {
        ga_message_add(text, "; as given, %.40s is off by %.3g", gap->element, gap->residual);
        return;
    }
    const bool turns = !(distance > 0) || angle > 1e-10;
    ga_message_add(text, "; as given, the sides of %.40s are", gap->element);
    if (distance > 0) ga_message_add(text, " %.3g m%s", distance, turns ? " and" : "");
    if (turns) ga_message_add(text, " %.3g rad (%.3g deg)", angle, angle * degrees);
    ga_message_add(text, " apart");
}

void ga_sim_explain_contradiction(ga_assembly *a, const ga_integrator *integrator,
                                  const double *q0, bool started, ga_report *report)
{
    int local;
    if (report->row < 0 || !ga_assembly_row(a, report->row, &local)) return;
    const partners p = find_partners(a, integrator, report->row);
    char row[GA_ROW_TEXT];
    ga_row_text(a, report->row, row);
    report->message[0] = '\0';
    ga_message_add(report->message, "at t = %.9g s %s.%.40s (%.60s) contradicts ", report->time,
                   section_of(p.of[0]), p.of[0]->name, row);
    for (int k = 1; k < p.count && k < MOST_PARTNERS; ++k)
        ga_message_add(report->message, "%s%.24s", k > 1 ? ", " : "", p.of[k]->name);
    if (p.count == 1) ga_message_add(report->message, "other joints");
    if (p.count > MOST_PARTNERS) ga_message_add(report->message, ", ...");
    ga_gap gap = {.element = ""};
    const bool open =
        !started && find_gap(a, report->time, q0, ga_integrator_q(integrator), &p, &gap);
    if (open) {
        ga_message_add(report->message, ": they cannot all be closed");
        add_gap(report->message, &gap);
    } else if (!started) {
        ga_message_add(report->message,
                       ": positions agree, but not the velocities or accelerations");
    } else {
        ga_message_add(report->message, ": they cannot all be satisfied from here on");
    }
    report->remedy =
        p.sticks
            ? "`friction: {model: regularised}` or `limits: {model: buffer}` in one of these "
              "joints, which are not locked then"
        : p.driven && !open
            ? "a motion that the mechanism can follow: not two of one coordinate, "
              "not from a dead point, not beyond its reach"
        : p.driven ? "values of motions and locations of joints that agree at the start"
        : a->model->dimension == 2
            ? "lengths and locations of joints that fit together (with more digits, if the gap "
              "is small), or a joint with fewer constraints in the loop (`point-on-line`)"
            : "lengths and locations of joints that fit together (with more digits, if the gap "
              "is small), or a joint with fewer constraints in the loop (`spherical`, "
              "`point-on-line`)";
}

/* The joint that a motion drives; null: it is a constraint that moves by itself. */
static const ga_joint *driven_joint(const ga_element *motion)
{
    for (const ga_field *f = motion->type->fields; f && f->name; ++f)
        if (f->kind == GA_KIND_JOINT)
            return *(const ga_joint *const *)((const char *)motion + f->offset);
    return NULL;
}

static void explain_beyond(const ga_forbidden *f, ga_report *report)
{
    if (f->from_start) {
        ga_message_add(report->message,
                       "joints.%.60s starts %.3g %s beyond its stop at %.6g %s", f->stop->name,
                       f->beyond, f->unit, f->limit, f->unit);
        report->remedy = "initial positions that assembly need not change so much (`galpha "
                         "check` shows them), or wider `limits`";
        return;
    }
    ga_message_add(report->message,
                   "at t = %.9g s joints.%.60s is %.3g %s beyond its stop at %.6g %s: it turns "
                   "so far in a step that its turns cannot be counted",
                   report->time, f->stop->name, f->beyond, f->unit, f->limit, f->unit);
}

void ga_sim_explain_forbidden(const ga_forbidden *f, ga_report *report)
{
    const int most = (int)(sizeof f->motions / sizeof *f->motions);
    report->row = f->beyond > 0 ? -1 : f->stop->row; /* else it would be resting there */
    report->column = -1;
    report->message[0] = '\0';
    if (f->beyond > 0) {
        explain_beyond(f, report);
        return;
    }
    ga_message_add(report->message, "at t = %.9g s ", report->time);
    for (int k = 0; k < f->count && k < most; ++k) {
        const ga_joint *joint = driven_joint(f->motions[k]);
        ga_message_add(report->message, "%s%s.%.40s", k ? ", " : "", section_of(f->motions[k]),
                       f->motions[k]->name);
        if (joint && strcmp(joint->element.name, f->stop->name) != 0)
            ga_message_add(report->message, " (of %.40s)", joint->element.name);
    }
    if (f->count > most) ga_message_add(report->message, ", ...");
    ga_message_add(report->message,
                   " %s joints.%.40s through its stop at %.6g %s, at %.3g %s/s: a stop does "
                   "not yield, and neither does a motion",
                   f->count > 1 ? "drive" : "drives", f->stop->name, f->limit, f->unit,
                   f->speed, f->unit);
    report->remedy = "wider `limits`, a stop that yields (`limits: {model: buffer}`), or a "
                     "force or torque instead of the motion";
}

/* A function that is not a finite number, or has no finite rates, at the time of the failure,
 * or so much later. */
static bool find_undefined(const ga_model *model, double t, double ahead, ga_given *out,
                           bool *now)
{
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; *out = ga_given_of(model->elements[e], k), out->function; ++k) {
            if (ga_function_variables(out->function) > 1) continue;
            const double span = 1e-9 * fmax(1, fabs(t)), times[] = {t, t + span, t + ahead};
            for (int i = 0; i < 3; ++i) {
                double f[3];
                ga_function_rates(out->function, &times[i], f);
                const int rates = out->level == GA_GIVEN_FORCE      ? 0
                                  : out->level == GA_GIVEN_VELOCITY ? 1
                                                                    : 2;
                *now = i < 2;
                for (int r = 0; r <= rates; ++r)
                    if (!isfinite(f[r])) return true;
            }
        }
    return false;
}

/* column: the coordinate whose force is not finite; -1: none. */
static void explain_undefined(const ga_assembly *a, int column, double ahead, ga_report *report)
{
    const int node = column >= 0 ? ga_assembly_column(a, column) : -1;
    ga_given given;
    bool now;
    if (!find_undefined(a->model, report->time, ahead, &given, &now)) {
        if (node < 0) return;
        report->column = column;
        report->message[0] = '\0';
        ga_message_add(report->message,
                       "at t = %.9g s the force on body %.60s is not a finite number",
                       report->time, a->model->nodes[node].name);
        return;
    }
    char what[GA_MESSAGE_SIZE];
    memcpy(what, report->message, sizeof what);
    report->message[0] = '\0';
    ga_message_add(report->message,
                   "%s.%.60s.%s: is not a finite number, or changes infinitely fast, %s "
                   "t = %.9g s; %.100s",
                   section_of(given.element), given.element->name, given.field->name,
                   now ? "at" : "near", report->time, what);
    report->remedy = "a function that is defined and smooth until the end of the run";
}

void ga_sim_explain(const ga_assembly *a, const int *event_element, ga_status status,
                    ga_report *report)
{
    const int row = report->row, column = report->column;
    report->row = report->column = -1;
    /* towards a pole steps have collapsed long before it */
    const double near = 1e-5 * fmax(1, fabs(report->time));
    const bool collapsed = report->step > 0 && report->step < 1e-6 * near;
    ga_given given;
    bool now;
    if (collapsed && (status == GA_ERR_NO_CONVERGE || status == GA_ERR_STEP_SIZE) &&
        find_undefined(a->model, report->time, near, &given, &now)) {
        explain_undefined(a, -1, near, report);
        return;
    }
    switch (status) {
    case GA_ERR_NO_CONVERGE:
        if (row >= 0) name_unknown(a, row, report);
        return;
    case GA_ERR_SINGULAR:
        if (column >= 0) name_unknown(a, column, report);
        return;
    case GA_ERR_STEP_SIZE:
        if (column >= 0) name_column(a, column, report);
        return;
    case GA_ERR_INCONSISTENT:
        report->row = row;
        return; /* ga_sim_explain_contradiction */
    case GA_ERR_NOT_FINITE:
        explain_undefined(a, column, 10 * near, report);
        return;
    case GA_ERR_EVENTS:
        if (row >= 0 && row < a->model->event_count)
            ga_message_add(report->message, " (%s)",
                           a->model->elements[event_element[row]]->name);
        return;
    default:
        return;
    }
}

/* The element that is nearest to a state in which it is not defined; null: none is near. */
static const ga_element *find_singular(const ga_assembly *a, const ga_element_state *state,
                                       double *regularity)
{
    const ga_element *nearest = NULL;
    *regularity = 0.02; /* of its size: steps fail well before 0, not yet here */
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (!element->type->regularity) continue;
        const double how = element->type->regularity(element, state);
        if (how < *regularity) {
            *regularity = how;
            nearest = element;
        }
    }
    return nearest;
}

/* A force that jumps with positions or velocities. */
static bool find_jumping(const ga_model *model, ga_given *out)
{
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; *out = ga_given_of(model->elements[e], k), out->function; ++k)
            if (ga_function_jumps_with_state(out->function)) return true;
    return false;
}

static double mass_ratio(const ga_assembly *a)
{
    double least = INFINITY, most = 0;
    for (int i = 0; i < a->model->body_count; ++i) {
        least = fmin(least, a->model->bodies[i].mass);
        most = fmax(most, a->model->bodies[i].mass);
    }
    return least > 0 ? most / least : 1;
}

static double length(const double x[3])
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* How many times its own size a mechanism is away from the origin, and the body that is
 * farthest away. Its size: that of the box its bodies fill, or the largest distance of a joint
 * from its body. */
static double remoteness(const ga_assembly *a, const ga_element_state *state, double *size,
                         int *body)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double far = 0;
    *size = 0;
    for (int i = 0; i < a->model->node_count; ++i) {
        const double *x = state->frames[i].x;
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
        }
        if (length(x) < far) continue;
        far = length(x);
        *body = i;
    }
    for (int k = 0; k < 3; ++k) *size = fmax(*size, high[k] - low[k]);
    for (int e = 0; e < a->model->element_count; ++e) {
        if (!a->model->elements[e]->type->is_joint) continue;
        const ga_joint *joint = (const ga_joint *)a->model->elements[e];
        for (int side = 0; side < 2; ++side)
            if (joint->element.nodes[side] != GA_GROUND)
                *size = fmax(*size, length(joint->marker[side].p));
    }
    return *size > 0 ? far / *size : 1;
}

/* The motion with the largest rate if bodies move far faster than motions prescribe: they do as
 * a mechanism is drawn to the end of its reach. *ratio: how many times. */
static const ga_element *find_overdriven(const ga_assembly *a, const ga_element_state *state,
                                         double *ratio)
{
    static const double far_faster = 10;
    const ga_element *motion = NULL;
    double rate = 0, size = 0, speed = 0, turning = 0;
    for (int e = 0; e < a->model->element_count; ++e) {
        ga_given given;
        for (int k = 0; given = ga_given_at_all(a->model->elements[e], k), given.function;
             ++k) {
            double f[3];
            if (given.level == GA_GIVEN_FORCE || ga_function_variables(given.function) > 1)
                continue;
            ga_function_rates(given.function, &state->t, f);
            const double now = fabs(given.level == GA_GIVEN_POSITION ? f[1] : f[0]);
            if (!motion || now > rate) motion = given.element;
            rate = fmax(rate, now);
        }
    }
    for (int i = 0; i < a->model->node_count; ++i) {
        const ga_frame *frame = &state->frames[i];
        size = fmax(size, length(frame->x));
        speed = fmax(speed, length(frame->u));
        turning = fmax(turning, length(frame->w));
    }
    *ratio = fmin(turning, speed / size) / (rate / fmin(1, size));
    return rate > 0 && *ratio > far_faster ? motion : NULL;
}

/* Whether the user's min_step stood in the way of a shorter step. One that still allows a
 * million steps does not: then the solution itself is to blame. */
static bool min_step_forbids(const ga_sim_def *def, const ga_report *report)
{
    static const double many = 1e6;
    const bool ended =
        report->status == GA_ERR_STEP_SIZE || report->status == GA_ERR_NO_CONVERGE;
    return ended && def->control.relative > 0 && report->step < def->control.min_step &&
           def->control.min_step > (def->t_end - def->t_start) / many;
}

void ga_sim_explain_step(const ga_assembly *a, const ga_element_state *state,
                         const ga_sim_def *def, ga_report *report)
{
    const ga_formulation formulation = def->integrator.formulation;
    static const double much =
        100; /* index 3 with steps of usual sizes has trouble from here */
    const bool on_positions = formulation == GA_INDEX3 || formulation == GA_HHT_I3;
    static const double remote = 1e3;
    double regularity, ratio, size;
    int farthest = 0;
    ga_given jumping;
    const ga_element *element = find_singular(a, state, &regularity);
    const ga_element *motion = find_overdriven(a, state, &ratio);
    if (element || motion) report->message[0] = '\0'; /* time and step are in the report */
    if (element) {
        ga_message_add(report->message, "%s.%.60s: at t = %.9g s %s", section_of(element),
                       element->name, state->t, element->type->singular);
        report->remedy = element->type->remedy;
        if (element->rows) report->row = element->row;
    } else if (motion) {
        ga_message_add(
            report->message,
            "%s.%.60s: at t = %.9g s it leads to a dead point, or beyond the reach of "
            "the mechanism: bodies move %.2g times as fast as it prescribes",
            section_of(motion), motion->name, state->t, ratio);
        report->remedy =
            "a motion that the mechanism can follow: not beyond its reach, not "
            "across a dead point; drive another joint, such as the crank instead of "
            "the slider";
    } else if (remoteness(a, state, &size, &farthest) > remote) {
        ga_message_add(report->message,
                       ": body %.60s is %.3g m from the origin, the mechanism measures %.3g m, "
                       "and the round-off of such positions is too large for it",
                       a->model->nodes[farthest].name, length(state->frames[farthest].x), size);
        report->remedy =
            "coordinates with their origin in the mechanism: subtract the position "
            "of one body from all positions and places";
    } else if (report->status == GA_ERR_STEP_SIZE && on_positions && mass_ratio(a) > much) {
        ga_message_add(
            report->message,
            ": masses differ by a factor of %.2g, and in this formulation the round-off of the "
            "reactions, which grows with masses and 1/h^2, prevents short steps",
            mass_ratio(a));
        report->remedy = "--set simulate.formulation=index2";
    } else if (min_step_forbids(def, report)) {
        ga_message_add(report->message, "; simulate.min_step = %.6g s allows no smaller step",
                       def->control.min_step);
        report->remedy = "a smaller simulate.min_step, or a larger simulate.tolerance";
    } else if (find_jumping(a->model, &jumping)) {
        ga_message_add(report->message,
                       "; %s.%.60s.%s jumps with positions or velocities: where it would have "
                       "to take a value in between, there is no solution",
                       section_of(jumping.element), jumping.element->name, jumping.field->name);
        report->remedy =
            "a smooth law, such as tanh(v/v0) instead of sign(v); for friction in a "
            "joint, `friction: {model: stiction}`";
    } else if (report->status == GA_ERR_STEP_SIZE && !report->remedy) {
        ga_message_add(report->message,
                       ": the solution is singular there, or the tolerance cannot be met");
    }
}
