/* Kernels for fronts (front.h): LU by panels of four columns.
 *
 * A panel is factored column by column. Each column right of it is then updated with all four
 * pivots at once: first in the tile, the four rows of the pivots, by substitution, then in the
 * rows below it. Rows are taken four at a time, as vectors, and none of their sums is reordered
 * by that: the same bits come out with any instruction set. If k is no multiple of four, the
 * last panel has fewer pivots, and rows of L in its tile. */
#include "la/front.h"

#include "base/simd.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- values ------------------------------------------------------------------------------- */

/* In whole vectors; the last one has numbers in common with the one before. */
KERNEL double scale_column(int n, const double *restrict r, double c, double *restrict x)
{
    vec4 most, bad, y, z, last; /* 0 * x is NaN where x is not finite */
    set_zero(&most);
    set_zero(&bad);
    load(&last, x + n - 4);
    for (int i = 0; i < n; i += 4) {
        const bool whole = i + 4 <= n;
        const int at = whole ? i : n - 4;
        if (whole)
            load(&y, x + at);
        else
            y = last;
        if (r) {
            load(&z, r + at);
            scale(&z, c);
            multiply(&y, &z);
            store(x + at, &y);
        }
        raise_by(&most, &y);
        add(&bad, &y, 0);
    }
    double s[4];
    store(s, &bad);
    return largest_of(&most) + (s[0] + s[1] + s[2] + s[3]);
}

/* Fewer than four numbers. */
static inline double scale_short(int n, const double *r, double c, double *x)
{
    double most = 0, bad = 0;
    for (int i = 0; i < n; ++i) {
        if (r) x[i] *= r[i] * c;
        most = greater(fabs(x[i]), most);
        bad += 0 * x[i];
    }
    return most + bad;
}

KERNEL void fill(int n, const double *restrict A, double *restrict F)
{
    const int ld = ga_front_padded(n);
    if (n == ld) memcpy(F, A, (size_t)n * (size_t)n * sizeof *F);
    for (int j = 0; j < n && n < ld; ++j, A += n, F += ld) {
        int i = 0;
        for (; i + 4 <= n; i += 4) {
            vec4 y;
            load(&y, A + i);
            store(F + i, &y);
        }
        for (; i < n; ++i) F[i] = A[i];
        for (; i < ld; ++i) F[i] = 0;
    }
}

/* --- full blocks -------------------------------------------------------------------------- */

/* Two or three vectors of rows, from row i on; the last one ends with the last row, and may
 * have rows in common with the one before: they get the same values twice. */
typedef struct tiles {
    int at[3];
} tiles;

KERNEL tiles tiles_from(const int count, int i, int last)
{
    return (tiles){{i, count > 2 ? i + 4 : last, last}};
}

/* f(count, tiles, ...) for all of five rows or more. */
#define BY_TILES(rows, f, ...)                                                                 \
    do {                                                                                       \
        int i = 0;                                                                             \
        for (; (rows)-i > 12; i += 8) f(2, tiles_from(2, i, i + 4), __VA_ARGS__);              \
        if ((rows)-i > 8)                                                                      \
            f(3, tiles_from(3, i, (rows)-4), __VA_ARGS__);                                     \
        else                                                                                   \
            f(2, tiles_from(2, i, (rows)-4), __VA_ARGS__);                                     \
    } while (0)

/* y += alpha A x */
KERNEL void add_tiles(const int count, tiles of, int m, int n, const double *restrict A,
                      double alpha, const double *restrict x, double *restrict y)
{
    vec4 sum[3], z;
    for (int t = 0; t < count; ++t) load(&sum[t], y + of.at[t]);
    for (int j = 0; j < n; ++j, A += m)
        for (int t = 0; t < count; ++t) {
            load(&z, A + of.at[t]);
            scale(&z, alpha);
            add(&sum[t], &z, x[j]);
        }
    for (int t = 0; t < count; ++t) store(y + of.at[t], &sum[t]);
}

