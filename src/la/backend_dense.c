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
 * Why not dgetrf: OpenBLAS runs it on several threads from n = 100, and then the last bits
 * depend on OPENBLAS_NUM_THREADS. */
#include "base/memory.h"
#include "la/backend.h"
#include "la/fours.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

typedef struct dense {
    int n, ld;        /* unknowns, and with padding */
    double *memory;   /* of all numbers */
    double *l, *u;    /* L, N: ld columns of ld numbers each; rows of A, of pivots */
    double *diagonal; /* D */
    double *inverse;  /* of each panel's blocks of L and N, 16 numbers each; then 1/D */
    int *row;         /* P: of each pivot */
    int *column;      /* Q: column k was column[k] of A */
    int *reach;       /* rows of column k that are not zero, in whole fours; ascending */
    int *from;        /* rows before are zero in panel j/4, in whole fours */
    int *work;        /* ld + 1 */
    int64_t *free;    /* of each row: -1 until it has a pivot, then 0 */
    double *size;     /* largest number in each column */
    double *x, *y;    /* for solving */
} dense;

static void destroy(void *data)
{
    dense *d = data;
    void *memory[] = {d->memory, d->row, d->column, d->reach, d->from, d->work};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(d);
}

/* Rows have numbers that fit into what a key of a pivot has left for them. */
enum { LAST = 0xffff };

/* Fours that cross lines of the cache cost time. */
static void share_memory(dense *d)
{
    enum { FOUR = 4 * sizeof(double) };
    const size_t ld = (size_t)d->ld;
    double **const part[] = {&d->l, &d->u, &d->inverse, &d->diagonal, &d->size, &d->x, &d->y};
    const size_t count[] = {ld * ld, ld * ld, 9 * ld, ld, ld, ld, ld};
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
    bool memory = (d->memory = ga_alloc(2 * ld + 15, ld * sizeof(double))) &&
                  (d->row = GA_NEW(int, ld)) && (d->column = GA_NEW(int, ld)) &&
                  (d->reach = GA_NEW(int, ld)) && (d->from = GA_NEW(int, ld / 4)) &&
                  (d->work = GA_NEW(int, ld + 1));
    if (!memory) {
        destroy(d);
        return GA_ERR_MEMORY;
    }
    share_memory(d);
    for (int k = 0; k < d->ld; ++k) d->column[k] = k; /* and reach 0: to be sorted */
    *data = d;
    return GA_OK;
}

/* --- keys --------------------------------------------------------------------------------- */

/* Keys of four numbers: larger for larger ones, and of equal ones for the first. The last bits
 * of a number make room for how many rows are left, so that one comparison tells both. Zero,
 * the smallest of all, for rows that are not free. Sizes are all bits but the sign: infinity
 * and NaN are the largest. */
#if defined(__GNUC__)
typedef quad_mask keys;
KERNEL void set_keys(keys *most, keys *left, int row)
{
    *most = (keys){0};
    *left = (keys){LAST - row, LAST - row - 1, LAST - row - 2, LAST - row - 3};
}
KERNEL void raise_keys(keys *most, const keys *left, const quad *x, const int64_t *free)
{
    const keys key =
        (((keys)*x & (INT64_MAX & ~(long long)LAST)) | *left) & *(const keys *)free;
    const keys more = key > *most;
    *most = (key & more) | (*most & ~more);
}
KERNEL void next_rows(keys *left) { *left -= 4; }
KERNEL void raise_sizes(keys *most, const quad *x)
{
    const keys size = (keys)*x & INT64_MAX, more = size > *most;
    *most = (size & more) | (*most & ~more);
}
KERNEL void set_sizes(keys *most) { *most = (keys){0}; }
/* From now on row is not free, if it is one of these. */
KERNEL void take_row(const keys *left, int row, int64_t *free)
{
    const long long key = LAST - row;
    *(keys *)free &= *left != key;
}
KERNEL void keep(quad *x, const int64_t *free) { *x = (quad)((keys)*x & *(const keys *)free); }
KERNEL int64_t key_at(const keys *most, int v) { return (*most)[v]; }
#else
typedef struct keys {
    int64_t at[4];
} keys;
KERNEL void set_keys(keys *most, keys *left, int row)
{
    EACH most->at[v] = 0;
    EACH left->at[v] = LAST - row - v;
}
KERNEL void raise_keys(keys *most, const keys *left, const quad *x, const int64_t *free)
{
    int64_t bits[4];
    memcpy(bits, x, sizeof bits);
    EACH bits[v] = ((bits[v] & (INT64_MAX & ~(int64_t)LAST)) | left->at[v]) & free[v];
    EACH most->at[v] = bits[v] > most->at[v] ? bits[v] : most->at[v];
}
KERNEL void next_rows(keys *left) { EACH left->at[v] -= 4; }
KERNEL void raise_sizes(keys *most, const quad *x)
{
    int64_t bits[4];
    memcpy(bits, x, sizeof bits);
    EACH bits[v] &= INT64_MAX;
    EACH most->at[v] = bits[v] > most->at[v] ? bits[v] : most->at[v];
}
KERNEL void set_sizes(keys *most) { EACH most->at[v] = 0; }
KERNEL void take_row(const keys *left, int row, int64_t *free)
{
    EACH if (left->at[v] == LAST - row) free[v] = 0;
}
KERNEL void keep(quad *x, const int64_t *free) { EACH x->at[v] = free[v] ? x->at[v] : 0; }
KERNEL int64_t key_at(const keys *most, int v) { return most->at[v]; }
#endif

