/* Tables: pieces x_i + k_i s + c2 s^2 + c3 s^3, s = t - t_i, between points.
 *
 * With h = t_(i+1) - t_i and d = (x_(i+1) - x_i) / h, the slopes k at the points give
 *
 *     c2 = (3 d - 2 k_i - k_(i+1)) / h,   c3 = (k_i + k_(i+1) - 2 d) / h^2
 *
 * linear  k is not used, c2 = c3 = 0.
 * cubic   k such that the second derivative is continuous:
 *             k_(i-1)/h_(i-1) + 2 k_i (1/h_(i-1) + 1/h_i) + k_(i+1)/h_i
 *                 = 3 (d_(i-1)/h_(i-1) + d_i/h_i).
 *         At the ends "not a knot": the third derivative is continuous at the second and the
 *         last but one point, so cubics are reproduced. 3 points: the parabola, 2: the line.
 *         A table that repeats and ends with the value it begins with is smooth there too.
 * akima   k_i = (w_1 d_(i-1) + w_2 d_i) / (w_1 + w_2), w_1 = |d_(i+1) - d_i|,
 *         w_2 = |d_(i-1) - d_(i-2)|, the mean of d_(i-1), d_i if both weights are 0; two more d
 *         at each end continue the last ones linearly (a closed table: periodically). Less
 *         overshoot than cubic, but the second derivative jumps at the points.
 *
 * Outside: hold keeps the value, extend goes straight on with the slope at the end, repeat
 * starts again.
 */
#include "data/function_table.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/report.h"

typedef struct piece {
    double c[4];
} piece;

struct ga_table {
    int count; /* of points; one less pieces */
    double *t;
    piece *pieces;
    double last_value, last_slope;
    ga_outside outside;
    bool breaks_inside, breaks_at_ends;
};

/* What slopes are made from; `closed`: a smooth period. */
typedef struct points {
    int count;
    const double *t, *x;
    bool closed;
} points;

static double width(const points *p, int i) { return p->t[i + 1] - p->t[i]; }
static double secant(const points *p, int i) { return (p->x[i + 1] - p->x[i]) / width(p, i); }

/* Cubic -------------------------------------------------------------------------------------
 */

/* Tridiagonal, n >= 2, without pivoting: lower k_(i-1) + diagonal k_i + upper k_(i+1) = k_i
 * given. The arrays but lower are overwritten. */
static void solve_tridiagonal(int n, const double *lower, double *diagonal, const double *upper,
                              double *k)
{
    for (int i = 1; i < n; ++i) {
        const double factor = lower[i] / diagonal[i - 1];
        diagonal[i] -= factor * upper[i - 1];
        k[i] -= factor * k[i - 1];
    }
    k[n - 1] /= diagonal[n - 1];
    for (int i = n - 2; i >= 0; --i) k[i] = (k[i] - upper[i] * k[i + 1]) / diagonal[i];
}

typedef struct rows {
    double *lower, *diagonal, *upper, *k;
} rows;

/* Continuous second derivative between pieces a and b. */
static void set_row(const points *p, const rows *r, int i, int a, int b)
{
    const double left = 1 / width(p, a), right = 1 / width(p, b);
    r->lower[i] = left;
    r->diagonal[i] = 2 * (left + right);
    r->upper[i] = right;
    r->k[i] = 3 * (secant(p, a) * left + secant(p, b) * right);
}

/* "Not a knot" at the end whose first pieces are a, then b: an equation for the end's slope and
 * the next. Returns the right side, the factor of the next slope is the width of both. */
static double not_a_knot(const points *p, int a, int b)
{
    const double ha = width(p, a), hb = width(p, b), both = ha + hb;
    return ((ha + 2 * both) * hb * secant(p, a) + ha * ha * secant(p, b)) / both;
}

static void open_slopes(const points *p, const rows *r)
{
    const int last = p->count - 1;
    for (int i = 1; i < last; ++i) set_row(p, r, i, i - 1, i);
    r->diagonal[0] = width(p, 1);
    r->upper[0] = width(p, 0) + width(p, 1);
    r->k[0] = not_a_knot(p, 0, 1);
    r->diagonal[last] = width(p, last - 2);
    r->lower[last] = width(p, last - 1) + width(p, last - 2);
    r->k[last] = not_a_knot(p, last - 1, last - 2);
    solve_tridiagonal(p->count, r->lower, r->diagonal, r->upper, r->k);
}

/* The last slope is the first. The system is tridiagonal but for the two corners, both c:
 * A = T + c u u^T with u = (1, 0, ..., 0, 1) and T with c less at both ends, which Sherman and
 * Morrison's formula solves: k = y - z c (y_0 + y_n) / (1 + c (z_0 + z_n)), T y = rhs,
 * T z = u. T stays dominant. */
