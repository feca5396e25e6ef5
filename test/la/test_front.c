/* Kernels of fronts: what they solve, against LAPACK; the same bits with and without the
 * processor's wide vectors. */
#include "la/front.h"
#include "random.h"
#include "test/support/unit.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MOST = 20, OTHERS = 16, ORDER = MOST + OTHERS, ROOM = ORDER + 3 };

typedef struct problem {
    int k, m, ld;
    double full[ORDER * ORDER]; /* m x m, by columns */
    double F[ROOM * ROOM];      /* the same as a front */
    double forth[ROOM * ROOM], back[ROOM * ROOM];
    int swap[MOST];
} problem;

/* swaps: pivots are to be found off the diagonal. */
static void create(problem *p, int k, int r, uint64_t seed, bool swaps)
{
    memset(p, 0, sizeof *p);
    p->k = k, p->m = k + r, p->ld = ga_front_padded(k + r);
    for (int j = 0; j < p->m; ++j)
        for (int i = 0; i < p->m; ++i) {
            double x = random_value(&seed);
            if (i == j) x = swaps ? 1e-3 * x : x + 4;
            p->full[i + j * p->m] = p->F[i + j * p->ld] = x;
        }
}

static void solve_full(int n, const double *a, bool transposed, double *x)
{
    double copy[ORDER * ORDER];
    lapack_int pivot[ORDER];
    if (n == 0) return;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) copy[i + j * n] = transposed ? a[j + i * n] : a[i + j * n];
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, copy, n, pivot, x, n), 0);
}

static void factor(problem *p, const ga_front_kernels *kernels)
{
    assert_true(kernels->factor(p->k, p->m, 0.1, p->F, p->swap) >= 0);
    assert_true(ga_front_forth_size(p->k, p->m - p->k) <= ROOM * ROOM);
    assert_true(ga_front_back_size(p->k, p->m - p->k) <= ROOM * ROOM);
    kernels->pack(p->k, p->m, p->F, p->forth, p->back);
}

/* What is left after the pivots. */
static void solve_others(const problem *p, bool transposed, double *x)
{
    const int r = p->m - p->k;
    double S[OTHERS * OTHERS];
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < r; ++i) S[i + j * r] = p->F[p->k + i + (p->k + j) * p->ld];
    solve_full(r, S, transposed, x);
}

static void swap_numbers(const problem *p, bool back, double *x)
{
    for (int n = 0; n < p->k; ++n) {
        const int c = back ? p->k - 1 - n : n;
        const double a = x[p->swap[c]];
        x[p->swap[c]] = x[c];
        x[c] = a;
    }
}

static void solve_front(const problem *p, const ga_front_kernels *kernels, double *x)
{
    double z[ROOM] = {0}, others[OTHERS];
    const int k = p->k, r = p->m - k;
    swap_numbers(p, false, x);
    kernels->forward(k, p->m, p->forth, x, z);
    for (int i = 0; i < r; ++i) others[i] = x[k + i] + z[k + i];
    solve_others(p, false, others);
    kernels->backward(k, p->m, p->back, others, x);
    memcpy(x + k, others, (size_t)r * sizeof *x);
}

static void solve_front_transposed(const problem *p, double *x)
{
    ga_front_forward_transposed(p->k, p->m, p->back, x + p->k, x);
    solve_others(p, true, x + p->k);
    ga_front_backward_transposed(p->k, p->m, p->forth, x + p->k, x);
    swap_numbers(p, true, x);
}

