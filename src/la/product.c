/* The product of two coordinate matrices, planned once.
 *
 *     (A B)(i,j) = sum over entries a at (i,k) and b at (k,j) of a b
 *
 * Terms are listed row by row of A and then sorted stably by column; both passes are linear in
 * the number of terms. Equal places are neighbours afterwards and share a slot. */
#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/coords.h"

#include <limits.h>

typedef struct workspace {
    ga_buckets a_rows, b_rows, columns;
    int *row, *col, *ia, *ib; /* of each term, row by row */
} workspace;

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->a_rows);
    ga_buckets_destroy(&w->b_rows);
    ga_buckets_destroy(&w->columns);
    ga_free(w->row);
    ga_free(w->col);
    ga_free(w->ia);
    ga_free(w->ib);
}

static ga_status count_terms(const ga_coords *A, const ga_buckets *b_rows, int *terms)
{
    *terms = 0;
    for (int k = 0; k < A->count; ++k) {
        int more = b_rows->start[A->col[k] + 1] - b_rows->start[A->col[k]];
        if (more > INT_MAX - *terms) return GA_ERR_MEMORY;
        *terms += more;
    }
    return GA_OK;
}

static void list_terms(const ga_coords *A, const ga_coords *B, workspace *w)
{
    int t = 0;
    for (int p = 0; p < A->count; ++p) {
        int ia = w->a_rows.item[p], k = A->col[ia];
        for (int q = w->b_rows.start[k]; q < w->b_rows.start[k + 1]; ++q, ++t) {
            w->ia[t] = ia;
            w->ib[t] = w->b_rows.item[q];
            w->row[t] = A->row[ia];
            w->col[t] = B->col[w->ib[t]];
        }
    }
}

/* True if the p-th term by column stands at another place than the one before it. */
static bool new_place(const workspace *w, int p)
{
    if (p == 0) return true;
    int t = w->columns.item[p], before = w->columns.item[p - 1];
    return w->row[t] != w->row[before] || w->col[t] != w->col[before];
}

static void fill_product(const workspace *w, int terms, ga_product *product)
{
    int place = -1;
    for (int p = 0; p < terms; ++p) {
        int t = w->columns.item[p];
        if (new_place(w, p)) {
            ++place;
            product->result.row[place] = w->row[t];
            product->result.col[place] = w->col[t];
            product->start[place] = p;
        }
        product->ia[p] = w->ia[t];
        product->ib[p] = w->ib[t];
    }
    product->start[product->result.count] = terms;
}

static ga_status plan(const ga_coords *A, const ga_coords *B, workspace *w, ga_product *product)
{
    GA_TRY(ga_buckets_create(A->rows, A->count, A->row, NULL, &w->a_rows));
    GA_TRY(ga_buckets_create(B->rows, B->count, B->row, NULL, &w->b_rows));
    int terms;
    GA_TRY(count_terms(A, &w->b_rows, &terms));
    w->row = GA_NEW(int, terms);
    w->col = GA_NEW(int, terms);
    w->ia = GA_NEW(int, terms);
    w->ib = GA_NEW(int, terms);
    if (!w->row || !w->col || !w->ia || !w->ib) return GA_ERR_MEMORY;
    list_terms(A, B, w);
    GA_TRY(ga_buckets_create(B->cols, terms, w->col, NULL, &w->columns));

    int places = 0;
    for (int p = 0; p < terms; ++p) places += new_place(w, p);
    product->start = GA_NEW(int, (size_t)places + 1);
    product->ia = GA_NEW(int, terms);
    product->ib = GA_NEW(int, terms);
    product->result = (ga_coords){.rows = A->rows,
                                  .cols = B->cols,
                                  .count = places,
                                  .row = GA_NEW(int, places),
                                  .col = GA_NEW(int, places)};
    if (!product->start || !product->ia || !product->ib || !product->result.row ||
        !product->result.col)
        return GA_ERR_MEMORY;
    fill_product(w, terms, product);
    return GA_OK;
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
    ga_free(product->start);
    ga_free(product->ia);
    ga_free(product->ib);
    *product = (ga_product){0};
}

typedef struct task {
    const ga_product *product;
    const double *a, *b;
    double *values;
} task;

static void evaluate_piece(void *data, int piece)
{
    const task *t = data;
    const ga_product *product = t->product;
    const int *ia = product->ia, *ib = product->ib;
    int k = ga_pool_start(piece), p = product->start[k];
    for (const int last = ga_pool_end(product->result.count, piece); k < last; ++k) {
        double sum = 0;
        for (const int end = product->start[k + 1]; p < end; ++p)
            sum += t->a[ia[p]] * t->b[ib[p]];
        t->values[k] = sum;
    }
}

void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values)
{
    ga_pool_run(product->pool, ga_pool_pieces(product->result.count), evaluate_piece,
                &(task){product, a, b, values});
}
