/* LU with partial pivoting of a full matrix, P A Q = L U = L D N, four columns at a time:
 *
 *     factor the panel of columns j .. j+3;
 *     for every column x to the right:  u = L_block^-1 x(pivots),  x -= L_panel u.
 *
 * Rows stay where they are: P is the list of rows of the pivots. L is zero in rows that had
 * their pivot before, and what x keeps there is of no use any more: its numbers are in u.
 *
 * Q sorts columns by where their last number other than zero is: saddle matrices have columns
 * of multipliers that end with the equations of motion. What is below stays zero until the last
 * of such columns is a pivot, and is left out: half of the work and more.
 *
 * The matrix is padded to whole fours, so that everything is vectors of four. Columns to the
 * right are taken in pairs, so that each number of L read serves twice. The 4 x 4 blocks of L
 * and N at the pivots are inverted: solving is products, and does not wait for one number after
 * the other. Solutions are divided by D, not multiplied with reciprocals: that keeps what is
 * exact. Multiplications and additions come in a fixed order: results do not depend on threads,
 * alignment or processor.
 *
 * Few unknowns: their number is known to the compiler, and they stay in registers, with rows of
 * L in the order of the pivots.
 *
 * Why not dgetrf: OpenBLAS runs it on several threads from n = 100, and then the last bits
 * depend on OPENBLAS_NUM_THREADS. */
#include "base/memory.h"
#include "la/backend.h"
#include "la/fours.h"
#include "la/keys.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

typedef struct dense {
    int n, ld;        /* unknowns, and with padding */
    double *memory;   /* of all numbers */
    double *l, *u;    /* L, N: ld columns of ld numbers each; rows of A, of pivots */
    double *sorted;   /* L below its blocks with rows of pivots, for few unknowns */
    double *diagonal; /* D */
    double *inverse;  /* of each panel's blocks of L and N, 16 numbers each; then 1/D */
    int *row;         /* P: of each pivot */
    int *column;      /* Q: column k was column[k] of A */
    int *place;       /* of column j of A: k */
    int *reach;       /* rows of column k that are not zero, in whole fours; ascending */
    int *from;        /* rows before are zero in panel j/4, in whole fours */
    int *work;        /* ld + 1 */
    int64_t *free;    /* of each row: -1 until it has a pivot, then 0 */
    double *size;     /* largest number in each column */
    double *x, *y;    /* for solving */
    double *ones;     /* scales of no effect */
} dense;

static void destroy(void *data)
{
    dense *d = data;
    void *memory[] = {d->memory, d->row, d->column, d->place, d->reach, d->from, d->work};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(d);
}

/* Loops over few fours are written out. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* So few unknowns stay in registers while they are solved for. */
enum { FEW = 20 };
static bool is_few(int ld) { return ld <= FEW; }

/* Fours that cross lines of the cache cost time. */
static void share_memory(dense *d)
{
    enum { FOUR = 4 * sizeof(double) };
    const size_t ld = (size_t)d->ld;
    double **const part[] = {&d->l,    &d->u, &d->sorted, &d->inverse, &d->diagonal,
                             &d->size, &d->x, &d->y,      &d->ones};
    const size_t count[] = {ld * ld, ld * ld, is_few(d->ld) ? ld * ld : 0, 9 * ld, ld, ld, ld,
                            ld,      ld};
    double *at = d->memory + (FOUR - (uintptr_t)d->memory % FOUR) % FOUR / sizeof(double);
    for (size_t k = 0; k < sizeof part / sizeof *part; ++k, at += count[k - 1]) *part[k] = at;
    d->free = (int64_t *)at;
}

