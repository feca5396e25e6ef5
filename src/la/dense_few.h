/* Factorisation of few unknowns: their number ld, in whole fours, is known to the compiler, and
 * loops over fours of rows are written out. The numbers are those of backend_dense.c. */
#ifndef GA_LA_DENSE_FEW_H
#define GA_LA_DENSE_FEW_H

#include "la/dense.h"
#include "la/factor.h"

#include <float.h>

/* Loops over few fours are written out. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* --- values ------------------------------------------------------------------------------- */

/* Where columns come from and go to; a copy, which no store can change. */
typedef struct passage {
    const double *values, *c; /* of the matrix, and scales of its columns */
    double *l;
    const int *column, *reach, *last;
    int n;
    quad scales[FEW / 4]; /* of rows */
    keys largest, below;  /* of all numbers; and of those below where columns ended */
    double least;         /* of the last numbers of columns: 0 if one does not reach so far */
} passage;

/* The last `left` of n > 4 numbers, and others; from what is there. */
KERNEL void load_end(quad *x, const double *from, int n, int left)
{
    quad all;
    load(&all, from + n - 4);
    if (left == 3)
        shift(x, &all, 1);
    else if (left == 2)
        shift(x, &all, 2);
    else if (left == 1)
        shift(x, &all, 3);
    else
        *x = all;
}

/* Column k of a full matrix, and the largest numbers in it. Rows of the last four that are not
 * there are the first ones of the next column, and multiplied with zero. */
KERNEL void load_held(passage *p, const int ld, int k, keys *most)
{
    const int n = p->n, j = p->column[k], reach = p->reach[k];
    const double *from = p->values + j * n, c = p->c[j];
    double *to = p->l + k * ld;
    quad x;
    const double last = fabs(from[p->last[k]]);
    p->least = last < p->least ? last : p->least;
    set_sizes(most);
    UNROLL
    for (int i = 0; i < ld; i += 4) {
        quad factor = p->scales[i / 4];
        if (i == ld - 4 && j == n - 1)
            load_end(&x, from, n, n - i);
        else
            load(&x, from + i);
        scale(&factor, c);
        times(&x, &factor);
        store(to + i, &x);
        raise_sizes(most, &x);
    }
    for (int i = reach; i < ld; i += 4) {
        load(&x, to + i);
        raise_sizes(&p->below, &x);
    }
}

/* Four columns, so that the largest number of each is found for all at once. */
KERNEL void load_four(passage *p, const int ld, int k, double *size)
{
    keys most;
    quad x[4];
    UNROLL
    for (int v = 0; v < 4; ++v) {
        load_held(p, ld, k + v, &most);
        memcpy(&x[v], &most, sizeof most);
    }
    transpose(x);
    set_sizes(&most);
    UNROLL
    for (int v = 0; v < 4; ++v) raise_sizes(&most, &x[v]);
    memcpy(&x[0], &most, sizeof most);
    raise_sizes(&p->largest, &x[0]);
    store(size + k, &x[0]);
}

KERNEL void load_one(passage *p, const int ld, int k, double *size)
{
    keys most;
    quad x;
    load_held(p, ld, k, &most);
    memcpy(&x, &most, sizeof most);
    raise_sizes(&p->largest, &x);
    const int64_t largest = largest_key(&most);
    memcpy(size + k, &largest, sizeof largest);
}

KERNEL ga_load load_few(const dense *d, const ga_matrix *m, const double *r, const double *c,
                        const int ld)
{
    const int n = d->n, whole = ld - 4;
    const double infinity = INFINITY;
    double *size = d->size;
    int64_t limit;
    int k = 0;
    quad there;
    passage p; /* not cleared, which would take a call */
    p.values = m->values;
    p.c = c;
    p.l = d->l;
    p.column = d->column;
    p.reach = d->reach;
    p.last = d->last;
    p.n = n;
    p.least = INFINITY;
    set_sizes(&p.largest);
    set_sizes(&p.below);
    memcpy(&limit, &infinity, sizeof limit);
    UNROLL
    for (int i = 0; i < whole; i += 4) load(&p.scales[i / 4], r + i);
    load_end(&p.scales[whole / 4], r, n, n - whole);
    set(&there, 1, n - whole > 1, n - whole > 2, n - whole > 3);
    times(&p.scales[whole / 4], &there);
    for (; k + 4 <= n; k += 4) load_four(&p, ld, k, size);
    for (; k < n; ++k) load_one(&p, ld, k, size);
    if (p.least == 0 || largest_key(&p.below) > 0) return OTHER;
    return largest_key(&p.largest) < limit ? SAME : NOT_FINITE;
}

/* --- factorisation ------------------------------------------------------------------------ */

/* Rows that are free, as in `free` of a panel, but in registers; and how many of each four are
 * not. */
typedef struct free_rows {
    keys free[FEW / 4];
    int taken[FEW / 4];
} free_rows;

/* Fours of rows of a panel; up to three of them are not worth the question: others are zero, or
 * become so. */
#define FOURS_OF(p, i, ld)                                                                     \
    UNROLL                                                                                     \
    for (int i = 0; i < (ld); i += 4)                                                          \
        if ((ld) <= 12 || (i >= (p)->from && i < (p)->end))

KERNEL int find_pivot_few(const panel *p, const free_rows *r, const int ld)
{
    keys most;
    set_sizes(&most);
    FOURS_OF(p, i, ld)
    {
        quad x;
        keys left;
        set_left(&left, i);
        load(&x, p->l + i);
        raise_free(&most, &left, &x, &r->free[i / 4]);
    }
    return row_of(&most);
}