static void closed_slopes(const points *p, const rows *r, double *z, double *diagonal)
{
    const int n = p->count - 1; /* unknowns */
    for (int i = 0; i < n; ++i) set_row(p, r, i, i ? i - 1 : n - 1, i);
    const double corner = r->lower[0];
    r->diagonal[0] -= corner;
    r->diagonal[n - 1] -= corner;
    for (int i = 0; i < n; ++i) {
        diagonal[i] = r->diagonal[i];
        z[i] = i == 0 || i == n - 1;
    }
    solve_tridiagonal(n, r->lower, r->diagonal, r->upper, r->k);
    solve_tridiagonal(n, r->lower, diagonal, r->upper, z);
    const double factor = corner * (r->k[0] + r->k[n - 1]) / (1 + corner * (z[0] + z[n - 1]));
    for (int i = 0; i < n; ++i) r->k[i] -= factor * z[i];
    r->k[n] = r->k[0];
}

static void parabola_slopes(const points *p, double *k)
{
    const double h0 = width(p, 0), h1 = width(p, 1), d0 = secant(p, 0), d1 = secant(p, 1);
    k[1] = (h1 * d0 + h0 * d1) / (h0 + h1);
    k[0] = 2 * d0 - k[1];
    k[2] = 2 * d1 - k[1];
}

static ga_status cubic_slopes(const points *p, double *k)
{
    if (p->count == 2) {
        k[0] = k[1] = secant(p, 0);
        return GA_OK;
    }
    if (p->count == 3 && !p->closed) {
        parabola_slopes(p, k);
        return GA_OK;
    }
    double *work = GA_NEW(double, 5 * (size_t)p->count);
    if (!work) return GA_ERR_MEMORY;
    double *z = work + 3 * p->count, *diagonal = work + 4 * p->count;
    const rows r = {work, work + p->count, work + 2 * p->count, k};
    if (p->closed)
        closed_slopes(p, &r, z, diagonal);
    else
        open_slopes(p, &r);
    ga_free(work);
    return GA_OK;
}

/* Akima -------------------------------------------------------------------------------------
 */

/* Secant i, also two before the first and behind the last. */
static double extended_secant(const points *p, int i)
{
    const int n = p->count - 1; /* secants */
    if (i >= 0 && i < n) return secant(p, i);
    if (p->closed) return secant(p, (i + 2 * n) % n);
    if (n == 1) return secant(p, 0);
    const int end = i < 0 ? 0 : n - 1, next = i < 0 ? 1 : n - 2;
    const int distance = i < 0 ? -i : i - end;
    return secant(p, end) + distance * (secant(p, end) - secant(p, next));
}

static void akima_slopes(const points *p, double *k)
{
    for (int i = 0; i < p->count; ++i) {
        double d[4];
        for (int j = 0; j < 4; ++j) d[j] = extended_secant(p, i - 2 + j);
        const double w1 = fabs(d[3] - d[2]), w2 = fabs(d[1] - d[0]);
        /* Below round-off of the secants the ratio of the weights is noise. */
        const double noise =
            16 * DBL_EPSILON * (fabs(d[0]) + fabs(d[1]) + fabs(d[2]) + fabs(d[3]));
        k[i] = w1 + w2 > noise ? (w1 * d[1] + w2 * d[2]) / (w1 + w2) : 0.5 * (d[1] + d[2]);
    }
}

/* Pieces ------------------------------------------------------------------------------------
 */

static void set_piece(const points *p, const double *k, int i, piece *out)
{
    const double h = width(p, i), d = secant(p, i);
    out->c[0] = p->x[i];
    out->c[1] = k ? k[i] : d;
    out->c[2] = k ? (3 * d - 2 * k[i] - k[i + 1]) / h : 0;
    out->c[3] = k ? (k[i] + k[i + 1] - 2 * d) / h / h : 0;
}

static bool is_finite(const piece *p)
{
    return isfinite(p->c[0]) && isfinite(p->c[1]) && isfinite(p->c[2]) && isfinite(p->c[3]);
}

static ga_status fill(ga_table *table, const points *p, ga_spline spline, double *k)
{
    if (spline == GA_SPLINE_CUBIC) GA_TRY(cubic_slopes(p, k));
    if (spline == GA_SPLINE_AKIMA) akima_slopes(p, k);
    const int last = p->count - 1;
    for (int i = 0; i < last; ++i) {
        set_piece(p, spline == GA_SPLINE_LINEAR ? NULL : k, i, &table->pieces[i]);
        if (!is_finite(&table->pieces[i])) return GA_ERR_INPUT;
    }
    for (int i = 0; i <= last; ++i) table->t[i] = p->t[i];
    table->last_value = p->x[last];
    table->last_slope = spline == GA_SPLINE_LINEAR ? secant(p, last - 1) : k[last];
    return GA_OK;
}