static ga_status create(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data)
{
    (void)partition, (void)pool;
    if (matrix->n > LAST - 3) return GA_ERR_MEMORY;
    dense *d = GA_NEW(dense, 1);
    if (!d) return GA_ERR_MEMORY;
    const size_t n = (size_t)matrix->n, ld = (n + 3) & ~(size_t)3;
    d->n = matrix->n;
    d->ld = (int)ld;
    bool memory =
        (d->memory = ga_alloc((is_few(d->ld) ? 3 : 2) * ld + 16, ld * sizeof(double))) &&
        (d->row = GA_NEW(int, ld)) && (d->column = GA_NEW(int, ld)) &&
        (d->place = GA_NEW(int, ld)) && (d->reach = GA_NEW(int, ld)) &&
        (d->from = GA_NEW(int, ld / 4)) && (d->work = GA_NEW(int, ld + 1));
    if (!memory) {
        destroy(d);
        return GA_ERR_MEMORY;
    }
    share_memory(d);
    for (int k = 0; k < d->ld; ++k) {
        d->column[k] = d->place[k] = k; /* and reach 0: to be sorted */
        d->ones[k] = 1;
    }
    *data = d;
    return GA_OK;
}

/* --- values ------------------------------------------------------------------------------- */

static int whole_fours(int n) { return (n + 3) & ~3; }

/* Where the last number of column j that is not zero stands, in whole fours of rows. */
static int measure_reach(const ga_matrix *m, int j)
{
    if (m->full) {
        const double *x = m->values + (size_t)j * (size_t)m->n;
        int i = m->n;
        while (i > 0 && x[i - 1] == 0) --i;
        return whole_fours(i);
    }
    int k = m->colptr[j + 1];
    while (k > m->colptr[j] && m->values[k - 1] == 0) --k;
    return k > m->colptr[j] ? whole_fours(m->rowind[k - 1] + 1) : 0;
}

/* Q: stable, so that columns of equal reach stay in order. */
static void sort_columns(const dense *d, const ga_matrix *m)
{
    int *start = d->work, *reach = d->row; /* which has no other use yet */
    for (int i = 0; i <= d->ld / 4; ++i) start[i] = 0;
    for (int j = 0; j < d->n; ++j) {
        reach[j] = measure_reach(m, j);
        if (reach[j] < d->ld) ++start[reach[j] / 4 + 1];
    }
    for (int i = 1; i <= d->ld / 4; ++i) start[i] += start[i - 1];
    for (int j = 0; j < d->n; ++j) {
        const int k = start[reach[j] / 4]++;
        d->column[k] = j;
        d->place[j] = k;
        d->reach[k] = reach[j];
    }
    for (int k = d->n; k < d->ld; ++k) d->reach[k] = d->ld;
}

/* Column j, as n numbers in a row. */
static const double *find_column(const dense *d, const ga_matrix *m, int j)
{
    if (m->full) return m->values + (size_t)j * (size_t)m->n;
    double *x = d->x;
    for (int i = 0; i < m->n; ++i) x[i] = 0;
    for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++k) x[m->rowind[k]] = m->values[k];
    return x;
}

/* A column of the matrix, and what it is multiplied with. */
typedef struct source {
    const double *values, *r;
    double c;
} source;

KERNEL void load_scaled(const source *from, int i, quad *y)
{
    quad factor;
    load(&factor, from->r + i);
    load(y, from->values + i);
    scale(&factor, from->c);
    times(y, &factor);
}

/* Whole fours of rows from i to end. */
KERNEL void load_rows(int i, int end, const source *from, double *x, keys *most)
{
    for (; i < end; i += 4) {
        quad y;
        load_scaled(from, i, &y);
        store(x + i, &y);
        raise_sizes(most, &y);
    }
}

/* Column k, its size, and what is below the last row it had so far; padding is left out. */
KERNEL int64_t load_column(const dense *d, int k, const source *from, keys *below)
{
    const int n = d->n, whole = n & ~3, reach = d->reach[k];
    double *x = d->l + (size_t)k * (size_t)d->ld;
    keys most;
    set_sizes(&most);
    load_rows(0, reach < whole ? reach : whole, from, x, &most);
    if (reach < whole) load_rows(reach, whole, from, x, below);
    if (whole < n) {
        quad y, factor;
        load_first(&factor, from->r + whole, n - whole);
        load_first(&y, from->values + whole, n - whole);
        scale(&factor, from->c);
        times(&y, &factor);
        store(x + whole, &y);
        if (reach > whole)
            raise_sizes(&most, &y);
        else
            raise_sizes(below, &y);
    }
    return largest_key(&most);
}