/* One column of C += alpha A B. */
KERNEL void add_product_tiles(const int count, tiles of, const ga_full_product *p, double alpha,
                              const double *restrict A, const double *restrict b,
                              double *restrict c)
{
    vec4 sum[3], z[3];
    for (int t = 0; t < count; ++t) {
        load(&z[t], c + of.at[t]);
        load(&sum[t], A + of.at[t]);
        scale(&sum[t], b[0]);
    }
    for (int k = 1; k < p->inner; ++k)
        for (int t = 0; t < count; ++t)
            add_at(&sum[t], A + k * p->across_A + of.at[t], b[k * p->down_B]);
    for (int t = 0; t < count; ++t) {
        add(&z[t], &sum[t], alpha);
        store(c + of.at[t], &z[t]);
    }
}

KERNEL void multiply_block(int m, int n, const double *A, double alpha, const double *x,
                           double *y)
{
    BY_TILES(m, add_tiles, m, n, A, alpha, x, y);
}

KERNEL void add_block_product(const ga_full_product *p, double alpha, const double *A,
                              const double *B, double *C)
{
    for (int j = 0; j < p->cols; ++j, B += p->across_B, C += p->across_C)
        BY_TILES(p->rows, add_product_tiles, p, alpha, A, B, C);
}

/* --- factors ------------------------------------------------------------------------------ */

/* The row to swap with row c, or -1 if column x has no pivot. */
KERNEL int choose_pivot(int k, const double *x, int c, double keep)
{
    double most = 0, other = 0;
    int i = c + 1;
    for (; i + 1 < k; i += 2) {
        most = greater(fabs(x[i]), most);
        other = greater(fabs(x[i + 1]), other);
    }
    if (i < k) most = greater(fabs(x[i]), most);
    most = greater(other, most);
    const double diagonal = fabs(x[c]);
    if (diagonal >= keep * most && diagonal >= DBL_MIN && diagonal < INFINITY) return c;
    if (!(most >= DBL_MIN && most < INFINITY)) return -1;
    int p = c + 1;
    while (fabs(x[p]) != most) ++p;
    return p;
}

/* Rows a and b of all columns. */
KERNEL void swap_rows(int ld, double *a, double *b)
{
    for (int j = 0; j < ld; j += 4, a += 4 * ld, b += 4 * ld)
        for (int v = 0; v < 4; ++v) {
            const double t = a[v * ld];
            a[v * ld] = b[v * ld];
            b[v * ld] = t;
        }
}

/* Divides column x, number v of a tile that begins with row c, by its pivot; raises *most to
 * its largest multiplier. */
KERNEL void divide(const int v, int c, int ld, double *x, vec4 *most, double *most_in_tile)
{
    const double reciprocal = 1 / x[c + v];
    x[c + v] = reciprocal;
    for (int i = v + 1; i < 4; ++i) {
        x[c + i] *= reciprocal;
        *most_in_tile = greater(fabs(x[c + i]), *most_in_tile);
    }
    for (int i = c + 4; i < ld; i += 4) {
        vec4 l;
        load(&l, x + i);
        scale(&l, reciprocal);
        store(x + i, &l);
        raise_by(most, &l);
    }
}

/* y -= x y[c + v], below row c + v. */
KERNEL void eliminate(const int v, int c, int ld, const double *restrict x, double *restrict y)
{
    const double u = y[c + v];
    for (int i = v + 1; i < 4; ++i) y[c + i] -= x[c + i] * u;
    for (int i = c + 4; i < ld; i += 4) {
        vec4 z;
        load(&z, y + i);
        subtract_at(&z, x + i, u);
        store(y + i, &z);
    }
}

/* Column y right of a panel x of w columns, whose tile begins with row c. */
KERNEL void update_one(const int w, int c, int ld, const double *restrict x, double *restrict y)
{
    for (int p = 0; p < w; ++p)
        for (int i = p + 1; i < 4; ++i) y[c + i] -= x[p * ld + c + i] * y[c + p];
    for (int i = c + 4; i < ld; i += 4) {
        vec4 z;
        load(&z, y + i);
        for (int p = 0; p < w; ++p) subtract_at(&z, x + p * ld + i, y[c + p]);
        store(y + i, &z);
    }
}

