/* A spatial loop of hinges moves only if their axes are exactly parallel; a hinge and a slider
 * only if theirs are exactly perpendicular. Data from CAD programs have axes that are so but
 * for the last digits they print. Such a loop is stiff, or cannot even start.
 *
 * So in loops an axis that is within 1e-5 rad of an earlier one, or of being perpendicular to
 * it, is made exactly so, and the model remembers the largest turn, which a simulation warns
 * about. The change is of the order of what the file does not say. Axes of open chains stay as
 * they are, and so do axes that agree to round-off.
 *
 * Joints in loops are those that are left when bodies with a single joint are taken away, again
 * and again. */
#include "model/align.h"

#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const double LARGEST = 1e-5;   /* rad: what is further off is meant */
static const double SMALLEST = 1e-11; /* round-off, which dependent rows are found despite of */

static const double NOTICED = 0.02; /* rad: may be an error of the data */

/* Many different directions are not those of a mechanism with parallel axes. */
enum { MOST_DIRECTIONS = 64 };

/* Trees in an odd order may need more, and are then taken for loops. */
enum { MOST_ROUNDS = 100 };

/* The ground comes behind the nodes. */
static int vertex(const ga_model *model, const ga_joint *joint, int side)
{
    const int node = joint->between[side].node;
    return node >= 0 ? node : model->node_count;
}

/* Takes away joints that are in no loop. */
static void prune(const ga_model *model, int count, ga_joint *const *joints, int *degree,
                  bool *in_loop)
{
    for (int j = 0; j < count; ++j) {
        in_loop[j] = true;
        for (int side = 0; side < 2; ++side) ++degree[vertex(model, joints[j], side)];
    }
    bool changed = true;
    for (int round = 0; changed && round < MOST_ROUNDS; ++round) {
        changed = false;
        /* to and fro, so that a chain in the order of the file takes one pass */
        for (int pass = 0; pass < 2 * count; ++pass) {
            const int j = pass < count ? pass : 2 * count - 1 - pass;
            const int a = vertex(model, joints[j], 0), b = vertex(model, joints[j], 1);
            if (!in_loop[j] || (degree[a] > 1 && degree[b] > 1)) continue;
            in_loop[j] = false;
            --degree[a];
            --degree[b];
            changed = true;
        }
    }
}

/* True for joints whose only direction is `axis`, in world axes: that of a rolling disc is in
 * body axes, and elsewhere. */
static bool has_one_axis(const ga_joint *joint)
{
    int directions = 0;
    bool is_axis = false;
    for (const ga_field *f = joint->element.type->fields; f && f->name; ++f)
        if (f->kind == GA_KIND_DIRECTION && f->where != GA_PLANAR) {
            ++directions;
            is_axis = f->offset == offsetof(ga_joint, axis);
        }
    return directions == 1 && is_axis && isfinite(joint->axis[0]);
}

typedef struct direction {
    ga_vec3 e;
    const char *name; /* of the joint it is of */
} direction;

static ga_vec3 unit(ga_vec3 a) { return ga_vec3_scale(1 / sqrt(ga_vec3_dot(a, a)), a); }

static double angle_between(ga_vec3 a, ga_vec3 b)
{
    const ga_vec3 c = ga_vec3_cross(a, b);
    return sqrt(ga_vec3_dot(c, c));
}

/* The axis as the directions met so far want it; *with: the joint of the one that changes it.
 */
static ga_vec3 align(const direction *known, int count, ga_vec3 axis, const char **with,
                     bool *is_new)
{
    for (int k = 0; k < count; ++k) {
        if (angle_between(known[k].e, axis) > LARGEST) continue;
        *with = known[k].name;
        *is_new = false;
        return ga_vec3_dot(known[k].e, axis) > 0 ? known[k].e : ga_vec3_scale(-1, known[k].e);
    }
    *is_new = true;
    for (int k = 0; k < count; ++k) {
        const double cosine = ga_vec3_dot(known[k].e, axis);
        if (fabs(cosine) > LARGEST || fabs(cosine) < SMALLEST) continue;
        *with = known[k].name;
        axis = unit(ga_vec3_axpy(axis, -cosine, known[k].e));
    }
    return axis;
}

/* Notes axes that are a little further off than what is made good. */
static void note_miss(ga_model *model, const direction *known, int count, ga_vec3 axis,
                      const ga_element *element)
{
    for (int k = 0; k < count; ++k) {
        const double off = fmin(angle_between(known[k].e, axis),
                                fabs(ga_vec3_dot(known[k].e, axis))); /* parallel or not */
        if (off <= LARGEST || off > NOTICED) continue;
        if (model->misaligned.angle > 0 && model->misaligned.angle <= off) continue;
        model->misaligned.angle = off;
        model->misaligned.element = element;
        model->misaligned.with = known[k].name;
    }
}

bool ga_align_axes(ga_model *model, int count, ga_joint *const *joints)
{
    direction known[MOST_DIRECTIONS];
    int directions = 0;
    int *degree = GA_NEW(int, (size_t)model->node_count + 1);
    bool *in_loop = GA_NEW(bool, count);
    const bool memory = degree && in_loop;
    if (memory) prune(model, count, joints, degree, in_loop);
    for (int j = 0; memory && j < count; ++j) {
        if (!in_loop[j] || !has_one_axis(joints[j])) continue;
        const ga_vec3 axis = unit(ga_vec3_load(joints[j]->axis));
        const char *with = NULL;
        bool is_new;
        const ga_vec3 better = align(known, directions, axis, &with, &is_new);
        if (is_new) note_miss(model, known, directions, axis, &joints[j]->element);
        if (is_new && directions == MOST_DIRECTIONS) continue;
        if (is_new) known[directions++] = (direction){better, joints[j]->element.name};
        const double turn = angle_between(axis, better);
        if (turn < SMALLEST) continue;
        ga_vec3_store(better, joints[j]->axis);
        ++model->aligned.count;
        if (turn <= model->aligned.angle) continue;
        model->aligned.angle = turn;
        model->aligned.element = &joints[j]->element;
        model->aligned.with = with;
    }
    ga_free(degree);
    ga_free(in_loop);
    return memory;
}
