/* Planned products against the definition. */
#include "la/product.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <math.h>

static void check(const ga_coords *A, const ga_coords *B, uint64_t *seed)
{
    ga_product p;
    assert_int_equal(ga_product_create(A, B, &p), GA_OK);
    assert_int_equal(p.result.rows, A->rows);
    assert_int_equal(p.result.cols, B->cols);
    for (int k = 1; k < p.result.count; ++k)
        assert_true(
            p.result.col[k - 1] < p.result.col[k] ||
            (p.result.col[k - 1] == p.result.col[k] && p.result.row[k - 1] < p.result.row[k]));

    for (int repeat = 0; repeat < 2; ++repeat) { /* values are set, not added to */
        double *a = random_values(seed, A->count), *b = random_values(seed, B->count);
        double *fa = to_full(A, a), *fb = to_full(B, b);
        double *c = random_values(seed, p.result.count);
        ga_product_evaluate(&p, a, b, c);
        double *fc = to_full(&p.result, c);
        for (int i = 0; i < A->rows; ++i)
            for (int j = 0; j < B->cols; ++j) {
                double sum = 0;
                for (int k = 0; k < A->cols; ++k)
                    sum += fa[i + k * A->rows] * fb[k + j * B->rows];
                assert_true(fabs(fc[i + j * A->rows] - sum) < 1e-12);
            }
        free(a), free(b), free(fa), free(fb), free(c), free(fc);
    }
    ga_product_destroy(&p);
    assert_null(p.start);
    ga_product_destroy(&p);
}

static void agrees_with_full(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int shape[][5] = {
        {7, 5, 9, 12, 20}, {20, 30, 10, 200, 40}, {1, 1, 1, 3, 2},
        {15, 4, 15, 5, 5}, {6, 6, 6, 0, 9},
    };
    for (int s = 0; s < 5; ++s) {
        ga_coords A = random_coords(&seed, shape[s][0], shape[s][1], shape[s][3]);
        ga_coords B = random_coords(&seed, shape[s][1], shape[s][2], shape[s][4]);
        check(&A, &B, &seed);
        ga_coords At = ga_coords_transposed(&A);
        check(&At, &A, &seed);
        ga_coords_destroy(&A);
        ga_coords_destroy(&B);
    }
}

static void empty_is_fine(void **state)
{
    (void)state;
    uint64_t seed = 4;
    int shape[][3] = {{0, 0, 0}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}};
    for (int s = 0; s < 4; ++s) {
        ga_coords A, B;
        assert_int_equal(ga_coords_create(shape[s][0], shape[s][1], 0, NULL, NULL, &A), GA_OK);
        assert_int_equal(ga_coords_create(shape[s][1], shape[s][2], 0, NULL, NULL, &B), GA_OK);
        check(&A, &B, &seed);
        ga_coords_destroy(&A);
        ga_coords_destroy(&B);
    }
}

/* A full column times a full row has 65536^2 terms: more than an int counts. */
static void too_many_terms(void **state)
{
    (void)state;
    ga_coords A;
    ga_product p;
    assert_int_equal(ga_coords_create(1 << 16, 1, 0, NULL, NULL, &A), GA_OK);
    ga_coords B = ga_coords_transposed(&A);
    assert_int_equal(ga_product_create(&A, &B, &p), GA_ERR_MEMORY);
    assert_null(p.start);
    ga_coords_destroy(&A);
}

/* Rows of a chain: row block i has entries in column blocks i and i + 1, at `mask` of its
 * places; entries joint by joint, in the order given. */
static ga_coords chain(int joints, int height, int width, unsigned mask, const int *order)
{
    int *row = zeroed(2 * joints * height * width, sizeof(int)), count = 0;
    int *col = zeroed(2 * joints * height * width, sizeof(int));
    for (int n = 0; n < joints; ++n)
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < 2 * width; ++j) {
                const int joint = order ? order[n] : n;
                if (!(mask >> (i * 2 * width + j) % 31 & 1)) continue;
                row[count] = joint * height + i;
                col[count++] = joint * width + j;
            }
    ga_coords A;
    if (ga_coords_create(joints * height, (joints + 1) * width, count, row, col, &A) != GA_OK)
        abort();
    free(row), free(col);
    return A;
}

static int count_plans(const ga_coords *A, const ga_coords *B)
{
    ga_product p;
    assert_int_equal(ga_product_create(A, B, &p), GA_OK);
    const int plans = p.plans;
    ga_product_destroy(&p);
    return plans;
}

/* Columns of like joints share plans: as many for a long chain as for a short one. Where joints
 * are numbered at random there is less to share, and the values are as right. */
static void like_columns_share_plans(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int plans[3];
    for (int k = 0; k < 3; ++k) {
        const int joints = k == 0 ? 8 : 20;
        int order[20];
        for (int n = 0; n < joints; ++n) order[n] = n;
        for (int n = joints - 1; n > 0; --n) {
            const int other = random_below(&seed, n + 1), kept = order[n];
            order[n] = order[other];
            order[other] = kept;
        }
        ga_coords G = chain(joints, 5, 6, 0x6d35a6d3, k == 2 ? order : NULL);
        ga_coords Gt = ga_coords_transposed(&G);
        check(&G, &Gt, &seed);
        check(&Gt, &G, &seed);
        plans[k] = count_plans(&G, &Gt);
        ga_coords_destroy(&G);
    }
    assert_int_equal(plans[0], plans[1]);
    assert_true(plans[0] <= 16); /* of the first, the last and any other joint; and none */
}

/* Sums are those of terms in the order of entries, bit by bit; and columns need no places. */
static void sums_in_order(void **state)
{
    (void)state;
    uint64_t seed = 7;
    ga_coords G = chain(20, 5, 6, 0x6d35a6d3, NULL), Gt = ga_coords_transposed(&G);
    ga_product p;
    assert_int_equal(ga_product_create(&G, &Gt, &p), GA_OK);
    double *a = random_values(&seed, G.count), *b = random_values(&seed, G.count);
    double *values = doubles(p.result.count), *other = doubles(p.result.count);
    int *slot = zeroed(p.result.count, sizeof *slot);
    ga_product_evaluate(&p, a, b, values);
    for (int e = 0; e < p.result.count; ++e) {
        double sum = 0;
        for (int ia = 0; ia < G.count; ++ia)
            for (int ib = 0; G.row[ia] == p.result.row[e] && ib < G.count; ++ib)
                if (G.row[ib] == p.result.col[e] && G.col[ib] == G.col[ia])
                    sum += a[ia] * b[ib];
        assert_true(values[e] == sum);
        slot[e] = e;
    }
    ga_product_drop_places(&p);
    assert_null(p.result.row);
    const int *next = slot;
    for (int j = 0; j < G.rows; ++j) next = ga_product_add_column(&p, j, a, b, 2, next, other);
    assert_ptr_equal(next, slot + p.result.count);
    for (int e = 0; e < p.result.count; ++e) assert_true(other[e] == 2 * values[e]);
    free(a), free(b), free(values), free(other), free(slot);
    ga_product_destroy(&p);
    ga_coords_destroy(&G);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_full), cmocka_unit_test(empty_is_fine),
        cmocka_unit_test(too_many_terms),   cmocka_unit_test(like_columns_share_plans),
        cmocka_unit_test(sums_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
