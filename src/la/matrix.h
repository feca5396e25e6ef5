/* Square matrices as sums of terms.
 *
 * A matrix is a sum of terms c_i * A_i, each with a structure of blocks (coords.h) at an
 * offset, or a product of two such. The pattern is built once and gives every block its slot,
 * where its first value goes; the others of a column follow it. Blocks are added by ranges of
 * columns, each of which is summed while it is in the cache, and ranges by several threads;
 * within a range by their shapes, with one loop for all of a shape. The same bits come out. */
#ifndef GA_LA_MATRIX_H
#define GA_LA_MATRIX_H

#include "base/pool.h"
#include "la/coords.h"
#include "la/product.h"

typedef struct ga_summand {
    const ga_coords *coords;   /* structure of a term */
    int row0, col0;            /* where its (0,0) stands */
    const ga_product *product; /* whose result the term is; null: it has values of its own */
} ga_summand;

/* A block, or a pair of blocks of a product, and where it goes. */
typedef struct ga_matrix_item {
    int a, b;       /* first value of each factor; b only in products */
    int to, stride; /* first slot, and from one column to the next */
} ga_matrix_item;

/* Items of one shape, one after the other. Value (i, j) of a is a[i * down + j * across]. */
typedef struct ga_matrix_run {
    int end; /* in the list of items */
    int rows, cols, down, across;
    int inner, down_b, across_b; /* columns of a that are rows of b; 0: no product */
} ga_matrix_run;

/* A term as the matrix keeps it. */
typedef struct ga_matrix_part {
    ga_matrix_item *items;
    ga_matrix_run *runs;
    int *from; /* ranges + 1: the first run of each range of columns */
} ga_matrix_part;

/* What is added. */
typedef struct ga_matrix_term {
    double scale;        /* 0: nothing */
    const double *a, *b; /* values, or those of both factors of a product */
} ga_matrix_term;

typedef struct ga_matrix {
    int n, count;         /* order, number of slots */
    bool full;            /* slots are all n*n places, column-major; colptr, rowind are null */
    int *colptr, *rowind; /* compressed columns, rows ascending */
    double *values;       /* count numbers */
    int terms;
    ga_matrix_part *part; /* of each term */
    int ranges;
    int *range;     /* ranges + 1: columns that are summed together, with whole blocks */
    ga_pool *pool;  /* borrowed; null: one thread */
    bool measured;  /* what follows is of the values now */
    double *size;   /* of each column: its largest entry; NaN if one is not finite */
    double largest; /* of these; NaN if one is */
} ga_matrix;

/* The first slot of column j, and the row of its slot k. */
static inline int ga_matrix_start(const ga_matrix *m, int j)
{
    return m->full ? j * m->n : m->colptr[j];
}

static inline int ga_matrix_row(const ga_matrix *m, int j, int k)
{
    return m->full ? k - j * m->n : m->rowind[k];
}

/* A matrix that is not full gets every diagonal place as a slot, even if no term fills it. */
ga_status ga_matrix_create(int n, int terms, const ga_summand *summand, bool full,
                           ga_matrix *matrix);
void ga_matrix_destroy(ga_matrix *matrix);
/* Threads for what follows. */
void ga_matrix_use(ga_matrix *matrix, ga_pool *pool);
void ga_matrix_clear(ga_matrix *matrix);
/* matrix += term k. */
void ga_matrix_add_term(ga_matrix *matrix, int k, const ga_matrix_term *term);
static inline void ga_matrix_add(ga_matrix *matrix, int k, double scale, const double *values)
{
    ga_matrix_add_term(matrix, k, &(ga_matrix_term){.scale = scale, .a = values});
}
/* The sum of all terms, in their order, then scaled by r and c, which may be null. */
void ga_matrix_sum(ga_matrix *matrix, const ga_matrix_term *terms, const double *r,
                   const double *c);
/* Fills in sizes, if that is not done; false if an entry is not finite. */
bool ga_matrix_measure(ga_matrix *matrix);
/* y += alpha A x, and y += alpha A^T x. */
void ga_matrix_multiply(const ga_matrix *matrix, double alpha, const double *x, double *y);
void ga_matrix_multiply_transposed(const ga_matrix *matrix, double alpha, const double *x,
                                   double *y);
/* values[i,j] *= r[i] * c[j]. */
void ga_matrix_scale(ga_matrix *matrix, const double *r, const double *c);
/* Ruiz equilibration: multiplies r and c (given on entry, for instance 1) so that rows and
 * columns of diag(r) A diag(c) have largest entries near 1; factors are powers of two, so
 * scaling commits no round-off. Empty rows and columns keep their factor. work has 2n. */
void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work);
/* Column-major copy, n x n. */
void ga_matrix_to_full(const ga_matrix *matrix, double *full);

#endif
