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

/* --- values ------------------------------------------------------------------------------- */

KERNEL double scale_column(int n, const double *restrict r, double c, double *restrict x)
{
    vec4 most, bad; /* 0 * x is NaN where x is not finite */
    double largest = 0, rest = 0;
    int i = 0;
    set_zero(&most);
    set_zero(&bad);
    for (; i + 4 <= n; i += 4) {
        vec4 y, z;
        load(&y, x + i);
        if (r) {
            load(&z, r + i);
            scale(&z, c);
            multiply(&y, &z);
            store(x + i, &y);
        }
        raise_by(&most, &y);
        add(&bad, &y, 0);
    }
    for (; i < n; ++i) {
        if (r) x[i] *= r[i] * c;
        largest = greater(fabs(x[i]), largest);
        rest += 0 * x[i];
    }
    double s[4];
    store(s, &bad);
    return greater(largest_of(&most), largest) + (s[0] + s[1] + s[2] + s[3] + rest);
}

KERNEL void fill(int n, const double *A, double *F)
{
    const int ld = ga_front_padded(n);
    for (int j = 0; j < n; ++j, A += n, F += ld) {
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
            for (int p = c; p < c + panel_width(k, c); ++p)
                take(&forth, F + (ptrdiff_t)p * ld + i);
    for (int i = 0; i < k; i += 4)
        for (int j = k; j < m; ++j) take(&back, F + (ptrdiff_t)j * ld + i);
    for (int c = last; c >= 0; c -= 4) {
        const int end = c + panel_width(k, c);
        for (int p = c; p < end; ++p) take(&back, F + (ptrdiff_t)p * ld + c);
        for (int i = 0; i < c; i += 4)
            for (int p = c; p < end; ++p) take(&back, F + (ptrdiff_t)p * ld + i);
    }
}

/* z -= a tile of w columns times a. */
KERNEL void subtract_tile(const int w, const double *restrict x, const double *restrict a,
                          double *restrict z)
{
    vec4 y, s, t;
    load(&y, z);
    load(&s, x);
    scale(&s, a[0]);
    if (w > 1) add_at(&s, x + 4, a[1]);
    if (w > 2) {
        load(&t, x + 8);
        scale(&t, a[2]);
        if (w > 3) add_at(&t, x + 12, a[3]);
        add(&s, &t, 1);
    }
    minus(&y, &s);
    store(z, &y);
}

/* The tile on the diagonal by substitution, then the rows below it. Returns the next panel.
 * Unrolled by hand, as on the way back: GCC would vectorise loops through memory. */
KERNEL const double *forward_panel(const int w, int c, int ld, const double *restrict x,
                                   double *restrict z)
{
    double a[4] = {z[c], z[c + 1], z[c + 2], z[c + 3]};
    a[1] -= x[1] * a[0];
    a[2] -= x[2] * a[0];
    a[3] -= x[3] * a[0];
    if (w > 1) {
        a[2] -= x[6] * a[1];
        a[3] -= x[7] * a[1];
    }
    if (w > 2) a[3] -= x[11] * a[2];
    put(z + c, a[0], a[1], a[2], a[3]);
    x += 4 * w;
    for (int i = c + 4; i < ld; i += 4, x += 4 * w) subtract_tile(w, x, a, z + i);
    return x;
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
    for (c = 0; c + 4 <= k; c += 4) x = forward_panel(4, c, ld, x, z);
    if (k - c == 3) forward_panel(3, c, ld, x, z);
    if (k - c == 2) forward_panel(2, c, ld, x, z);
    if (k - c == 1) forward_panel(1, c, ld, x, z);
    for (c = 0; c < k; c += 4) {
        load(&y, z + c);
        store_tile(own + c, &y, k - c);
    }
}

/* The same, with the rows above. */
KERNEL const double *backward_panel(const int w, int c, const double *restrict x,
                                    double *restrict z)
{
    double a[4] = {z[c], w > 1 ? z[c + 1] : 0, w > 2 ? z[c + 2] : 0, w > 3 ? z[c + 3] : 0};
    if (w > 3) {
        a[3] *= x[15];
        a[0] -= x[12] * a[3];
        a[1] -= x[13] * a[3];
        a[2] -= x[14] * a[3];
    }
    if (w > 2) {
        a[2] *= x[10];
        a[0] -= x[8] * a[2];
        a[1] -= x[9] * a[2];
    }
    if (w > 1) {
        a[1] *= x[5];
        a[0] -= x[4] * a[1];
    }
    a[0] *= x[0];
    if (w == 4)
        put(z + c, a[0], a[1], a[2], a[3]);
    else
        for (int p = 0; p < w; ++p) z[c + p] = a[p];
    x += 4 * w;
    for (int i = 0; i < c; i += 4, x += 4 * w) subtract_tile(w, x, a, z + i);
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

/* clang-format off */
#define INSTANCE(name, attribute, sizes)                                                       \
    attribute static double scale_##name(int n, const double *r, double c, double *x)          \
    {                                                                                          \
        return r ? scale_column(n, r, c, x) : scale_column(n, NULL, c, x);                     \
    }                                                                                          \
    attribute static void fill_##name(int n, const double *A, double *F) { fill(n, A, F); }    \
    attribute static double factor_##name(int k, int m, double keep, double *F, int *swap)     \
    {                                                                                          \
        double most;                                                                           \
        sizes(k, m, most =, factor, keep, F, swap)                                             \
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
    static const ga_front_kernels kernels_##name = {scale_##name,  fill_##name,                \
                                                    factor_##name, pack_##name,                \
                                                    forward_##name, backward_##name};
/* clang-format on */

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define HAS_AVX2
INSTANCE(plain, , ANY_SIZE)
INSTANCE(avx2, __attribute__((target("avx2"))), BY_SIZE)
#else
INSTANCE(plain, , BY_SIZE)
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
        size += (size_t)panel_width(k, q) * (size_t)(q + 4);
    return size;
}

size_t ga_front_forth_size(int k, int r)
{
    return forth_before(k, ga_front_padded(k + r), ga_front_padded(k));
}

size_t ga_front_back_size(int k, int r) { return back_before(k, r, -4); }

void ga_front_forward_transposed(int k, int m, const double *back, double *others, double *own)
{
    const int r = m - k;
    for (int c = 0; c < k; ++c) {
        const int first = c & ~3, w = panel_width(k, first);
        const double *tile = back + back_before(k, r, first) + 4 * (c - first);
        for (int i = 0; i < first; ++i) own[c] -= tile[4 * w * (1 + i / 4) + i % 4] * own[i];
        for (int i = first; i < c; ++i) own[c] -= tile[i - first] * own[i];
        own[c] *= tile[c - first];
    }
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < k; ++i) others[j] -= back[4 * (i / 4 * r + j) + i % 4] * own[i];
}

void ga_front_backward_transposed(int k, int m, const double *forth, const double *others,
                                  double *own)
{
    for (int c = k - 1; c >= 0; --c) {
        const int first = c & ~3, w = panel_width(k, first);
        const double *tile =
            forth + forth_before(k, ga_front_padded(m), first) + 4 * (c - first);
        for (int i = c + 1; i < m; ++i) {
            const int at = i - first;
            own[c] -= tile[4 * w * (at / 4) + at % 4] * (i < k ? own[i] : others[i - k]);
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
        growth = fmax(growth, l * u);
    }
    return growth;
}
