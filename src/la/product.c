/* The product of two coordinate matrices, planned once.
 *
 *     (A B)(i,j) = sum over entries a at (i,k) and b at (k,j) of a b
 *
 * The terms of a column are listed as they come: entry by entry of that column of B, for each
 * the column of A it meets. Rows and entries are counted from those of its first term, and then
 * columns of like parts, the joints of a chain for instance, have the same list. Each list is
 * kept once, and its terms are sorted by place, and by entries of A and B within one: that is a
 * plan. Everything is linear in the number of terms but for the sorting of different lists. */
#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/coords.h"
#include "la/lists.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Of a list: relative to its first term. */
typedef struct term {
    int row, ia, ib;
} term;

typedef struct workspace {
    ga_buckets a_cols, b_cols;
    ga_lists lists;       /* three numbers per term */
    int *list;            /* of the column at hand */
    term *terms, *sorted; /* of a list */
    int *rows;            /* of the places of all plans */
    int most;             /* terms in a column */
} workspace;

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->a_cols);
    ga_buckets_destroy(&w->b_cols);
    ga_lists_destroy(&w->lists);
    ga_free(w->list);
    ga_free(w->terms);
    ga_free(w->sorted);
    ga_free(w->rows);
}

static int column_length(const ga_buckets *b, int j) { return b->start[j + 1] - b->start[j]; }

/* Columns that are not empty, and the most terms in one. */
static ga_status count_terms(const ga_coords *B, workspace *w, int *columns)
{
    int total = 0;
    *columns = 0;
    for (int j = 0; j < B->cols; ++j) {
        const int before = total;
        for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
            int more = column_length(&w->a_cols, B->row[w->b_cols.item[p]]);
            if (more > INT_MAX - total) return GA_ERR_MEMORY;
            total += more;
        }
        if (total - before > w->most) w->most = total - before;
        *columns += total > before;
    }
    return w->most > INT_MAX / 3 ? GA_ERR_MEMORY : GA_OK;
}

/* Lists the terms of column j; how many they are, and the first. */
static int list_terms(const ga_coords *A, const ga_coords *B, workspace *w, int j, term *first)
{
    int *list = w->list;
    for (int p = w->b_cols.start[j]; p < w->b_cols.start[j + 1]; ++p) {
        const int ib = w->b_cols.item[p], k = B->row[ib];
        for (int q = w->a_cols.start[k]; q < w->a_cols.start[k + 1]; ++q) {
            const int ia = w->a_cols.item[q];
            if (list == w->list) *first = (term){A->row[ia], ia, ib};
            *list++ = A->row[ia] - first->row;
            *list++ = ia - first->ia;
            *list++ = ib - first->ib;
        }
    }
    return (int)((list - w->list) / 3);
}

static ga_status list_columns(const ga_coords *A, const ga_coords *B, workspace *w,
                              ga_product *product)
{
    ga_product_column *column = product->column;
    for (int j = 0; j < B->cols; ++j) {
        term first = {0};
        const int terms = list_terms(A, B, w, j, &first);
        if (!terms) continue;
        int plan;
        GA_TRY(ga_lists_add(&w->lists, 3 * terms, w->list, &plan));
        *column++ = (ga_product_column){plan, first.ia, first.ib};
    }
    return GA_OK;
}

static bool in_order(const term *x, const term *y)
{
    if (x->row != y->row) return x->row < y->row;
    return x->ia != y->ia ? x->ia < y->ia : x->ib <= y->ib;
}

/* Merges pieces of twice the length again and again; the result is in w->terms. */
static void sort_terms(workspace *w, int count)
{
    for (int length = 1; length<count; length = length> count / 2 ? count : 2 * length) {
        const term *from = w->terms;
        term *to = w->sorted;
        for (int k = 0; k < count;) {
            const int middle = length < count - k ? k + length : count;
            const int end = length < count - middle ? middle + length : count;
            for (int x = k, y = middle; k < end; ++k) {
                const bool left = y == end || (x < middle && in_order(&from[x], &from[y]));
                *to++ = from[left ? x++ : y++];
            }
        }
        term *swap = w->terms;
        w->terms = w->sorted;
        w->sorted = swap;
    }
}

/* Places of list p from `place` on, its terms from `first` on; the next place. */
static int make_plan(workspace *w, int p, int first, int place, ga_product *product)
{
    const int *list = w->lists.item + w->lists.start[p];
    const int count = (w->lists.start[p + 1] - w->lists.start[p]) / 3;
    for (int k = 0; k < count; ++k)
        w->terms[k] = (term){list[3 * k], list[3 * k + 1], list[3 * k + 2]};
    sort_terms(w, count);
    for (int k = 0; k < count; ++k) {
        if (k == 0 || w->terms[k].row != w->terms[k - 1].row) {
            w->rows[place] = w->terms[k].row;
            product->start[place++] = first + k;
        }
        product->ia[first + k] = w->terms[k].ia;
        product->ib[first + k] = w->terms[k].ib;
    }
    return place;
}

