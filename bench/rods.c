#include "bench/rods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- forces and accelerations ------------------------------------------------------------- */

void rods_factor(int n, const rods_half *d, const double *J, rods_schur *S)
{
    double xx = 1, xy = 0, yy = 1; /* what is known of the pivot block so far */
    for (int k = 0; k < n; ++k) {
        const double j = 1 / J[k], a = d[k].y * d[k].y * j, b = -d[k].x * d[k].y * j,
                     c = d[k].x * d[k].x * j;
        xx += a;
        xy += b;
        yy += c;
        const double det = 1 / (xx * yy - xy * xy);
        const double ixx = yy * det, ixy = -xy * det, iyy = xx * det;
        /* off-diagonal block D - I, symmetric */
        const double p = a - 1, r = c - 1;
        rods_schur *s = S + k;
        s->xx = ixx;
        s->xy = ixy;
        s->yy = iyy;
        s->l[0] = p * ixx + b * ixy;
        s->l[1] = p * ixy + b * iyy;
        s->l[2] = b * ixx + r * ixy;
        s->l[3] = b * ixy + r * iyy;
        xx = 2 + a - (s->l[0] * p + s->l[1] * b);
        xy = b - (s->l[0] * b + s->l[1] * r);
        yy = 2 + c - (s->l[2] * b + s->l[3] * r);
    }
}

void rods_solve(int n, const rods_schur *S, double *f)
{
    for (int k = 0; k + 1 < n; ++k, f += 2) {
        f[2] -= S[k].l[0] * f[0] + S[k].l[1] * f[1];
        f[3] -= S[k].l[2] * f[0] + S[k].l[3] * f[1];
    }
    double x = 0, y = 0;
    for (int k = n - 1; k >= 0; --k, f -= 2) {
        const rods_schur *s = S + k;
        const double u = s->xx * f[0] + s->xy * f[1] - s->l[0] * x - s->l[2] * y;
        const double v = s->xy * f[0] + s->yy * f[1] - s->l[1] * x - s->l[3] * y;
        f[0] = x = u;
        f[1] = y = v;
    }
}

void rods_accelerations(int n, const double *th, const double *w, rods_half *d, double *J,
                        rods_schur *S, double *vd, double *f)
{
    double x = 0, y = 0;
    for (int k = 0; k < n; ++k) {
        d[k] = (rods_half){0.5 * cos(th[k]), 0.5 * sin(th[k])};
        J[k] = RODS_J;
        const double p = w[k] * w[k] * d[k].x, q = w[k] * w[k] * d[k].y;
        f[2 * k] = -p - x;
        f[2 * k + 1] = -q - y + (k == 0 ? RODS_G : 0);
        x = p;
        y = q;
    }
    rods_factor(n, d, J, S);
    rods_solve(n, S, f);
    for (int k = 0; k < n; ++k, vd += 3, f += 2) {
        const double nx = k + 1 < n ? f[2] : 0, ny = k + 1 < n ? f[3] : 0;
        vd[0] = f[0] - nx;
        vd[1] = f[1] - ny - RODS_G;
        vd[2] = (d[k].y * (f[0] + nx) - d[k].x * (f[1] + ny)) / RODS_J;
    }
}

/* --- reference ---------------------------------------------------------------------------- */

enum { COLUMNS = 8 }; /* of the extrapolation: order 16 */

typedef struct midpoint {
    int n;
    rods_half *d;
    double *J, *vd, *f;
    rods_schur *S;
    double *y, *slope, *a, *b, *table[COLUMNS];
} midpoint;

static void slope(midpoint *g, const double *y, double *out)
{
    rods_accelerations(g->n, y, y + g->n, g->d, g->J, g->S, g->vd, g->f);
    for (int k = 0; k < g->n; ++k) {
        out[k] = y[g->n + k];
        out[g->n + k] = g->vd[3 * k + 2];
    }
}

