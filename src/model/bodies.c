/* Newton and Euler: what bodies contribute to force, dynamics and tangents. With w in body axes
 * and J the inertia,
 *
 *     m x'' = m g,   J w' = -w x J w
 *
 * and R^T m g - m w x u in place of m g where u = R^T x' is a coordinate. */
#include "model/bodies.h"

#include <string.h>

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* J w for a symmetric J */
static void inertia_times(const double *J, const double *w, double *Jw)
{
    for (int i = 0; i < 3; ++i) Jw[i] = J[i] * w[0] + J[3 + i] * w[1] + J[6 + i] * w[2];
}

/* R^T (m g) - m w x u = R^T (m g - m w x x') */
static void turned_flat_force(const ga_plane *p, double m, double *f)
{
    const double x = f[0] + m * p->w * p->v[1], y = f[1] - m * p->w * p->v[0];
    f[0] = p->c * x + p->s * y;
    f[1] = p->c * y - p->s * x;
}

static void flat_forces(const ga_assembly *a, int from, int to, double *f)
{
    const ga_node_kind kind = a->kinds[from];
    const double g[2] = {a->model->gravity[0], a->model->gravity[1]};
    const int n = kind == GA_NODE_POINT2 ? 2 : 3;
    for (int i = from; i < to; ++i, f += n) {
        const double m = a->mass[i];
        f[0] = m * g[0];
        f[1] = m * g[1];
        if (n == 3) f[2] = 0;
        if (kind == GA_NODE_SE2) turned_flat_force(a->planes + i, m, f);
    }
}

/* Gravity and gyroscopic forces of one body; m w x u only where u is a coordinate. */
static void body_force(const ga_assembly *a, ga_node_kind kind, int i, double *f)
{
    const ga_frame *frame = a->frames + i;
    const double m = a->mass[i], *g = a->model->gravity, *R = frame->R;
    double Jw[3], gyro[3];
    for (int k = 0; k < 3; ++k) f[k] = m * g[k];
    if (kind == GA_NODE_POINT3) return;
    inertia_times(a->inertia + 9 * (size_t)i, frame->w, Jw);
    cross(Jw, frame->w, f + 3); /* minus w x J w */
    if (kind != GA_NODE_SE3) return;
    cross(frame->w, frame->u, gyro);
    for (int k = 0; k < 3; ++k)
        f[k] = m * (R[3 * k] * g[0] + R[3 * k + 1] * g[1] + R[3 * k + 2] * g[2]) - m * gyro[k];
}

/* The same for nodes of one kind. */
void ga_bodies_forces(const ga_assembly *a, int from, int to, double *f)
{
    const ga_node_kind kind = a->kinds[from];
    const int n = kind == GA_NODE_POINT3 ? 3 : 6;
    if (a->planes) flat_forces(a, from, to, f);
    for (int i = from; !a->planes && i < to; ++i, f += n) body_force(a, kind, i, f);
}

/* r += J x, in the order of the entries of M */
static inline void add_inertia(const double *J, const double *x, double *r)
{
    for (int i = 0; i < 3; ++i)
        r[i] = ((r[i] + J[i] * x[0]) + J[3 + i] * x[1]) + J[6 + i] * x[2];
}

void ga_bodies_accelerate(const ga_assembly *a, int from, int to, const double *vd, double *r)
{
    const ga_node_kind kind = a->kinds[from];
    const int n = ga_node_nv(ga_node_of(kind)), translations = a->planes ? 2 : 3;
    for (int i = from; i < to; ++i, vd += n, r += n) {
        for (int k = 0; k < n; ++k) r[k] = -r[k];
        for (int k = 0; k < translations; ++k) r[k] += a->mass[i] * vd[k];
        if (n == 3 && a->planes) r[2] += a->inertia[i] * vd[2];
        if (n == 6) add_inertia(a->inertia + 9 * (size_t)i, vd + 3, r + 3);
    }
}

static void flat_equations(const double g[2], int count, const double *restrict mass,
                           const double *restrict inertia, const double *restrict vd,
                           double *restrict r)
{
    for (int i = 0; i < count; ++i, vd += 3, r += 3) {
        const double m = mass[i];
        r[0] = m * vd[0] - m * g[0];
        r[1] = m * vd[1] - m * g[1];
        r[2] = inertia[i] * vd[2];
    }
}

