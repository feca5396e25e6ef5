/* The planar chain: loops written for it, and IDA. Formulas in rods.h. */
#include "bench/ida.h"
#include "bench/rods.h"

#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the loop ----------------------------------------------------------------------------- */

typedef struct loop {
    int n;
    double *q, *v, *vd, *a, *f;   /* 3 n; f: 2 n */
    double *vd_old[2], *f_old[2]; /* one and two steps ago */
    double *q0, *v0, *a1;         /* what does not change in a step */
    double *r, *s;                /* residuals: 3 n, 2 n */
    rods_half *d;
    double *J; /* as in the matrix: J + c_q K */
    rods_schur *S;
    rods_half *d_factored;
    /* KLU */
    ida_pattern pattern;
    double *values, *x;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    double *memory;
} loop;

/* Unknowns of rod k: x, y, th, f_x, f_y at 5 k. */
static bool put_pattern(loop *g)
{
    ida_pattern *p = &g->pattern;
    p->n = 5 * g->n;
    bool ok = true;
    for (int k = 0; k < g->n; ++k) {
        int o = 5 * k;
        for (int i = 0; i < 3; ++i) ok = ok && ida_pattern_put(p, o + i, o + i);
        const int place[4][2] = {{0, 3}, {1, 4}, {2, 3}, {2, 4}};
        for (int i = 0; i < 4; ++i)
            for (int below = 0; below < 2 && (k + 1 < g->n || !below); ++below) {
                int row = o + place[i][0], col = o + place[i][1] + 5 * below;
                ok = ok && ida_pattern_put(p, row, col) && ida_pattern_put(p, col, row);
            }
    }
    return ok && ida_pattern_finish(p);
}

static void put_values(const loop *g, double *values)
{
    const int *slot = g->pattern.slot;
    for (int k = 0; k < g->n; ++k) {
        const double ex = -g->d_factored[k].y, ey = g->d_factored[k].x;
        const double entry[4][2] = {{1, -1}, {1, -1}, {-ex, -ex}, {-ey, -ey}};
        values[*slot++] = 1;
        values[*slot++] = 1;
        values[*slot++] = g->J[k];
        for (int i = 0; i < 4; ++i)
            for (int below = 0; below < 2 && (k + 1 < g->n || !below); ++below) {
                values[*slot++] = entry[i][below];
                values[*slot++] = entry[i][below];
            }
    }
}

static bool loop_create(loop *g, int n, bool klu)
{
    size_t rods = (size_t)n;
    g->n = n;
    double *x = g->memory = calloc(rods * (3 * 10 + 2 * 4), sizeof *x);
    g->d = calloc(rods, sizeof *g->d);
    g->d_factored = calloc(rods, sizeof *g->d);
    g->J = calloc(rods, sizeof *g->J);
    g->S = calloc(rods, sizeof *g->S);
    if (!x || !g->d || !g->d_factored || !g->J || !g->S) return false;
    double **long_ones[] = {&g->q,         &g->v,  &g->vd, &g->a,  g->vd_old,
                            g->vd_old + 1, &g->q0, &g->v0, &g->a1, &g->r};
    double **short_ones[] = {&g->f, g->f_old, g->f_old + 1, &g->s};
    for (int k = 0; k < BENCH_COUNT(long_ones); ++k, x += 3 * n) *long_ones[k] = x;
    for (int k = 0; k < BENCH_COUNT(short_ones); ++k, x += 2 * n) *short_ones[k] = x;
    if (!klu) return true;
    if (!put_pattern(g)) return false;
    g->values = calloc((size_t)g->pattern.colptr[5 * n], sizeof *g->values);
    g->x = calloc(5 * rods, sizeof *g->x);
    klu_defaults(&g->common);
    g->common.scale = -1;
    g->common.ordering = 1; /* COLAMD: half the diagonal is zero */
    g->symbolic = klu_analyze(5 * n, g->pattern.colptr, g->pattern.rowind, &g->common);
    return g->values && g->x && g->symbolic;
}

static void loop_destroy(loop *g)
{
    if (g->numeric) klu_free_numeric(&g->numeric, &g->common);
    if (g->symbolic) klu_free_symbolic(&g->symbolic, &g->common);
    ida_pattern_free(&g->pattern);
    void *memory[] = {g->memory, g->d, g->d_factored, g->J, g->S, g->values, g->x};
    for (int k = 0; k < BENCH_COUNT(memory); ++k) free(memory[k]);
}

