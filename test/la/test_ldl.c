/* LDL^T of saddle matrices: what it solves, and what it refuses. */
#include "base/memory.h"
#include "la/ldl.h"
#include "random.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCKS = 6, LARGEST = 9, ROWS = 20, NV = MOST_BLOCKS * LARGEST, ORDER = NV + ROWS };

/* M by full blocks, G by single entries, three of them in each block of M and row. */
typedef struct problem {
    int nv, m;
    ga_coords M, G;
    double *M_value, *G_value;
    ga_ldl *ldl;
} problem;

static ga_coords blocks_of(int count, const int *size)
{
    ga_coords M;
    int n = 0;
    for (int b = 0; b < count; ++b) n += size[b];
    assert_int_equal(ga_coords_reserve(n, n, count, &M), GA_OK);
    for (int b = 0, at = 0; b < count; at += size[b++]) {
        M.row[b] = M.col[b] = at;
        M.height[b] = M.width[b] = size[b];
    }
    assert_int_equal(ga_coords_start(&M), GA_OK);
    return M;
}

/* A^T A + 1, so that pivots are far from zero. */
static void fill_mass(int n, uint64_t *seed, double *M)
{
    double A[LARGEST * LARGEST];
    for (int i = 0; i < n * n; ++i) A[i] = random_value(seed);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            M[i * n + j] = i == j;
            for (int k = 0; k < n; ++k) M[i * n + j] += A[k * n + i] * A[k * n + j];
        }
}

static void create(problem *p, int blocks, const int *size, int rows, uint64_t seed)
{
    int row[3 * MOST_BLOCKS * ROWS], col[3 * MOST_BLOCKS * ROWS], count = 0;
    p->M = blocks_of(blocks, size);
    p->nv = p->M.rows;
    p->m = rows;
    for (int r = 0; r < rows; ++r)
        for (int b = 0, at = 0; b < blocks; at += size[b++])
            for (int k = 0; k < 3; ++k) {
                row[count] = r;
                col[count++] = at + random_below(&seed, size[b]);
            }
    assert_int_equal(ga_coords_create(rows, p->nv, count, row, col, &p->G), GA_OK);
    p->M_value = GA_NEW(double, p->M.count);
    p->G_value = GA_NEW(double, count);
    for (int b = 0; b < blocks; ++b) fill_mass(size[b], &seed, p->M_value + p->M.start[b]);
    for (int k = 0; k < count; ++k) p->G_value[k] = random_value(&seed);
    assert_int_equal(ga_ldl_create(&p->M, &p->G, &p->ldl), GA_OK);
    assert_non_null(p->ldl);
}

static void destroy(problem *p)
{
    ga_ldl_destroy(p->ldl);
    ga_coords_destroy(&p->M);
    ga_coords_destroy(&p->G);
    ga_free(p->M_value);
    ga_free(p->G_value);
}

/* rhs - A x by |A| |x|: largest of all rows. */
static double residual(const problem *p, const double *x, const double *rhs)
{
    double r[ORDER], size[ORDER], largest = 0;
    const int n = p->nv + p->m;
    memcpy(r, rhs, (size_t)n * sizeof *r);
    memset(size, 0, sizeof size);
    for (ga_matrix_entry e = ga_entry_first(&p->M); e.k < p->M.count;
         ga_entry_next(&p->M, &e)) {
        r[e.row] -= p->M_value[e.k] * x[e.col];
        size[e.row] += fabs(p->M_value[e.k] * x[e.col]);
    }
    for (ga_matrix_entry e = ga_entry_first(&p->G); e.k < p->G.count;
         ga_entry_next(&p->G, &e)) {
        const double g = p->G_value[e.k];
        const int row = p->nv + e.row;
        r[row] -= g * x[e.col];
        size[row] += fabs(g * x[e.col]);
        r[e.col] -= g * x[row];
        size[e.col] += fabs(g * x[row]);
    }
    for (int i = 0; i < n; ++i) largest = fmax(largest, fabs(r[i]) / size[i]);
    return largest;
}

static void solves(void **state)
{
    (void)state;
    static const int sizes[][MOST_BLOCKS] = {
        {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}, {3, 3, 3, 3, 3, 3}, {9, 8, 7, 1, 2, 4}};
    for (int k = 0; k < 4; ++k)
        for (int blocks = 1; blocks <= MOST_BLOCKS; ++blocks) {
            int n = 0;
            for (int b = 0; b < blocks; ++b) n += sizes[k][b];
            for (int rows = 0; rows <= ROWS && rows < n; ++rows) {
                problem p;
                uint64_t seed = 5;
                double x[ORDER], rhs[ORDER];
                create(&p, blocks, sizes[k], rows, (uint64_t)(100 * blocks + rows + 1));
                const double pivot = ga_ldl_factor(p.ldl, p.M_value, p.G_value);
                for (int i = 0; i < n + rows; ++i) x[i] = rhs[i] = random_value(&seed);
                if (pivot < 1e-8) { /* rows at random may depend on each other */
                    destroy(&p);
                    continue;
                }
                assert_true(pivot <= 1);
                ga_ldl_solve(p.ldl, x, x);
                const double left = residual(&p, x, rhs);
                if (!(left < 1e-14 / pivot))
                    fail_msg("sizes %d, blocks %d, rows %d: residual %g, pivot %g", k, blocks,
                             rows, left, pivot);
                destroy(&p);
            }
        }
}

