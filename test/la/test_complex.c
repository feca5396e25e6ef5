/* Complex factors against LAPACK. */
#include "la/complex.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* A saddle pattern [D G^T; G 0] with nv + m unknowns; D tridiagonal, G with three entries a
 * row, so that m of the diagonal entries are zero. */
static ga_coords saddle_pattern(int nv, int m, uint64_t *seed)
{
    int count = 0, most = 3 * nv + 6 * m;
    int *row = zeroed(most, sizeof *row), *col = zeroed(most, sizeof *col);
    for (int i = 0; i < nv; ++i)
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < nv; ++j)
            row[count] = i, col[count++] = j;
    for (int k = 0; k < m; ++k)
        for (int e = 0; e < 3; ++e) {
            const int j = (2 * k + e + random_below(seed, 2)) % nv;
            row[count] = nv + k, col[count++] = j;
            row[count] = j, col[count++] = nv + k;
        }
    ga_coords coords;
    assert_int_equal(ga_coords_create(nv + m, nv + m, count, row, col, &coords), GA_OK);
    free(row), free(col);
    return coords;
}

typedef struct pair {
    ga_coords coords;
    ga_matrix matrix;
    ga_complex *factor;
    double *real, *imaginary; /* in the slots of the matrix */
} pair;

static void create(pair *p, int nv, int m, uint64_t *seed)
{
    p->coords = saddle_pattern(nv, m, seed);
    const ga_summand block = {&p->coords, 0, 0, NULL};
    assert_int_equal(ga_matrix_create(nv + m, 1, &block, false, &p->matrix), GA_OK);
    assert_int_equal(ga_complex_create(&p->matrix, &p->factor), GA_OK);
    p->real = doubles(p->matrix.count);
    p->imaginary = doubles(p->matrix.count);
}

static void destroy(pair *p)
{
    ga_complex_destroy(p->factor);
    ga_matrix_destroy(&p->matrix);
    ga_coords_destroy(&p->coords);
    free(p->real), free(p->imaginary);
}

/* Random values; entries of columns get sizes 10^-decades .. 10^decades. */
static void fill(pair *p, double decades, uint64_t *seed)
{
    double *values[2] = {p->real, p->imaginary};
    for (int part = 0; part < 2; ++part) {
        double *x = random_values(seed, p->coords.count);
        for (int k = 0; k < p->coords.count; ++k)
            x[k] *= pow(10, decades * (p->coords.col[k] % 3 - 1));
        ga_matrix_clear(&p->matrix);
        ga_matrix_add(&p->matrix, 0, 1, x);
        memcpy(values[part], p->matrix.values, (size_t)p->matrix.count * sizeof *x);
        free(x);
    }
}

static lapack_complex_double *to_full_complex(pair *p)
{
    const int n = p->matrix.n;
    lapack_complex_double *A = zeroed(n * n, sizeof *A);
    double *full = doubles(n * n);
    memcpy(p->matrix.values, p->real, (size_t)p->matrix.count * sizeof *full);
    ga_matrix_to_full(&p->matrix, full);
    for (int k = 0; k < n * n; ++k) A[k] = full[k];
    memcpy(p->matrix.values, p->imaginary, (size_t)p->matrix.count * sizeof *full);
    ga_matrix_to_full(&p->matrix, full);
    for (int k = 0; k < n * n; ++k) A[k] += full[k] * I;
    free(full);
    return A;
}

/* Both solves against zgetrf and zgetrs; differences by the condition LAPACK finds. */
static void compare(pair *p, uint64_t *seed)
{
    const int n = p->matrix.n;
    lapack_complex_double *A = to_full_complex(p), *x = zeroed(n, sizeof *x);
    const double norm = LAPACKE_zlange(LAPACK_COL_MAJOR, '1', n, n, A, n);
    lapack_int *pivot = zeroed(n, sizeof *pivot);
    assert_int_equal(LAPACKE_zgetrf(LAPACK_COL_MAJOR, n, n, A, n, pivot), 0);
    double rcond = 0;
    assert_int_equal(LAPACKE_zgecon(LAPACK_COL_MAJOR, '1', n, A, n, norm, &rcond), 0);
    assert_int_equal(ga_complex_factor(p->factor, p->real, p->imaginary), GA_OK);
    for (int transposed = 0; transposed < 2; ++transposed) {
        double *re = random_values(seed, n), *im = random_values(seed, n), most = 0, off = 0;
        for (int i = 0; i < n; ++i) x[i] = re[i] + im[i] * I;
        LAPACKE_zgetrs(LAPACK_COL_MAJOR, transposed ? 'T' : 'N', n, 1, A, n, pivot, x, n);
        (transposed ? ga_complex_solve_transposed : ga_complex_solve)(p->factor, re, im);
        for (int i = 0; i < n; ++i) {
            most = fmax(most, cabs(x[i]));
            off = fmax(off, cabs(x[i] - (re[i] + im[i] * I)));
        }
        /* two backward stable solves, each off by a modest factor times eps/rcond */
        assert_true(off <= 1e-14 * n / rcond * most);
        free(re), free(im);
    }
    free(A), free(x), free(pivot);
}

static void test_random_saddle_systems(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int trial = 0; trial < 120; ++trial) {
        const int nv = 4 + random_below(&seed, 40), m = random_below(&seed, nv / 2);
        pair p;
        create(&p, nv, m, &seed);
        /* several matrices of one pattern, each with pivots elsewhere */
        for (int again = 0; again < 4; ++again) {
            fill(&p, again, &seed);
            compare(&p, &seed);
        }
        destroy(&p);
    }
}

static void test_singular_and_not_finite(void **state)
{
    (void)state;
    uint64_t seed = 11;
    pair p;
    create(&p, 12, 3, &seed);
    assert_int_equal(ga_complex_factor(p.factor, p.real, p.imaginary), GA_ERR_SINGULAR);
    fill(&p, 0, &seed);
    compare(&p, &seed);
    p.imaginary[3] = NAN;
    assert_int_equal(ga_complex_factor(p.factor, p.real, p.imaginary), GA_ERR_SINGULAR);
    fill(&p, 0, &seed); /* a failure leaves nothing behind */
    compare(&p, &seed);
    destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_saddle_systems),
                                       cmocka_unit_test(test_singular_and_not_finite)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