/* Gragg's midpoint rule with 2 (column + 1) steps, no smoothing. */
static void midpoint_column(midpoint *g, double h, int column, double *out)
{
    const int size = 2 * g->n, steps = 2 * (column + 1);
    const double s = h / steps;
    double *before = g->a, *now = out;
    memcpy(before, g->y, (size_t)size * sizeof *before);
    slope(g, g->y, g->b);
    for (int i = 0; i < size; ++i) now[i] = g->y[i] + s * g->b[i];
    for (int k = 1; k < steps; ++k) {
        slope(g, now, g->b);
        for (int i = 0; i < size; ++i) {
            double next = before[i] + 2 * s * g->b[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
}

/* One basic step; the estimated error of the last column but one. */
static double extrapolate(midpoint *g, double h)
{
    const int size = 2 * g->n;
    double error = INFINITY;
    for (int k = 0; k < COLUMNS; ++k) {
        midpoint_column(g, h, k, g->table[k]);
        for (int j = k - 1; j >= 0; --j) {
            double ratio = (double)(k + 1) / (j + 1), factor = 1 / (ratio * ratio - 1);
            error = 0;
            for (int i = 0; i < size; ++i) {
                double change = (g->table[j + 1][i] - g->table[j][i]) * factor;
                g->table[j][i] = g->table[j + 1][i] + change;
                if (!(fabs(change) <= error)) error = fabs(change);
            }
        }
    }
    return error;
}

static bool prepare(midpoint *g, int n)
{
    size_t rods = (size_t)n;
    g->n = n;
    bool memory =
        (g->d = calloc(rods, sizeof *g->d)) && (g->J = calloc(rods, sizeof *g->J)) &&
        (g->S = calloc(rods, sizeof *g->S)) && (g->vd = calloc(3 * rods, sizeof *g->vd)) &&
        (g->f = calloc(2 * rods, sizeof *g->f)) && (g->y = calloc(2 * rods, sizeof *g->y)) &&
        (g->a = calloc(2 * rods, sizeof *g->a)) && (g->b = calloc(2 * rods, sizeof *g->b));
    for (int k = 0; k < COLUMNS; ++k)
        memory = memory && (g->table[k] = calloc(2 * rods, sizeof(double)));
    return memory;
}

static void release(midpoint *g)
{
    void *memory[] = {g->d, g->J, g->S, g->vd, g->f, g->y, g->a, g->b};
    for (int k = 0; k < BENCH_COUNT(memory); ++k) free(memory[k]);
    for (int k = 0; k < COLUMNS; ++k) free(g->table[k]);
}

static double *compute(int n)
{
    const double tolerance = 1e-8; /* of a step as the last column but one sees it */
    midpoint g = {0};
    double *q = calloc(3 * (size_t)n, sizeof *q);
    if (!q || !prepare(&g, n)) {
        free(q);
        release(&g);
        return NULL;
    }
    double t = 0, h = 0.05;
    while (t < 1) {
        h = fmin(h, 1 - t);
        double error = extrapolate(&g, h) / tolerance;
        if (error <= 1) {
            memcpy(g.y, g.table[0], 2 * (size_t)n * sizeof *g.y);
            t = 1 - t - h < 1e-14 ? 1 : t + h;
        }
        h *= fmin(2, fmax(0.2, 0.8 * pow(1 / fmax(error, 1e-9), 1.0 / (2 * COLUMNS - 1))));
    }
    double x = 0, y = 0;
    for (int k = 0; k < n; ++k) {
        double c = cos(g.y[k]), s = sin(g.y[k]);
        q[3 * k] = x + 0.5 * c;
        q[3 * k + 1] = y + 0.5 * s;
        q[3 * k + 2] = g.y[k];
        x += c;
        y += s;
    }
    release(&g);
    return q;
}

const double *rods_reference(int n)
{
    static struct {
        int n;
        double *q;
    } kept[8];
    for (int k = 0; k < BENCH_COUNT(kept); ++k) {
        if (kept[k].n == n) return kept[k].q;
        if (kept[k].n) continue;
        kept[k].n = n;
        return kept[k].q = compute(n);
    }
    return NULL;
}
