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

/* The row to swap with row c, or -1 if the column x is of no use. */
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

static void swap_rows(int count, double *a, double *b, int stride)
{
    for (int j = 0; j < count; ++j) {
        const double t = a[(ptrdiff_t)j * stride];
        a[(ptrdiff_t)j * stride] = b[(ptrdiff_t)j * stride];
        b[(ptrdiff_t)j * stride] = t;
    }
}

/* Divides column x by its pivot; raises *most to its largest multiplier. tile: the row where
 * the tile of c ends. */
KERNEL void divide(int c, int tile, int ld, double *x, vec4 *most, double *most_in_tile)
{
    const double reciprocal = 1 / x[c];
    x[c] = reciprocal;
    for (int i = c + 1; i < tile; ++i) {
        x[i] *= reciprocal;
        *most_in_tile = greater(fabs(x[i]), *most_in_tile);
    }
    for (int i = tile; i < ld; i += 4) {
        vec4 l;
        load(&l, x + i);
        scale(&l, reciprocal);
        store(x + i, &l);
        raise_by(most, &l);
    }
}

/* y -= x y[c], below row c. */
KERNEL void eliminate(int c, int tile, int ld, const double *restrict x, double *restrict y)
{
    const double u = y[c];
    for (int i = c + 1; i < tile; ++i) y[i] -= x[i] * u;
    for (int i = tile; i < ld; i += 4) {
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

KERNEL double factor(int k, int m, double keep, double *F, int *swap)
{
    const int ld = ga_front_padded(m);
    double in_tiles = 0;
    vec4 most;
    set_zero(&most);
    for (int first = 0; first < k; first += 4) {
        const int end = first + 4 < k ? first + 4 : k;
        for (int c = first; c < end; ++c) {
            double *x = F + (ptrdiff_t)c * ld;
            const int p = choose_pivot(k, x, c, keep);
            if (p < 0) return -1;
            swap[c] = p;
            if (p != c) swap_rows(m, F + c, F + p, ld);
            divide(c, first + 4, ld, x, &most, &in_tiles);
            for (int j = c + 1; j < end; ++j)
                eliminate(c, first + 4, ld, x, F + (ptrdiff_t)j * ld);
        }
        if (end - first == 4)
            update(4, first, ld, F);
        else if (end - first == 3)
            update(3, first, ld, F);
        else if (end - first == 2)
            update(2, first, ld, F);
        else
            update(1, first, ld, F);
    }
    return greater(largest_of(&most), in_tiles);
}

/* --- solution ----------------------------------------------------------------------------- */

static inline int panel_width(int k, int c) { return k - c < 4 ? k - c : 4; }

KERNEL void take(double **to, const vec4 *x)
{
    store(*to, x);
    *to += 4;
}

/* The reciprocals of the pivots c .. c+w-1. */
KERNEL void take_pivots(const int w, int c, int ld, const double *F, vec4 *d)
{
    const double *x = F + (ptrdiff_t)c * (ld + 1);
    const int next = ld + 1;
    set(d, x[0], w > 1 ? x[next] : 0, w > 2 ? x[2 * next] : 0, w > 3 ? x[3 * next] : 0);
}

/* The panel from column c on, for the way forth. The tile on the diagonal has zeros on and
 * above the diagonal, but the reciprocals of the pivots in the last column. */
KERNEL double *pack_lower(const int w, int c, int ld, const double *F, double *forth)
{
    const double *x = F + (ptrdiff_t)c * ld;
    vec4 l, first;
    for (int p = 0; p < w; ++p) {
        set_zero(&first);
        if (p == w - 1) take_pivots(w, c, ld, F, &first);
        load(&l, x + p * ld + c);
        replace_from(&first, &l, p + 1);
        take(&forth, &first);
    }
    for (int i = c + 4; i < ld; i += 4)
        for (int p = 0; p < w; ++p) {
            load(&l, x + p * ld + i);
            take(&forth, &l);
        }
    return forth;
}

/* Rows i .. i+3 of the columns from .. end-1, by the pivots of these rows. */
KERNEL double *pack_rows(const vec4 *d, int i, int from, int end, int ld, const double *F,
                         double *back)
{
    vec4 u;
    for (int j = from; j < end; ++j) {
        load(&u, F + (ptrdiff_t)j * ld + i);
        multiply_by(&u, d);
        take(&back, &u);
    }
    return back;
}

/* The tile on the diagonal has no first column, and zeros on and below the diagonal. */
KERNEL double *pack_upper(const int w, int c, int ld, const double *F, double *back)
{
    const double *x = F + (ptrdiff_t)c * ld;
    vec4 d, u, zero;
    set_zero(&zero);
    take_pivots(w, c, ld, F, &d);
    for (int p = 1; p < w; ++p) {
        load(&u, x + p * ld + c);
        multiply_by(&u, &d);
        replace_from(&u, &zero, p);
        take(&back, &u);
    }
    for (int i = 0; i < c; i += 4) {
        take_pivots(4, i, ld, F, &d);
        back = pack_rows(&d, i, c, c + w, ld, F, back);
    }
    return back;
}

/* A panel of L_A, and its rows of U. */
KERNEL void pack_panel(const int w, int c, int k, int m, const double *F, double **forth,
                       double **back)
{
    const int ld = ga_front_padded(m);
    vec4 d;
    take_pivots(w, c, ld, F, &d);
    *forth = pack_lower(w, c, ld, F, *forth);
    *back = pack_rows(&d, c, k, m, ld, F, *back);
}

KERNEL void pack(int k, int m, const double *F, double *forth, double *back)
{
    const int ld = ga_front_padded(m);
    int c = 0;
    for (; c + 4 <= k; c += 4) pack_panel(4, c, k, m, F, &forth, &back);
    if (k - c == 3) pack_panel(3, c, k, m, F, &forth, &back);
    if (k - c == 2) pack_panel(2, c, k, m, F, &forth, &back);
    if (k - c == 1) pack_panel(1, c, k, m, F, &forth, &back);
    if (k - c == 3) back = pack_upper(3, c, ld, F, back);
    if (k - c == 2) back = pack_upper(2, c, ld, F, back);
    if (k - c == 1) back = pack_upper(1, c, ld, F, back);
    for (c -= 4; c >= 0; c -= 4) back = pack_upper(4, c, ld, F, back);
}

/* z -= a tile of w columns times the first of a. */
KERNEL void subtract_tile(const int w, const double *x, const vec4 *a, double *z)
{
    vec4 y, l, u, s, t;
    load(&y, z);
    load(&s, x);
    spread(&u, a, 0);
    multiply_by(&s, &u);
    if (w > 1) {
        load(&l, x + 4);
        spread(&u, a, 1);
        add_products(&s, &l, &u);
    }
    if (w > 2) {
        load(&t, x + 8);
        spread(&u, a, 2);
        multiply_by(&t, &u);
        if (w > 3) {
            load(&l, x + 12);
            spread(&u, a, 3);
            add_products(&t, &l, &u);
        }
        add(&s, &t, 1);
    }
    minus(&y, &s);
    store(z, &y);
}

/* Substitution: a -= x a_p, where x is zero in row p. */
KERNEL void substitute(const vec4 *x, const int p, vec4 *a)
{
    vec4 u;
    spread(&u, a, p);
    subtract_products(a, x, &u);
}

/* A tile of which only the first numbers are there, or all four. */
KERNEL void load_tile(vec4 *x, const double *z, int count)
{
    if (count >= 4)
        load(x, z);
    else
        load_first(x, z, count);
}

KERNEL void store_tile(double *z, const vec4 *x, int count)
{
    if (count >= 4)
        store(z, x);
    else
        store_first(z, x, count);
}

/* The tile on the diagonal by substitution, then the rows below it; the next panel. */
KERNEL const double *forward_panel(const int w, int c, int ld, const double *restrict x,
                                   double *restrict z, double *restrict own)
{
    vec4 a, l, d, zero;
    set_zero(&zero);
    load(&a, z + c);
    for (int p = 0; p < w - 1; ++p) {
        load(&l, x + 4 * p);
        substitute(&l, p, &a);
    }
    load(&d, x + 4 * (w - 1));
    if (w < 4) { /* rows of L */
        replace_from(&zero, &d, w);
        substitute(&zero, w - 1, &a);
        store(z + c, &a);
    }
    multiply_by(&d, &a);
    store_tile(own + c, &d, w);
    x += 4 * w;
    for (int i = c + 4; i < ld; i += 4, x += 4 * w) subtract_tile(w, x, &a, z + i);
    return x;
}

KERNEL void forward(int k, int m, const double *x, double *own, double *z)
{
    const int ld = ga_front_padded(m);
    vec4 y;
    int c = 0;
    for (; c < k; c += 4) {
        load_tile(&y, own + c, k - c);
        store(z + c, &y);
    }
    set_zero(&y);
    for (; c < ld; c += 4) store(z + c, &y);
    for (c = 0; c + 4 <= k; c += 4) x = forward_panel(4, c, ld, x, z, own);
    if (k - c == 3) forward_panel(3, c, ld, x, z, own);
    if (k - c == 2) forward_panel(2, c, ld, x, z, own);
    if (k - c == 1) forward_panel(1, c, ld, x, z, own);
}

/* The same, with the rows above. */
KERNEL const double *backward_panel(const int w, int c, const double *restrict x,
                                    double *restrict z)
{
    vec4 a, u;
    load_tile(&a, z + c, w);
    for (int p = w - 1; p > 0; --p) {
        load(&u, x + 4 * (p - 1));
        substitute(&u, p, &a);
    }
    store_tile(z + c, &a, w);
    x += 4 * (w - 1);
    for (int i = 0; i < c; i += 4, x += 4 * w) subtract_tile(w, x, &a, z + i);
    return x;
}

KERNEL void backward(int k, int m, const double *x, const double *others, double *z)
{
    const int r = m - k;
    for (int i = 0; i < k; i += 4) {
        vec4 y, s, t;
        load_tile(&y, z + i, k - i);
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
        store_tile(z + i, &y, k - i);
    }
    int c = k & ~3;
    if (k - c == 3) x = backward_panel(3, c, x, z);
    if (k - c == 2) x = backward_panel(2, c, x, z);
    if (k - c == 1) x = backward_panel(1, c, x, z);
    for (c -= 4; c >= 0; c -= 4) x = backward_panel(4, c, x, z);
}

/* --- instances ---------------------------------------------------------------------------- */

#define INSTANCE(name, attribute)                                                              \
    attribute static double factor_##name(int k, int m, double keep, double *F, int *swap)     \
    {                                                                                          \
        return factor(k, m, keep, F, swap);                                                    \
    }                                                                                          \
    attribute static void pack_##name(int k, int m, const double *F, double *forth,            \
                                      double *back)                                            \
    {                                                                                          \
        pack(k, m, F, forth, back);                                                            \
    }                                                                                          \
    attribute static void forward_##name(int k, int m, const double *forth, double *own,       \
                                         double *z)                                            \
    {                                                                                          \
        forward(k, m, forth, own, z);                                                          \
    }                                                                                          \
    attribute static void backward_##name(int k, int m, const double *back, const double *x,   \
                                          double *z)                                           \
    {                                                                                          \
        backward(k, m, back, x, z);                                                            \
    }                                                                                          \
    static const ga_front_kernels kernels_##name = {factor_##name, pack_##name,                \
                                                    forward_##name, backward_##name};