/* r = M vd - g - B^T f, s = Phi. */
static void evaluate(loop *g)
{
    double tip_x = 0, tip_y = 0;
    const double *q = g->q, *vd = g->vd, *f = g->f;
    for (int k = 0; k < g->n; ++k, q += 3, vd += 3, f += 2) {
        const double dx = 0.5 * cos(q[2]), dy = 0.5 * sin(q[2]);
        const bool last = k + 1 == g->n;
        const double nx = last ? 0 : f[2], ny = last ? 0 : f[3];
        g->d[k] = (rods_half){dx, dy};
        g->r[3 * k] = vd[0] - f[0] + nx;
        g->r[3 * k + 1] = vd[1] + RODS_G - f[1] + ny;
        g->r[3 * k + 2] = RODS_J * vd[2] - dy * (f[0] + nx) + dx * (f[1] + ny);
        g->s[2 * k] = q[0] - dx - tip_x;
        g->s[2 * k + 1] = q[1] - dy - tip_y;
        tip_x = q[0] + dx;
        tip_y = q[1] + dy;
    }
}

static bool factor(loop *g, double c_q)
{
    for (int k = 0; k < g->n; ++k) {
        const bool last = k + 1 == g->n;
        const double fx = g->f[2 * k] + (last ? 0 : g->f[2 * k + 2]);
        const double fy = g->f[2 * k + 1] + (last ? 0 : g->f[2 * k + 3]);
        g->J[k] = RODS_J - c_q * (g->d[k].x * fx + g->d[k].y * fy);
        g->d_factored[k] = g->d[k];
    }
    if (!g->symbolic) {
        rods_factor(g->n, g->d, g->J, g->S);
        return true;
    }
    put_values(g, g->values);
    if (g->numeric)
        return klu_refactor(g->pattern.colptr, g->pattern.rowind, g->values, g->symbolic,
                            g->numeric, &g->common) != 0;
    g->numeric =
        klu_factor(g->pattern.colptr, g->pattern.rowind, g->values, g->symbolic, &g->common);
    return g->numeric != NULL;
}

/* (r, s/c_q) becomes the increments of (vd, f), to be subtracted:
 * S df = s/c_q - B M^-1 r, dvd = M^-1 (r + B^T df), both then with the sign of r. */
static void solve_schur(loop *g, double c_q)
{
    const rods_half *d = g->d_factored;
    double x = 0, y = 0, *r = g->r, *s = g->s;
    for (int k = 0; k < g->n; ++k, r += 3, s += 2) {
        const double w = r[2] / g->J[k], u = -d[k].y * w, v = d[k].x * w;
        s[0] = s[0] / c_q - (r[0] - u - x);
        s[1] = s[1] / c_q - (r[1] - v - y);
        x = r[0] + u;
        y = r[1] + v;
    }
    rods_solve(g->n, g->S, g->s);
    r = g->r;
    s = g->s;
    for (int k = 0; k < g->n; ++k, r += 3, s += 2) {
        const bool last = k + 1 == g->n;
        const double nx = last ? 0 : s[2], ny = last ? 0 : s[3];
        r[0] += s[0] - nx;
        r[1] += s[1] - ny;
        r[2] = (r[2] + d[k].y * (s[0] + nx) - d[k].x * (s[1] + ny)) / g->J[k];
    }
}

static void solve_klu(loop *g, double c_q)
{
    double *x = g->x;
    for (int k = 0; k < g->n; ++k, x += 5) {
        x[0] = g->r[3 * k];
        x[1] = g->r[3 * k + 1];
        x[2] = g->r[3 * k + 2];
        x[3] = g->s[2 * k] / c_q;
        x[4] = g->s[2 * k + 1] / c_q;
    }
    klu_solve(g->symbolic, g->numeric, 5 * g->n, 1, g->x, &g->common);
    x = g->x;
    for (int k = 0; k < g->n; ++k, x += 5) {
        g->r[3 * k] = x[0];
        g->r[3 * k + 1] = x[1];
        g->r[3 * k + 2] = x[2];
        g->s[2 * k] = -x[3]; /* the matrix has +B^T */
        g->s[2 * k + 1] = -x[4];
    }
}

static void extrapolate(int n, double *x, double *old0, double *old1, long steps)
{
    for (int i = 0; i < n; ++i) {
        double now = x[i];
        if (steps == 1) x[i] = 2 * now - old0[i];
        if (steps >= 2) x[i] = 3 * (now - old0[i]) + old1[i];
        old1[i] = old0[i];
        old0[i] = now;
    }
}

typedef struct coefficients {
    double h, alpha_m, alpha_f, beta, gamma, c_q, c_v;
} coefficients;

