/* m x'' = -m g z^ + l,  J Omega' = -Omega x J Omega - X x R^T l,  Phi = R X - x,
 * m = 15, J = diag(15/64, 15/32, 15/64), X = (0, 1, 0): R X is the second column of R.
 *
 * The loop has the matrix
 *
 *     [ m      0              -I     ]
 *     [ 0  J + c_v C + c_q K  X~ R^T ]     B = (-I, -R X~)
 *     [-I  -R X~ T            0      ]     T: tangent of exp, I - U~/2 to first order
 *
 * in 9 unknowns, as a general code has it. */
#include "bench/top.h"
#include "bench/ida.h"
#include "bench/loop.h"

#include <string.h>

static const double m = 15, g = 9.81;
static const double J[3] = {0.234375, 0.46875, 0.234375};
static const double omega0[3] = {0, 150, -4.61538};
/* extrapolation of order 16 in 80 bits, self-difference 1.2e-15 */
static const double end[7] = {.173343964098386, .640088592070569,  -.748490791133581,
                              .732943980679664, -.278285719337613, .531824611334162,
                              -.320176142736249};

double top_error(const double *q)
{
    const double *p = q + 3, *r = end + 3;
    /* conj(p) r */
    const double w = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3];
    const double d[3] = {p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2],
                         p[0] * r[2] + p[1] * r[3] - p[2] * r[0] - p[3] * r[1],
                         p[0] * r[3] - p[1] * r[2] + p[2] * r[1] - p[3] * r[0]};
    const double sine = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    const double angle = 2 * atan2(sine, fabs(w)), factor = sine > 0 ? angle / sine : 0;
    double error = bench_distance(3, q, end);
    for (int i = 0; i < 3; ++i) error = fmax(error, fabs(d[i]) * factor);
    return error;
}

static void rotation(const double *p, double *R) /* row-major */
{
    const double w = p[0], x = p[1], y = p[2], z = p[3];
    R[0] = 1 - 2 * (y * y + z * z), R[1] = 2 * (x * y - w * z), R[2] = 2 * (x * z + w * y);
    R[3] = 2 * (x * y + w * z), R[4] = 1 - 2 * (x * x + z * z), R[5] = 2 * (y * z - w * x);
    R[6] = 2 * (x * z - w * y), R[7] = 2 * (y * z + w * x), R[8] = 1 - 2 * (x * x + y * y);
}

/* p o exp(U) */
static void turn(const double *p, const double *U, double *out)
{
    const double half2 = 0.25 * (U[0] * U[0] + U[1] * U[1] + U[2] * U[2]), half = sqrt(half2);
    const double c = cos(half), s = half > 1e-4 ? 0.5 * sin(half) / half : 0.5 - half2 / 12;
    const double x = s * U[0], y = s * U[1], z = s * U[2];
    out[0] = p[0] * c - p[1] * x - p[2] * y - p[3] * z;
    out[1] = p[0] * x + p[1] * c + p[2] * z - p[3] * y;
    out[2] = p[0] * y - p[1] * z + p[2] * c + p[3] * x;
    out[3] = p[0] * z + p[1] * y - p[2] * x + p[3] * c;
}

/* Omega x J Omega */
static void gyroscopic(const double *w, double *out)
{
    out[0] = (J[2] - J[1]) * w[1] * w[2];
    out[1] = (J[0] - J[2]) * w[2] * w[0];
    out[2] = (J[1] - J[0]) * w[0] * w[1];
}

/* R X~ = R y~: columns R y~ e1 = -R z, 0, R x  (y x e1 = -e3, y x e3 = e1). */
static void arm_columns(const double *R, double *first, double *third)
{
    for (int i = 0; i < 3; ++i) first[i] = -R[3 * i + 2], third[i] = R[3 * i];
}

/* Mass is constant, and asked for once; Phi, B = (-I, -R X~) and the dynamics take R once. */
static void put_constraints(const double *q, const double *R, const ga_wanted *wanted)
{
    if (wanted->gradient) {
        double *B = wanted->gradient, first[3], third[3];
        memset(B, 0, 18 * sizeof *B);
        arm_columns(R, first, third);
        for (int i = 0; i < 3; ++i) B[4 * i] = -1, B[9 + i] = -first[i], B[15 + i] = -third[i];
    }
    for (int i = 0; wanted->constraint && i < 3; ++i)
        wanted->constraint[i] = R[3 * i + 1] - q[i];
}