INSTANCE(plain, )

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define HAS_AVX2
INSTANCE(avx2, __attribute__((target("avx2"))))
#endif

const ga_front_kernels *ga_front_kernels_plain(void) { return &kernels_plain; }

const ga_front_kernels *ga_front_kernels_get(void)
{
#if defined(HAS_AVX2)
    if (__builtin_cpu_supports("avx2")) return &kernels_avx2;
#endif
    return &kernels_plain;
}

/* --- sizes, the transposed matrix, growth ------------------------------------------------- */

/* Numbers in the panels before column c. */
static size_t forth_before(int k, int ld, int c)
{
    size_t size = 0;
    for (int q = 0; q < c; q += 4) size += (size_t)panel_width(k, q) * (size_t)(ld - q);
    return size;
}

/* In the panels behind that of column c, and in front of all panels. */
static size_t back_before(int k, int r, int c)
{
    size_t size = (size_t)ga_front_padded(k) * (size_t)r;
    for (int q = (k - 1) & ~3; q > c; q -= 4)
        size += (size_t)panel_width(k, q) * (size_t)(q + 4) - 4;
    return size;
}

size_t ga_front_forth_size(int k, int r)
{
    return forth_before(k, ga_front_padded(k + r), ga_front_padded(k));
}

size_t ga_front_back_size(int k, int r) { return back_before(k, r, -4); }

