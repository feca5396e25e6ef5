/* Sizes of vectors. Absolute values are ordered as their bits are, read as whole numbers, with
 * NaN beyond infinity: so NaN is found without being looked for, and loops vectorise. */
#include "system/dae.h"

#include "base/unroll.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static int64_t size_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & INT64_MAX;
}

static double number_of(int64_t size)
{
    double x;
    memcpy(&x, &size, sizeof x);
    return x;
}

double ga_norm_max(int n, const double *x)
{
    int64_t largest = 0;
    for (int i = 0; i < n; ++i) {
        const int64_t size = size_of(x[i]);
        largest = size > largest ? size : largest;
    }
    return number_of(largest);
}

double ga_norm_squares(int n, const double *x)
{
    double sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; ++k) sum[k] += x[i + k] * x[i + k];
    for (; i < n; ++i) sum[0] += x[i] * x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double ga_norm_raise(int n, const double *x, const int *kind, double factor, double size[2])
{
    int64_t of_translations = 0, of_rotations = 0;
    for (int i = 0; i < n; ++i) {
        const int64_t rotates = -(int64_t)kind[i], of_this = size_of(x[i]);
        const int64_t rotation = of_this & rotates, translation = of_this & ~rotates;
        of_rotations = rotation > of_rotations ? rotation : of_rotations;
        of_translations = translation > of_translations ? translation : of_translations;
    }
    const double largest[2] = {number_of(of_translations), number_of(of_rotations)};
    for (int k = 0; k < 2; ++k)
        if (factor * largest[k] > size[k]) size[k] = factor * largest[k];
    return 0 * (largest[0] + largest[1]);
}

/* Translations of a node, which come first among its coordinates. */
static int translations(ga_node node)
{
    static const int counts[] = {
        [GA_GROUP_SO2] = 0,   [GA_GROUP_SO3] = 0, [GA_GROUP_R2SO2] = 2, [GA_GROUP_SE2] = 2,
        [GA_GROUP_R3SO3] = 3, [GA_GROUP_SE3] = 3, [GA_GROUP_STATE] = 0};
    return node.group == GA_GROUP_RN ? node.n : counts[node.group];
}

double ga_dae_translation(const ga_dae *dae, const double *q)
{
    double largest = 0;
    for (int k = 0; k < dae->sys.node_count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int count = translations(node);
        for (int i = 0; i < count; ++i) largest = fabs(q[i]) > largest ? fabs(q[i]) : largest;
        q += ga_node_nq(node);
    }
    return largest;
}

/* Sums of |A| over the rows of a block. */
GA_UNROLLED add_sizes(const int rows, const ga_matrix_block *x, const double *values,
                      const int *kind, double *const sums[2])
{
    for (int j = 0; j < x->cols; ++j) {
        const double *column = values + x->start + (ptrdiff_t)j * x->across;
        double *sum = sums[kind[x->col + j]] + x->row;
        for (int i = 0; i < rows; ++i) sum[i] += fabs(column[(ptrdiff_t)i * x->down]);
    }
}

void ga_norm_rows(const ga_coords *A, const double *values, const int *kind, double *sums[2])
{
    for (int k = 0; k < 2; ++k) memset(sums[k], 0, (size_t)A->rows * sizeof *sums[k]);
    for (int b = 0; b < A->blocks; ++b) {
        const ga_matrix_block x = ga_coords_box(A, b);
        GA_UNROLL(x.rows, add_sizes, &x, values, kind, sums)
    }
}