/* Each value in turn is not a number, or infinite. */
static void check_finite(problem *p, int count, double *value)
{
    for (int k = 0; k < count; ++k) {
        const double good = value[k];
        value[k] = NAN;
        assert_true(ga_ldl_factor(p->ldl, p->M_value, p->G_value) == 0);
        value[k] = INFINITY;
        assert_true(ga_ldl_factor(p->ldl, p->M_value, p->G_value) == 0);
        value[k] = good;
    }
    assert_true(ga_ldl_factor(p->ldl, p->M_value, p->G_value) > 0);
}

static void refuses(void **state)
{
    (void)state;
    static const int sizes[] = {2, 5, 1};
    problem p;
    create(&p, 3, sizes, 4, 7);
    assert_true(ga_ldl_factor(p.ldl, p.M_value, p.G_value) > 1e-3);
    check_finite(&p, p.M.count, p.M_value);
    check_finite(&p, p.G.count, p.G_value);
    for (int b = 0; b < 3; ++b) { /* a body without mass */
        double *M = p.M_value + p.M.start[b], good = M[0];
        M[0] = 0;
        assert_true(ga_ldl_factor(p.ldl, p.M_value, p.G_value) == 0);
        M[0] = -good;
        assert_true(ga_ldl_factor(p.ldl, p.M_value, p.G_value) == 0);
        M[0] = good;
    }
    for (int b = 0; b < 2; ++b) { /* M is not symmetric */
        double *M = p.M_value + p.M.start[b];
        M[1] += 1e-6;
        assert_true(ga_ldl_factor(p.ldl, p.M_value, p.G_value) == 0);
        M[1] -= 1e-6;
    }
    /* the last row of G is the first: what is left of it is round-off, of either sign */
    for (int k = 0, own = p.G.count / 4; k < own; ++k) {
        p.G.col[3 * own + k] = p.G.col[k];
        p.G_value[3 * own + k] = p.G_value[k];
    }
    ga_ldl_destroy(p.ldl);
    assert_int_equal(ga_ldl_create(&p.M, &p.G, &p.ldl), GA_OK);
    assert_true(ga_ldl_factor(p.ldl, p.M_value, p.G_value) < 1e-14);
    destroy(&p);
}

/* Distances of rows of G from each other by the mass metric. */
static void tells_pivots(void **state)
{
    (void)state;
    static const int row[] = {0, 1, 1}, col[] = {0, 0, 1};
    const double M_value[] = {2, 8, 0, 0, 1}, G_value[] = {1, -1, 1};
    static const int sizes[] = {1, 2};
    ga_coords M = blocks_of(2, sizes), G;
    ga_ldl *ldl;
    assert_int_equal(ga_coords_create(2, 3, 3, row, col, &G), GA_OK);
    assert_int_equal(ga_ldl_create(&M, &G, &ldl), GA_OK);
    /* G M^-1 G^T = [1/2 -1/2; -1/2 5/8], of which 1/8 is left */
    assert_true(fabs(ga_ldl_factor(ldl, M_value, G_value) - 0.2) < 1e-15);
    ga_ldl_destroy(ldl);
    ga_coords_destroy(&G);
    ga_coords_destroy(&M);
}

/* One velocity of three is free, but not of the first two. */
static void leaves_what_is_held(void **state)
{
    (void)state;
    static const int row[] = {0, 0, 1}, col[] = {0, 1, 1};
    static const int sizes[] = {1, 1, 1};
    ga_coords M = blocks_of(3, sizes), G;
    ga_ldl *ldl;
    assert_int_equal(ga_coords_create(2, 3, 3, row, col, &G), GA_OK);
    assert_int_equal(ga_ldl_create(&M, &G, &ldl), GA_OK);
    assert_null(ldl);
    ga_coords_destroy(&G);
    ga_coords_destroy(&M);
}

static void leaves_large_ones(void **state)
{
    (void)state;
    ga_coords M, G;
    ga_ldl *ldl;
    assert_int_equal(ga_coords_diagonal(100, &M), GA_OK);
    assert_int_equal(ga_coords_diagonal(100, &G), GA_OK);
    assert_int_equal(ga_ldl_create(&M, &G, &ldl), GA_OK);
    assert_null(ldl);
    ga_ldl_destroy(ldl);
    ga_coords_destroy(&G);
    ga_coords_destroy(&M);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),
        cmocka_unit_test(refuses),
        cmocka_unit_test(tells_pivots),
        cmocka_unit_test(leaves_what_is_held),
        cmocka_unit_test(leaves_large_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