/* Four columns; the same. The tile is done for all of them at once. */
KERNEL void update_four(const int w, int c, int ld, const double *restrict x,
                        double *restrict y)
{
    vec4 t[4];
    for (int v = 0; v < 4; ++v) load(&t[v], y + v * ld + c);
    transpose(t);
    for (int p = 0; p < w; ++p)
        for (int i = p + 1; i < 4; ++i) subtract(&t[i], &t[p], x[p * ld + c + i]);
    transpose(t);
    for (int v = 0; v < 4; ++v) store(y + v * ld + c, &t[v]);
    for (int i = c + 4; i < ld; i += 4) {
        vec4 z[4], l;
        for (int v = 0; v < 4; ++v) load(&z[v], y + v * ld + i);
        for (int p = 0; p < w; ++p) {
            load(&l, x + p * ld + i);
            for (int v = 0; v < 4; ++v) subtract(&z[v], &l, y[v * ld + c + p]);
        }
        for (int v = 0; v < 4; ++v) store(y + v * ld + i, &z[v]);
    }
}

/* All columns right of a panel with w pivots. */
KERNEL void update(const int w, int c, int ld, double *F)
{
    const double *x = F + (ptrdiff_t)c * ld;
    for (int j = c + w; j < c + 4; ++j) update_one(w, c, ld, x, F + (ptrdiff_t)j * ld);
    for (int j = c + 4; j < ld; j += 4) update_four(w, c, ld, x, F + (ptrdiff_t)j * ld);
}

/* What factors need to know of each other, and have found. */
typedef struct pivoting {
    int k, ld;
    double keep;
    int *swap;
    vec4 most; /* multipliers below the tiles */
    double most_in_tiles;
} pivoting;

/* Column v of a panel of w that begins with row and column c; false if it has no pivot. */
KERNEL bool factor_column(const int v, const int w, int c, pivoting *f, double *F)
{
    double *x = F + (ptrdiff_t)(c + v) * f->ld;
    const int p = choose_pivot(f->k, x, c + v, f->keep);
    if (p < 0) return false;
    f->swap[c + v] = p;
    if (p != c + v) swap_rows(f->ld, F + c + v, F + p);
    divide(v, c, f->ld, x, &f->most, &f->most_in_tiles);
    for (int j = v + 1; j < w; ++j) eliminate(v, c, f->ld, x, x + (ptrdiff_t)(j - v) * f->ld);
    return true;
}

KERNEL bool factor_panel(const int w, int c, pivoting *f, double *F)
{
    if (!factor_column(0, w, c, f, F)) return false;
    if (w > 1 && !factor_column(1, w, c, f, F)) return false;
    if (w > 2 && !factor_column(2, w, c, f, F)) return false;
    if (w > 3 && !factor_column(3, w, c, f, F)) return false;
    update(w, c, f->ld, F);
    return true;
}

KERNEL double factor_padded(int k, const int ld, double keep, double *F, int *swap)
{
    pivoting f = {.k = k, .ld = ld, .keep = keep, .swap = swap};
    bool good = true;
    int c = 0;
    for (; c + 4 <= k && good; c += 4) good = factor_panel(4, c, &f, F);
    if (good && k - c == 3) good = factor_panel(3, c, &f, F);
    if (good && k - c == 2) good = factor_panel(2, c, &f, F);
    if (good && k - c == 1) good = factor_panel(1, c, &f, F);
    return good ? greater(largest_of(&f.most), f.most_in_tiles) : -1;
}

KERNEL double factor(int k, int m, double keep, double *F, int *swap)
{
    return factor_padded(k, ga_front_padded(m), keep, F, swap);
}

/* --- solution ----------------------------------------------------------------------------- */

KERNEL void take(double **to, const double *from)
{
    vec4 x;
    load(&x, from);
    store(*to, &x);
    *to += 4;
}

