/* Planned products against the definition. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_full),
        cmocka_unit_test(empty_is_fine),
        cmocka_unit_test(too_many_terms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