/* Do the numbers in the last four rows above `reach` say that it is so? */
KERNEL bool reaches(int n, const double *x, int reach)
{
    const int end = reach < n ? reach : n;
    for (int i = reach > 4 ? reach - 4 : 0; i < end; ++i)
        if (x[i] != 0) return true;
    return reach == 0;
}

typedef enum ga_load { SAME, OTHER, NOT_FINITE } ga_load;

/* Do columns end where they did the last time? Q depends on nothing but the matrix. */
KERNEL ga_load load_columns(const dense *d, const ga_matrix *m, const double *r,
                            const double *c)
{
    const double infinity = INFINITY;
    int64_t limit, largest = 0;
    bool same = true;
    keys below;
    set_sizes(&below);
    memcpy(&limit, &infinity, sizeof limit);
    for (int k = 0; k < d->n; ++k) {
        const int j = d->column[k];
        const source from = {find_column(d, m, j), r, c[j]};
        const int64_t size = load_column(d, k, &from, &below);
        same = same && reaches(d->n, from.values, d->reach[k]);
        largest = size > largest ? size : largest;
        memcpy(&d->size[k], &size, sizeof size);
    }
    if (!same || largest_key(&below) > 0) return OTHER;
    return largest < limit ? SAME : NOT_FINITE;
}

/* The same for few unknowns and a full matrix, ld known to the compiler. Rows of the last four
 * that are not there are the first ones of the next column, and multiplied with zero. */
KERNEL ga_load load_few(const dense *d, const ga_matrix *m, const double *r, const double *c,
                        const int ld)
{
    const int n = d->n, whole = ld - 4;
    const double infinity = INFINITY;
    int64_t limit, largest = 0;
    bool same = true;
    keys below;
    quad scales[FEW / 4];
    set_sizes(&below);
    memcpy(&limit, &infinity, sizeof limit);
    UNROLL
    for (int i = 0; i < whole; i += 4) load(&scales[i / 4], r + i);
    load_some(&scales[whole / 4], r + whole, n - whole);
    for (int k = 0; k < n; ++k) {
        const int j = d->column[k], reach = d->reach[k];
        const double *from = m->values + j * n;
        double *to = d->l + k * ld;
        keys most, last;
        set_sizes(&most);
        set_sizes(&last);
        UNROLL
        for (int i = 0; i < ld; i += 4) {
            quad x, factor = scales[i / 4];
            if (i == whole && j == n - 1)
                load_some(&x, from + i, n - i);
            else
                load(&x, from + i);
            scale(&factor, c[j]);
            times(&x, &factor);
            store(to + i, &x);
            if (i + 4 == reach) raise_sizes(&last, &x);
            if (i < reach)
                raise_sizes(&most, &x);
            else
                raise_sizes(&below, &x);
        }
        const int64_t size = largest_key(&most);
        same = same && (reach == 0 || is_any(&last));
        largest = size > largest ? size : largest;
        memcpy(&d->size[k], &size, sizeof size);
    }
    if (!same || largest_key(&below) > 0) return OTHER;
    return largest < limit ? SAME : NOT_FINITE;
}

/* --- factorisation ------------------------------------------------------------------------ */

/* A panel: columns from `first` on, rows from `from` to `end`. */
typedef struct panel {
    int first, from, end;
    size_t ld;
    double *l;
    int64_t *free;
    double *pivot;  /* D */
    double u[4][4]; /* U = D N above the diagonal */
    int *row;       /* until they are known, of the last factorisation */
} panel;

/* A row that was found, as the one it mostly is: the processor takes it for granted and goes on
 * while it is being found. The compiler must not see that both are the same. */
KERNEL int expect(int found, int guess)
{
#if defined(__GNUC__)
    if (__builtin_expect(found == guess, 1)) {
        __asm__("" : "+r"(guess));
        return guess;
    }
#else
    (void)guess;
#endif
    return found;
}