static void solves_like_lapack(void **state)
{
    (void)state;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r)
            for (int swaps = 0; swaps < 2; ++swaps) {
                problem p;
                uint64_t seed = 3;
                create(&p, k, r, (uint64_t)(100 * k + r), swaps);
                double x[ORDER], y[ORDER], z[ORDER], t[ORDER];
                for (int i = 0; i < p.m; ++i) x[i] = y[i] = z[i] = t[i] = random_value(&seed);
                solve_full(p.m, p.full, false, y);
                solve_full(p.m, p.full, true, t);
                factor(&p, ga_front_kernels_get());
                solve_front(&p, ga_front_kernels_get(), x);
                solve_front_transposed(&p, z);
                for (int i = 0; i < p.m; ++i) {
                    if (!(fabs(x[i] - y[i]) < 1e-9 * (1 + fabs(y[i]))))
                        fail_msg("k %d, r %d: %g, not %g", k, r, x[i], y[i]);
                    if (!(fabs(z[i] - t[i]) < 1e-9 * (1 + fabs(t[i]))))
                        fail_msg("k %d, r %d, transposed: %g, not %g", k, r, z[i], t[i]);
                }
            }
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            problem a, b;
            double x[ORDER], y[ORDER];
            create(&a, k, r, (uint64_t)(k + 100 * r), r % 2);
            create(&b, k, r, (uint64_t)(k + 100 * r), r % 2);
            for (int i = 0; i < a.m; ++i) x[i] = y[i] = i + 1;
            factor(&a, ga_front_kernels_get());
            factor(&b, ga_front_kernels_plain());
            assert_memory_equal(a.F, b.F, sizeof a.F);
            solve_front(&a, ga_front_kernels_get(), x);
            solve_front(&b, ga_front_kernels_plain(), y);
            assert_memory_equal(x, y, (size_t)a.m * sizeof *x);
            if (r > 0) continue;
            create(&a, k, r, (uint64_t)(k + 100 * r), true); /* without pieces */
            create(&b, k, r, (uint64_t)(k + 100 * r), true);
            assert_true(ga_front_kernels_get()->factor_whole(k, a.F, a.swap) >= 0);
            assert_true(ga_front_kernels_plain()->factor(k, k, 1, b.F, b.swap) >= 0);
            assert_memory_equal(a.F, b.F, sizeof a.F);
            for (int i = 0; i < k; ++i) x[i] = i + 1;
            ga_front_kernels_plain()->pack(k, k, b.F, b.forth, b.back);
            solve_front(&b, ga_front_kernels_plain(), x);
            double whole[2][ROOM] = {{0}};
            for (int n = 0; n < 2; ++n) {
                for (int i = 0; i < k; ++i) whole[n][i] = i + 1;
                swap_numbers(&a, false, whole[n]);
            }
            ga_front_kernels_get()->solve(k, a.F, whole[0]);
            ga_front_kernels_plain()->solve(k, a.F, whole[1]);
            assert_memory_equal(x, whole[0], (size_t)k * sizeof *x);
            assert_memory_equal(x, whole[1], (size_t)k * sizeof *x);
        }
}

/* Zeros, and what is not finite, are no pivots; large multipliers and growth are seen. */
static void reports(void **state)
{
    (void)state;
    const ga_front_kernels *kernels = ga_front_kernels_get();
    static const double bad[] = {0, 1e-320, INFINITY, NAN};
    for (int which = 0; which < 4; ++which) {
        problem p;
        create(&p, 6, 3, 1, false);
        for (int i = 0; i < p.k; ++i) p.F[i + 4 * p.ld] = bad[which];
        assert_true(kernels->factor(p.k, p.m, 0.1, p.F, p.swap) == -1);
    }
    problem p;
    create(&p, 2, 2, 1, false);
    memset(p.F, 0, sizeof p.F);
    p.F[0] = p.F[1 + p.ld] = 1;
    p.F[3] = -5e6;     /* L */
    p.F[2 * p.ld] = 3; /* U */
    assert_true(kernels->factor(2, 4, 0.1, p.F, p.swap) == 5e6);
    assert_true(ga_front_growth(2, 4, p.F) == 15e6);
}

/* Columns of any length, scaled or not, and what is not finite anywhere in them. */
static void scales_columns(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int n = 1; n <= MOST; ++n) {
        double x[MOST], y[MOST], r[MOST], most = 0;
        for (int i = 0; i < n; ++i) {
            x[i] = y[i] = random_value(&seed);
            r[i] = random_value(&seed);
            most = fmax(most, fabs(x[i] * (r[i] * -3)));
        }
        ga_front_kernels_get()->scale(n, NULL, 1, y);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
        assert_true(ga_front_kernels_get()->scale(n, r, -3, x) == most);
        assert_true(ga_front_kernels_plain()->scale(n, r, -3, y) == most);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
        for (int i = 0; i < n; ++i) {
            const double kept = y[i];
            y[i] = i % 2 ? NAN : INFINITY;
            assert_true(isnan(ga_front_kernels_get()->scale(n, NULL, 1, y)));
            assert_true(isnan(ga_front_kernels_plain()->scale(n, NULL, 1, y)));
            y[i] = kept;
        }
    }
}

static void fills(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST; ++n) {
        const int ld = ga_front_padded(n);
        double A[MOST * MOST], F[ROOM * ROOM];
        for (int k = 0; k < n * n; ++k) A[k] = k + 1;
        for (int k = 0; k < ld * n; ++k) F[k] = NAN;
        ga_front_kernels_get()->fill(n, A, F);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < ld; ++i)
                assert_true(F[i + j * ld] == (i < n ? A[i + j * n] : 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_like_lapack),
        cmocka_unit_test(same_bits_everywhere),
        cmocka_unit_test(reports),
        cmocka_unit_test(scales_columns),
        cmocka_unit_test(fills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
