/* Fronts by inverses: A, L, U, S against the products they are to be; solutions against those
 * of substitution; rows of fronts; the same bits with and without wide vectors. */
#include "la/front_inverse.h"
#include "random.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = GA_FRONT_INVERSE_MOST, OTHERS = 19, ORDER = MOST + OTHERS, FRONTS = 3 };
enum { SIZE = (MOST + 4) * (MOST + 4) + 2 * (MOST + 4) * (OTHERS + 4) };

/* A front as it is assembled, after, and by substitution. */
typedef struct problem {
    int k, r;
    double before[SIZE], F[SIZE], LU[SIZE];
    double S_before[(OTHERS + 4) * OTHERS], S[(OTHERS + 4) * OTHERS],
        S_LU[(OTHERS + 4) * OTHERS];
    double reciprocals[MOST], work[(MOST + 4) * (OTHERS + 4)];
    int swap[MOST];
    ga_front_sizes sizes;
} problem;

/* Where row i, column j of the front is, as it is assembled. */
static double *place(const problem *p, double *F, double *S, int i, int j)
{
    const int k = p->k, k4 = ga_front_padded(k), r4 = ga_front_padded(p->r);
    double *L = F + k * k4, *U = L + k * r4;
    if (i < k && j < k) return F + i + j * k4;
    if (j < k) return L + (i - k) + j * r4;
    if (i < k) return U + (j - k) + i * r4;
    return S + (i - k) + (j - k) * r4;
}

static double at(problem *p, int i, int j) { return *place(p, p->before, p->S_before, i, j); }

/* swaps: pivots are to be found off the diagonal. */
static void create(problem *p, int k, int r, uint64_t seed, bool swaps)
{
    memset(p, 0, sizeof *p);
    p->k = k, p->r = r;
    for (int j = 0; j < k + r; ++j)
        for (int i = 0; i < k + r; ++i) {
            double x = random_value(&seed);
            if (i == j) x = swaps ? 1e-3 * x : x + 4;
            *place(p, p->before, p->S_before, i, j) = x;
        }
    memcpy(p->F, p->before, sizeof p->F);
    memcpy(p->LU, p->before, sizeof p->LU);
    memcpy(p->S, p->S_before, sizeof p->S);
    memcpy(p->S_LU, p->S_before, sizeof p->S_LU);
}

static bool factor(problem *p, const ga_front_inverse *kernels)
{
    return kernels->factor(p->k, p->r, p->F, p->S, p->reciprocals, p->work, &p->sizes);
}

static double *D(problem *p, int i, int j) { return p->F + i + j * ga_front_padded(p->k); }

static double *LD(problem *p, int i, int j)
{
    const int r4 = ga_front_padded(p->r);
    return p->F + p->k * ga_front_padded(p->k) + i + j * r4;
}

static double *DU(problem *p, int i, int j)
{
    const int k4 = ga_front_padded(p->k);
    return p->F + p->k * (k4 + ga_front_padded(p->r)) + i + j * k4;
}

static void near(const problem *p, double x, double y, double size, const char *what)
{
    if (!(fabs(x - y) < 1e-12 * size))
        fail_msg("k %d, r %d: %s is %g and not %g", p->k, p->r, what, x, y);
}

/* A D = 1, L D and D U from D, S - L D U; 1 / pivots and sizes. */
static void check(problem *p)
{
    const int k = p->k, r = p->r;
    const double size = sqrt(p->sizes.condition) * (1 + sqrt(p->sizes.multipliers));
    double squares[3] = {0};
    for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) {
            double sum = 0;
            for (int c = 0; c < k; ++c) sum += at(p, i, c) * *D(p, c, j);
            near(p, sum, i == j, size, "A D");
            squares[0] += at(p, i, j) * at(p, i, j);
            squares[1] += *D(p, i, j) * *D(p, i, j);
        }
    for (int i = 0; i < r; ++i)
        for (int j = 0; j < k; ++j) {
            double lower = 0, upper = 0;
            for (int c = 0; c < k; ++c) {
                lower += at(p, k + i, c) * *D(p, c, j);
                upper += *D(p, j, c) * at(p, c, k + i);
            }
            near(p, *LD(p, i, j), lower, size, "L D");
            near(p, *DU(p, j, i), upper, size, "D U");
            squares[2] += lower * lower;
        }
    for (int i = 0; i < r; ++i)
        for (int j = 0; j < r; ++j) {
            double sum = at(p, k + i, k + j);
            for (int c = 0; c < k; ++c) sum -= *LD(p, i, c) * at(p, c, k + j);
            near(p, *place(p, p->F, p->S, k + i, k + j), sum, size, "S");
        }
    near(p, p->sizes.condition, squares[0] * squares[1], squares[0] * squares[1], "condition");
    near(p, p->sizes.multipliers, squares[2], 1 + squares[2], "multipliers");
}

static void factors(void **state)
{
    (void)state;
    static problem p;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r)
            for (int swaps = 0; swaps < 2; ++swaps) {
                if (swaps && k == 1) continue;
                create(&p, k, r, (uint64_t)(100 * k + r), swaps);
                assert_true(factor(&p, ga_front_inverse_get(k, r)));
                check(&p);
            }
}