KERNEL int64_t largest_key(const keys *most)
{
    const int64_t a = key_at(most, 0), b = key_at(most, 1), c = key_at(most, 2),
                  d = key_at(most, 3), x = a > b ? a : b, y = c > d ? c : d;
    return x > y ? x : y;
}

KERNEL int row_of(const keys *most) { return LAST - (int)(largest_key(most) & LAST); }

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

/* Whole fours of rows from i to end. */
KERNEL void load_rows(int i, int end, const double *from, double *x, keys *most)
{
    for (; i < end; i += 4) {
        quad y;
        load(&y, from + i);
        store(x + i, &y);
        raise_sizes(most, &y);
    }
}

/* Column k, its size, and what is below the last row it had so far; padding is left out. */
KERNEL int64_t load_column(const dense *d, int k, const double *from, keys *below)
{
    const int n = d->n, whole = n & ~3, reach = d->reach[k];
    double *x = d->l + (size_t)k * (size_t)d->ld;
    keys most;
    set_sizes(&most);
    load_rows(0, reach < whole ? reach : whole, from, x, &most);
    if (reach < whole) load_rows(reach, whole, from, x, below);
    if (whole < n) {
        quad y;
        load_first(&y, from + whole, n - whole);
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
KERNEL ga_load load_columns(const dense *d, const ga_matrix *m)
{
    const double infinity = INFINITY;
    int64_t limit, largest = 0;
    bool same = true;
    keys below;
    set_sizes(&below);
    memcpy(&limit, &infinity, sizeof limit);
    for (int k = 0; k < d->n; ++k) {
        const double *from = find_column(d, m, d->column[k]);
        const int64_t size = load_column(d, k, from, &below);
        same = same && reaches(d->n, from, d->reach[k]);
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
    double pivot[4], u[4][4]; /* D; U = D N above the diagonal */
    int row[4];
} panel;

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
    const double pivot = p->l[(size_t)c * p->ld + (size_t)p->row[c]], size = fabs(pivot);
    if (!(size >= DBL_MIN && size < INFINITY)) return false;
    p->pivot[c] = pivot;
    if (c + 1 == left) return true; /* the last of all */
    const int next = eliminate_column(p, c);
    if (c < 3) p->row[c + 1] = next;
    return true;
}

/* The number of columns that did not fail, of those that are left. Padding has pivots 1 in rows
 * of its own. */
KERNEL int factor_panel(panel *p, int left)
{
    p->row[0] = find_pivot(p);
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
    const double L[16] = {1, -a1, m2, m4, 0, 1, -b2, m3, 0, 0, 1, -c3, 0, 0, 0, 1};
    const double r0 = 1 / d[0], r1 = 1 / d[1], r2 = 1 / d[2];
    const double r[4] = {r0, r1, r2, 1 / d[3]};
    const double n01 = u[0][1] * r0, n02 = u[0][2] * r0, n03 = u[0][3] * r0;
    const double n12 = u[1][2] * r1, n13 = u[1][3] * r1, n23 = u[2][3] * r2;
    const double i02 = n01 * n12 - n02, i13 = n12 * n23 - n13;
    const double i03 = n01 * n13 - n03 - n23 * i02;
    const double N[16] = {1, 0, 0, 0, -n01, 1, 0, 0, i02, -n12, 1, 0, i03, i13, -n23, 1};
    memcpy(inverse, L, sizeof L);
    memcpy(inverse + 16, N, sizeof N);
    memcpy(inverse + 32, r, sizeof r);
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

/* All columns right of the panel; there is padding for the last to have a partner. */
KERNEL void update(const dense *d, const panel *p, const double *inverse)
{
    const size_t ld = p->ld;
    const int j = p->first, row[4] = {p->row[0], p->row[1], p->row[2], p->row[3]};
    quad reciprocals;
    load(&reciprocals, inverse + 32);
    for (int k = j + 4; k < d->n; k += 2) {
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
}

/* Whole fours that have all their pivots. */
KERNEL int skip_rows(const dense *d, int from)
{
    const int64_t *f = d->free;
    while (from < d->ld && !(f[from] | f[from + 1] | f[from + 2] | f[from + 3])) from += 4;
    return from;
}

/* The column that fails, or n. */
KERNEL int factor(const dense *d)
{
    const size_t ld = (size_t)d->ld;
    for (int i = 0; i < d->ld; ++i) d->free[i] = -1;
    for (int j = 0, from = 0; j < d->ld; j += 4) {
        double *inverse = d->inverse + 9 * (size_t)j;
        panel p = {.first = j,
                   .from = from = skip_rows(d, from),
                   .end = d->reach[j + 3],
                   .ld = ld,
                   .l = d->l + (size_t)j * ld,
                   .free = d->free};
        const int good = factor_panel(&p, d->n - j);
        if (good < 4) return j + good;
        d->from[j / 4] = from;
        memcpy(d->row + j, p.row, sizeof p.row);
        memcpy(d->diagonal + j, p.pivot, sizeof p.pivot);
        invert_blocks(&p, inverse);
        update(d, &p, inverse);
    }
    return d->n;
}

/* --- solving ------------------------------------------------------------------------------ */

/* L D y = x; x is overwritten. */
KERNEL void eliminate(const dense *d, double *x, double *y)
{
    const size_t ld = (size_t)d->ld;
    for (int j = 0; j < d->ld; j += 4) {
        _Alignas(32) double a[4];
        quad z, pivots;
        solve_block(d->inverse + 9 * (size_t)j, d->row + j, x, &z);
        store(a, &z);
        load(&pivots, d->diagonal + j);
        over(&z, &pivots);
        store(y + j, &z);
        if (j + 4 < d->ld)
            subtract4(d->from[j / 4], d->reach[j + 3], d->l + (size_t)j * ld, ld, a, x);
    }
}

/* N x = y from the last column back, in place. */
KERNEL void substitute(const dense *d, double *y)
{
    static const int rows[4] = {0, 1, 2, 3};
    const size_t ld = (size_t)d->ld;
    for (int j = d->ld - 4; j >= 0; j -= 4) {
        quad x;
        solve_block(d->inverse + 9 * (size_t)j + 16, rows, y + j, &x);
        store(y + j, &x);
        subtract4(0, j, d->u + (size_t)j * ld, ld, y + j, y);
    }
}

KERNEL void solve_both(const dense *d, double *x, double *y)
{
    eliminate(d, x, y);
    substitute(d, y);
}

/* --- instances ---------------------------------------------------------------------------- */

static ga_load load_plain(const dense *d, const ga_matrix *m) { return load_columns(d, m); }
static int factor_plain(const dense *d) { return factor(d); }
static void solve_plain(const dense *d, double *x, double *y) { solve_both(d, x, y); }

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static ga_load load_avx2(const dense *d, const ga_matrix *m) { return load_columns(d, m); }
AVX2 static int factor_avx2(const dense *d) { return factor(d); }
AVX2 static void solve_avx2(const dense *d, double *x, double *y) { solve_both(d, x, y); }
#define CHOOSE(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_plain)
#else
#define CHOOSE(name) name##_plain
#endif

/* Smallest pivot relative to its column, whatever the scaling of the columns. */
static double judge_pivots(const dense *d, int *column)
{
    double smallest = INFINITY;
    int worst = 0;
    for (int k = 0; k < d->n; ++k) {
        const double pivot = fabs(d->diagonal[k]) / d->size[k];
        if (!(pivot < smallest)) continue;
        smallest = pivot;
        worst = k;
    }
    *column = d->column[worst];
    return smallest < 1 ? smallest : 1;
}

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    const dense *d = data;
    ga_load loaded = CHOOSE(load)(d, matrix);
    if (loaded == OTHER) {
        sort_columns(d, matrix);
        loaded = CHOOSE(load)(d, matrix);
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

static void solve_scaled(void *data, const double *row, const double *rhs, const double *col,
                         double *x)
{
    const dense *d = data;
    const int n = d->n, *restrict column = d->column;
    double *restrict y = d->x;
    for (int i = 0; i < n; ++i) y[i] = rhs[i] * row[i];
    for (int i = n; i < d->ld; ++i) y[i] = 0;
    CHOOSE(solve)(d, d->x, d->y);
    for (int k = 0; k < n; ++k) x[column[k]] = d->y[k] * col[column[k]];
}

static void solve(void *data, double *x)
{
    const dense *d = data;
    for (int i = 0; i < d->n; ++i) d->x[i] = x[i];
    for (int i = d->n; i < d->ld; ++i) d->x[i] = 0;
    CHOOSE(solve)(d, d->x, d->y);
    for (int k = 0; k < d->n; ++k) x[d->column[k]] = d->y[k];
}

const ga_backend ga_backend_dense = {
    .name = "dense",
    .looks = true,
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .solve = solve,
    .solve_scaled = solve_scaled,
};