void ga_front_forward_transposed(int k, int m, const double *back, double *x, double *z)
{
    const int r = m - k;
    for (int c = 0; c < k; ++c) {
        const int first = c & ~3, w = panel_width(k, first), p = c - first;
        const double *panel = back + back_before(k, r, first);
        for (int i = first; i < c; ++i) z[c] -= panel[4 * (p - 1) + i - first] * z[i];
        for (int i = 0; i < first; ++i)
            z[c] -= panel[4 * (p - 1 + w * (1 + i / 4)) + i % 4] * z[i];
    }
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < k; ++i) x[j] -= back[4 * (i / 4 * r + j) + i % 4] * z[i];
}

void ga_front_backward_transposed(int k, int m, const double *forth, const double *x, double *z)
{
    for (int c = k - 1; c >= 0; --c) {
        const int first = c & ~3, w = panel_width(k, first), p = c - first;
        const double *panel = forth + forth_before(k, ga_front_padded(m), first);
        z[c] *= panel[4 * (w - 1) + p];
        for (int i = c + 1; i < m; ++i) {
            const int at = i - first;
            z[c] -= panel[4 * (p + w * (at / 4)) + at % 4] * (i < k ? z[i] : x[i - k]);
        }
    }
}

double ga_front_growth(int k, int m, const double *F)
{
    const int ld = ga_front_padded(m);
    double growth = 0;
    for (int p = 0; p < k; ++p) {
        double l = 0, u = 0;
        for (int i = k; i < m; ++i) {
            l = fmax(l, fabs(F[(ptrdiff_t)p * ld + i]));
            u = fmax(u, fabs(F[(ptrdiff_t)i * ld + p]));
        }
        if (!(l * u <= growth)) growth = l * u;
    }
    return growth;
}