/* Pivots are those of the other kernels. */
static void solves_as_substitution(void **state)
{
    (void)state;
    static problem p;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            const ga_front_inverse *kernels = ga_front_inverse_get(k, r);
            const ga_front_kernels *other = ga_front_kernels_get(k);
            const int start = 0;
            double x[MOST], y[MOST], s[OTHERS], t[OTHERS + 4] = {0};
            for (int i = 0; i < k; ++i) x[i] = y[i] = cos(i + 1);
            for (int i = 0; i < r; ++i) s[i] = sin(i + 1);
            create(&p, k, r, (uint64_t)(100 * k + r), k > 1 && r % 2);
            assert_true(factor(&p, kernels));
            assert_true(other->factor(k, r, p.LU, p.S_LU, p.swap, p.work) >= 0);
            const double size = sqrt(p.sizes.condition) * (1 + sqrt(p.sizes.multipliers)) * k;
            for (int c = 0; c < k; ++c) {
                const double pivot = p.LU[c * (ga_front_padded(k) + 1)];
                near(&p, p.reciprocals[c], pivot, size * fabs(pivot), "a pivot");
            }
            kernels->forward(k, r, 1, p.F, x, s, &start);
            other->forward(k, r, p.LU, p.swap, y, t, p.work);
            for (int i = 0; i < r; ++i) near(&p, s[i], sin(i + 1) - t[i], size, "forward");
            for (int i = 0; i < r; ++i) t[i] = s[i] = 0.3 * i - 1;
            kernels->backward(k, r, 1, p.F, x, s, &start);
            other->backward(k, r, p.LU, t, y, p.work);
            for (int i = 0; i < k; ++i) near(&p, x[i], y[i], size * (1 + r), "backward");
        }
}

/* Three in a row are three times one; what is beside their numbers is not touched. */
static void rows_of_fronts(void **state)
{
    (void)state;
    static problem p;
    static double F[FRONTS * SIZE];
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            const ga_front_inverse *kernels = ga_front_inverse_get(k, r);
            const size_t size = ga_front_inverse_size(k, r);
            enum { ROOM = FRONTS * MOST + FRONTS * (OTHERS + 1) + 1 };
            double x[ROOM], y[ROOM];
            int others[FRONTS * OTHERS + 1] = {0};
            for (int i = 0; i < ROOM; ++i) x[i] = y[i] = sin(i + 1);
            for (int f = 0; f < FRONTS; ++f) {
                create(&p, k, r, (uint64_t)(1000 * f + 100 * k + r), f % 2 && k > 1);
                assert_true(factor(&p, kernels));
                memcpy(F + (size_t)f * size, p.F, size * sizeof *F);
                for (int i = 0; i < r; ++i)
                    others[f * r + i] = FRONTS * k + 1 + f * (r + 1) + i;
            }
            kernels->forward(k, r, FRONTS, F, x, x, others);
            for (int f = 0; f < FRONTS; ++f)
                kernels->forward(k, r, 1, F + (size_t)f * size, y + f * k, y, others + f * r);
            assert_memory_equal(x, y, sizeof x);
            kernels->backward(k, r, FRONTS, F, x, x, others);
            for (int f = FRONTS - 1; f >= 0; --f)
                kernels->backward(k, r, 1, F + (size_t)f * size, y + f * k, y, others + f * r);
            assert_memory_equal(x, y, sizeof x);
            for (int f = 0; f < FRONTS; ++f) {
                const int between = FRONTS * k + f * (r + 1);
                assert_true(x[between] == sin(between + 1));
            }
        }
}

/* In a chain the others of a front are the last pivots of the next one: again the same as one
 * front at a time; also where the chain is torn. */
static void chains_of_fronts(void **state)
{
    (void)state;
    static problem p;
    static double F[FRONTS * SIZE];
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= k; ++r)
            for (int torn = 0; torn < FRONTS; ++torn) {
                const ga_front_inverse *kernels = ga_front_inverse_get(k, r);
                const size_t size = ga_front_inverse_size(k, r);
                double x[(FRONTS + 1) * MOST + MOST], y[(FRONTS + 1) * MOST + MOST];
                int others[FRONTS * MOST + 1] = {0};
                for (int i = 0; i < (FRONTS + 2) * MOST; ++i) x[i] = y[i] = sin(i + 1);
                for (int f = 0; f < FRONTS; ++f) {
                    create(&p, k, r, (uint64_t)(1000 * f + 100 * k + r), false);
                    assert_true(factor(&p, kernels));
                    memcpy(F + (size_t)f * size, p.F, size * sizeof *F);
                    const int first = f == torn ? (FRONTS + 1) * k : (f + 2) * k - r;
                    for (int i = 0; i < r; ++i) others[f * r + i] = first + i;
                }
                kernels->forward(k, r, FRONTS, F, x, x, others);
                for (int f = 0; f < FRONTS; ++f)
                    kernels->forward(k, r, 1, F + (size_t)f * size, y + f * k, y,
                                     others + f * r);
                assert_memory_equal(x, y, sizeof x);
                kernels->backward(k, r, FRONTS, F, x, x, others);
                for (int f = FRONTS - 1; f >= 0; --f)
                    kernels->backward(k, r, 1, F + (size_t)f * size, y + f * k, y,
                                      others + f * r);
                assert_memory_equal(x, y, sizeof x);
            }
}

