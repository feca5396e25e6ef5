/* Linearly dependent rows by an orthogonal factorisation.
 *
 * Let A have unit rows. A^T P = Q R, P a fill-reducing order of the rows of A; then |r_jj| is
 * the distance of row j to the span of the rows before it in that order, not its square as in a
 * factorisation of A A^T, so 1e-6 is told from zero reliably. R is built by Givens rotations,
 * one row of A^T (one coordinate) after the other, Q is not kept (George and Heath). An entry
 * below the tolerance where a row begins is taken for zero, so a dependent column stays without
 * a pivot: row j of R is missing.
 *
 * Each dependent column gives a null vector y, y_j = 1, by back-substitution with R. The column
 * that had no pivot is the last one in the order P, which means nothing to anybody; therefore
 * the null vectors are brought into reduced echelon form from the last row of A upwards.
 */
#include "system/dependence.h"

#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"
#include "system/row_order.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Entries of a sparse row, columns ascending. */
typedef struct line {
    int count, room;
    int *col;
    double *val;
} line;

typedef struct work {
    const ga_coords *A;
    const double *values;
    int m, n; /* rows and columns of A */
    double tolerance;
    double *norm;      /* of each row of A */
    int *order;        /* order[k]: row of A that is column k of R */
    int *position;     /* its inverse */
    line *R;           /* m rows; without entries: no pivot */
    line x, y, z;      /* a row on its way, and room for two results of a rotation */
    line *null_vector; /* rows of A and their weights */
    int null_count;
    double *dense; /* m */
} work;

static ga_status reserve(line *l, int room)
{
    if (room <= l->room) return GA_OK;
    if (room < 2 * l->room && l->room < INT_MAX / 2) room = 2 * l->room;
    int *col = GA_NEW(int, room);
    double *val = GA_NEW(double, room);
    if (!col || !val) {
        ga_free(col);
        ga_free(val);
        return GA_ERR_MEMORY;
    }
    if (l->count) {
        memcpy(col, l->col, (size_t)l->count * sizeof *col);
        memcpy(val, l->val, (size_t)l->count * sizeof *val);
    }
    ga_free(l->col);
    ga_free(l->val);
    *l = (line){l->count, room, col, val};
    return GA_OK;
}

static void append(line *l, int col, double val)
{
    l->col[l->count] = col;
    l->val[l->count++] = val;
}

static void swap_lines(line *a, line *b)
{
    line t = *a;
    *a = *b;
    *b = t;
}

static void destroy_line(line *l)
{
    ga_free(l->col);
    ga_free(l->val);
}

static void destroy_work(work *w)
{
    for (int i = 0; w->R && i < w->m; ++i) destroy_line(&w->R[i]);
    for (int i = 0; w->null_vector && i < w->m; ++i) destroy_line(&w->null_vector[i]);
    destroy_line(&w->x);
    destroy_line(&w->y);
    destroy_line(&w->z);
    ga_free(w->R);
    ga_free(w->null_vector);
    ga_free(w->norm);
    ga_free(w->order);
    ga_free(w->position);
    ga_free(w->dense);
}

static ga_status create_work(work *w)
{
    w->norm = GA_NEW(double, w->m);
    w->order = GA_NEW(int, (size_t)w->m + 1);
    w->position = GA_NEW(int, w->m);
    w->R = GA_NEW(line, w->m);
    w->null_vector = GA_NEW(line, w->m);
    w->dense = GA_NEW(double, w->m);
    bool memory = w->norm && w->order && w->position && w->R && w->null_vector && w->dense;
    return memory ? GA_OK : GA_ERR_MEMORY;
}

/* --- the matrix --------------------------------------------------------------------------- */

/* Entries at one place add up before they are squared. Largest entry first: squares of 1e-200
 * would vanish. */
