#include "model/node.h"

#include "lie/so3.h"
#include "lie/turns.h"

#include <math.h>
#include <string.h>

bool ga_node_is_mixed(ga_node_kind kind)
{
    return kind == GA_NODE_R3SO3 || kind == GA_NODE_R2SO2;
}

/* y = R x and y = R^T x, R column-major; y is not x. */
static void turn(const double *R, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

static void turn_back(const double *R, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i)
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void set_unit(double *R)
{
    memset(R, 0, 9 * sizeof *R);
    R[0] = R[4] = R[8] = 1;
}

static void place_planar(const double *q, ga_frame *frame)
{
    double c = cos(q[2]), s = sin(q[2]);
    frame->x[0] = q[0], frame->x[1] = q[1], frame->x[2] = 0;
    set_unit(frame->R);
    frame->R[0] = c, frame->R[1] = s, frame->R[3] = -s, frame->R[4] = c;
}

void ga_node_place(ga_node_kind kind, const double *q, ga_frame *frame)
{
    switch (kind) {
    case GA_NODE_R3SO3:
    case GA_NODE_SE3:
        memcpy(frame->x, q, 3 * sizeof *q);
        ga_quaternion_to_matrix(q + 3, frame->R);
        return;
    case GA_NODE_R2SO2:
    case GA_NODE_SE2:
        place_planar(q, frame);
        return;
    default:
        frame->x[0] = q[0], frame->x[1] = q[1];
        frame->x[2] = kind == GA_NODE_POINT3 ? q[2] : 0;
        set_unit(frame->R);
    }
}

void ga_node_twist(ga_node_kind kind, const ga_frame *frame, const double *v, double *twist)
{
    const double *R = frame->R;
    memset(twist, 0, GA_TWIST * sizeof *twist);
    switch (kind) {
    case GA_NODE_R3SO3:
        turn_back(R, v, twist);
        memcpy(twist + 3, v + 3, 3 * sizeof *v);
        return;
    case GA_NODE_SE3:
        memcpy(twist, v, 6 * sizeof *v);
        return;
    case GA_NODE_POINT3:
        memcpy(twist, v, 3 * sizeof *v);
        return;
    case GA_NODE_R2SO2:
        twist[0] = R[0] * v[0] + R[1] * v[1];
        twist[1] = R[3] * v[0] + R[4] * v[1];
        twist[5] = v[2];
        return;
    case GA_NODE_SE2:
        twist[5] = v[2];
        /* fall through */
    default:
        twist[0] = v[0];
        twist[1] = v[1];
    }
}

void ga_node_move(ga_node_kind kind, const double *v, ga_frame *frame)
{
    if (kind == GA_NODE_R3SO3) { /* most of them */
        turn_back(frame->R, v, frame->u);
        memcpy(frame->w, v + 3, sizeof frame->w);
        return;
    }
    double twist[GA_TWIST];
    ga_node_twist(kind, frame, v, twist);
    memcpy(frame->u, twist, sizeof frame->u);
    memcpy(frame->w, twist + 3, sizeof frame->w);
}

void ga_node_place_all(ga_node_kind kind, int count, const double *q, ga_frame *frames)
{
    const int n = ga_node_nq(ga_node_of(kind));
    if (kind != GA_NODE_R3SO3 && kind != GA_NODE_SE3) {
        for (int i = 0; i < count; ++i) ga_node_place(kind, q + n * i, frames + i);
        return;
    }
    for (int i = 0; i < count; ++i, q += 7, ++frames) {
        memcpy(frames->x, q, sizeof frames->x);
        ga_quat_matrix(ga_quat_load(q + 3), 3, frames->R);
    }
}

void ga_node_move_all(ga_node_kind kind, int count, const double *v, ga_frame *frames)
{
    const int n = ga_node_nv(ga_node_of(kind));
    if (kind != GA_NODE_R3SO3) {
        for (int i = 0; i < count; ++i) ga_node_move(kind, v + n * i, frames + i);
        return;
    }
    for (int i = 0; i < count; ++i, v += 6, ++frames) {
        turn_back(frames->R, v, frames->u);
        memcpy(frames->w, v + 3, sizeof frames->w);
    }
}

static void place_points(int count, const double *q, ga_plane *planes)
{
    for (int i = 0; i < count; ++i, q += 2, ++planes) {
        planes->x[0] = q[0], planes->x[1] = q[1];
        planes->c = 1, planes->s = 0;
        planes->angle = 0;
    }
}

/* Cosines and sines of many together. */
void ga_node_place_flat(ga_node_kind kind, int count, const double *q, ga_plane *planes)
{
    enum { MANY = 128 };
    double angle[MANY], c[MANY], s[MANY];
    if (kind == GA_NODE_POINT2) {
        place_points(count, q, planes);
        return;
    }
    for (int from = 0; from < count; from += MANY) {
        const int n = count - from < MANY ? count - from : MANY;
        for (int i = 0; i < n; ++i) angle[i] = q[3 * i + 2];
        ga_turns(n, angle, c, s);
        for (int i = 0; i < n; ++i) {
            ga_plane *p = planes + i;
            const double x = q[3 * i], y = q[3 * i + 1];
            p->x[0] = x, p->x[1] = y;
            p->c = c[i], p->s = s[i];
            p->angle = angle[i];
        }
        q += 3 * n;
        planes += n;
    }
}

void ga_node_move_flat(ga_node_kind kind, int count, const double *v, ga_plane *planes)
{
    const int n = kind == GA_NODE_POINT2 ? 2 : 3;
    for (int i = 0; kind != GA_NODE_SE2 && i < count; ++i, v += n) {
        planes[i].v[0] = v[0], planes[i].v[1] = v[1];
        planes[i].w = n == 2 ? 0 : v[2];
    }
    for (int i = 0; kind == GA_NODE_SE2 && i < count; ++i, v += n) {
        ga_plane *p = planes + i;
        p->v[0] = p->c * v[0] - p->s * v[1];
        p->v[1] = p->s * v[0] + p->c * v[1];
        p->w = v[2];
    }
}

void ga_node_frame(const ga_plane *plane, ga_frame *frame)
{
    frame->x[0] = plane->x[0], frame->x[1] = plane->x[1], frame->x[2] = 0;
    set_unit(frame->R);
    frame->R[0] = frame->R[4] = plane->c;
    frame->R[1] = plane->s, frame->R[3] = -plane->s;
}

void ga_node_coordinates(ga_node_kind kind, const double x[3], const double quaternion[4],
                         double *q)
{
    switch (kind) {
    case GA_NODE_R3SO3:
    case GA_NODE_SE3:
        memcpy(q + 3, quaternion, 4 * sizeof *q);
        /* fall through */
    case GA_NODE_POINT3:
        memcpy(q, x, 3 * sizeof *q);
        return;
    case GA_NODE_R2SO2:
    case GA_NODE_SE2:
        q[2] = 2 * atan2(quaternion[3], quaternion[0]);
        /* fall through */
    default:
        q[0] = x[0];
        q[1] = x[1];
    }
}

void ga_node_row(ga_node_kind kind, const ga_frame *frame, const double *g, double *out)
{
    const double *R = frame->R;
    switch (kind) {
    case GA_NODE_R3SO3:
        turn(R, g, out);
        memcpy(out + 3, g + 3, 3 * sizeof *g);
        return;
    case GA_NODE_SE3:
        memcpy(out, g, 6 * sizeof *g);
        return;
    case GA_NODE_POINT3:
        memcpy(out, g, 3 * sizeof *g);
        return;
    case GA_NODE_R2SO2:
        out[0] = R[0] * g[0] + R[3] * g[1];
        out[1] = R[1] * g[0] + R[4] * g[1];
        out[2] = g[5];
        return;
    case GA_NODE_SE2:
        out[2] = g[5];
        /* fall through */
    default:
        out[0] = g[0];
        out[1] = g[1];
    }
}

void ga_node_velocity(ga_node_kind kind, const ga_frame *frame, double *v)
{
    /* W is orthogonal on the components a node has, so v = W^T twist. */
    double twist[GA_TWIST];
    memcpy(twist, frame->u, sizeof frame->u);
    memcpy(twist + 3, frame->w, sizeof frame->w);
    ga_node_row(kind, frame, twist, v);
}

void ga_node_acceleration(ga_node_kind kind, const ga_frame *frame, const double *vd,
                          double twist_rate[6])
{
    ga_node_twist(kind, frame, vd, twist_rate);
    if (!ga_node_is_mixed(kind)) return;
    const double *u = frame->u, *w = frame->w; /* u' = R^T x'' - w x u */
    twist_rate[0] -= w[1] * u[2] - w[2] * u[1];
    twist_rate[1] -= w[2] * u[0] - w[0] * u[2];
    twist_rate[2] -= w[0] * u[1] - w[1] * u[0];
}

void ga_node_block(ga_node_kind kind_i, const ga_frame *frame_i, ga_node_kind kind_j,
                   const ga_frame *frame_j, const double *A, int ld_A, double *out, int ld)
{
    double half[GA_TWIST][GA_TWIST]; /* A W_j, transposed: one row for each column */
    int nj = ga_node_nv(ga_node_of(kind_j)), ni = ga_node_nv(ga_node_of(kind_i));
    for (int r = 0; r < GA_TWIST; ++r) {
        double row[GA_TWIST];
        ga_node_row(kind_j, frame_j, A + r * ld_A, row);
        for (int c = 0; c < nj; ++c) half[c][r] = row[c];
    }
    for (int c = 0; c < nj; ++c) {
        double column[GA_TWIST];
        ga_node_row(kind_i, frame_i, half[c], column);
        for (int r = 0; r < ni; ++r) out[r * ld + c] = column[r];
    }
}
