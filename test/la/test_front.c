/* Kernels of fronts: what they solve, against plain elimination; the same bits with and without
 * the processor's wide vectors. */
#include "la/front.h"
#include "random.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 20, OTHERS = 13, ORDER = MOST + OTHERS };

/* A front, and the same as a full matrix of k + r rows by columns. */
typedef struct problem {
    int k, r;
    double full[ORDER * ORDER], F[MOST * (MOST + 4 + 2 * (OTHERS + 4))];
    double S[(OTHERS + 4) * OTHERS], t[OTHERS + 4], work[4 * MOST];
    int swap[MOST];
} problem;

static double *place(problem *p, int i, int j)
{
    const int k = p->k, k4 = ga_front_padded(k), r4 = ga_front_padded(p->r);
    double *L = p->F + k * k4, *U = L + k * r4;
    if (i < k && j < k) return p->F + i + j * k4;
    if (j < k) return L + (i - k) + j * r4;
    if (i < k) return U + (j - k) + i * r4;
    return p->S + (i - k) + (j - k) * r4;
}

/* swaps: pivots are to be found off the diagonal. */
static void create(problem *p, int k, int r, uint64_t seed, int swaps)
{
    memset(p, 0, sizeof *p);
    p->k = k, p->r = r;
    for (int j = 0; j < k + r; ++j)
        for (int i = 0; i < k + r; ++i) {
            double x = random_value(&seed);
            if (i == j) x = swaps ? 1e-3 * x : x + 4;
            p->full[i + j * ORDER] = *place(p, i, j) = x;
        }
}

/* Solves the first n unknowns of the full matrix by elimination with the largest pivots. */
static void solve_full(const problem *p, int n, double *x)
{
    double a[ORDER * ORDER];
    memcpy(a, p->full, sizeof a);
    for (int c = 0; c < n; ++c) {
        int best = c;
        for (int i = c; i < n; ++i)
            if (fabs(a[i + c * ORDER]) > fabs(a[best + c * ORDER])) best = i;
        for (int j = 0; j < n; ++j) {
            double t = a[c + j * ORDER];
            a[c + j * ORDER] = a[best + j * ORDER];
            a[best + j * ORDER] = t;
        }
        double t = x[c];
        x[c] = x[best], x[best] = t;
        for (int i = c + 1; i < n; ++i) {
            double l = a[i + c * ORDER] / a[c + c * ORDER];
            for (int j = c; j < n; ++j) a[i + j * ORDER] -= l * a[c + j * ORDER];
            x[i] -= l * x[c];
        }
    }
    for (int c = n - 1; c >= 0; --c) {
        for (int j = c + 1; j < n; ++j) x[c] -= a[c + j * ORDER] * x[j];
        x[c] /= a[c + c * ORDER];
    }
}

/* Eliminates the pivots by the kernels, the others by hand with S, and back. */
static void solve_front(problem *p, const ga_front_kernels *kernels, double *x)
{
    const int k = p->k, r = p->r;
    assert_true(kernels->factor(k, r, p->F, p->S, p->swap, p->work) >= 0);
    kernels->forward(k, r, p->F, p->swap, x, p->t, p->work);
    problem others = {.k = r};
    for (int i = 0; i < r; ++i) x[k + i] -= p->t[i];
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < r; ++i) others.full[i + j * ORDER] = *place(p, k + i, k + j);
    solve_full(&others, r, x + k);
    memset(p->t, 0, sizeof p->t);
    memcpy(p->t, x + k, (size_t)r * sizeof *x);
    kernels->backward(k, r, p->F, p->t, x, p->work);
}