static ga_status measure_rows(work *w)
{
    const ga_coords *A = w->A;
    double *sum = GA_NEW(double, w->n), *largest = w->dense;
    ga_buckets by_row = {0};
    ga_status status =
        sum ? ga_buckets_create(w->m, A->count, A->row, NULL, &by_row) : GA_ERR_MEMORY;
    for (int i = 0; status == GA_OK && i < w->m; ++i) {
        const int *first = by_row.item + by_row.start[i],
                  *end = by_row.item + by_row.start[i + 1];
        for (const int *k = first; k < end; ++k) sum[A->col[*k]] += w->values[*k];
        for (const int *k = first; k < end; ++k) {
            double a = fabs(sum[A->col[*k]]);
            if (!(a <= largest[i])) largest[i] = a; /* keeps NaN */
        }
        for (const int *k = first; k < end; ++k) {
            double a = largest[i] > 0 ? sum[A->col[*k]] / largest[i] : 0;
            w->norm[i] += a * a;
            sum[A->col[*k]] = 0;
        }
        w->norm[i] = largest[i] * sqrt(w->norm[i]);
        if (!isfinite(w->norm[i])) status = GA_ERR_NOT_FINITE;
    }
    ga_buckets_destroy(&by_row);
    ga_free(sum);
    return status;
}

static ga_status choose_order(work *w)
{
    const ga_coords *A = w->A;
    if (A->count == 0) {
        for (int k = 0; k < w->m; ++k) w->order[k] = w->position[k] = k;
        return GA_OK;
    }
    int *col = GA_NEW(int, A->count);
    ga_buckets by_row = {0};
    ga_status status =
        col ? ga_buckets_create(w->m, A->count, A->row, NULL, &by_row) : GA_ERR_MEMORY;
    if (status == GA_OK) {
        for (int k = 0; k < A->count; ++k) col[k] = A->col[by_row.item[k]];
        status = ga_row_order(w->m, w->n, by_row.start, col, w->order);
    }
    for (int k = 0; status == GA_OK && k < w->m; ++k) w->position[w->order[k]] = k;
    ga_buckets_destroy(&by_row);
    ga_free(col);
    return status;
}

/* --- R ------------------------------------------------------------------------------------ */

/* Rotates x and row c of R, which begin at the same place, so that x begins later. */
static ga_status rotate(work *w, int c)
{
    line *r = &w->R[c], *x = &w->x, *y = &w->y, *z = &w->z;
    const double a = r->val[0], b = x->val[0], length = hypot(a, b);
    const double cosine = a / length, sine = b / length;
    const int most = r->count < INT_MAX - x->count ? r->count + x->count : INT_MAX;
    y->count = z->count = 0;
    GA_TRY(reserve(y, most));
    GA_TRY(reserve(z, most));
    append(y, c, length);
    for (int i = 1, j = 1; i < r->count || j < x->count;) {
        int in_r = i < r->count ? r->col[i] : INT_MAX,
            in_x = j < x->count ? x->col[j] : INT_MAX;
        int col = in_r < in_x ? in_r : in_x;
        double p = in_r == col ? r->val[i++] : 0, q = in_x == col ? x->val[j++] : 0;
        append(y, col, cosine * p + sine * q);
        append(z, col, cosine * q - sine * p);
    }
    swap_lines(x, z);
    r->count = 0;
    GA_TRY(reserve(r, y->count));
    memcpy(r->col, y->col, (size_t)y->count * sizeof *r->col);
    memcpy(r->val, y->val, (size_t)y->count * sizeof *r->val);
    r->count = y->count;
    return GA_OK;
}

/* Merges w->x into R. */
static ga_status insert(work *w)
{
    line *x = &w->x;
    const double negligible = 1e-3 * w->tolerance;
    for (;;) {
        int skip = 0;
        while (skip < x->count && fabs(x->val[skip]) <= negligible) ++skip;
        x->count -= skip;
        if (x->count == 0) return GA_OK;
        memmove(x->col, x->col + skip, (size_t)x->count * sizeof *x->col);
        memmove(x->val, x->val + skip, (size_t)x->count * sizeof *x->val);
        line *r = &w->R[x->col[0]];
        if (r->count == 0) {
            GA_TRY(reserve(r, x->count));
            memcpy(r->col, x->col, (size_t)x->count * sizeof *r->col);
            memcpy(r->val, x->val, (size_t)x->count * sizeof *r->val);
            r->count = x->count;
            return GA_OK;
        }
        GA_TRY(rotate(w, x->col[0]));
    }
}

/* Coordinates in the order of the first column of R they touch: then hardly any rotation meets
 * a row that is not yet there. */
