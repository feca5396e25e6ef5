/* Whom a failure is about, and what may help: added to the messages of the integrator. */
#include "api/sim_explain.h"

#include "api/row_text.h"
#include "base/memory.h"
#include "base/report.h"
#include "element/joint.h"
#include "model/gap.h"
#include "model/given.h"

#include <math.h>
#include <string.h>

static const double degrees = 57.29577951308232; /* of a rad */

static void name_row(const ga_assembly *a, int row, ga_report *report)
{
    int local;
    const ga_element *element = ga_assembly_row(a, row, &local);
    report->column = -1;
    report->row = element ? row : -1;
    if (!element) return;
    char text[GA_ROW_TEXT];
    ga_row_text(a, row, text);
    ga_message_add(report->message, " (%s.%.60s: %s)", ga_section_of(element), element->name,
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
 * are given; or of all, as Newton's method spreads a gap over the whole loop. `widest`: of all.
 */
static bool find_gap(ga_assembly *a, double t, const double *q0, const double *q,
                     const partners *p, ga_gap *gap, ga_gap *widest)
{
    ga_gap *gaps = GA_NEW(ga_gap, a->model->element_count);
    const bool open = gaps && ga_gaps_find(a, t, q, gaps) > 0;
    const int count = open ? ga_gaps_find(a, t, q0, gaps) : 0;
    bool found = false;
    if (count) *gap = *widest = gaps[0];
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

static bool is_gear(const ga_element *element)
{
    return strcmp(element->type->name, "gear") == 0 || strcmp(element->type->name, "rack") == 0;
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
                   ga_section_of(p.of[0]), p.of[0]->name, row);
    for (int k = 1; k < p.count && k < MOST_PARTNERS; ++k)
        ga_message_add(report->message, "%s%.24s", k > 1 ? ", " : "", p.of[k]->name);
    if (p.count == 1) ga_message_add(report->message, "other joints");
    if (p.count > MOST_PARTNERS) ga_message_add(report->message, ", ...");
    ga_gap gap = {.element = ""}, widest = gap;
    const bool open = !started && find_gap(a, report->time, q0, ga_integrator_q(integrator), &p,
                                           &gap, &widest);
    const bool geared = is_gear(p.of[0]);
    if (open) {
        ga_message_add(report->message, geared ? ": they cannot all be closed within half a "
                                                 "turn of each body"
                                               : ": they cannot all be closed");
        add_gap(report->message, &gap);
        if (gap.distance > 0 && widest.distance > 1.5 * gap.distance)
            ga_message_add(report->message, ", those of %.40s %.3g m", widest.element,
                           widest.distance);
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
            ? "a motion that the mechanism can follow (not two of one coordinate, not from a "
              "dead point, not beyond its reach), and joints that let its loop move"
        : geared && open
            ? "a `rotation` of the geared bodies that is nearer to the assembled position: "
              "assembly turns no body by more than half a turn, and behind a gear that is soon "
              "reached; or lengths and locations of joints that fit together"
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
        ga_message_add(report->message, "%s%s.%.40s", k ? ", " : "",
                       ga_section_of(f->motions[k]), f->motions[k]->name);
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
                   ga_section_of(given.element), given.element->name, given.field->name,
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
    static const double long_for_index2 = 1e5; /* m; its eta adds metres and radians */
    double regularity, ratio, size;
    int farthest = 0;
    ga_given jumping;
    const ga_element *element = find_singular(a, state, &regularity);
    const ga_element *motion = find_overdriven(a, state, &ratio);
    if (element || motion) report->message[0] = '\0'; /* time and step are in the report */
    if (element) {
        ga_message_add(report->message, "%s.%.60s: at t = %.9g s %s", ga_section_of(element),
                       element->name, state->t, element->type->singular);
        report->remedy = element->type->remedy;
        if (element->rows) report->row = element->row;
    } else if (motion) {
        ga_message_add(
            report->message,
            "%s.%.60s: at t = %.9g s it leads to a dead point, or beyond the reach of "
            "the mechanism: bodies move %.2g times as fast as it prescribes",
            ga_section_of(motion), motion->name, state->t, ratio);
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
    } else if (report->status == GA_ERR_NO_CONVERGE && formulation == GA_INDEX2 &&
               def->step > 0 && size > long_for_index2) {
        ga_message_add(report->message,
                       ": the mechanism measures %.3g m, and `index2` with fixed steps has "
                       "trouble with more than %.0e m",
                       size, long_for_index2);
        report->remedy =
            "--set simulate.formulation=index3, or a larger unit of length, such as "
            "km, with gravity, inertias and stiffnesses to match";
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
                       ga_section_of(jumping.element), jumping.element->name,
                       jumping.field->name);
        report->remedy =
            "a smooth law, such as tanh(v/v0) instead of sign(v); for friction in a "
            "joint, `friction: {model: stiction}`";
    } else if (report->status == GA_ERR_STEP_SIZE && !report->remedy) {
        ga_message_add(report->message,
                       ": the solution is singular there, or the tolerance cannot be met");
    }
}