KERNEL void pack(int k, int m, const double *F, double *forth, double *back)
{
    const int ld = ga_front_padded(m), last = (k - 1) & ~3;
    for (int c = 0; c < k; c += 4)
        for (int i = c; i < ld; i += 4)
            for (int p = c; p < c + ga_front_panel(k, c); ++p)
                take(&forth, F + (ptrdiff_t)p * ld + i);
    for (int i = 0; i < k; i += 4)
        for (int j = k; j < m; ++j) take(&back, F + (ptrdiff_t)j * ld + i);
    for (int c = last; c >= 0; c -= 4) {
        const int end = c + ga_front_panel(k, c);
        for (int p = c; p < end; ++p) take(&back, F + (ptrdiff_t)p * ld + c);
        for (int i = 0; i < c; i += 4)
            for (int p = c; p < end; ++p) take(&back, F + (ptrdiff_t)p * ld + i);
    }
}

/* z -= a tile of w columns times a; columns are `across` numbers apart. */
KERNEL void subtract_tile(const int w, int across, const double *restrict x,
                          const double *restrict a, double *restrict z)
{
    vec4 y, s, t;
    load(&y, z);
    load(&s, x);
    scale(&s, a[0]);
    if (w > 1) add_at(&s, x + across, a[1]);
    if (w > 2) {
        load(&t, x + 2 * across);
        scale(&t, a[2]);
        if (w > 3) add_at(&t, x + 3 * across, a[3]);
        add(&s, &t, 1);
    }
    minus(&y, &s);
    store(z, &y);
}

/* The tile on the diagonal by substitution, then the rows below it, whose tiles are `step`
 * numbers apart. Unrolled by hand, as on the way back: GCC would vectorise loops through
 * memory. */
KERNEL void forward_panel(const int w, int c, int ld, int across, const double *restrict x,
                          const double *restrict below, int step, double *restrict z)
{
    double a[4] = {z[c], z[c + 1], z[c + 2], z[c + 3]};
    a[1] -= x[1] * a[0];
    a[2] -= x[2] * a[0];
    a[3] -= x[3] * a[0];
    if (w > 1) {
        a[2] -= x[across + 2] * a[1];
        a[3] -= x[across + 3] * a[1];
    }
    if (w > 2) a[3] -= x[2 * across + 3] * a[2];
    put(z + c, a[0], a[1], a[2], a[3]);
    for (int i = c + 4; i < ld; i += 4, below += step)
        subtract_tile(w, across, below, a, z + i);
}

/* The same, with the rows above. */
KERNEL void backward_panel(const int w, int c, int across, const double *restrict x,
                           const double *restrict above, int step, double *restrict z)
{
    double a[4] = {z[c], w > 1 ? z[c + 1] : 0, w > 2 ? z[c + 2] : 0, w > 3 ? z[c + 3] : 0};
    if (w > 3) {
        a[3] *= x[3 * across + 3];
        a[0] -= x[3 * across] * a[3];
        a[1] -= x[3 * across + 1] * a[3];
        a[2] -= x[3 * across + 2] * a[3];
    }
    if (w > 2) {
        a[2] *= x[2 * across + 2];
        a[0] -= x[2 * across] * a[2];
        a[1] -= x[2 * across + 1] * a[2];
    }
    if (w > 1) {
        a[1] *= x[across + 1];
        a[0] -= x[across] * a[1];
    }
    a[0] *= x[0];
    if (w == 4)
        put(z + c, a[0], a[1], a[2], a[3]);
    else
        for (int p = 0; p < w; ++p) z[c + p] = a[p];
    for (int i = 0; i < c; i += 4, above += step) subtract_tile(w, across, above, a, z + i);
}

/* Of factors in pieces; each returns where the next panel begins. */
KERNEL const double *forward_piece(const int w, int c, int ld, const double *x, double *z)
{
    forward_panel(w, c, ld, 4, x, x + 4 * w, 4 * w, z);
    return x + (ptrdiff_t)w * (ld - c);
}

KERNEL const double *backward_piece(const int w, int c, const double *x, double *z)
{
    backward_panel(w, c, 4, x, x + 4 * w, 4 * w, z);
    return x + (ptrdiff_t)w * (c + 4);
}

