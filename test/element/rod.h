/* A rod with a consistent mass over two nodes, for tests only: what a beam will ask of the
 * interface of elements. The velocity field is linear in world axes, as is that of a straight
 * rod whose ends are a and b, and each end has half of a rotary inertia J (body axes):
 *
 *     m (alpha_a/3 + Q alpha_b/6),  J w_a' + w_a x J w_a        on a, likewise on b
 *     alpha = u' + w x u,  Q = R_a^T R_b
 *
 * so that M has blocks m/3, m/6 Q, m/6 Q^T, m/3: it depends on the configuration. */
#ifndef TEST_ELEMENT_ROD_H
#define TEST_ELEMENT_ROD_H

#include "element/element.h"
#include "element/scalar.h"
#include "model/model.h"

#include <string.h>

typedef struct rod {
    ga_element element;
    double mass, J[3]; /* J of each end, principal */
    double gravity[3];
} rod;

static const ga_frame *rod_end(const rod *r, const ga_element_state *state, int k)
{
    return state->frames + r->element.nodes[k];
}

/* R_k^T R_other x */
static ga_vec3 rod_across(const rod *r, const ga_element_state *state, int k, ga_vec3 x)
{
    return ga_rotate_back(rod_end(r, state, k)->R, ga_rotate(rod_end(r, state, 1 - k)->R, x));
}

static ga_vec3 rod_J(const rod *r, ga_vec3 w)
{
    return (ga_vec3){r->J[0] * w.x, r->J[1] * w.y, r->J[2] * w.z};
}

static ga_vec3 rod_unit(int c) { return (ga_vec3){c == 0, c == 1, c == 2}; }

/* Column c of a 3 x 3 block of a matrix with rows of 12. */
static void rod_column(double scale, ga_vec3 x, int c, double *block)
{
    block[c] += scale * x.x;
    block[12 + c] += scale * x.y;
    block[24 + c] += scale * x.z;
}

static void rod_mass(const void *element, const ga_element_state *state, double *M)
{
    const rod *r = element;
    for (int k = 0; k < 2; ++k)
        for (int c = 0; c < 3; ++c) {
            const int other = 1 - k;
            rod_column(r->mass / 3, rod_unit(c), c, M + 78 * k);
            rod_column(1, rod_J(r, rod_unit(c)), c, M + 78 * k + 39);
            rod_column(r->mass / 6, rod_across(r, state, k, rod_unit(c)), c,
                       M + 72 * k + 6 * other);
        }
}

static void rod_gyroscopic(const void *element, const ga_element_state *state, double *h)
{
    const rod *r = element;
    ga_vec3 alpha[2];
    for (int k = 0; k < 2; ++k)
        alpha[k] = ga_vec3_cross(ga_vec3_load(rod_end(r, state, k)->w),
                                 ga_vec3_load(rod_end(r, state, k)->u));
    for (int k = 0; k < 2; ++k) {
        const ga_vec3 w = ga_vec3_load(rod_end(r, state, k)->w);
        const ga_vec3 across = rod_across(r, state, k, alpha[1 - k]);
        ga_vec3 f = ga_vec3_load(h + 6 * k), l = ga_vec3_load(h + 6 * k + 3);
        f = ga_vec3_axpy(ga_vec3_axpy(f, r->mass / 3, alpha[k]), r->mass / 6, across);
        l = ga_vec3_add(l, ga_vec3_cross(w, rod_J(r, w)));
        ga_vec3_store(f, h + 6 * k);
        ga_vec3_store(l, h + 6 * k + 3);
    }
}

