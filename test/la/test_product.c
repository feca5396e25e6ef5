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
    for (int k = 1; k < p.pairs; ++k) assert_true(p.result.col[k - 1] <= p.result.col[k]);

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
    assert_null(p.a);
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
        ga_coords C = random_blocks(&seed, shape[s][0], shape[s][1], shape[s][3], 8);
        ga_coords D = random_blocks(&seed, shape[s][1], shape[s][2], shape[s][4], 8);
        ga_coords Ct = ga_coords_transposed(&C), Dt = ga_coords_transposed(&D);
        check(&A, &D, &seed);
        check(&C, &B, &seed);
        check(&C, &D, &seed);
        check(&Ct, &A, &seed);
        check(&Dt, &Ct, &seed);
        ga_coords_destroy(&C);
        ga_coords_destroy(&D);
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

/* A full column times a full row has 65536^2 values: more than an int counts. */
static void too_many_values(void **state)
{
    (void)state;
    ga_coords A;
    ga_product p;
    assert_int_equal(ga_coords_create(1 << 16, 1, 0, NULL, NULL, &A), GA_OK);
    ga_coords B = ga_coords_transposed(&A);
    assert_int_equal(ga_product_create(&A, &B, &p), GA_ERR_MEMORY);
    assert_null(p.a);
    ga_coords_destroy(&A);
}

/* Blocks that do not meet make no pair: G of a chain by the block-diagonal T of its bodies has
 * one pair for each block of G. */
static void only_what_meets(void **state)
{
    (void)state;
    enum { JOINTS = 20, HEIGHT = 5, WIDTH = 6 };
    uint64_t seed = 5;
    ga_coords G, T;
    assert_int_equal(ga_coords_reserve(JOINTS * HEIGHT, (JOINTS + 1) * WIDTH, 2 * JOINTS, &G),
                     GA_OK);
    assert_int_equal(
        ga_coords_reserve((JOINTS + 1) * WIDTH, (JOINTS + 1) * WIDTH, JOINTS + 1, &T), GA_OK);
    for (int b = 0; b < 2 * JOINTS; ++b) {
        G.row[b] = b / 2 * HEIGHT, G.col[b] = (b / 2 + b % 2) * WIDTH;
        G.height[b] = HEIGHT, G.width[b] = WIDTH;
    }
    for (int b = 0; b <= JOINTS; ++b)
        T.row[b] = T.col[b] = b * WIDTH, T.height[b] = T.width[b] = WIDTH;
    assert_int_equal(ga_coords_start(&G), GA_OK);
    assert_int_equal(ga_coords_start(&T), GA_OK);
    check(&G, &T, &seed);
    ga_coords Gt = ga_coords_transposed(&G);
    check(&G, &Gt, &seed);
    ga_product p;
    assert_int_equal(ga_product_create(&G, &T, &p), GA_OK);
    assert_int_equal(p.pairs, 2 * JOINTS);
    ga_product_destroy(&p);
    ga_coords_destroy(&G);
    ga_coords_destroy(&T);
}

/* Blocks side by side with the same rows become one, whose values stay where they are. */
static void joins_neighbours(void **state)
{
    (void)state;
    enum { BLOCKS = 6 };
    static const int box[BLOCKS][4] = {{0, 0, 2, 3}, {0, 3, 2, 1}, {2, 4, 2, 1},
                                       {2, 5, 3, 1}, {2, 6, 3, 2}, {5, 8, 3, 1}};
    uint64_t seed = 3;
    bool joined;
    ga_coords A, before;
    assert_int_equal(ga_coords_reserve(8, 9, BLOCKS, &A), GA_OK);
    for (int b = 0; b < BLOCKS; ++b) {
        A.row[b] = box[b][0], A.col[b] = box[b][1];
        A.height[b] = box[b][2], A.width[b] = box[b][3];
    }
    assert_int_equal(ga_coords_start(&A), GA_OK);
    before = A;
    assert_int_equal(ga_coords_join(&A, &joined), GA_OK);
    assert_true(joined);
    assert_int_equal(A.blocks, 4);
    assert_int_equal(A.count, before.count);
    double *values = random_values(&seed, A.count), *x = random_values(&seed, 9);
    double y[8] = {0}, z[8] = {0};
    ga_coords_multiply(&A, values, 1, x, y);
    ga_coords_multiply(&before, values, 1, x, z);
    assert_memory_equal(y, z, sizeof y);
    ga_coords_destroy(&before);
    before = A;
    assert_int_equal(ga_coords_join(&A, &joined), GA_OK);
    assert_false(joined);
    assert_ptr_equal(A.row, before.row);
    ga_coords_destroy(&A);
    free(values), free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_full), cmocka_unit_test(empty_is_fine),
        cmocka_unit_test(too_many_values),  cmocka_unit_test(only_what_meets),
        cmocka_unit_test(joins_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