/* The row of the first pivot. */
KERNEL int find_pivot(const panel *p)
{
    keys most, left;
    set_keys(&most, &left, p->from);
    for (int i = p->from; i < p->end; i += 4) {
        quad x;
        load(&x, p->l + i);
        raise_keys(&most, &left, &x, p->free + i);
        next_rows(&left);
    }
    return row_of(&most);
}

/* Column c, which is known to the compiler, is eliminated from those right of it; the row of
 * the next pivot. */
KERNEL int eliminate_column(panel *p, const int c)
{
    double *x = p->l + (size_t)c * p->ld;
    const double factor = 1 / p->pivot[c], *u = p->u[c];
    keys most, left;
    for (int k = c + 1; k < 4; ++k) p->u[c][k] = p->l[(size_t)k * p->ld + (size_t)p->row[c]];
    set_keys(&most, &left, p->from);
    for (int i = p->from; i < p->end; i += 4) {
        quad l, y;
        take_row(&left, p->row[c], p->free + i);
        load(&l, x + i);
        scale(&l, factor);
        keep(&l, p->free + i);
        store(x + i, &l);
        for (int k = c + 1; k < 4; ++k) {
            double *to = p->l + (size_t)k * p->ld + i;
            load(&y, to);
            subtract(&y, &l, u[k]);
            store(to, &y);
            if (k == c + 1) raise_keys(&most, &left, &y, p->free + i);
        }
        next_rows(&left);
    }
    return c < 3 ? row_of(&most) : 0;
}

/* False at a pivot of no use. The matrix arrives equilibrated: one whose reciprocal overflows
 * is a zero. */
KERNEL bool factor_column(panel *p, const int c, int left)
{
    if (p->row[c] >= p->end) return false; /* there is none: no rows left, or all zero */
    const double pivot = p->l[(size_t)c * p->ld + (size_t)p->row[c]], size = fabs(pivot);
    if (!(size >= DBL_MIN && size < INFINITY)) return false;
    p->pivot[c] = pivot;
    if (c + 1 == left) return true; /* the last of all */
    const int next = eliminate_column(p, c);
    if (c < 3) p->row[c + 1] = expect(next, p->row[c + 1]);
    return true;
}

/* The number of columns that did not fail, of those that are left. Padding has pivots 1 in rows
 * of its own. */
KERNEL int factor_panel(panel *p, int left)
{
    p->row[0] = expect(find_pivot(p), p->row[0]);
    if (!factor_column(p, 0, left)) return 0;
    if (left > 1 && !factor_column(p, 1, left)) return 1;
    if (left > 2 && !factor_column(p, 2, left)) return 2;
    if (left > 3 && !factor_column(p, 3, left)) return 3;
    for (int c = left; c < 4; ++c) {
        p->row[c] = p->first + c;
        p->pivot[c] = 1;
    }
    return 4;
}

/* L^-1 and N^-1 of the panel's blocks, column by column. */
KERNEL void invert_blocks(const panel *p, double *inverse)
{
    const double *a = p->l, *b = a + p->ld, *c = b + p->ld, (*u)[4] = p->u, *d = p->pivot;
    const int *row = p->row;
    const double a1 = a[row[1]], a2 = a[row[2]], a3 = a[row[3]];
    const double b2 = b[row[2]], b3 = b[row[3]], c3 = c[row[3]];
    const double m2 = b2 * a1 - a2, m3 = c3 * b2 - b3, m4 = b3 * a1 - a3 - c3 * m2;
    const double r0 = 1 / d[0], r1 = 1 / d[1], r2 = 1 / d[2];
    const double n01 = u[0][1] * r0, n02 = u[0][2] * r0, n03 = u[0][3] * r0;
    const double n12 = u[1][2] * r1, n13 = u[1][3] * r1, n23 = u[2][3] * r2;
    const double i02 = n01 * n12 - n02, i13 = n12 * n23 - n13;
    const double i03 = n01 * n13 - n03 - n23 * i02;
    put(inverse, 1, -a1, m2, m4);
    put(inverse + 4, 0, 1, -b2, m3);
    put(inverse + 8, 0, 0, 1, -c3);
    put(inverse + 12, 0, 0, 0, 1);
    put(inverse + 16, 1, 0, 0, 0);
    put(inverse + 20, -n01, 1, 0, 0);
    put(inverse + 24, i02, -n12, 1, 0);
    put(inverse + 28, i03, i13, -n23, 1);
    put(inverse + 32, r0, r1, r2, 1 / d[3]);
}

