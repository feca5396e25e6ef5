/* The product of two matrices by blocks; see product.h.
 *
 *     (A B)(i,j) = sum over k of A(i,k) B(k,j)
 *
 * Block a of A meets block b of B where columns of a are rows of b. */
#include "la/product.h"

#include "base/memory.h"
#include "base/report.h"

#include <limits.h>

/* --- plan --------------------------------------------------------------------------------- */

typedef struct workspace {
    ga_buckets by_column; /* blocks of A in each of its columns */
    ga_buckets order;     /* blocks of B by their first columns */
    int *met;             /* of each block of A: the last block of B it has met, plus 1 */
} workspace;

static ga_status create_workspace(const ga_coords *A, const ga_coords *B, workspace *w)
{
    GA_TRY(ga_coords_by_column(A, &w->by_column));
    GA_TRY(ga_buckets_create(B->cols, B->blocks, B->col, NULL, &w->order));
    w->met = GA_NEW(int, A->blocks);
    return w->met ? GA_OK : GA_ERR_MEMORY;
}

static void destroy_workspace(workspace *w)
{
    ga_buckets_destroy(&w->by_column);
    ga_buckets_destroy(&w->order);
    ga_free(w->met);
}

/* Counts the pairs, and lists them where a is not null; -1: too many. */
static int find_pairs(const ga_coords *A, const ga_coords *B, workspace *w, int *a, int *b)
{
    int count = 0;
    for (int k = 0; k < A->blocks; ++k) w->met[k] = 0;
    for (int p = 0; p < B->blocks; ++p) {
        const int right = w->order.item[p];
        const ga_matrix_block box = ga_coords_box(B, right);
        for (int k = w->by_column.start[box.row]; k < w->by_column.start[box.row + box.rows];
             ++k) {
            const int left = w->by_column.item[k];
            if (w->met[left] == right + 1) continue;
            w->met[left] = right + 1;
            if (count == INT_MAX) return -1;
            if (a) a[count] = left, b[count] = right;
            ++count;
        }
    }
    return count;
}

static ga_status create_result(ga_product *product)
{
    ga_coords *result = &product->result;
    GA_TRY(ga_coords_reserve(product->A.rows, product->B.cols, product->pairs, result));
    for (int p = 0; p < product->pairs; ++p) {
        const ga_matrix_block a = ga_coords_box(&product->A, product->a[p]),
                              b = ga_coords_box(&product->B, product->b[p]);
        result->row[p] = a.row;
        result->height[p] = a.rows;
        result->col[p] = b.col;
        result->width[p] = b.cols;
    }
    return ga_coords_start(result);
}

static ga_status create(const ga_coords *A, const ga_coords *B, workspace *w,
                        ga_product *product)
{
    GA_TRY(create_workspace(A, B, w));
    product->pairs = find_pairs(A, B, w, NULL, NULL);
    if (product->pairs < 0) return GA_ERR_MEMORY;
    product->a = GA_NEW_WHOLE(int, product->pairs);
    product->b = GA_NEW_WHOLE(int, product->pairs);
    if (!product->a || !product->b) return GA_ERR_MEMORY;
    find_pairs(A, B, w, product->a, product->b);
    return create_result(product);
}

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product)
{
    workspace w = {0};
    *product = (ga_product){.A = *A, .B = *B};
    const ga_status status = create(A, B, &w, product);
    if (status != GA_OK) ga_product_destroy(product);
    destroy_workspace(&w);
    return status;
}

void ga_product_destroy(ga_product *product)
{
    ga_coords_destroy(&product->result);
    ga_free(product->a);
    ga_free(product->b);
    *product = (ga_product){0};
}

ga_product_pair ga_product_meet(const ga_product *product, int pair)
{
    const ga_matrix_block a = ga_coords_box(&product->A, product->a[pair]),
                          b = ga_coords_box(&product->B, product->b[pair]);
    const int a_end = a.col + a.cols, b_end = b.row + b.rows;
    const int from = a.col > b.row ? a.col : b.row, end = a_end < b_end ? a_end : b_end;
    return (ga_product_pair){a, b, end - from, a.start + (from - a.col) * a.across,
                             b.start + (from - b.row) * b.down};
}

void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values)
{
    for (int p = 0; p < product->pairs; ++p) {
        const ga_product_pair m = ga_product_meet(product, p);
        const double *x = a + m.from_a, *y = b + m.from_b;
        for (int j = 0; j < m.b.cols; ++j)
            for (int i = 0; i < m.a.rows; ++i) {
                double sum = 0;
                for (int k = 0; k < m.inner; ++k)
                    sum += x[i * m.a.down + k * m.a.across] * y[k * m.b.down + j * m.b.across];
                *values++ = sum;
            }
    }
}
