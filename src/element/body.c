/* Newton and Euler for one body, with x its centre of mass, u = R^T x', and J in body axes:
 *
 *     m (u' + w x u) = m R^T g,    J w' + w x J w = 0
 *
 * A point mass has J = 0, on a node that does not turn. */
#include "element/body.h"

#include "lie/vec3.h"

static ga_vec3 J_times(const ga_body *b, ga_vec3 w)
{
    const double *J = b->inertia;
    return (ga_vec3){J[0] * w.x + J[3] * w.y + J[6] * w.z, J[1] * w.x + J[4] * w.y + J[7] * w.z,
                     J[2] * w.x + J[5] * w.y + J[8] * w.z};
}

static const ga_frame *frame_of(const ga_body *b, const ga_element_state *state)
{
    return state->frames + b->element.nodes[0];
}

/* A += scale x~, row-major with rows of six */
static void add_skew(double scale, ga_vec3 x, double *A)
{
    A[1] -= scale * x.z, A[2] += scale * x.y;
    A[6] += scale * x.z, A[8] -= scale * x.x;
    A[12] -= scale * x.y, A[13] += scale * x.x;
}

static void mass(const void *element, const ga_element_state *state, double *M)
{
    const ga_body *b = element;
    (void)state;
    for (int k = 0; k < 3; ++k) M[k * 7] += b->mass;
    for (int r = 0; b->type == GA_BODY_RIGID && r < 3; ++r)
        for (int c = 0; c < 3; ++c) M[(3 + r) * 6 + 3 + c] += b->inertia[r + 3 * c];
}

static void gyroscopic(const void *element, const ga_element_state *state, double *h)
{
    const ga_body *b = element;
    const ga_frame *f = frame_of(b, state);
    const ga_vec3 u = ga_vec3_load(f->u), w = ga_vec3_load(f->w);
    const ga_vec3 p = ga_vec3_scale(b->mass, ga_vec3_cross(w, u));
    const ga_vec3 l = ga_vec3_cross(w, J_times(b, w));
    h[0] += p.x, h[1] += p.y, h[2] += p.z;
    h[3] += l.x, h[4] += l.y, h[5] += l.z;
}

/* Neither M nor h depends on the place. C = [m w~, -m u~; 0, w~ J - (J w)~]. */
static void inertia_tangent(const void *element, const ga_element_state *state,
                            const double *rates, double *K, double *C)
{
    const ga_body *b = element;
    const ga_frame *f = frame_of(b, state);
    const ga_vec3 u = ga_vec3_load(f->u), w = ga_vec3_load(f->w);
    (void)rates, (void)K;
    add_skew(b->mass, w, C);
    add_skew(-b->mass, u, C + 3);
    add_skew(-1, J_times(b, w), C + 21);
    for (int c = 0; c < 3; ++c) {
        const ga_vec3 column = ga_vec3_cross(w, ga_vec3_load(b->inertia + 3 * c));
        C[21 + c] += column.x, C[27 + c] += column.y, C[33 + c] += column.z;
    }
}

static double kinetic(const void *element, const ga_element_state *state)
{
    const ga_body *b = element;
    const ga_frame *f = frame_of(b, state);
    const ga_vec3 u = ga_vec3_load(f->u), w = ga_vec3_load(f->w);
    return 0.5 * (b->mass * ga_vec3_dot(u, u) + ga_vec3_dot(w, J_times(b, w)));
}

/* m R^T g */
static ga_vec3 weight(const ga_body *b, const ga_element_state *state)
{
    const double *R = frame_of(b, state)->R, *g = b->gravity;
    double f[3];
    for (int k = 0; k < 3; ++k)
        f[k] = b->mass * (R[3 * k] * g[0] + R[3 * k + 1] * g[1] + R[3 * k + 2] * g[2]);
    return ga_vec3_load(f);
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    const ga_vec3 F = weight(element, state);
    f[0] += F.x, f[1] += F.y, f[2] += F.z;
}

/* D (R^T g) = (R^T g)~ delta_theta */
static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    (void)C;
    add_skew(-1, weight(element, state), K + 3);
}

static double potential(const void *element, const ga_element_state *state)
{
    const ga_body *b = element;
    return -b->mass *
           ga_vec3_dot(ga_vec3_load(b->gravity), ga_vec3_load(frame_of(b, state)->x));
}

const ga_element_type ga_body_element = {
    .name = "body",
    .size = sizeof(ga_body),
    .mass = mass,
    .gyroscopic = gyroscopic,
    .inertia_tangent = inertia_tangent,
    .kinetic = kinetic,
    .force = force,
    .tangent = tangent,
    .potential = potential,
};
