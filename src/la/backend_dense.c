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
#include "la/dense_few.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

static void destroy(void *data)
{
    dense *d = data;
    void *memory[] = {d->memory, d->row,  d->column, d->place,
                      d->reach,  d->last, d->from,   d->work};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(d);
}

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
        (d->last = GA_NEW(int, ld)) && (d->from = GA_NEW(int, ld / 4)) &&
        (d->work = GA_NEW(int, ld + 1));
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

/* Rows of column j down to the last number that is not zero. */
static int measure_reach(const ga_matrix *m, int j)
{
    if (m->full) {
        const double *x = m->values + (size_t)j * (size_t)m->n;
        int i = m->n;
        while (i > 0 && x[i - 1] == 0) --i;
        return i;
    }
    int k = m->colptr[j + 1];
    while (k > m->colptr[j] && m->values[k - 1] == 0) --k;
    return k > m->colptr[j] ? m->rowind[k - 1] + 1 : 0;
}

/* Q: stable, so that columns of equal reach stay in order. */
static void sort_columns(const dense *d, const ga_matrix *m)
{
    int *start = d->work, *reach = d->row; /* which has no other use yet */
    for (int i = 0; i <= d->ld / 4; ++i) start[i] = 0;
    for (int j = 0; j < d->n; ++j) {
        reach[j] = measure_reach(m, j);
        if (whole_fours(reach[j]) < d->ld) ++start[whole_fours(reach[j]) / 4 + 1];
    }
    for (int i = 1; i <= d->ld / 4; ++i) start[i] += start[i - 1];
    for (int j = 0; j < d->n; ++j) {
        const int whole = whole_fours(reach[j]), k = start[whole / 4]++;
        d->column[k] = j;
        d->place[j] = k;
        d->reach[k] = whole;
        d->last[k] = reach[j] > 0 ? reach[j] - 1 : 0;
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

/* --- factorisation ------------------------------------------------------------------------ */

/* The row of the first pivot. */
KERNEL int find_pivot(const panel *p)
{
    keys most, left;
    set_sizes(&most);
    set_left(&left, p->from);
    for (int i = p->from; i < p->end; i += 4) {
        quad x;
        load(&x, p->l + i);
        raise_free(&most, &left, &x, (const keys *)(p->free + i));
        next_rows(&left);
    }
    return row_of(&most);
}

/* Column c, which is known to the compiler, is eliminated from those right of it; the row of
 * the next pivot. */
KERNEL int eliminate_column(panel *p, const int c)
{
    double *x = p->l + (size_t)c * p->ld;
    const double factor = p->reciprocal[c], *u = p->u[c];
    keys most, left;
    for (int k = c + 1; k < 4; ++k) p->u[c][k] = p->l[(size_t)k * p->ld + (size_t)p->row[c]];
    set_sizes(&most);
    set_left(&left, p->from);
    for (int i = p->from; i < p->end; i += 4) {
        quad l, y;
        keys *free = (keys *)(p->free + i);
        occupy(&left, p->row[c], free);
        load(&l, x + i);
        scale(&l, factor);
        keep_free(&l, free);
        store(x + i, &l);
        for (int k = c + 1; k < 4; ++k) {
            double *to = p->l + (size_t)k * p->ld + i;
            load(&y, to);
            subtract(&y, &l, u[k]);
            store(to, &y);
            if (k == c + 1) raise_free(&most, &left, &y, free);
        }
        next_rows(&left);
    }
    return c < 3 ? row_of(&most) : 0;
}

/* False at a pivot of no use. */
KERNEL bool factor_column(panel *p, const int c, int left)
{
    const int row = p->row[c] < p->end ? p->row[c] : 0;
    if (!take_pivot(p, c, p->l[(size_t)c * p->ld + (size_t)row])) return false;
    if (c + 1 == left) return true; /* the last of all */
    const int next = eliminate_column(p, c);
    if (c < 3) p->row[c + 1] = expect(next, p->row[c + 1]);
    return true;
}

/* The number of columns that did not fail, of those that are left. */
KERNEL int factor_panel(panel *p, int left)
{
    p->row[0] = expect(find_pivot(p), p->row[0]);
    if (!factor_column(p, 0, left)) return 0;
    if (left > 1 && !factor_column(p, 1, left)) return 1;
    if (left > 2 && !factor_column(p, 2, left)) return 2;
    if (left > 3 && !factor_column(p, 3, left)) return 3;
    fill_up(p, left);
    return 4;
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
        d->from[j / 4] = from;
        invert_blocks(&p, inverse);
        update(d, &p, inverse);
    }
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
        return factor_few(d, 4);
    case 8:
        return factor_few(d, 8);
    case 12:
        return factor_few(d, 12);
    case 16:
        return factor_few(d, 16);
    case 20:
        return factor_few(d, 20);
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
    double ratio[4];
    int worst = 0;
    quad least;
    set(&least, INFINITY, INFINITY, INFINITY, INFINITY);
    for (int k = 0; k < d->ld; k += 4) {
        quad pivots, sizes;
        load(&pivots, d->diagonal + k);
        load(&sizes, d->size + k);
        over(&pivots, &sizes);
        lower_by(&least, &pivots);
    }
    store(ratio, &least);
    double smallest = ratio[0];
    for (int v = 1; v < 4; ++v) smallest = ratio[v] < smallest ? ratio[v] : smallest;
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