KERNEL void forward(int k, int m, const double *x, double *own, double *z)
{
    const int ld = ga_front_padded(m);
    vec4 y;
    int c = 0;
    for (; c < k; c += 4) {
        load_up_to(&y, own + c, k - c);
        store(z + c, &y);
    }
    set_zero(&y);
    for (; c < ld; c += 4) store(z + c, &y);
    for (c = 0; c + 4 <= k; c += 4) x = forward_piece(4, c, ld, x, z);
    if (k - c == 3) forward_piece(3, c, ld, x, z);
    if (k - c == 2) forward_piece(2, c, ld, x, z);
    if (k - c == 1) forward_piece(1, c, ld, x, z);
    for (c = 0; c < k; c += 4) {
        load(&y, z + c);
        store_up_to(own + c, &y, k - c);
    }
}

KERNEL void backward(int k, int m, const double *x, const double *others, double *z)
{
    const int r = m - k;
    for (int i = 0; i < k; i += 4) {
        vec4 y, s, t;
        load_up_to(&y, z + i, k - i);
        set_zero(&s);
        set_zero(&t);
        int j = 0;
        for (; j + 2 <= r; j += 2, x += 8) {
            add_at(&s, x, others[j]);
            add_at(&t, x + 4, others[j + 1]);
        }
        if (j < r) {
            add_at(&s, x, others[j]);
            x += 4;
        }
        add(&s, &t, 1);
        minus(&y, &s);
        store_up_to(z + i, &y, k - i);
    }
    int c = k & ~3;
    if (k - c == 3) x = backward_piece(3, c, x, z);
    if (k - c == 2) x = backward_piece(2, c, x, z);
    if (k - c == 1) x = backward_piece(1, c, x, z);
    for (c -= 4; c >= 0; c -= 4) x = backward_piece(4, c, x, z);
}

/* With the factors of a whole matrix where they are. */
KERNEL void solve_whole(int n, const int ld, const double *F, double *z)
{
    const int whole = n & ~3;
    const double *x = F;
    int c = 0;
    for (; c < whole; c += 4, x += 4 * (ld + 1)) forward_panel(4, c, ld, ld, x, x + 4, 4, z);
    if (n - c == 3) forward_panel(3, c, ld, ld, x, x, 4, z);
    if (n - c == 2) forward_panel(2, c, ld, ld, x, x, 4, z);
    if (n - c == 3) backward_panel(3, c, ld, x, x - c, 4, z);
    if (n - c == 2) backward_panel(2, c, ld, x, x - c, 4, z);
    if (n - c == 1) backward_panel(1, c, ld, x, x - c, 4, z);
    for (c -= 4; c >= 0; c -= 4) {
        x -= 4 * (ld + 1);
        backward_panel(4, c, ld, x, x - c, 4, z);
    }
}

/* --- instances ---------------------------------------------------------------------------- */

/* A kernel with loops of known length for fronts of chains and linkages, planar and with ball
 * joints and hinges: saves 10 to 17 % of the instructions of a run. */
#define OF_SIZE(k, m, result, f, ...)                                                          \
    case (k) << 16 | (m):                                                                      \
        result f(k, m, __VA_ARGS__);                                                           \
        break;
#define BY_SIZE(k, m, ...)                                                                     \
    switch ((k) << 16 | (m)) {                                                                 \
        OF_SIZE(2, 7, __VA_ARGS__)                                                             \
        OF_SIZE(3, 7, __VA_ARGS__)                                                             \
        OF_SIZE(3, 11, __VA_ARGS__)                                                            \
        OF_SIZE(4, 15, __VA_ARGS__)                                                            \
        OF_SIZE(5, 7, __VA_ARGS__)                                                             \
        OF_SIZE(7, 9, __VA_ARGS__)                                                             \
        OF_SIZE(7, 11, __VA_ARGS__)                                                            \
        OF_SIZE(9, 12, __VA_ARGS__)                                                            \
        OF_SIZE(11, 15, __VA_ARGS__)                                                           \
        OF_SIZE(11, 16, __VA_ARGS__)                                                           \
        OF_SIZE(12, 18, __VA_ARGS__)                                                           \
        OF_SIZE(16, 32, __VA_ARGS__)                                                           \
    default:                                                                                   \
        ANY_SIZE(k, m, __VA_ARGS__)                                                            \
    }
#define ANY_SIZE(k, m, result, f, ...) result f(k, m, __VA_ARGS__);