/* With b = Q alpha_b: D f_a = m/6 (b~ delta_a - Q alpha_b~ delta_b). */
static void rod_inertia_tangent(const void *element, const ga_element_state *state,
                                const double *rates, double *K, double *C)
{
    const rod *r = element;
    const double m = r->mass;
    ga_vec3 alpha[2];
    for (int k = 0; k < 2; ++k)
        alpha[k] = ga_vec3_add(ga_vec3_load(rates + 6 * k),
                               ga_vec3_cross(ga_vec3_load(rod_end(r, state, k)->w),
                                             ga_vec3_load(rod_end(r, state, k)->u)));
    for (int k = 0; k < 2; ++k) {
        const int other = 1 - k;
        const ga_frame *own = rod_end(r, state, k), *far = rod_end(r, state, other);
        const ga_vec3 u = ga_vec3_load(own->u), w = ga_vec3_load(own->w), Jw = rod_J(r, w);
        const ga_vec3 b = rod_across(r, state, k, alpha[other]);
        for (int c = 0; c < 3; ++c) {
            const ga_vec3 e = rod_unit(c);
            rod_column(m / 6, ga_vec3_cross(b, e), c, K + 78 * k + 3);
            rod_column(-m / 6, rod_across(r, state, k, ga_vec3_cross(alpha[other], e)), c,
                       K + 72 * k + 6 * other + 3);
            rod_column(m / 3, ga_vec3_cross(w, e), c, C + 78 * k);
            rod_column(-m / 3, ga_vec3_cross(u, e), c, C + 78 * k + 3);
            rod_column(m / 6, rod_across(r, state, k, ga_vec3_cross(ga_vec3_load(far->w), e)),
                       c, C + 72 * k + 6 * other);
            rod_column(-m / 6, rod_across(r, state, k, ga_vec3_cross(ga_vec3_load(far->u), e)),
                       c, C + 72 * k + 6 * other + 3);
            rod_column(1, ga_vec3_cross(w, rod_J(r, e)), c, C + 78 * k + 39);
            rod_column(-1, ga_vec3_cross(Jw, e), c, C + 78 * k + 39);
        }
    }
}

/* m/6 (x_a'^2 + x_a' . x_b' + x_b'^2), and J */
static double rod_kinetic(const void *element, const ga_element_state *state)
{
    const rod *r = element;
    ga_vec3 v[2];
    double sum = 0;
    for (int k = 0; k < 2; ++k) {
        const ga_vec3 w = ga_vec3_load(rod_end(r, state, k)->w);
        v[k] = ga_rotate(rod_end(r, state, k)->R, ga_vec3_load(rod_end(r, state, k)->u));
        sum += 0.5 * ga_vec3_dot(w, rod_J(r, w));
    }
    return sum +
           r->mass / 6 *
               (ga_vec3_dot(v[0], v[0]) + ga_vec3_dot(v[0], v[1]) + ga_vec3_dot(v[1], v[1]));
}

static void rod_force(const void *element, const ga_element_state *state, double *f)
{
    const rod *r = element;
    for (int k = 0; k < 2; ++k) {
        const ga_vec3 g = ga_rotate_back(rod_end(r, state, k)->R, ga_vec3_load(r->gravity));
        ga_vec3_store(ga_vec3_axpy(ga_vec3_load(f + 6 * k), r->mass / 2, g), f + 6 * k);
    }
}

static void rod_tangent(const void *element, const ga_element_state *state, double *K,
                        double *C)
{
    const rod *r = element;
    (void)C;
    for (int k = 0; k < 2; ++k) {
        const ga_vec3 g = ga_rotate_back(rod_end(r, state, k)->R, ga_vec3_load(r->gravity));
        for (int c = 0; c < 3; ++c)
            rod_column(-r->mass / 2, ga_vec3_cross(g, rod_unit(c)), c, K + 78 * k + 3);
    }
}

static double rod_potential(const void *element, const ga_element_state *state)
{
    const rod *r = element;
    double sum = 0;
    for (int k = 0; k < 2; ++k)
        sum -= r->mass / 2 *
               ga_vec3_dot(ga_vec3_load(r->gravity), ga_vec3_load(rod_end(r, state, k)->x));
    return sum;
}

static const ga_element_type rod_type = {
    .name = "rod",
    .size = sizeof(rod),
    .mass = rod_mass,
    .gyroscopic = rod_gyroscopic,
    .inertia_tangent = rod_inertia_tangent,
    .kinetic = rod_kinetic,
    .force = rod_force,
    .tangent = rod_tangent,
    .potential = rod_potential,
};

/* Joins the model's elements, in its memory. False: there is none. */
static bool rod_join(ga_model *model, double mass, const double J[3], const double gravity[3])
{
    rod *r = ga_arena_alloc(&model->arena, 1, sizeof *r);
    ga_element **all =
        GA_ARENA_NEW(&model->arena, ga_element *, (size_t)model->element_count + 1);
    if (!r || !all) return false;
    *r = (rod){.element = {.type = &rod_type,
                           .name = "rod",
                           .node_count = 2,
                           .nodes = {0, 1},
                           .row = model->rows,
                           .speed_row = model->speed_rows,
                           .memory = model->memory_count,
                           .event = model->event_count},
               .mass = mass};
    memcpy(r->J, J, sizeof r->J);
    memcpy(r->gravity, gravity, sizeof r->gravity);
    if (model->element_count)
        memcpy(all, model->elements, (size_t)model->element_count * sizeof *all);
    all[model->element_count++] = &r->element;
    model->elements = all;
    return true;
}

#endif