static ga_status build(work *w)
{
    const ga_coords *A = w->A;
    ga_buckets by_position = {0}, by_col = {0}, by_first = {0};
    int *key = GA_NEW(int, A->count > w->n ? A->count : w->n);
    ga_status status = key ? GA_OK : GA_ERR_MEMORY;
    for (int k = 0; status == GA_OK && k < A->count; ++k) key[k] = w->position[A->row[k]];
    if (status == GA_OK) status = ga_buckets_create(w->m, A->count, key, NULL, &by_position);
    if (status == GA_OK)
        status = ga_buckets_create(w->n, A->count, A->col, by_position.item, &by_col);
    for (int j = 0; status == GA_OK && j < w->n; ++j) {
        bool empty = by_col.start[j] == by_col.start[j + 1];
        key[j] = empty ? 0 : w->position[A->row[by_col.item[by_col.start[j]]]];
    }
    if (status == GA_OK) status = ga_buckets_create(w->m, w->n, key, NULL, &by_first);
    for (int at = 0; status == GA_OK && at < w->n; ++at) {
        const int j = by_first.item[at], from = by_col.start[j], end = by_col.start[j + 1];
        line *x = &w->x;
        x->count = 0;
        status = reserve(x, end - from);
        for (int k = from; status == GA_OK && k < end; ++k) {
            const int entry = by_col.item[k], i = A->row[entry], c = w->position[i];
            if (w->norm[i] == 0) continue;
            const double value = w->values[entry] / w->norm[i];
            if (x->count && x->col[x->count - 1] == c)
                x->val[x->count - 1] += value;
            else
                append(x, c, value);
        }
        if (status == GA_OK) status = insert(w);
    }
    /* a pivot below the tolerance is none; the rest of its row counts on */
    for (int c = 0; status == GA_OK && c < w->m; ++c) {
        line *r = &w->R[c];
        if (r->count == 0 || fabs(r->val[0]) >= w->tolerance) continue;
        swap_lines(r, &w->x);
        r->count = 0;
        w->x.val[0] = 0;
        status = insert(w);
    }
    ga_free(key);
    ga_buckets_destroy(&by_position);
    ga_buckets_destroy(&by_col);
    ga_buckets_destroy(&by_first);
    return status;
}

/* --- null vectors ------------------------------------------------------------------------- */

/* Weights below this, against the largest of a null vector, are round-off; and below this
 * much, nothing to name. */
static const double TRIFLE = 1e-10;
static const double WORTH_NAMING = 1e-6;
/* A row is named only if its weight is at least this much of the largest: small pivots would
 * spoil the elimination. */
static const double SHARE = 0.05;

/* Row of A in w->dense, weights of unit rows, into a null vector. */
static ga_status gather(work *w, line *v)
{
    double largest = 0;
    int count = 0;
    for (int i = 0; i < w->m; ++i) largest = fmax(largest, fabs(w->dense[i]));
    for (int i = 0; i < w->m; ++i) count += fabs(w->dense[i]) > TRIFLE * largest;
    v->count = 0;
    GA_TRY(reserve(v, count));
    for (int i = 0; i < w->m; ++i) {
        if (fabs(w->dense[i]) > TRIFLE * largest) append(v, i, w->dense[i] / largest);
        w->dense[i] = 0;
    }
    return GA_OK;
}

/* R y = 0 with y_j = 1 for column j without pivot, and 0 for the others of them. */
static ga_status solve_null_vector(work *w, int j, line *v)
{
    double *y = w->dense; /* by rows of A */
    y[w->order[j]] = 1;
    for (int c = j - 1; c >= 0; --c) {
        const line *r = &w->R[c];
        double sum = 0;
        for (int k = 1; k < r->count && r->col[k] <= j; ++k)
            sum += r->val[k] * y[w->order[r->col[k]]];
        if (sum != 0) y[w->order[c]] = -sum / r->val[0];
    }
    return gather(w, v);
}