static coefficients coefficients_of(double rho, double h)
{
    coefficients c = {.h = h, .alpha_m = (2 * rho - 1) / (rho + 1), .alpha_f = rho / (rho + 1)};
    c.gamma = 0.5 + c.alpha_f - c.alpha_m;
    c.beta = 0.25 * (c.gamma + 0.5) * (c.gamma + 0.5);
    c.c_q = h * h * c.beta * (1 - c.alpha_f) / (1 - c.alpha_m);
    c.c_v = h * c.gamma * (1 - c.alpha_f) / (1 - c.alpha_m);
    return c;
}

/* a_{n+1}, v, q as far as they do not depend on vd. */
static void predict(loop *g, const coefficients *c, long steps)
{
    const double rest = 1 / (1 - c->alpha_m);
    for (int i = 0; i < 3 * g->n; ++i) {
        g->a1[i] = (c->alpha_f * g->vd[i] - c->alpha_m * g->a[i]) * rest;
        g->v0[i] = g->v[i] + c->h * ((1 - c->gamma) * g->a[i] + c->gamma * g->a1[i]);
        g->q0[i] = g->q[i] + c->h * g->v[i] +
                   c->h * c->h * ((0.5 - c->beta) * g->a[i] + c->beta * g->a1[i]);
    }
    extrapolate(3 * g->n, g->vd, g->vd_old[0], g->vd_old[1], steps);
    extrapolate(2 * g->n, g->f, g->f_old[0], g->f_old[1], steps);
}

bool rods_loop(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const int n = c->n;
    const long steps = lround(1 / c->value);
    const coefficients co = coefficients_of(0.9, 1.0 / (double)steps);
    const double begin = bench_clock();
    loop g = {0};
    if (!loop_create(&g, n, c->mode == 1)) {
        loop_destroy(&g);
        return bench_fail(b, "out of memory");
    }
    for (int k = 0; k < n; ++k) g.q[3 * k] = k + 0.5;
    /* at rest every odd derivative is zero, so the plain start is exact */
    rods_accelerations(n, g.q0, g.q0, g.d, g.J, g.S, g.vd, g.f);
    memcpy(g.a, g.vd, 3 * (size_t)n * sizeof *g.a);
    double iterations = 0.5, factorizations = 1;
    for (long step = 0; step < steps; ++step) {
        predict(&g, &co, step);
        for (iterations += c->iterations; iterations >= 1; --iterations) {
            for (int i = 0; i < 3 * n; ++i) g.q[i] = g.q0[i] + co.c_q * g.vd[i];
            evaluate(&g);
            if (factorizations >= 1) {
                if (!factor(&g, co.c_q)) break;
                --factorizations;
                ++outcome->factorizations;
            }
            if (g.symbolic)
                solve_klu(&g, co.c_q);
            else
                solve_schur(&g, co.c_q);
            for (int i = 0; i < 3 * n; ++i) g.vd[i] -= g.r[i];
            for (int i = 0; i < 2 * n; ++i) g.f[i] -= g.s[i];
            ++outcome->iterations;
        }
        factorizations += c->factorizations;
        const double share = (1 - co.alpha_f) / (1 - co.alpha_m);
        for (int i = 0; i < 3 * n; ++i) {
            g.q[i] = g.q0[i] + co.c_q * g.vd[i];
            g.v[i] = g.v0[i] + co.c_v * g.vd[i];
            g.a[i] = g.a1[i] + share * g.vd[i];
        }
    }
    outcome->steps = steps;
    outcome->seconds = bench_clock() - begin;
    const double *reference = rods_reference(n);
    outcome->error = reference ? bench_distance(3 * n, g.q, reference) : NAN;
    loop_destroy(&g);
    return true;
}

/* --- IDA: stabilised index 2 (Gear, Gupta, Leimkuhler), or index 1 -------------------------
 */

/* Unknowns of rod k: x, y, th, x', y', th', f, and mu in GGL:
 *
 *     q' - v - B^T mu = 0,  M v' - g - B^T f = 0,  Phi = 0,  B v = 0
 *
 * index 1: q' - v = 0, M v' - g - B^T f = 0, d/dt (B v) = 0. */
enum { GGL, INDEX1 };

typedef struct ida_rods {
    int n, width; /* unknowns of a rod */
    ida_pattern pattern;
} ida_rods;

static double force_row(const double *y, int width, bool last, int i, int at)
{
    return y[at + i] - (last ? 0 : y[width + at + i]);
}