static ga_eval all(void *user, const ga_point *at, const ga_wanted *wanted)
{
    (void)user;
    double R[9];
    rotation(at->q + 3, R);
    put_constraints(at->q, R, wanted);
    if (wanted->mass) {
        memset(wanted->mass, 0, 36 * sizeof(double));
        for (int i = 0; i < 3; ++i) {
            wanted->mass[7 * i] = m;
            wanted->mass[7 * (i + 3)] = J[i];
        }
    }
    if (wanted->force) {
        double *f = wanted->force;
        gyroscopic(at->v + 3, f + 3);
        for (int i = 0; i < 3; ++i) f[i] = i == 2 ? -m * g : 0, f[3 + i] = -f[3 + i];
    }
    return GA_EVAL_OK;
}

/* M v' - f + B^T l, as the loop adds it up. */
static ga_eval equations(void *user, const ga_point *at, const ga_wanted *wanted, double *r)
{
    (void)user;
    const double *vd = at->vd, *l = at->lambda;
    double R[9];
    rotation(at->q + 3, R);
    put_constraints(at->q, R, wanted);
    gyroscopic(at->v + 3, r + 3);
    r[3] += J[0] * vd[3] + R[2] * l[0] + R[5] * l[1] + R[8] * l[2];
    r[4] += J[1] * vd[4];
    r[5] += J[2] * vd[5] - R[0] * l[0] - R[3] * l[1] - R[6] * l[2];
    for (int i = 0; i < 3; ++i) r[i] = m * vd[i] - l[i] + (i == 2 ? m * g : 0);
    return GA_EVAL_OK;
}

ga_status top_create(pb_problem **problem)
{
    ga_status status = pb_heavy_top_create(GA_GROUP_R3SO3, problem);
    if (status == GA_OK) {
        (*problem)->system.all = all;
        (*problem)->system.equations = equations;
    }
    return status;
}

enum { N = 9 };

/* Unknowns (x'', Omega', l); rows: force, torque, constraint/c_q. */
static void fill(const double *R, const double *l, const double *w, const double *U,
                 const loop_coefficients *c, double *A)
{
    double first[3], third[3];
    arm_columns(R, first, third);
    memset(A, 0, N * N * sizeof *A);
    double *row0 = A + 3 * N, *row1 = row0 + N, *row2 = row1 + N;
    /* J + c_v C, C = Omega~ J - (J Omega)~ */
    row0[3] = J[0];
    row0[4] = c->c_v * (J[2] - J[1]) * w[2];
    row0[5] = c->c_v * (J[2] - J[1]) * w[1];
    row1[3] = c->c_v * (J[0] - J[2]) * w[2];
    row1[4] = J[1];
    row1[5] = c->c_v * (J[0] - J[2]) * w[0];
    row2[3] = c->c_v * (J[1] - J[0]) * w[1];
    row2[4] = c->c_v * (J[1] - J[0]) * w[0];
    row2[5] = J[2];
    /* c_q K, K = X~ s~ = s X^T - (X.s) I with s = R^T l */
    const double s[3] = {R[0] * l[0] + R[3] * l[1] + R[6] * l[2],
                         R[1] * l[0] + R[4] * l[1] + R[7] * l[2],
                         R[2] * l[0] + R[5] * l[1] + R[8] * l[2]};
    row0[3] -= c->c_q * s[1];
    row0[4] += c->c_q * s[0];
    row2[4] += c->c_q * s[2];
    row2[5] -= c->c_q * s[1];
    for (int i = 0; i < 3; ++i) {
        double *constraint = A + (6 + i) * N;
        A[i * N + i] = m;
        A[i * N + 6 + i] = -1;
        row0[6 + i] = -first[i]; /* (-R X~)^T */
        row2[6 + i] = -third[i];
        /* row (a, 0, b) of -R X~, times T = I - U~/2 */
        const double a = -first[i], b = -third[i];
        constraint[i] = -1;
        constraint[3] = a + 0.5 * b * U[1];
        constraint[4] = 0.5 * (a * U[2] - b * U[0]);
        constraint[5] = b - 0.5 * a * U[1];
    }
}