/* Column c, which is known to the compiler, is eliminated from those right of it; the row of
 * the next pivot, and that pivot, which need not wait for its way through memory if it is where
 * it was the last time. */
KERNEL int eliminate_few(panel *p, free_rows *r, const int c, const int ld, double *next)
{
    double *x = p->l + c * ld, *y = x + ld;
    const double factor = p->reciprocal[c];
    const int row = p->row[c], guess = c < 3 ? p->row[c + 1] : 0;
    const double x_guess = x[guess], y_guess = c < 3 ? y[guess] : 0;
    keys most;
    UNROLL
    for (int k = c + 1; k < 4; ++k) p->u[c][k] = p->l[k * ld + row];
    set_sizes(&most);
    FOURS_OF(p, i, ld)
    {
        keys left;
        quad l, z;
        set_left(&left, i);
        occupy(&left, row, &r->free[i / 4]);
        load(&l, x + i);
        scale(&l, factor);
        keep_free(&l, &r->free[i / 4]);
        store(x + i, &l);
        UNROLL
        for (int k = c + 1; k < 4; ++k) {
            double *to = p->l + k * ld + i;
            load(&z, to);
            subtract(&z, &l, p->u[c][k]);
            store(to, &z);
            if (k == c + 1) raise_free(&most, &left, &z, &r->free[i / 4]);
        }
    }
    if (ld > 12) ++r->taken[row >> 2];
    if (c == 3) return 0;
    const int found = row_of(&most);
    *next = is_likely(found == guess) ? y_guess - x_guess * factor * p->u[c][c + 1] : y[found];
    return found;
}

KERNEL bool factor_column_few(panel *p, free_rows *r, const int c, const int ld, int left,
                              double *pivot)
{
    if (!take_pivot(p, c, *pivot)) return false;
    if (c + 1 == left) return true; /* the last of all */
    const int next = eliminate_few(p, r, c, ld, pivot);
    if (c < 3) p->row[c + 1] = expect(next, p->row[c + 1]);
    return true;
}

KERNEL int factor_panel_few(panel *p, free_rows *r, const int ld, int left)
{
    p->row[0] = expect(find_pivot_few(p, r, ld), p->row[0]);
    double pivot = p->l[p->row[0] < ld ? p->row[0] : 0];
    if (!factor_column_few(p, r, 0, ld, left, &pivot)) return 0;
    if (left > 1 && !factor_column_few(p, r, 1, ld, left, &pivot)) return 1;
    if (left > 2 && !factor_column_few(p, r, 2, ld, left, &pivot)) return 2;
    if (left > 3 && !factor_column_few(p, r, 3, ld, left, &pivot)) return 3;
    fill_up(p, left);
    return 4;
}

/* All columns right of the panel. */
KERNEL void update_few(const dense *d, const panel *p, const double *inverse, const int ld)
{
    const int j = p->first, n = d->n, a = p->row[0], b = p->row[1], c = p->row[2],
              e = p->row[3];
    quad block[4], reciprocals;
    UNROLL
    for (int v = 0; v < 4; ++v) load(&block[v], inverse + 4 * v);
    load(&reciprocals, inverse + 32);
    double *x = d->l + (j + 4) * ld, *to = d->u + (j + 4) * ld + j;
    for (int k = j + 4; k < n; ++k, x += ld, to += ld) {
        _Alignas(32) double f[4];
        quad u = block[0], other = block[2], sum;
        scale(&u, x[a]); /* as solve_block */
        scale(&other, x[c]);
        add(&u, &block[1], x[b]);
        add(&other, &block[3], x[e]);
        add(&u, &other, 1);
        store(f, &u);
        times(&u, &reciprocals);
        store(to, &u);
        FOURS_OF(p, i, ld)
        {
            sum4(&sum, p->l, (size_t)ld, i, f);
            take_off(x + i, &sum);
        }
    }
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
KERNEL int factor_few(const dense *d, const int ld)
{
    free_rows r;
    UNROLL
    for (int i = 0; i < ld; i += 4) {
        set_free(&r.free[i / 4]);
        r.taken[i / 4] = 0;
    }
    for (int j = 0, from = 0; j < ld; j += 4) {
        double *inverse = d->inverse + 9 * j;
        while (ld > 12 && from < ld && r.taken[from >> 2] == 4) from += 4;
        panel p; /* not cleared, which would take a call */
        p.first = j;
        p.from = from;
        p.end = d->reach[j + 3];
        p.ld = (size_t)ld;
        p.l = d->l + j * ld;
        p.pivot = d->diagonal + j;
        p.row = d->row + j;
        p.u[0][1] = p.u[0][2] = p.u[0][3] = p.u[1][2] = p.u[1][3] = p.u[2][3] = 0;
        const int good = factor_panel_few(&p, &r, ld, d->n - j);
        if (good < 4) return j + good;
        if (j + 1 == d->n) break; /* solve_held knows that */
        invert_blocks(&p, inverse);
        update_few(d, &p, inverse, ld);
    }
    sort_rows(d, ld);
    return d->n;
}

/* --- solving ------------------------------------------------------------------------------ */

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

/* Numbers k to k+3 of x in the order of the pivots, of which `left` are there. */
KERNEL void gather(const int *row, const double *scale, const double *x, int left, quad *to)
{
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
    for (int j = 0; j < ld; j += 4)
        gather(d->row + j, row, rhs, j < ld - 4 ? 4 : d->n - j, &x[j / 4]);
    solve_held(d, ld, x);
    UNROLL
    for (int j = 0; j < ld; j += 4) store(d->y + j, &x[j / 4]);
}

#endif