/* The same in space; principal: J is diagonal, which is known to the compiler. */
static inline void space_equations(const bool principal, const double g[3], int count,
                                   const double *restrict mass, const double *restrict inertia,
                                   const double *restrict v, const double *restrict vd,
                                   double *restrict r)
{
    for (int i = 0; i < count; ++i, inertia += 9, v += 6, vd += 6, r += 6) {
        const double m = mass[i], *w = v + 3;
        double Jw[3] = {inertia[0] * w[0], inertia[4] * w[1], inertia[8] * w[2]}, gyro[3];
        if (!principal) inertia_times(inertia, w, Jw);
        cross(Jw, w, gyro); /* minus w x J w */
        for (int k = 0; k < 3; ++k) r[k] = m * vd[k] - m * g[k];
        for (int k = 0; principal && k < 3; ++k)
            r[3 + k] = inertia[4 * k] * vd[3 + k] - gyro[k];
        if (principal) continue;
        for (int k = 0; k < 3; ++k) r[3 + k] = -gyro[k];
        add_inertia(inertia, vd + 3, r + 3);
    }
}

void ga_bodies_equations(const ga_assembly *a, int from, int to, const ga_point *at, double *r)
{
    const ga_node_kind kind = a->kinds[from];
    const int first = a->v_at[from], count = to - from;
    const double *v = at->v + first, *vd = at->vd + first, *g = a->model->gravity;
    const double *mass = a->mass + from;
    r += first;
    if (kind == GA_NODE_R2SO2) {
        flat_equations(g, count, mass, a->inertia + from, vd, r);
    } else if (kind == GA_NODE_R3SO3 && a->principal) {
        space_equations(true, g, count, mass, a->inertia + 9 * (size_t)from, v, vd, r);
    } else if (kind == GA_NODE_R3SO3) {
        space_equations(false, g, count, mass, a->inertia + 9 * (size_t)from, v, vd, r);
    } else {
        ga_bodies_forces(a, from, to, r);
        ga_bodies_accelerate(a, from, to, vd, r);
    }
}

/* Values of a body's K: -m (R^T g)~ where the translation is in body axes. */
double *ga_body_stiffness(const ga_assembly *a, int i, double *K)
{
    const double m = a->mass[i], *g = a->model->gravity;
    if (a->kinds[i] == GA_NODE_SE2) {
        const ga_plane *p = a->planes + i;
        *K++ = m * (p->s * g[0] - p->c * g[1]);
        *K++ = m * (p->c * g[0] + p->s * g[1]);
    } else if (a->kinds[i] == GA_NODE_SE3) {
        const double *R = a->frames[i].R;
        double f[3];
        for (int k = 0; k < 3; ++k)
            f[k] = m * (R[3 * k] * g[0] + R[3 * k + 1] * g[1] + R[3 * k + 2] * g[2]);
        const double values[9] = {0, -f[2], f[1], f[2], 0, -f[0], -f[1], f[0], 0};
        memcpy(K, values, sizeof values);
        K += 9;
    }
    return K;
}

/* w~ J - (J w)~, column by column */
static double *gyroscopic(const double *J, const double *w, double *C)
{
    double Jw[3];
    inertia_times(J, w, Jw);
    const double skew[9] = {0, Jw[2], -Jw[1], -Jw[2], 0, Jw[0], Jw[1], -Jw[0], 0};
    for (int c = 0; c < 3; ++c, C += 3) {
        cross(w, J + 3 * c, C);
        for (int r = 0; r < 3; ++r) C[r] -= skew[3 * c + r];
    }
    return C;
}

/* Values of a body's C: w~ J - (J w)~, and m w~, -m u~ where u is a coordinate. */
double *ga_body_damping(const ga_assembly *a, int i, double *C)
{
    const double m = a->mass[i];
    if (a->kinds[i] == GA_NODE_SE2) { /* m (-w u_y, w u_x) */
        const ga_plane *p = a->planes + i;
        const double x = p->c * p->v[0] + p->s * p->v[1], y = p->c * p->v[1] - p->s * p->v[0];
        const double values[6] = {0, m * p->w, -m * p->w, 0, -m * y, m * x};
        memcpy(C, values, sizeof values);
        return C + 6;
    }
    if (a->kinds[i] == GA_NODE_SE3) {
        const double *w = a->frames[i].w, *u = a->frames[i].u;
        const double values[18] = {0, w[2],  -w[1], -w[2], 0, w[0],  w[1],  -w[0], 0,
                                   0, -u[2], u[1],  u[2],  0, -u[0], -u[1], u[0],  0};
        for (int k = 0; k < 18; ++k) *C++ = m * values[k];
    }
    if (a->kinds[i] == GA_NODE_SE3 || a->kinds[i] == GA_NODE_R3SO3)
        C = gyroscopic(a->inertia + 9 * (size_t)i, a->frames[i].w, C);
    return C;
}