typedef struct state {
    double x[3], p[4], v[6], vd[6], a[6], l[3];
} state;

/* At the start: the same matrix without C and K, and the constraint on acceleration level. */
static void start_values(state *s)
{
    static const double identity[4] = {1, 0, 0, 0};
    const loop_coefficients none = {.c_q = 0, .c_v = 0};
    double R[9], A[N * N], x[N], zero[3] = {0};
    int pivot[N];
    memset(s, 0, sizeof *s);
    memcpy(s->p, identity, sizeof identity);
    memcpy(s->v + 3, omega0, sizeof omega0);
    s->x[1] = 1;
    s->v[0] = -omega0[2]; /* Omega x X */
    s->v[2] = omega0[0];
    rotation(s->p, R);
    fill(R, zero, omega0, zero, &none, A);
    gyroscopic(omega0, x + 3);
    /* R (Omega' x X) + Omega x (Omega x X) - x'' = 0 */
    const double *w = omega0;
    const double c[3] = {w[0] * w[1], -(w[0] * w[0] + w[2] * w[2]), w[1] * w[2]};
    for (int i = 0; i < 3; ++i) {
        x[i] = i == 2 ? -m * g : 0;
        x[3 + i] = -x[3 + i];
        x[6 + i] = -c[i];
    }
    loop_lu(N, A, pivot);
    loop_lu_solve(N, A, pivot, x);
    memcpy(s->vd, x, sizeof s->vd);
    memcpy(s->l, x + 6, sizeof s->l);
    memcpy(s->a, s->vd, sizeof s->a);
}

bool top_loop(bench *b, const bench_case *c, bench_outcome *outcome)
{
    (void)b;
    const long steps = lround(1 / c->value);
    const loop_coefficients co = loop_coefficients_of(0.9, 1.0 / (double)steps);
    double U0[6], v0[6], a1[6], U[6], q[7], R[9], A[N * N], x[N];
    double vd_old[2][6] = {0}, l_old[2][3] = {0}, iterations = 0.5, factorizations = 1;
    int pivot[N];
    state s;
    const double begin = bench_clock(), rest = 1 / (1 - co.alpha_m);
    start_values(&s);
    for (long step = 0; step < steps; ++step) {
        for (int i = 0; i < 6; ++i) {
            a1[i] = (co.alpha_f * s.vd[i] - co.alpha_m * s.a[i]) * rest;
            v0[i] = s.v[i] + co.h * ((1 - co.gamma) * s.a[i] + co.gamma * a1[i]);
            U0[i] = co.h * s.v[i] + co.h * co.h * ((0.5 - co.beta) * s.a[i] + co.beta * a1[i]);
        }
        loop_extrapolate(6, s.vd, vd_old[0], vd_old[1], step);
        loop_extrapolate(3, s.l, l_old[0], l_old[1], step);
        for (iterations += c->iterations; iterations >= 1; --iterations) {
            for (int i = 0; i < 6; ++i) {
                U[i] = U0[i] + co.c_q * s.vd[i];
                s.v[i] = v0[i] + co.c_v * s.vd[i];
            }
            turn(s.p, U + 3, q + 3);
            rotation(q + 3, R);
            const double *l = s.l, *w = s.v + 3;
            gyroscopic(w, x + 3);
            /* + X x R^T l = (s_z, 0, -s_x) */
            x[3] += J[0] * s.vd[3] + R[2] * l[0] + R[5] * l[1] + R[8] * l[2];
            x[4] += J[1] * s.vd[4];
            x[5] += J[2] * s.vd[5] - R[0] * l[0] - R[3] * l[1] - R[6] * l[2];
            for (int i = 0; i < 3; ++i) {
                x[i] = m * s.vd[i] - l[i] + (i == 2 ? m * g : 0);
                x[6 + i] = (R[3 * i + 1] - s.x[i] - U[i]) / co.c_q;
            }
            if (factorizations >= 1) {
                fill(R, l, w, U + 3, &co, A);
                loop_lu(N, A, pivot);
                --factorizations;
                ++outcome->factorizations;
            }
            loop_lu_solve(N, A, pivot, x);
            for (int i = 0; i < 6; ++i) s.vd[i] -= x[i];
            for (int i = 0; i < 3; ++i) s.l[i] -= x[6 + i];
            ++outcome->iterations;
        }
        factorizations += c->factorizations;
        for (int i = 0; i < 6; ++i) {
            U[i] = U0[i] + co.c_q * s.vd[i];
            s.v[i] = v0[i] + co.c_v * s.vd[i];
            s.a[i] = a1[i] + co.share * s.vd[i];
        }
        for (int i = 0; i < 3; ++i) s.x[i] += U[i];
        turn(s.p, U + 3, q);
        memcpy(s.p, q, sizeof s.p);
    }
    outcome->seconds = bench_clock() - begin;
    outcome->steps = steps;
    memcpy(q, s.x, sizeof s.x);
    memcpy(q + 3, s.p, sizeof s.p);
    outcome->error = top_error(q);
    return true;
}