/* f(n, ld, ...) for a whole matrix: where it is small, ld is known to the compiler. */
#define OF_PADDED(n, ld, result, f, ...)                                                       \
    case ld:                                                                                   \
        result f(n, ld, __VA_ARGS__);                                                          \
        break;
#define BY_PADDED(n, ...)                                                                      \
    switch (ga_front_padded(n)) {                                                              \
        OF_PADDED(n, 8, __VA_ARGS__)                                                           \
        OF_PADDED(n, 12, __VA_ARGS__)                                                          \
        OF_PADDED(n, 16, __VA_ARGS__)                                                          \
        OF_PADDED(n, 20, __VA_ARGS__)                                                          \
    default:                                                                                   \
        ANY_PADDED(n, __VA_ARGS__)                                                             \
    }
#define ANY_PADDED(n, result, f, ...) result f(n, ga_front_padded(n), __VA_ARGS__);

/* clang-format off */
#define INSTANCE(name, attribute, sizes, padded)                                                 \
    attribute static double scale_##name(int n, const double *r, double c, double *x)          \
    {                                                                                          \
        if (n < 4) return scale_short(n, r, c, x);                                               \
        return r ? scale_column(n, r, c, x) : scale_column(n, NULL, c, x);                     \
    }                                                                                          \
    attribute static void fill_##name(int n, const double *A, double *F)                       \
    {                                                                                          \
        fill(n, A, F);                                                                         \
    }                                                                                          \
    attribute static void multiply_##name(int m, int n, const double *A, double alpha,         \
                                          const double *x, double *y)                          \
    {                                                                                          \
        multiply_block(m, n, A, alpha, x, y);                                                  \
    }                                                                                          \
    attribute static void add_product_##name(const ga_full_product *p, double alpha,           \
                                             const double *A, const double *B, double *C)      \
    {                                                                                          \
        add_block_product(p, alpha, A, B, C);                                                  \
    }                                                                                          \
    attribute static double factor_##name(int k, int m, double keep, double *F, int *swap)     \
    {                                                                                          \
        double most;                                                                           \
        sizes(k, m, most =, factor, keep, F, swap)                                             \
        return most;                                                                           \
    }                                                                                          \
    attribute static double factor_whole_##name(int n, double *F, int *swap)                   \
    {                                                                                          \
        double most;                                                                           \
        padded(n, most =, factor_padded, 1, F, swap)                                           \
        return most;                                                                           \
    }                                                                                          \
    attribute static void pack_##name(int k, int m, const double *F, double *forth,            \
                                      double *back)                                            \
    {                                                                                          \
        sizes(k, m, , pack, F, forth, back)                                                    \
    }                                                                                          \
    attribute static void forward_##name(int k, int m, const double *forth, double *own,       \
                                         double *work)                                         \
    {                                                                                          \
        sizes(k, m, , forward, forth, own, work)                                               \
    }                                                                                          \
    attribute static void backward_##name(int k, int m, const double *back,                    \
                                          const double *others, double *own)                   \
    {                                                                                          \
        sizes(k, m, , backward, back, others, own)                                             \
    }                                                                                          \
    attribute static void solve_##name(int n, const double *F, double *x)                      \
    {                                                                                          \
        padded(n, , solve_whole, F, x)                                                         \
    }                                                                                          \
    static const ga_front_kernels kernels_##name = {                                           \
        scale_##name, fill_##name,    multiply_##name, add_product_##name,  factor_##name,     \
        pack_##name,  forward_##name, backward_##name, factor_whole_##name, solve_##name};
/* clang-format on */

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define HAS_AVX2
INSTANCE(plain, , ANY_SIZE, ANY_PADDED)
INSTANCE(avx2, __attribute__((target("avx2"))), BY_SIZE, BY_PADDED)
#else
INSTANCE(plain, , BY_SIZE, BY_PADDED)
#endif

const ga_front_kernels *ga_front_kernels_plain(void) { return &kernels_plain; }

const ga_front_kernels *ga_front_kernels_get(void)
{
#if defined(HAS_AVX2)
    if (__builtin_cpu_supports("avx2")) return &kernels_avx2;
#endif
    return &kernels_plain;
}