static void rods_residual(const void *data, const double *y, const double *yp, double *r)
{
    const ida_rods *g = data;
    const int width = g->width;
    const bool ggl = width == 10;
    double tip[6] = {0}; /* position, velocity, acceleration of the joint above */
    for (int k = 0; k < g->n; ++k, y += width, yp += width, r += width) {
        const bool last = k + 1 == g->n;
        const double dx = 0.5 * cos(y[2]), dy = 0.5 * sin(y[2]), w = y[5];
        const double fx = y[6] + (last ? 0 : y[width + 6]);
        const double fy = y[7] + (last ? 0 : y[width + 7]);
        for (int i = 0; i < 3; ++i) r[i] = yp[i] - y[3 + i];
        r[3] = yp[3] - force_row(y, width, last, 0, 6);
        r[4] = yp[4] - force_row(y, width, last, 1, 6) + RODS_G;
        r[5] = RODS_J * yp[5] - dy * fx + dx * fy;
        if (ggl) {
            const double mx = y[8] + (last ? 0 : y[width + 8]);
            const double my = y[9] + (last ? 0 : y[width + 9]);
            r[0] -= force_row(y, width, last, 0, 8);
            r[1] -= force_row(y, width, last, 1, 8);
            r[2] += -dy * mx + dx * my;
            r[6] = y[0] - dx - tip[0];
            r[7] = y[1] - dy - tip[1];
            r[8] = y[3] + w * dy - tip[2];
            r[9] = y[4] - w * dx - tip[3];
        } else {
            r[6] = yp[3] + yp[5] * dy + w * w * dx - tip[4];
            r[7] = yp[4] - yp[5] * dx + w * w * dy - tip[5];
        }
        tip[0] = y[0] + dx;
        tip[1] = y[1] + dy;
        tip[2] = y[3] - w * dy;
        tip[3] = y[4] + w * dx;
        tip[4] = yp[3] - yp[5] * dy - w * w * dx;
        tip[5] = yp[4] + yp[5] * dx - w * w * dy;
    }
}

/* Entries in a fixed order: recorded where p is set, else written through the slots. */
typedef struct pen {
    ida_pattern *p;
    const int *slot;
    double *values;
    bool ok;
} pen;

static void put(pen *to, int row, int col, double value)
{
    if (to->p)
        to->ok = to->ok && ida_pattern_put(to->p, row, col);
    else
        to->values[*to->slot++] += value;
}

/* B^T: minus the force at `at` of rods k and k + 1 in the rows `row` of rod k. */
static void put_force(pen *to, const double *y, int o, int width, bool last, int row, int at)
{
    const double dx = 0.5 * cos(y[2]), dy = 0.5 * sin(y[2]);
    double sx = 0, sy = 0;
    for (int below = 0; below < (last ? 1 : 2); ++below) {
        const int col = o + at + below * width;
        const double sign = below ? 1 : -1;
        put(to, o + row, col, sign);
        put(to, o + row + 1, col + 1, sign);
        put(to, o + row + 2, col, -dy);
        put(to, o + row + 2, col + 1, dx);
        sx += y[at + below * width];
        sy += y[at + below * width + 1];
    }
    put(to, o + row + 2, o + 2, -dx * sx - dy * sy);
}

/* Rows `row`, of a joint, by the coordinates at `col` of a rod: position, base of it or tip of
 * the one above. */
static void put_joint(pen *to, const double *y, int row, int col, bool base, double factor)
{
    const double dx = 0.5 * cos(y[2]), dy = 0.5 * sin(y[2]), sign = base ? 1 : -1;
    put(to, row, col, factor * sign);
    put(to, row + 1, col + 1, factor * sign);
    put(to, row, col + 2, factor * dy);
    put(to, row + 1, col + 2, -factor * dx);
}

static void put_velocity(pen *to, const double *y, const double *yp, int row, int o, bool base,
                         bool ggl, double cj)
{
    const double dx = 0.5 * cos(y[2]), dy = 0.5 * sin(y[2]), w = y[5];
    put_joint(to, y, row, o + 3, base, ggl ? 1 : cj);
    if (ggl) {
        put(to, row, o + 2, w * dx);
        put(to, row + 1, o + 2, w * dy);
        return;
    }
    put(to, row, o + 2, yp[5] * dx - w * w * dy);
    put(to, row + 1, o + 2, yp[5] * dy + w * w * dx);
    put(to, row, o + 5, 2 * w * dx);
    put(to, row + 1, o + 5, 2 * w * dy);
}