/* The sum of four columns times u[0..3], from row i on. */
KERNEL void sum4(quad *sum, const double *l, size_t ld, int i, const double u[4])
{
    load(sum, l + i);
    scale(sum, u[0]);
    add_at(sum, l + ld + i, u[1]);
    add_at(sum, l + 2 * ld + i, u[2]);
    add_at(sum, l + 3 * ld + i, u[3]);
}

KERNEL void take_off(double *x, const quad *sum)
{
    quad y;
    load(&y, x);
    minus(&y, sum);
    store(x, &y);
}

/* The inverse of a block times the numbers of x in four rows; two by two, because what follows
 * waits for it. */
KERNEL void solve_block(const double *inverse, const int *row, const double *x, quad *y)
{
    quad other;
    load(y, inverse);
    load(&other, inverse + 8);
    scale(y, x[row[0]]);
    scale(&other, x[row[2]]);
    add_at(y, inverse + 4, x[row[1]]);
    add_at(&other, inverse + 12, x[row[3]]);
    add(y, &other, 1);
}

/* x -= four columns times u, in rows from .. end, whole fours; for two columns x, y with u, v.
 */
KERNEL void subtract4(int from, int end, const double *l, size_t ld, const double *u, double *x)
{
    const double a[4] = {u[0], u[1], u[2], u[3]};
    for (int i = from; i < end; i += 4) {
        quad sum;
        sum4(&sum, l, ld, i, a);
        take_off(x + i, &sum);
    }
}

KERNEL void subtract4_pair(int from, int end, const double *l, size_t ld, const double *u,
                           double *x, const double *v, double *y)
{
    const double a[4] = {u[0], u[1], u[2], u[3]}, b[4] = {v[0], v[1], v[2], v[3]};
    for (int i = from; i < end; i += 4) {
        quad s, t;
        sum4(&s, l, ld, i, a);
        sum4(&t, l, ld, i, b);
        take_off(x + i, &s);
        take_off(y + i, &t);
    }
}

/* One column right of the panel: x. */
KERNEL void update_one(const panel *p, const double *inverse, double *x, double *to)
{
    _Alignas(32) double a[4];
    quad u, reciprocals;
    load(&reciprocals, inverse + 32);
    solve_block(inverse, p->row, x, &u);
    store(a, &u);
    times(&u, &reciprocals);
    store(to, &u);
    subtract4(p->from, p->end, p->l, p->ld, a, x);
}

/* All columns right of the panel. */
KERNEL void update(const dense *d, const panel *p, const double *inverse)
{
    const size_t ld = p->ld;
    const int j = p->first, row[4] = {p->row[0], p->row[1], p->row[2], p->row[3]};
    quad reciprocals;
    int k = j + 4;
    load(&reciprocals, inverse + 32);
    for (; k + 1 < d->n; k += 2) {
        double *x = d->l + (size_t)k * ld, *y = x + ld, *to = d->u + (size_t)k * ld + j;
        _Alignas(32) double a[4], b[4];
        quad u, v;
        solve_block(inverse, row, x, &u);
        solve_block(inverse, row, y, &v);
        store(a, &u);
        store(b, &v);
        times(&u, &reciprocals);
        times(&v, &reciprocals);
        store(to, &u);
        store(to + ld, &v);
        subtract4_pair(p->from, p->end, p->l, ld, a, x, b, y);
    }
    if (k < d->n) update_one(p, inverse, d->l + (size_t)k * ld, d->u + (size_t)k * ld + j);
}

/* Whole fours that have all their pivots. */
KERNEL int skip_rows(const dense *d, const int ld, int from)
{
    const int64_t *f = d->free;
    while (from < ld && !(f[from] | f[from + 1] | f[from + 2] | f[from + 3])) from += 4;
    return from;
}