static void solves(void **state)
{
    (void)state;
    static problem p;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r)
            for (int swaps = 0; swaps < 2; ++swaps) {
                if (swaps && k == 1) continue;
                double x[ORDER], y[ORDER];
                for (int i = 0; i < k + r; ++i) x[i] = y[i] = cos(i + 1);
                create(&p, k, r, (uint64_t)(100 * k + r), swaps);
                solve_full(&p, k + r, y);
                solve_front(&p, ga_front_kernels_get(k), x);
                double size = 0, error = 0;
                for (int i = 0; i < k + r; ++i) {
                    size = fmax(size, fabs(y[i]));
                    error = fmax(error, fabs(x[i] - y[i]));
                }
                /* the condition of a random matrix of this order, and pivots of a part of it */
                if (!(error < 1e-9 * size)) fail_msg("k %d, r %d: %g of %g", k, r, error, size);
            }
}

static void same_bits(void **state)
{
    (void)state;
    static problem p, q;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            double x[ORDER], y[ORDER];
            for (int i = 0; i < k + r; ++i) x[i] = y[i] = sin(i + 1);
            create(&p, k, r, (uint64_t)(100 * k + r), k > 1 && r % 2);
            memcpy(&q, &p, sizeof q);
            solve_front(&p, ga_front_kernels_get(k), x);
            solve_front(&q, ga_front_kernels_plain(k), y);
            assert_memory_equal(x, y, (size_t)(k + r) * sizeof *x);
            assert_memory_equal(p.F, q.F, sizeof p.F);
            assert_memory_equal(p.S, q.S, sizeof p.S);
        }
}

/* Fronts in two parts solve like whole ones, and use no more than their places. */
static void parts(void **state)
{
    (void)state;
    enum { ROOM = MOST * (MOST + 4 + OTHERS + 4) };
    static problem p;
    static double forth[ROOM + 1], back[ROOM + 1];
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            const ga_front_kernels *kernels = ga_front_kernels_get(k);
            const size_t ahead = ga_front_forth_size(k, r), behind = ga_front_back_size(k, r);
            double x[ORDER], y[ORDER], t[OTHERS + 4];
            for (int i = 0; i < k; ++i) x[i] = y[i] = sin(i + 1);
            create(&p, k, r, (uint64_t)(100 * k + r), k > 1 && r % 2);
            assert_true(kernels->factor(k, r, p.F, p.S, p.swap, p.work) >= 0);
            assert_true(ahead <= ROOM && behind <= ROOM);
            forth[ahead] = back[behind] = 7;
            kernels->part(k, r, p.F, forth, back);
            assert_true(forth[ahead] == 7 && back[behind] == 7);
            kernels->forward(k, r, p.F, p.swap, x, p.t, p.work);
            kernels->forth(k, r, forth, p.swap, y, t, p.work);
            assert_memory_equal(x, y, (size_t)k * sizeof *x);
            assert_memory_equal(p.t, t, (size_t)r * sizeof *t);
            for (int i = r; i < ga_front_padded(r); ++i) p.t[i] = 0;
            kernels->backward(k, r, p.F, p.t, x, p.work);
            kernels->back(k, r, back, p.t, y, p.work);
            assert_memory_equal(x, y, (size_t)k * sizeof *x);
        }
}

/* L^T L, and pivots of no use. */
static void reports(void **state)
{
    (void)state;
    static problem p;
    create(&p, 3, 5, 1, 0);
    const ga_front_kernels *kernels = ga_front_kernels_get(3);
    double squares = kernels->factor(3, 5, p.F, p.S, p.swap, p.work), sum = 0;
    for (int j = 0; j < 3; ++j)
        for (int i = 3; i < 8; ++i) sum += *place(&p, i, j) * *place(&p, i, j);
    assert_true(fabs(squares - sum) < 1e-14 * sum);
    const double bad[] = {0, NAN, INFINITY};
    for (int b = 0; b < 3; ++b) {
        create(&p, 3, 5, 1, 0);
        for (int i = 0; i < 3; ++i) *place(&p, i, 1) = bad[b];
        assert_false(kernels->factor(3, 5, p.F, p.S, p.swap, p.work) >= 0);
    }
    const double x[] = {1, -7, 3, 2, 5};
    assert_true(ga_front_largest(5, x) == 7 && ga_front_largest(1, x) == 1);
    assert_true(ga_front_largest(0, x) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(parts),
        cmocka_unit_test(reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
