/* Gaps of joints, from the residuals Phi of their rows.
 *
 * Rows that hold translations are in metres; rows that hold rotations are sines of angles
 * (element/scalar.h). So of one joint
 *
 *     distance = |translation rows|,    angle = asin |rotation rows|
 *
 * say how far its sides are apart in the directions it holds. A joint that is turned by half a
 * turn has rows of zero: it counts as closed, as it does for the integrator.
 */
#include "model/gap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Residuals below this, relative to the size of the model (or 1 for angles), are round-off. */
static const double round_off = 1e-10;

static bool holds_rotation(const char *row) { return strncmp(row, "rotation", 8) == 0; }

/* The largest distance of a node from the origin, or of an attachment from its node. */
static double size_of(const ga_model *model)
{
    double size = 0;
    for (int i = 0; i < model->node_count; ++i)
        for (int k = 0; k < 3; ++k) size = fmax(size, fabs(model->nodes[i].position[k]));
    for (int e = 0; e < model->element_count; ++e) {
        if (!model->elements[e]->type->is_joint) continue;
        const ga_joint *joint = (const ga_joint *)model->elements[e];
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < 3; ++k) size = fmax(size, fabs(joint->marker[side].p[k]));
    }
    return size;
}

void ga_gap_measure(const ga_element *joint, const ga_element_state *state, double *distance,
                    double *angle)
{
    double Phi[GA_JOINT_MAX_ROWS] = {0}, translation = 0, rotation = 0;
    if (joint->rows) joint->type->constraint(joint, state, Phi);
    for (int k = 0; k < joint->rows; ++k) {
        double *sum =
            holds_rotation(joint->type->row_name(joint, k)) ? &rotation : &translation;
        *sum = hypot(*sum, Phi[k]);
    }
    *distance = translation;
    *angle = asin(fmin(1, rotation));
}

static ga_gap measure(const ga_element *element, const ga_element_state *state, double size,
                      bool *open)
{
    double Phi[GA_TWIST * GA_ELEMENT_MAX_NODES] = {0};
    ga_gap gap = {.element = element->name, .type = element->type->name, .row = ""};
    *open = false;
    element->type->constraint(element, state, Phi);
    for (int k = 0; k < element->rows; ++k) {
        const char *row = element->type->row_name ? element->type->row_name(element, k) : "";
        const bool turns = holds_rotation(row);
        const double allowed =
            round_off * (turns || !element->type->is_joint ? fmax(1, size) : size);
        if (!(fabs(Phi[k]) <= allowed)) *open = true;
        if (!(fabs(Phi[k]) <= gap.residual)) {
            gap.residual = fabs(Phi[k]);
            gap.row = row;
        }
    }
    if (element->type->is_joint) ga_gap_measure(element, state, &gap.distance, &gap.angle);
    return gap;
}

/* Metres and radians are compared as numbers: either is large next to 1. */
static double size_of_gap(const ga_gap *gap)
{
    return fmax(gap->residual, fmax(gap->distance, gap->angle));
}

static int by_size(const void *a, const void *b)
{
    const double x = size_of_gap(a), y = size_of_gap(b);
    return (x < y) - (x > y);
}

int ga_gaps_find(ga_assembly *assembly, double t, const double *q, ga_gap *gaps)
{
    const ga_model *model = assembly->model;
    const ga_element_state state = ga_assembly_state(assembly, t, q, NULL, NULL, NULL);
    const double size = size_of(model);
    int count = 0;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        bool open;
        if (!element->rows || !element->type->constraint) continue;
        const ga_gap gap = measure(element, &state, size, &open);
        if (open) gaps[count++] = gap;
    }
    qsort(gaps, (size_t)count, sizeof *gaps, by_size);
    return count;
}