/* What solving needs of L, by rows of pivots; for few unknowns. */
KERNEL void sort_rows(const dense *d, const int ld)
{
    const int n = d->n, *restrict row = d->row;
    const double *restrict l = d->l;
    double *restrict to = d->sorted;
    for (int j = 0; j + 4 < ld; j += 4, l += 4 * ld, to += 4 * ld)
        for (int k = j + 4; k < n; ++k) {
            const int i = row[k];
            to[k] = l[i];
            to[k + ld] = l[i + ld];
            to[k + 2 * ld] = l[i + 2 * ld];
            to[k + 3 * ld] = l[i + 3 * ld];
        }
}

/* The column that fails, or n. */
KERNEL int factor(const dense *d, const int ld)
{
    for (int i = 0; i < ld; ++i) d->free[i] = -1;
    for (int j = 0, from = 0; j < ld; j += 4) {
        double *inverse = d->inverse + 9 * (size_t)j;
        panel p = {.first = j,
                   .from = from = skip_rows(d, ld, from),
                   .end = d->reach[j + 3],
                   .ld = (size_t)ld,
                   .l = d->l + (size_t)j * (size_t)ld,
                   .free = d->free,
                   .pivot = d->diagonal + j,
                   .row = d->row + j};
        const int good = factor_panel(&p, d->n - j);
        if (good < 4) return j + good;
        if (is_few(ld) && j + 1 == d->n) break; /* solve_held knows that */
        d->from[j / 4] = from;
        invert_blocks(&p, inverse);
        update(d, &p, inverse);
    }
    if (is_few(ld)) sort_rows(d, ld);
    return d->n;
}

/* --- solving ------------------------------------------------------------------------------ */

/* L D y = x; x is overwritten. */
KERNEL void eliminate(const dense *d, const int ld, double *x, double *y)
{
    for (int j = 0; j < ld; j += 4) {
        _Alignas(32) double a[4];
        quad z, pivots;
        solve_block(d->inverse + 9 * (size_t)j, d->row + j, x, &z);
        store(a, &z);
        load(&pivots, d->diagonal + j);
        over(&z, &pivots);
        store(y + j, &z);
        if (j + 4 < ld)
            subtract4(d->from[j / 4], d->reach[j + 3], d->l + (size_t)j * (size_t)ld,
                      (size_t)ld, a, x);
    }
}

/* N x = y from the last column back, in place. */
KERNEL void substitute(const dense *d, const int ld, double *y)
{
    static const int rows[4] = {0, 1, 2, 3};
    for (int j = ld - 4; j >= 0; j -= 4) {
        quad x;
        solve_block(d->inverse + 9 * (size_t)j + 16, rows, y + j, &x);
        store(y + j, &x);
        subtract4(0, j, d->u + (size_t)j * (size_t)ld, (size_t)ld, y + j, y);
    }
}

KERNEL void solve_many(const dense *d, const int ld, const double *row, const double *rhs)
{
    double *restrict x = d->x;
    int i = 0;
    for (; i + 4 <= d->n; i += 4)
        put(x + i, rhs[i] * row[i], rhs[i + 1] * row[i + 1], rhs[i + 2] * row[i + 2],
            rhs[i + 3] * row[i + 3]);
    const int left = d->n - i;
    if (left > 0)
        put(x + i, rhs[i] * row[i], left > 1 ? rhs[i + 1] * row[i + 1] : 0,
            left > 2 ? rhs[i + 2] * row[i + 2] : 0, 0);
    eliminate(d, ld, d->x, d->y);
    substitute(d, ld, d->y);
}

/* The same for few unknowns, ld known to the compiler: they stay in registers, where no number
 * waits for its way through memory; in the order of the pivots from the beginning. */
/* y = block x */
KERNEL void multiply_block(const double *block, const quad *x, quad *y)
{
    quad a, b, other;
    spread(&a, x, 0);
    spread(&b, x, 2);
    load(y, block);
    load(&other, block + 8);
    times(y, &a);
    times(&other, &b);
    spread(&a, x, 1);
    spread(&b, x, 3);
    add_products_at(y, block + 4, &a);
    add_products_at(&other, block + 12, &b);
    add(y, &other, 1);
}