/* Index 2, [ABC14] eq. (58): v' = u + B_n^T y, U = U0 + c_q u, v = v0 + c_v v', and the matrix
 *
 *     [ M + c_v C + c_q K    B^T  M B_n^T ]
 *     [ B + c_q/c_v Z        0    B B_n^T ]     Z = -R (Omega x X)~, on rotations
 *     [ B T                  0    0       ]
 *
 * Arms are the columns 3 and 5 of B: (R_z, 0, -R_x). */
enum { N2 = 12 };

typedef struct arms {
    double a[3], b[3];
} arms;

static arms arms_of(const double *R)
{
    arms x;
    arm_columns(R, x.a, x.b);
    for (int i = 0; i < 3; ++i) x.a[i] = -x.a[i], x.b[i] = -x.b[i];
    return x;
}

static void fill_index2(const double *R, const double *l, const double *w, const double *U,
                        const arms *now, const arms *old, const loop_coefficients *c, double *A)
{
    double A3[N * N];
    const double z = c->c_q / c->c_v;
    fill(R, l, w, U, c, A3);
    memset(A, 0, N2 * N2 * sizeof *A);
    for (int i = 0; i < 6; ++i) memcpy(A + i * N2, A3 + i * N, N * sizeof *A);
    for (int i = 0; i < 3; ++i) {
        double *speed = A + (6 + i) * N2;
        memcpy(A + (9 + i) * N2, A3 + (6 + i) * N, 6 * sizeof *A);
        speed[i] = -1;
        speed[3] = now->a[i] - z * R[3 * i + 1] * w[0];
        speed[4] = z * (R[3 * i] * w[0] + R[3 * i + 2] * w[2]);
        speed[5] = now->b[i] - z * R[3 * i + 1] * w[2];
        for (int j = 0; j < 3; ++j)
            speed[9 + j] = (i == j) + now->a[i] * old->a[j] + now->b[i] * old->b[j];
        A[i * N2 + 9 + i] = -m;
        A[3 * N2 + 9 + i] = J[0] * old->a[i];
        A[5 * N2 + 9 + i] = J[2] * old->b[i];
    }
}

/* vd = u + B_n^T y */
static void add_normal(const arms *n, const double *u, const double *y, double *vd)
{
    memcpy(vd, u, 6 * sizeof *vd);
    for (int i = 0; i < 3; ++i) {
        vd[i] -= y[i];
        vd[3] += n->a[i] * y[i];
        vd[5] += n->b[i] * y[i];
    }
}