/* Unknowns fetched and brought on the way, and others anywhere. */
static void ways_in_and_out(void **state)
{
    (void)state;
    static problem p;
    enum { ROOM = 3 * MOST + OTHERS };
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            const ga_front_inverse *kernels = ga_front_inverse_get(k, r);
            const int start[1] = {2 * k};
            double x[ROOM], y[ROOM], outside[ROOM], scales[ROOM], brought[ROOM] = {0};
            int place[ROOM], others[OTHERS + 1];
            for (int i = 0; i < ROOM; ++i) {
                x[i] = y[i] = sin(i + 1);
                place[i] = ROOM - 1 - i;
                outside[i] = cos(i), scales[i] = 1 + i;
            }
            for (int i = 0; i < r; ++i) others[i] = ROOM - 1 - i; /* backwards */
            create(&p, k, r, (uint64_t)(100 * k + r), false);
            assert_true(factor(&p, kernels));
            ga_front_outside way = {place, scales, outside, brought, k};
            kernels->forward_from(k, r, 1, p.F, x, x, start, &way);
            for (int i = 0; i < k; ++i)
                y[k + i] = outside[ROOM - 1 - k - i] * scales[ROOM - 1 - k - i];
            kernels->forward(k, r, 1, p.F, y, y, start);
            assert_memory_equal(x, y, sizeof x);
            kernels->backward_to(k, r, 1, p.F, x, x, start, &way);
            kernels->backward(k, r, 1, p.F, y, y, start);
            assert_memory_equal(x, y, sizeof x);
            for (int i = 0; i < k; ++i)
                assert_true(brought[place[i]] == y[i] * scales[place[i]]);
            for (int i = k; i < ROOM; ++i) assert_true(brought[place[i]] == 0);
            double t[OTHERS + 1];
            const int first = 0;
            for (int i = 0; i < r; ++i) t[i] = x[others[i]];
            kernels->forward_scattered(k, r, 1, p.F, x, x, others);
            kernels->forward(k, r, 1, p.F, y, t, &first);
            for (int i = 0; i < r; ++i) y[others[i]] = t[i];
            kernels->backward_scattered(k, r, 1, p.F, x, x, others);
            kernels->backward(k, r, 1, p.F, y, t, &first);
            assert_memory_equal(x, y, sizeof x);
        }
}

static void same_bits(void **state)
{
    (void)state;
    static problem p, q;
    for (int k = 1; k <= MOST; ++k)
        for (int r = 0; r <= OTHERS; ++r) {
            const int start = 0;
            double x[ORDER], y[ORDER];
            for (int i = 0; i < k + r; ++i) x[i] = y[i] = sin(i + 1);
            create(&p, k, r, (uint64_t)(100 * k + r), k > 1 && r % 2);
            memcpy(&q, &p, sizeof q);
            const ga_front_inverse *wide = ga_front_inverse_get(k, r),
                                   *plain = ga_front_inverse_plain(k, r);
            assert_true(factor(&p, wide) && factor(&q, plain));
            assert_memory_equal(p.F, q.F, sizeof p.F);
            assert_memory_equal(p.S, q.S, sizeof p.S);
            wide->forward(k, r, 1, p.F, x, x + k, &start);
            plain->forward(k, r, 1, q.F, y, y + k, &start);
            wide->backward(k, r, 1, p.F, x, x + k, &start);
            plain->backward(k, r, 1, q.F, y, y + k, &start);
            assert_memory_equal(x, y, (size_t)(k + r) * sizeof *x);
        }
}

/* Pivots of no use, and a condition that says so. */
static void reports(void **state)
{
    (void)state;
    static problem p;
    const double bad[] = {0, NAN, INFINITY};
    for (int k = 3; k <= MOST; k += 6)
        for (int b = 0; b < 3; ++b) {
            create(&p, k, 5, 1, false);
            for (int i = 0; i < k; ++i) *place(&p, p.F, p.S, i, 1) = bad[b];
            assert_false(factor(&p, ga_front_inverse_get(k, 5)) &&
                         p.sizes.condition < INFINITY);
        }
    create(&p, 4, 5, 1, false);
    for (int i = 0; i < 4; ++i)
        *place(&p, p.F, p.S, i, 1) = *place(&p, p.F, p.S, i, 0) * (1 + 1e-9 * i);
    assert_true(factor(&p, ga_front_inverse_get(4, 5)));
    assert_true(p.sizes.condition > 1e16 && p.sizes.condition < 1e22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors),          cmocka_unit_test(solves_as_substitution),
        cmocka_unit_test(rows_of_fronts),   cmocka_unit_test(same_bits),
        cmocka_unit_test(reports),          cmocka_unit_test(ways_in_and_out),
        cmocka_unit_test(chains_of_fronts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