/* x -= columns times the numbers spread in u */
KERNEL void take_columns(const int count, const double *l, const int ld, const quad u[4],
                         quad *x)
{
    quad sum;
    load(&sum, l);
    times(&sum, &u[0]);
    for (int c = 1; c < count; ++c) add_products_at(&sum, l + c * ld, &u[c]);
    minus(x, &sum);
}

/* The last block may be of one unknown, and is 1 then. */
KERNEL void solve_held(const dense *d, const int ld, quad *x)
{
    const double *inverse = d->inverse;
    const bool one = d->n == ld - 3;
    quad y, u[4], pivots;
    UNROLL
    for (int j = 0; j < ld; j += 4) {
        y = x[j / 4];
        if (j < ld - 4 || !one) multiply_block(inverse + 9 * j, &x[j / 4], &y);
        UNROLL
        for (int v = 0; v < 4; ++v) spread(&u[v], &y, v);
        UNROLL
        for (int i = j + 4; i < ld; i += 4)
            take_columns(4, d->sorted + j * ld + i, ld, u, &x[i / 4]);
        load(&pivots, d->diagonal + j);
        over(&y, &pivots);
        x[j / 4] = y;
    }
    UNROLL
    for (int j = ld - 4; j >= 0; j -= 4) {
        const bool last = j == ld - 4 && one;
        if (!last) multiply_block(inverse + 9 * j + 16, &x[j / 4], &y);
        if (!last) x[j / 4] = y;
        UNROLL
        for (int v = 0; v < 4; ++v) spread(&u[v], &x[j / 4], v);
        UNROLL
        for (int i = 0; i < j; i += 4)
            if (last)
                take_columns(1, d->u + j * ld + i, ld, u, &x[i / 4]);
            else
                take_columns(4, d->u + j * ld + i, ld, u, &x[i / 4]);
    }
}

/* Numbers k to k+3 of x in the order of the pivots. */
KERNEL void gather(const dense *d, int k, const double *scale, const double *x, quad *to)
{
    const int *row = d->row + k, left = d->n - k;
    const int a = row[0], b = left > 1 ? row[1] : a, c = left > 2 ? row[2] : a,
              e = left > 3 ? row[3] : a;
    double y[4];
    y[0] = x[a] * scale[a];
    y[1] = left > 1 ? x[b] * scale[b] : 0;
    y[2] = left > 2 ? x[c] * scale[c] : 0;
    y[3] = left > 3 ? x[e] * scale[e] : 0;
    set(to, y[0], y[1], y[2], y[3]);
}

KERNEL void solve_few(const dense *d, const int ld, const double *row, const double *rhs)
{
    quad x[FEW / 4];
    UNROLL
    for (int j = 0; j < ld; j += 4) gather(d, j, row, rhs, &x[j / 4]);
    solve_held(d, ld, x);
    UNROLL
    for (int j = 0; j < ld; j += 4) store(d->y + j, &x[j / 4]);
}

/* --- instances ---------------------------------------------------------------------------- */

/* Sizes of few unknowns are known to the compiler. */
KERNEL ga_load load_sized(const dense *d, const ga_matrix *m, const double *r, const double *c)
{
    switch (m->full ? d->ld : 0) {
    case 8:
        return load_few(d, m, r, c, 8);
    case 12:
        return load_few(d, m, r, c, 12);
    case 16:
        return load_few(d, m, r, c, 16);
    case 20:
        return load_few(d, m, r, c, 20);
    default:
        return load_columns(d, m, r, c);
    }
}

KERNEL int factor_sized(const dense *d)
{
    switch (d->ld) {
    case 4:
        return factor(d, 4);
    case 8:
        return factor(d, 8);
    case 12:
        return factor(d, 12);
    case 16:
        return factor(d, 16);
    case 20:
        return factor(d, 20);
    default:
        return factor(d, d->ld);
    }
}

