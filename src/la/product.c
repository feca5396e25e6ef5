/* The product of two coordinate matrices; see product.h.
 *
 *     (A B)(i,j) = sum over entries a at (i,k) and b at (k,j) of a b
 *
 * The terms of a column are listed as they come: entry by entry of that column of B, for each
 * the column of A it meets, with rows and entries counted from those of the first term. This
 * list is the key of a plan: a column with the key of one before has its plan. Like columns
 * come in like order, so the plan that followed the last one before is tried first, and then
 * those that were new lately. */
#include "la/product.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct term {
    int row, ia, ib; /* counted from those of the first */
} term;

/* So many new plans are compared with. */
enum { RECENT = 64 };

typedef struct workspace {
    ga_buckets a_cols, b_cols;
    int most;    /* terms in a column */
    term *terms; /* of the column at hand */
    term *keys;  /* of all plans, one after the other */
    int *key;    /* where they begin; of each plan and one more */
    int *next;   /* the plan that last followed each; or -1 */
    int keys_room, plan_room;
    int places_room;
} workspace;

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->a_cols);
    ga_buckets_destroy(&w->b_cols);
    ga_free(w->terms);
    ga_free(w->keys);
    ga_free(w->key);
    ga_free(w->next);
}

/* Room for `count` elements, of which `used` are kept. */
static ga_status grow(void **array, int used, int count, size_t size)
{
    void *other = ga_alloc((size_t)count, size);
    if (!other) return GA_ERR_MEMORY;
    if (used) memcpy(other, *array, (size_t)used * size);
    ga_free(*array);
    *array = other;
    return GA_OK;
}

static int larger(int count) { return count > INT_MAX / 2 - 16 ? INT_MAX : 2 * count + 16; }

/* The terms of column j, and the entries of the first. */
static int list_terms(const ga_coords *A, const ga_coords *B, const workspace *w, int j,
                      term *first)
{
    int count = 0;
    for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
        const int ib = w->b_cols.item[p], k = B->row[ib];
        for (int q = w->a_cols.start[k]; q < w->a_cols.start[k + 1]; ++q) {
            const int ia = w->a_cols.item[q];
            if (count == 0) *first = (term){A->row[ia], ia, ib};
            w->terms[count++] = (term){A->row[ia] - first->row, ia - first->ia, ib - first->ib};
        }
    }
    return count;
}

static ga_status count_terms(const ga_coords *B, workspace *w)
{
    int total = 0;
    for (int j = 0; j < B->cols; ++j) {
        const int before = total;
        for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
            const int *start = w->a_cols.start + B->row[w->b_cols.item[p]];
            if (start[1] - start[0] > INT_MAX - total) return GA_ERR_MEMORY;
            total += start[1] - start[0];
        }
        if (total - before > w->most) w->most = total - before;
    }
    return GA_OK;
}

/* --- plans -------------------------------------------------------------------------------- */

static bool has_key(const workspace *w, int plan, int count)
{
    const int first = w->key[plan];
    if (w->key[plan + 1] - first != count) return false;
    return count == 0 || !memcmp(w->keys + first, w->terms, (size_t)count * sizeof *w->keys);
}

static int in_order(const void *a, const void *b)
{
    const term *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->ia != y->ia) return x->ia < y->ia ? -1 : 1;
    return (x->ib > y->ib) - (x->ib < y->ib);
}

static ga_status make_room(workspace *w, ga_product *product, int count)
{
    const int plans = product->plans, used = plans ? w->key[plans] : 0;
    if (plans + 2 > w->plan_room) {
        const int room = larger(plans + 2);
        GA_TRY(grow((void **)&w->key, plans ? plans + 1 : 0, room, sizeof *w->key));
        GA_TRY(grow((void **)&w->next, plans, room, sizeof *w->next));
        GA_TRY(grow((void **)&product->place, plans ? plans + 1 : 0, room, sizeof(int)));
        w->plan_room = room;
    }
    if (count > INT_MAX - used) return GA_ERR_MEMORY;
    if (used + count + 1 > w->keys_room) {
        const int room = larger(used + count);
        GA_TRY(grow((void **)&w->keys, used, room, sizeof *w->keys));
        GA_TRY(grow((void **)&product->ia, used, room, sizeof(int)));
        GA_TRY(grow((void **)&product->ib, used, room, sizeof(int)));
        /* places are no more than terms */
        GA_TRY(grow((void **)&product->start, plans ? product->place[plans] + 1 : 0, room + 1,
                    sizeof(int)));
        w->keys_room = room;
    }
    return GA_OK;
}

/* A new plan from the terms in w, which end up sorted. */
static ga_status add_plan(workspace *w, ga_product *product, int count)
{
    const int plan = product->plans;
    GA_TRY(make_room(w, product, count));
    const int used = w->key[plan];
    int place = product->place[plan];
    if (count) memcpy(w->keys + used, w->terms, (size_t)count * sizeof *w->keys);
    qsort(w->terms, (size_t)count, sizeof *w->terms, in_order);
    for (int t = 0; t < count; ++t) {
        if (t == 0 || w->terms[t].row != w->terms[t - 1].row)
            product->start[place++] = used + t;
        product->ia[used + t] = w->terms[t].ia;
        product->ib[used + t] = w->terms[t].ib;
    }
    product->start[place] = used + count;
    w->key[plan + 1] = used + count;
    w->next[plan] = -1;
    product->place[plan + 1] = place;
    ++product->plans;
    return GA_OK;
}