bool top_loop_index2(bench *b, const bench_case *c, bench_outcome *outcome)
{
    (void)b;
    const long steps = lround(1 / c->value);
    const loop_coefficients co = loop_coefficients_of(0.9, 1.0 / (double)steps);
    double U0[6], v0[6], a1[6], U[6], u[6], y[3] = {0}, q[7], R[9], A[N2 * N2], x[N2];
    double vd_old[2][6] = {0}, l_old[2][3] = {0}, iterations = 0.5, factorizations = 1;
    int pivot[N2];
    state s;
    const double begin = bench_clock(), rest = 1 / (1 - co.alpha_m);
    start_values(&s);
    rotation(s.p, R);
    arms old = arms_of(R), now = old;
    for (long step = 0; step < steps; ++step) {
        for (int i = 0; i < 6; ++i) {
            a1[i] = (co.alpha_f * s.vd[i] - co.alpha_m * s.a[i]) * rest;
            v0[i] = s.v[i] + co.h * ((1 - co.gamma) * s.a[i] + co.gamma * a1[i]);
            U0[i] = co.h * s.v[i] + co.h * co.h * ((0.5 - co.beta) * s.a[i] + co.beta * a1[i]);
        }
        loop_extrapolate(6, s.vd, vd_old[0], vd_old[1], step);
        loop_extrapolate(3, s.l, l_old[0], l_old[1], step);
        const double back[3] = {-y[0], -y[1], -y[2]};
        add_normal(&old, s.vd, back, u);
        for (iterations += c->iterations; iterations >= 1; --iterations) {
            for (int i = 0; i < 6; ++i) {
                U[i] = U0[i] + co.c_q * u[i];
                s.v[i] = v0[i] + co.c_v * s.vd[i];
            }
            turn(s.p, U + 3, q + 3);
            rotation(q + 3, R);
            now = arms_of(R);
            const double *l = s.l, *w = s.v + 3;
            gyroscopic(w, x + 3);
            /* + X x R^T l = (s_z, 0, -s_x) */
            x[3] += J[0] * s.vd[3] + R[2] * l[0] + R[5] * l[1] + R[8] * l[2];
            x[4] += J[1] * s.vd[4];
            x[5] += J[2] * s.vd[5] - R[0] * l[0] - R[3] * l[1] - R[6] * l[2];
            for (int i = 0; i < 3; ++i) {
                x[i] = m * s.vd[i] - l[i] + (i == 2 ? m * g : 0);
                x[6 + i] = (now.a[i] * w[0] + now.b[i] * w[2] - s.v[i]) / co.c_v;
                x[9 + i] = (R[3 * i + 1] - s.x[i] - U[i]) / co.c_q;
            }
            if (factorizations >= 1) {
                fill_index2(R, l, w, U + 3, &now, &old, &co, A);
                loop_lu(N2, A, pivot);
                --factorizations;
                ++outcome->factorizations;
            }
            loop_lu_solve(N2, A, pivot, x);
            for (int i = 0; i < 6; ++i) u[i] -= x[i];
            for (int i = 0; i < 3; ++i) s.l[i] -= x[6 + i], y[i] -= x[9 + i];
            add_normal(&old, u, y, s.vd);
            ++outcome->iterations;
        }
        factorizations += c->factorizations;
        for (int i = 0; i < 6; ++i) {
            U[i] = U0[i] + co.c_q * u[i];
            s.v[i] = v0[i] + co.c_v * s.vd[i];
            s.a[i] = a1[i] + co.share * s.vd[i];
        }
        for (int i = 0; i < 3; ++i) s.x[i] += U[i];
        turn(s.p, U + 3, q);
        memcpy(s.p, q, sizeof s.p);
        rotation(s.p, R);
        old = arms_of(R);
    }
    outcome->seconds = bench_clock() - begin;
    outcome->steps = steps;
    memcpy(q, s.x, sizeof s.x);
    memcpy(q + 3, s.p, sizeof s.p);
    outcome->error = top_error(q);
    return true;
}

/* --- IDA ---------------------------------------------------------------------------------- */

/* y = (x, p, x', Omega, l), and mu in stabilised index 2. The length of p is an invariant of
 * the equations, and R is made from p as it is, with |p|^2 = 1 to the tolerance.
 *
 *     x' = v + mu,  p' = p o (0, w)/2,  w = Omega - B_Omega^T mu = Omega - X x R^T mu */
enum { GGL, INDEX1 };

static const int forms[] = {GGL, INDEX1};