/* y of rhs times `row`. */
KERNEL void solve_sized(const dense *d, const double *row, const double *rhs)
{
    switch (d->ld) {
    case 4:
        solve_few(d, 4, row, rhs);
        break;
    case 8:
        solve_few(d, 8, row, rhs);
        break;
    case 12:
        solve_few(d, 12, row, rhs);
        break;
    case 16:
        solve_few(d, 16, row, rhs);
        break;
    case 20:
        solve_few(d, 20, row, rhs);
        break;
    default:
        solve_many(d, d->ld, row, rhs);
    }
}

static ga_load load_plain(const dense *d, const ga_matrix *m, const double *r, const double *c)
{
    return load_sized(d, m, r, c);
}
static int factor_plain(const dense *d) { return factor_sized(d); }
static void solve_plain(const dense *d, const double *r, const double *b)
{
    solve_sized(d, r, b);
}

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static ga_load load_avx2(const dense *d, const ga_matrix *m, const double *r,
                              const double *c)
{
    return load_sized(d, m, r, c);
}
AVX2 static int factor_avx2(const dense *d) { return factor_sized(d); }
AVX2 static void solve_avx2(const dense *d, const double *r, const double *b)
{
    solve_sized(d, r, b);
}
#define CHOOSE(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_plain)
#else
#define CHOOSE(name) name##_plain
#endif

/* Smallest pivot relative to its column, whatever the scaling of the columns; which one, if
 * that is a reason to give up. Padding is infinite. */
static double judge_pivots(const dense *d, int *column)
{
    double ratio[4], smallest = INFINITY;
    int worst = 0;
    for (int k = 0; k < d->ld; k += 4) {
        quad pivots, sizes;
        load(&pivots, d->diagonal + k);
        load(&sizes, d->size + k);
        over(&pivots, &sizes);
        store(ratio, &pivots);
        for (int v = 0; v < 4; ++v)
            smallest = fabs(ratio[v]) < smallest ? fabs(ratio[v]) : smallest;
    }
    for (int k = 0; smallest < DBL_EPSILON && k < d->n; ++k)
        if (fabs(d->diagonal[k]) / d->size[k] == smallest) {
            worst = k;
            break;
        }
    *column = d->column[worst];
    return smallest < 1 ? smallest : 1;
}

static ga_status numeric_scaled(void *data, const ga_matrix *matrix, const double *r,
                                const double *c, double *rcond, int *column)
{
    dense *d = data;
    ga_load loaded = CHOOSE(load)(d, matrix, r, c);
    if (loaded == OTHER) {
        sort_columns(d, matrix);
        loaded = CHOOSE(load)(d, matrix, r, c);
    }
    *column = -1;
    if (loaded == NOT_FINITE) return GA_ERR_SINGULAR;
    const int failed = CHOOSE(factor)(d);
    if (failed < d->n) {
        *column = d->column[failed];
        *rcond = 0;
        return GA_ERR_SINGULAR;
    }
    *rcond = judge_pivots(d, column);
    return GA_OK;
}

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    const dense *d = data;
    return numeric_scaled(data, matrix, d->ones, d->ones, rcond, column);
}

/* Unknowns j .. j+count-1 of A, times their scales. */
KERNEL void put_back(int j, const int count, const dense *d, const double *col, double *x)
{
    const int *place = d->place + j;
    const double *y = d->y;
    const double a = y[place[0]], b = count > 1 ? y[place[1]] : 0,
                 c = count > 2 ? y[place[2]] : 0, e = count > 3 ? y[place[3]] : 0;
    quad z, scales;
    set(&z, a, b, c, e);
    load_some(&scales, col + j, count);
    times(&z, &scales);
    store_some(x + j, &z, count);
}

static void solve_scaled(void *data, const double *row, const double *rhs, const double *col,
                         double *x)
{
    dense *d = data;
    CHOOSE(solve)(d, row, rhs);
    IN_FOURS(0, d->n, put_back, d, col, x);
}

static void solve(void *data, double *x)
{
    dense *d = data;
    CHOOSE(solve)(d, d->ones, x);
    for (int k = 0; k < d->n; ++k) x[d->column[k]] = d->y[k];
}

const ga_backend ga_backend_dense = {
    .name = "dense",
    .looks = true,
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .numeric_scaled = numeric_scaled,
    .solve = solve,
    .solve_scaled = solve_scaled,
};