static void write_jacobian(const ida_rods *g, double cj, const double *y, const double *yp,
                           pen *to)
{
    const int width = g->width;
    const bool ggl = width == 10;
    for (int k = 0; k < g->n; ++k, y += width, yp += width) {
        const int o = k * width;
        const bool last = k + 1 == g->n;
        for (int i = 0; i < 3; ++i) {
            put(to, o + i, o + i, cj);
            put(to, o + i, o + 3 + i, -1);
            put(to, o + 3 + i, o + 3 + i, i == 2 ? cj * RODS_J : cj);
        }
        put_force(to, y, o, width, last, 3, 6);
        if (ggl) {
            put_force(to, y, o, width, last, 0, 8);
            put_joint(to, y, o + 6, o, true, 1);
            if (k > 0) put_joint(to, y - width, o + 6, o - width, false, 1);
        }
        const int row = o + (ggl ? 8 : 6);
        put_velocity(to, y, yp, row, o, true, ggl, cj);
        if (k > 0) put_velocity(to, y - width, yp - width, row, o - width, false, ggl, cj);
    }
}

static void rods_jacobian(const void *data, double cj, const double *y, const double *yp,
                          double *J)
{
    const ida_rods *g = data;
    pen to = {.slot = g->pattern.slot, .values = J};
    write_jacobian(g, cj, y, yp, &to);
}

static bool ida_rods_create(ida_rods *g, int n, int form, double *zeros)
{
    g->n = n;
    g->width = form == GGL ? 10 : 8;
    g->pattern.n = n * g->width;
    pen to = {.p = &g->pattern, .ok = true};
    write_jacobian(g, 1, zeros, zeros, &to);
    return to.ok && ida_pattern_finish(&g->pattern);
}

/* Start, which variables are differential, and scales of the absolute tolerance. */
static bool fill_start(const ida_rods *g, double *y, double *yp, double *id, double *scale)
{
    const size_t n = (size_t)g->n;
    double *zero = calloc(n, sizeof *zero), *J = calloc(n, sizeof *J);
    double *vd = calloc(3 * n, sizeof *vd), *f = calloc(2 * n, sizeof *f);
    rods_half *d = calloc(n, sizeof *d);
    rods_schur *S = calloc(n, sizeof *S);
    bool memory = zero && J && vd && f && d && S;
    if (memory) {
        rods_accelerations(g->n, zero, zero, d, J, S, vd, f);
        for (int k = 0; k < g->n; ++k) {
            const ptrdiff_t o = (ptrdiff_t)k * g->width;
            y[o] = k + 0.5;
            memcpy(yp + o + 3, vd + 3 * (ptrdiff_t)k, 3 * sizeof *vd);
            memcpy(y + o + 6, f + 2 * (ptrdiff_t)k, 2 * sizeof *f);
            for (int i = 0; i < g->width; ++i) {
                id[o + i] = i < 6;
                scale[o + i] = i < 6 ? 1 : 1e3; /* the iteration's test sees forces too */
            }
        }
    }
    void *all[] = {zero, J, vd, f, d, S};
    for (int k = 0; k < BENCH_COUNT(all); ++k) free(all[k]);
    return memory;
}

static double *rods_positions(const ida_rods *g, const double *y)
{
    double *q = calloc(3 * (size_t)g->n, sizeof *q);
    for (int k = 0; q && k < g->n; ++k)
        memcpy(q + 3 * (ptrdiff_t)k, y + (ptrdiff_t)k * g->width, 3 * sizeof *q);
    return q;
}

bool rods_ida(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const ida_options *options = c->data;
    const size_t size = (size_t)c->n * (options->form == GGL ? 10 : 8);
    ida_rods g = {0};
    double *memory = calloc(4 * size, sizeof *memory);
    double *y = memory, *yp = y + size, *id = yp + size, *scale = id + size;
    const double begin = bench_clock();
    if (!memory || !ida_rods_create(&g, c->n, options->form, memory) ||
        !fill_start(&g, y, yp, id, scale)) {
        free(memory);
        ida_pattern_free(&g.pattern);
        return bench_fail(b, "out of memory");
    }
    ida_problem problem = {.n = (int)size,
                           .data = &g,
                           .residual = rods_residual,
                           .jacobian = rods_jacobian,
                           .colptr = g.pattern.colptr,
                           .rowind = g.pattern.rowind,
                           .y = y,
                           .yp = yp,
                           .differential = id,
                           .scale = scale,
                           .t_end = 1};
    bool ok = ida_solve(b, &problem, c->value, options, outcome);
    outcome->seconds = bench_clock() - begin;
    const double *reference = ok ? rods_reference(c->n) : NULL;
    double *q = ok ? rods_positions(&g, y) : NULL;
    if (reference && q) outcome->error = bench_distance(3 * c->n, q, reference);
    free(q);
    free(memory);
    ida_pattern_free(&g.pattern);
    return ok;
}
