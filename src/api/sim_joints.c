/* Gaps of joints are those of model/gap.h, at the positions as given. What is below the
 * round-off of positions and lengths of arms is zero: numbers such as 1e-17 would look like
 * data. */
#include "api/sim_joints.h"

#include "base/report.h"
#include "model/gap.h"

#include <math.h>

/* Coordinates of a mechanism are written with three digits or more. Sides further apart than
 * this part of its size do not come from rounding. */
static const double large_gap = 1e-3;
static const double degrees = 57.29577951308232; /* of a rad */

static const ga_joint *next_joint(const ga_model *model, int *k)
{
    for (; *k < model->named_count; ++*k)
        if (model->named[*k]->type->is_joint)
            return (const ga_joint *)(const void *)model->named[(*k)++];
    return NULL;
}

int ga_sim_joint_count(const ga_model *model)
{
    int count = 0, k = 0;
    while (next_joint(model, &k)) ++count;
    return count;
}

static double length_of(const double x[3]) { return hypot(hypot(x[0], x[1]), x[2]); }

/* Where marker b is, and the size of the numbers it was computed from. */
static double locate(const ga_joint *joint, int b, const ga_frame *frames, double x[3])
{
    const ga_frame *f = &frames[joint->element.nodes[b]];
    const double *p = joint->marker[b].p;
    for (int i = 0; i < 3; ++i)
        x[i] = f->x[i] + f->R[i] * p[0] + f->R[3 + i] * p[1] + f->R[6 + i] * p[2];
    return length_of(f->x) + length_of(p);
}

static double clean(double x, double size)
{
    const double round_off = 64 * 2.220446049250313e-16;
    return fabs(x) <= round_off * size ? 0 : x;
}

/* The rows as given. */
static void measure(const ga_model *model, const ga_joint *joint, double t, double *gap,
                    double *turn)
{
    const ga_element_state given = {.t = t, .frames = model->frames};
    double x[3];
    ga_gap_measure(&joint->element, &given, gap, turn);
    const double size = locate(joint, 0, model->frames, x) + locate(joint, 1, model->frames, x);
    *gap = clean(*gap, size);
    *turn = clean(*turn, 1);
}

void ga_sim_joints_find(const ga_model *model, double t, const ga_frame *frames,
                        ga_sim_joint *joints)
{
    int k = 0;
    for (const ga_joint *joint; (joint = next_joint(model, &k)); ++joints) {
        *joints =
            (ga_sim_joint){.name = joint->element.name, .type = joint->element.type->name};
        double *x[2] = {joints->first, joints->second};
        for (int b = 0; b < 2; ++b) {
            const double size = locate(joint, b, frames, x[b]);
            for (int i = 0; i < 3; ++i) x[b][i] = clean(x[b][i], size);
        }
        measure(model, joint, t, &joints->gap, &joints->turn);
        if (joint->centre_of >= 0) joints->centre_of = model->nodes[joint->centre_of].name;
    }
}

/* The diagonal of the box around nodes and joints. */
static double size_of(const ga_model *model)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double x[3], d[3];
    int k = 0;
    for (int i = 0; i < model->node_count; ++i)
        for (int j = 0; j < 3; ++j) {
            low[j] = fmin(low[j], model->frames[i].x[j]);
            high[j] = fmax(high[j], model->frames[i].x[j]);
        }
    for (const ga_joint *joint; (joint = next_joint(model, &k));)
        for (int b = 0; b < 2; ++b) {
            locate(joint, b, model->frames, x);
            for (int j = 0; j < 3; ++j) {
                low[j] = fmin(low[j], x[j]);
                high[j] = fmax(high[j], x[j]);
            }
        }
    for (int j = 0; j < 3; ++j) d[j] = high[j] - low[j];
    return length_of(d);
}

const char *ga_sim_joints_apart(const ga_model *model, double t, char text[GA_MESSAGE_SIZE])
{
    const double size = size_of(model);
    const char *widest = NULL;
    double gap = 0, turn = 0;
    int k = 0, large = 0;
    for (const ga_joint *joint; (joint = next_joint(model, &k));) {
        double this_gap, this_turn;
        measure(model, joint, t, &this_gap, &this_turn);
        if (!(this_gap > large_gap * size) && !(this_turn > large_gap)) continue;
        ++large;
        if (widest && this_gap + size * this_turn <= gap + size * turn) continue;
        widest = joint->element.name;
        gap = this_gap;
        turn = this_turn;
    }
    if (!widest) return NULL;
    ga_message_add(text, "joints.%.60s: its two sides were", widest);
    if (gap > 0) ga_message_add(text, " %.3g m", gap);
    if (gap > 0 && turn > large_gap) ga_message_add(text, " and");
    if (turn > large_gap) ga_message_add(text, " %.3g rad (%.3g deg)", turn, turn * degrees);
    ga_message_add(text, " apart in the file");
    if (large > 1) ga_message_add(text, ", the widest of %d such gaps", large);
    ga_message_add(text, "; to close %s,", large > 1 ? "them" : "the gap");
    return widest;
}