/* The plan for the terms in w; last: that of the column before. */
static ga_status find_plan(workspace *w, ga_product *product, int count, int last, int *plan)
{
    *plan = last >= 0 ? w->next[last] : -1;
    if (*plan >= 0 && has_key(w, *plan, count)) return GA_OK;
    *plan = product->plans - 1;
    const int oldest = product->plans > RECENT ? product->plans - RECENT : 0;
    while (*plan >= oldest && !has_key(w, *plan, count)) --*plan;
    if (*plan >= oldest) return GA_OK;
    *plan = product->plans;
    return add_plan(w, product, count);
}

static ga_status plan_columns(const ga_coords *A, const ga_coords *B, workspace *w,
                              ga_product *product)
{
    for (int j = 0, last = -1; j < B->cols; ++j) {
        term first = {0};
        int plan;
        const int count = list_terms(A, B, w, j, &first);
        GA_TRY(find_plan(w, product, count, last, &plan));
        if (last >= 0) w->next[last] = plan;
        product->column[j] = (ga_product_column){plan, first.ia, first.ib};
        last = plan;
    }
    return GA_OK;
}

/* Rows of places are those of their first terms. */
static ga_status make_result(const ga_coords *A, int cols, ga_product *product)
{
    ga_coords *result = &product->result;
    int count = 0;
    for (int j = 0; j < cols; ++j) {
        const int *place = product->place + product->column[j].plan;
        if (place[1] - place[0] > INT_MAX - count) return GA_ERR_MEMORY;
        count += place[1] - place[0];
    }
    *result = (ga_coords){.rows = A->rows, .cols = cols, .count = count};
    result->row = GA_NEW_WHOLE(int, count);
    result->col = GA_NEW_WHOLE(int, count);
    if (!result->row || !result->col) return GA_ERR_MEMORY;
    for (int j = 0, k = 0; j < cols; ++j) {
        const ga_product_column at = product->column[j];
        for (int p = product->place[at.plan]; p < product->place[at.plan + 1]; ++p, ++k) {
            result->row[k] = A->row[at.a + product->ia[product->start[p]]];
            result->col[k] = j;
        }
    }
    return GA_OK;
}

static ga_status create(const ga_coords *A, const ga_coords *B, workspace *w,
                        ga_product *product)
{
    GA_TRY(ga_buckets_create(A->cols, A->count, A->col, NULL, &w->a_cols));
    GA_TRY(ga_buckets_create(B->cols, B->count, B->col, NULL, &w->b_cols));
    GA_TRY(count_terms(B, w));
    w->terms = GA_NEW(term, w->most);
    product->column = GA_NEW_WHOLE(ga_product_column, B->cols);
    if (!w->terms || !product->column) return GA_ERR_MEMORY;
    GA_TRY(plan_columns(A, B, w, product));
    return make_result(A, B->cols, product);
}

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    workspace w = {0};
    *product = (ga_product){0};
    const ga_status status = create(A, B, &w, product);
    if (status != GA_OK) ga_product_destroy(product);
    destroy_workspace(&w);
    return status;
}

void ga_product_destroy(ga_product *product)
{
    ga_coords_destroy(&product->result);
    ga_free(product->column);
    ga_free(product->place);
    ga_free(product->start);
    ga_free(product->ia);
    ga_free(product->ib);
    *product = (ga_product){0};
}

void ga_product_drop_places(ga_product *product)
{
    ga_free(product->result.row);
    ga_free(product->result.col);
    product->result.row = product->result.col = NULL;
}

/* --- evaluation --------------------------------------------------------------------------- */

const int *ga_product_add_column(const ga_product *product, int j, const double *a,
                                 const double *b, double scale, const int *slot,
                                 double *restrict values)
{
    const ga_product_column at = product->column[j];
    const int *restrict ia = product->ia, *restrict ib = product->ib;
    const int *start = product->start + product->place[at.plan];
    const int *const end = product->start + product->place[at.plan + 1];
    a += at.a;
    b += at.b;
    for (int t = *start; start < end; ++slot) {
        const int last = *++start;
        double sum = 0;
        for (; t < last; ++t) sum += a[ia[t]] * b[ib[t]];
        values[*slot] += scale * sum;
    }
    return slot;
}

void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values)
{
    for (int j = 0; j < product->result.cols; ++j) {
        const ga_product_column at = product->column[j];
        for (int p = product->place[at.plan]; p < product->place[at.plan + 1]; ++p) {
            double sum = 0;
            for (int t = product->start[p]; t < product->start[p + 1]; ++t)
                sum += a[at.a + product->ia[t]] * b[at.b + product->ib[t]];
            *values++ = sum;
        }
    }
}