static double weight_of(const line *v, int row)
{
    int low = 0, high = v->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (v->col[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < v->count && v->col[low] == row ? v->val[low] : 0;
}

static void scatter(work *w, double factor, const line *v)
{
    for (int k = 0; k < v->count; ++k) w->dense[v->col[k]] += factor * v->val[k];
}

static int last_share(const line *v)
{
    double largest = 0;
    for (int k = 0; k < v->count; ++k) largest = fmax(largest, fabs(v->val[k]));
    int k = v->count - 1;
    while (fabs(v->val[k]) < SHARE * largest) --k;
    return v->col[k];
}

/* Rows named by others out of v. These contain no named row but their own. */
static ga_status remove_named(work *w, line *v, const int *owner)
{
    scatter(w, 1, v);
    for (int k = 0; k < v->count; ++k) {
        const int row = v->col[k];
        if (owner[row] < 0) continue;
        const line *other = &w->null_vector[owner[row]];
        scatter(w, -v->val[k] / weight_of(other, row), other);
        w->dense[row] = 0;
    }
    return gather(w, v);
}

/* Reduced echelon form. owner[row]: the null vector that names it, or -1. */
static ga_status reduce(work *w, int *owner)
{
    for (int f = 0; f < w->null_count; ++f) {
        line *v = &w->null_vector[f];
        GA_TRY(remove_named(w, v, owner));
        const int row = last_share(v);
        for (int g = 0; g < f; ++g) {
            line *other = &w->null_vector[g];
            const double part = weight_of(other, row);
            if (part == 0) continue;
            scatter(w, 1, other);
            scatter(w, -part / weight_of(v, row), v);
            w->dense[row] = 0;
            GA_TRY(gather(w, other));
        }
        owner[row] = f;
    }
    return GA_OK;
}

static ga_status find_null_vectors(work *w, int *owner)
{
    for (int c = 0; c < w->m; ++c) {
        if (w->R[c].count > 0 || w->norm[w->order[c]] == 0) continue;
        GA_TRY(solve_null_vector(w, c, &w->null_vector[w->null_count]));
        ++w->null_count;
    }
    return reduce(w, owner);
}

/* --- the result --------------------------------------------------------------------------- */

static ga_status report_rows(const work *w, const int *owner, ga_dependence *d)
{
    int partners = 0; /* at most */
    for (int i = 0; i < w->m; ++i) {
        d->zeros += w->norm[i] == 0;
        if (owner[i] < 0) continue;
        ++d->count;
        partners += w->null_vector[owner[i]].count - 1;
    }
    d->rank = w->m - d->zeros - d->count;
    d->row = GA_NEW(int, d->count);
    d->start = GA_NEW(int, (size_t)d->count + 1);
    d->with = GA_NEW(int, partners);
    d->weight = GA_NEW(double, partners);
    if (!d->row || !d->start || !d->with || !d->weight) return GA_ERR_MEMORY;
    int at = 0, k = 0;
    for (int i = 0; i < w->m; ++i) {
        if (owner[i] < 0) continue;
        const line *v = &w->null_vector[owner[i]];
        const double own = weight_of(v, i) / w->norm[i];
        d->row[k] = i;
        for (int e = 0; e < v->count; ++e) {
            if (v->col[e] == i || fabs(v->val[e]) < WORTH_NAMING) continue;
            d->with[at] = v->col[e];
            d->weight[at++] = -v->val[e] / w->norm[v->col[e]] / own;
        }
        d->start[++k] = at;
    }
    return GA_OK;
}

static ga_status run(work *w, ga_dependence *result)
{
    GA_TRY(create_work(w));
    GA_TRY(measure_rows(w));
    GA_TRY(choose_order(w));
    GA_TRY(build(w));
    int *owner = GA_NEW(int, w->m);
    if (!owner) return GA_ERR_MEMORY;
    memset(w->dense, 0, (size_t)w->m * sizeof *w->dense);
    for (int i = 0; i < w->m; ++i) owner[i] = -1;
    ga_status status = find_null_vectors(w, owner);
    if (status == GA_OK) status = report_rows(w, owner, result);
    ga_free(owner);
    return status;
}

ga_status ga_dependence_find(const ga_coords *A, const double *values, double tolerance,
                             ga_dependence *result)
{
    *result = (ga_dependence){0};
    if (A->rows == 0) return GA_OK;
    ga_coords entries;
    GA_TRY(ga_coords_entries(A, &entries));
    work w = {
        .A = &entries, .values = values, .m = A->rows, .n = A->cols, .tolerance = tolerance};
    ga_status status = run(&w, result);
    destroy_work(&w);
    ga_coords_destroy(&entries);
    if (status != GA_OK) ga_dependence_destroy(result);
    return status;
}

void ga_dependence_destroy(ga_dependence *d)
{
    ga_free(d->row);
    ga_free(d->start);
    ga_free(d->with);
    ga_free(d->weight);
    *d = (ga_dependence){0};
}