ga_status ga_table_create(int count, const double *t, const double *x, ga_spline spline,
                          ga_outside outside, ga_table **table)
{
    *table = NULL;
    const points p = {count, t, x, outside == GA_OUTSIDE_REPEAT && x[0] == x[count - 1]};
    const bool linear = spline == GA_SPLINE_LINEAR, cubic = spline == GA_SPLINE_CUBIC;
    double *k = GA_NEW(double, count);
    ga_table *made = GA_NEW(ga_table, 1);
    ga_status status = k && made ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK) {
        made->count = count;
        made->outside = outside;
        made->t = GA_NEW(double, count);
        made->pieces = GA_NEW(piece, count - 1);
        made->breaks_inside = !cubic;
        made->breaks_at_ends =
            !(linear && outside == GA_OUTSIDE_EXTEND) && !(cubic && p.closed);
        status = made->t && made->pieces ? fill(made, &p, spline, k) : GA_ERR_MEMORY;
    }
    ga_free(k);
    if (status != GA_OK)
        ga_table_destroy(made);
    else
        *table = made;
    return status;
}

void ga_table_destroy(ga_table *table)
{
    if (!table) return;
    ga_free(table->t);
    ga_free(table->pieces);
    ga_free(table);
}

/* How many points are at or before t. */
static int points_until(const ga_table *table, double t)
{
    int low = 0, high = table->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (table->t[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The period t lies in begins `shift` after the first one; times so close before a point that
 * they are the point but for round-off belong to what follows it. */
typedef struct period {
    double shift, slack;
} period;

static double length(const ga_table *table) { return table->t[table->count - 1] - table->t[0]; }

static period find_period(const ga_table *table, double t)
{
    const double T = length(table);
    const double slack = 4 * DBL_EPSILON * (fabs(t) + fabs(table->t[0]) + T);
    return (period){floor((t - table->t[0] + slack) / T) * T, slack};
}

static void evaluate(const double *c, double s, double out[3])
{
    out[0] = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
    out[1] = c[1] + s * (2 * c[2] + s * 3 * c[3]);
    out[2] = 2 * c[2] + 6 * c[3] * s;
}

void ga_table_rates(const ga_table *table, double t, double out[3])
{
    const int last = table->count - 1;
    double slack = 0;
    if (table->outside == GA_OUTSIDE_REPEAT) {
        const period p = find_period(table, t);
        t -= p.shift;
        slack = p.slack;
    } else if (!(t >= table->t[0] && t < table->t[last])) {
        const bool before = t < table->t[0];
        const double slope = before ? table->pieces[0].c[1] : table->last_slope;
        const double c[4] = {before ? table->pieces[0].c[0] : table->last_value,
                             table->outside == GA_OUTSIDE_EXTEND ? slope : 0, 0, 0};
        evaluate(c, t - table->t[before ? 0 : last], out);
        return;
    }
    int i = points_until(table, t + slack) - 1;
    i = i < 0 ? 0 : i > last - 1 ? last - 1 : i;
    evaluate(table->pieces[i].c, t - table->t[i], out);
}

/* The first point that is a break, from point i on; count if there is none. */
static int next_break_point(const ga_table *table, int i)
{
    const int last = table->count - 1;
    if (i == 0 && !table->breaks_at_ends) i = 1;
    if (i > 0 && i < last && !table->breaks_inside) i = last;
    return i == last && !table->breaks_at_ends ? table->count : i;
}

double ga_table_next_break(const ga_table *table, double t)
{
    if (table->outside != GA_OUTSIDE_REPEAT) {
        const int i = next_break_point(table, points_until(table, t));
        return i < table->count ? table->t[i] : INFINITY;
    }
    const period p = find_period(table, t);
    const int i = next_break_point(table, points_until(table, t - p.shift + p.slack));
    return i < table->count ? table->t[i] + p.shift : INFINITY;
}

/* Zeros of the slope within a piece of width h: 0, 1 or 2. */
static int find_extremes(const double *c, double h, double s[2])
{
    const double a = 3 * c[3], b = c[2]; /* a s^2 + 2 b s + c1 = 0 */
    const double root = b * b - a * c[1];
    if (!(root >= 0)) return 0;
    const double q = -(b + copysign(sqrt(root), b)), both[2] = {q / a, c[1] / q};
    int count = 0;
    for (int k = 0; k < 2; ++k)
        if (both[k] > 0 && both[k] < h) s[count++] = both[k];
    return count;
}

double ga_table_overshoot(const ga_table *table, double *at)
{
    const int last = table->count - 1;
    double low = table->last_value, high = low, most = 0;
    *at = table->t[0];
    for (int i = 0; i < last; ++i) {
        low = fmin(low, table->pieces[i].c[0]);
        high = fmax(high, table->pieces[i].c[0]);
    }
    for (int i = 0; i < last && high > low; ++i) {
        double s[2], out[3];
        const int count = find_extremes(table->pieces[i].c, table->t[i + 1] - table->t[i], s);
        for (int k = 0; k < count; ++k) {
            evaluate(table->pieces[i].c, s[k], out);
            const double beyond = fmax(out[0] - high, low - out[0]) / (high - low);
            if (!(beyond > most)) continue;
            most = beyond;
            *at = table->t[i] + s[k];
        }
    }
    return most;
}