/* B v = R (Omega x X) - x' = Omega_x R_z - Omega_z R_x - x' by columns of R */
static void residual(const void *data, const double *y, const double *yp, double *r)
{
    const bool ggl = *(const int *)data == GGL;
    const double *p = y + 3, *v = y + 7, *l = y + 13, *vd = yp + 7;
    double R[9], w[3] = {y[10], y[11], y[12]};
    rotation(p, R);
    for (int i = 0; i < 3; ++i) r[i] = yp[i] - v[i];
    if (ggl) {
        const double *mu = y + 16;
        for (int i = 0; i < 3; ++i) r[i] -= mu[i];
        w[0] -= R[2] * mu[0] + R[5] * mu[1] + R[8] * mu[2];
        w[2] += R[0] * mu[0] + R[3] * mu[1] + R[6] * mu[2];
    }
    r[3] = yp[3] + 0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
    r[4] = yp[4] - 0.5 * (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]);
    r[5] = yp[5] - 0.5 * (p[0] * w[1] - p[1] * w[2] + p[3] * w[0]);
    r[6] = yp[6] - 0.5 * (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]);
    for (int i = 0; i < 3; ++i) r[7 + i] = m * vd[i] - l[i] + (i == 2 ? m * g : 0);
    gyroscopic(y + 10, r + 10);
    for (int i = 0; i < 3; ++i) r[10 + i] += J[i] * vd[3 + i];
    r[10] += R[2] * l[0] + R[5] * l[1] + R[8] * l[2];
    r[12] -= R[0] * l[0] + R[3] * l[1] + R[6] * l[2];
    const double *o = y + 10, *od = vd + 3;
    for (int i = 0; i < 3; ++i) {
        if (ggl) {
            r[13 + i] = o[0] * R[3 * i + 2] - o[2] * R[3 * i] - v[i];
            r[16 + i] = R[3 * i + 1] - y[i];
        } else {
            /* R (Omega' x X + Omega x (Omega x X)) - x'' */
            r[13 + i] = R[3 * i] * (o[0] * o[1] - od[2]) -
                        R[3 * i + 1] * (o[0] * o[0] + o[2] * o[2]) +
                        R[3 * i + 2] * (od[0] + o[1] * o[2]) - vd[i];
        }
    }
}

/* dR/dp_k, row-major. */
static void rotation_slopes(const double *p, double D[4][9])
{
    const double w = 2 * p[0], x = 2 * p[1], y = 2 * p[2], z = 2 * p[3];
    const double all[4][9] = {{0, -z, y, z, 0, -x, -y, x, 0},
                              {0, y, z, y, -2 * x, -w, z, w, -2 * x},
                              {-2 * y, x, w, x, 0, z, -w, z, -2 * y},
                              {-2 * z, -w, x, w, -2 * z, y, x, y, 0}};
    memcpy(D, all, sizeof all);
}

#define AT(i, j) J_[(j)*n + (i)]