static ga_status make_plans(workspace *w, ga_product *product)
{
    const int plans = w->lists.count, terms = plans ? w->lists.start[plans] / 3 : 0;
    bool memory = (w->terms = GA_NEW(term, w->most)) && (w->sorted = GA_NEW(term, w->most)) &&
                  (w->rows = GA_NEW(int, terms)) &&
                  (product->plan_start = GA_NEW(int, (size_t)plans + 1)) &&
                  (product->start = GA_NEW(int, (size_t)terms + 1)) &&
                  (product->ia = GA_NEW(int, terms)) && (product->ib = GA_NEW(int, terms));
    if (!memory) return GA_ERR_MEMORY;
    int place = 0, most = 0;
    for (int p = 0; p < plans; ++p) {
        product->plan_start[p] = place;
        place = make_plan(w, p, w->lists.start[p] / 3, place, product);
        const int places = place - product->plan_start[p];
        if (places > most) most = places;
    }
    product->plan_start[plans] = place;
    product->start[place] = terms;
    product->work = GA_NEW(double, most);
    return product->work ? GA_OK : GA_ERR_MEMORY;
}

/* Rows and columns of the result. */
static ga_status list_places(const ga_coords *A, const ga_coords *B, const workspace *w,
                             ga_product *product)
{
    ga_coords *result = &product->result;
    const int *plan_start = product->plan_start;
    *result = (ga_coords){.rows = A->rows, .cols = B->cols};
    for (int c = 0; c < product->columns; ++c) {
        const int plan = product->column[c].plan;
        result->count += plan_start[plan + 1] - plan_start[plan];
    }
    result->row = GA_NEW(int, result->count);
    result->col = GA_NEW(int, result->count);
    if (!result->row || !result->col) return GA_ERR_MEMORY;
    for (int c = 0, k = 0; c < product->columns; ++c) {
        const ga_product_column at = product->column[c];
        const int row = A->row[at.a], col = B->col[at.b];
        for (int p = plan_start[at.plan]; p < plan_start[at.plan + 1]; ++p, ++k) {
            result->row[k] = row + w->rows[p];
            result->col[k] = col;
        }
    }
    return GA_OK;
}

static ga_status plan(const ga_coords *A, const ga_coords *B, workspace *w, ga_product *product)
{
    GA_TRY(ga_buckets_create(A->cols, A->count, A->col, NULL, &w->a_cols));
    GA_TRY(ga_buckets_create(B->cols, B->count, B->col, NULL, &w->b_cols));
    GA_TRY(count_terms(B, w, &product->columns));
    w->list = GA_NEW(int, 3 * (size_t)w->most);
    product->column = GA_NEW(ga_product_column, product->columns);
    if (!w->list || !product->column) return GA_ERR_MEMORY;
    GA_TRY(list_columns(A, B, w, product));
    GA_TRY(make_plans(w, product));
    return list_places(A, B, w, product);
}

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    workspace w = {0};
    *product = (ga_product){0};
    ga_status status = plan(A, B, &w, product);
    if (status != GA_OK) ga_product_destroy(product);
    destroy_workspace(&w);
    return status;
}

void ga_product_destroy(ga_product *product)
{
    ga_coords_destroy(&product->result);
    ga_free(product->column);
    ga_free(product->plan_start);
    ga_free(product->start);
    ga_free(product->ia);
    ga_free(product->ib);
    ga_free(product->work);
    *product = (ga_product){0};
}

void ga_product_drop_places(ga_product *product)
{
    ga_free(product->result.row);
    ga_free(product->result.col);
    product->result.row = product->result.col = NULL;
}

int ga_product_evaluate_column(const ga_product *product, int c, const double *a,
                               const double *b, double *values)
{
    const ga_product_column at = product->column[c];
    const int *ia = product->ia, *ib = product->ib;
    const int first = product->plan_start[at.plan], end = product->plan_start[at.plan + 1];
    a += at.a;
    b += at.b;
    for (int k = first, p = product->start[first]; k < end; ++k) {
        double sum = 0;
        for (const int last = product->start[k + 1]; p < last; ++p) sum += a[ia[p]] * b[ib[p]];
        *values++ = sum;
    }
    return end - first;
}

void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values)
{
    for (int c = 0; c < product->columns; ++c)
        values += ga_product_evaluate_column(product, c, a, b, values);
}