static void jacobian(const void *data, double cj, const double *y, const double *yp, double *J_)
{
    const bool ggl = *(const int *)data == GGL;
    const int n = ggl ? 19 : 16;
    const double *p = y + 3, *l = y + 13, *o = y + 10, *od = yp + 10;
    double R[9], D[4][9], w[3] = {o[0], o[1], o[2]};
    rotation(p, R);
    rotation_slopes(p, D);
    for (int i = 0; i < 3; ++i) {
        AT(i, i) = cj;
        AT(i, 7 + i) = -1;
        AT(7 + i, 7 + i) = cj * m;
        AT(7 + i, 13 + i) = -1;
        AT(10 + i, 10 + i) = cj * J[i];
    }
    /* p' - p o w/2: by p and by w, E = d(p o w/2)/dw */
    const double E[4][3] = {
        {-p[1], -p[2], -p[3]}, {p[0], -p[3], p[2]}, {p[3], p[0], -p[1]}, {-p[2], p[1], p[0]}};
    if (ggl) {
        const double *mu = y + 16;
        w[0] -= R[2] * mu[0] + R[5] * mu[1] + R[8] * mu[2];
        w[2] += R[0] * mu[0] + R[3] * mu[1] + R[6] * mu[2];
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 3; ++j)
                AT(3 + i, 16 + j) = 0.5 * (E[i][0] * R[3 * j + 2] - E[i][2] * R[3 * j]);
            for (int k = 0; k < 4; ++k)
                for (int j = 0; j < 3; ++j)
                    AT(3 + i, 3 + k) +=
                        0.5 * mu[j] * (E[i][0] * D[k][3 * j + 2] - E[i][2] * D[k][3 * j]);
        }
        for (int i = 0; i < 3; ++i) AT(i, 16 + i) = -1;
    }
    const double W[4][4] = {{0, -w[0], -w[1], -w[2]},
                            {w[0], 0, w[2], -w[1]},
                            {w[1], -w[2], 0, w[0]},
                            {w[2], w[1], -w[0], 0}};
    for (int i = 0; i < 4; ++i) {
        AT(3 + i, 3 + i) += cj;
        for (int k = 0; k < 4; ++k) AT(3 + i, 3 + k) -= 0.5 * W[i][k];
        for (int k = 0; k < 3; ++k) AT(3 + i, 10 + k) = -0.5 * E[i][k];
    }
    AT(10, 11) += (J[2] - J[1]) * o[2], AT(10, 12) += (J[2] - J[1]) * o[1];
    AT(11, 12) += (J[0] - J[2]) * o[0], AT(11, 10) += (J[0] - J[2]) * o[2];
    AT(12, 10) += (J[1] - J[0]) * o[1], AT(12, 11) += (J[1] - J[0]) * o[0];
    for (int i = 0; i < 3; ++i) {
        AT(10, 13 + i) = R[3 * i + 2];
        AT(12, 13 + i) = -R[3 * i];
        for (int k = 0; k < 4; ++k) {
            AT(10, 3 + k) += D[k][3 * i + 2] * l[i];
            AT(12, 3 + k) -= D[k][3 * i] * l[i];
        }
    }
    for (int i = 0; i < 3; ++i) {
        if (ggl) {
            AT(13 + i, 10) = R[3 * i + 2];
            AT(13 + i, 12) = -R[3 * i];
            AT(13 + i, 7 + i) = -1;
            AT(16 + i, i) = -1;
            for (int k = 0; k < 4; ++k) {
                AT(13 + i, 3 + k) = o[0] * D[k][3 * i + 2] - o[2] * D[k][3 * i];
                AT(16 + i, 3 + k) = D[k][3 * i + 1];
            }
            continue;
        }
        AT(13 + i, 7 + i) = -cj;
        AT(13 + i, 10) = cj * R[3 * i + 2] + R[3 * i] * o[1] - 2 * R[3 * i + 1] * o[0];
        AT(13 + i, 11) = R[3 * i] * o[0] + R[3 * i + 2] * o[2];
        AT(13 + i, 12) = -cj * R[3 * i] - 2 * R[3 * i + 1] * o[2] + R[3 * i + 2] * o[1];
        for (int k = 0; k < 4; ++k)
            AT(13 + i, 3 + k) = D[k][3 * i] * (o[0] * o[1] - od[2]) -
                                D[k][3 * i + 1] * (o[0] * o[0] + o[2] * o[2]) +
                                D[k][3 * i + 2] * (od[0] + o[1] * o[2]);
    }
}

bool top_ida(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const ida_options *options = c->data;
    const int n = options->form == GGL ? 19 : 16;
    double y[19] = {0}, yp[19] = {0}, id[19], scale[19];
    state s;
    start_values(&s);
    memcpy(y, s.x, sizeof s.x);
    memcpy(y + 3, s.p, sizeof s.p);
    memcpy(y + 7, s.v, sizeof s.v);
    memcpy(y + 13, s.l, sizeof s.l);
    memcpy(yp, s.v, 3 * sizeof *yp);
    for (int i = 0; i < 3; ++i) yp[4 + i] = 0.5 * omega0[i];
    memcpy(yp + 7, s.vd, sizeof s.vd);
    for (int i = 0; i < n; ++i) {
        id[i] = i < 13;
        scale[i] = i < 7 ? 1 : i < 13 ? 1e2 : 1e5;
    }
    ida_problem problem = {.n = n,
                           .data = forms + options->form,
                           .residual = residual,
                           .jacobian = jacobian,
                           .y = y,
                           .yp = yp,
                           .differential = id,
                           .scale = scale,
                           .t_end = 1,
                           .first_step = 1e-6};
    const double begin = bench_clock();
    bool ok = ida_solve(b, &problem, c->value, options, outcome);
    outcome->seconds = bench_clock() - begin;
    outcome->error = top_error(y);
    return ok;
}
