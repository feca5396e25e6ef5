/* Sizes of vectors. */
#include "system/dae.h"

#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 70 };

/* Something of either sign and any size. */
static double number(int *seed)
{
    *seed = (int)((*seed * 7919LL + 104729) % 1000003);
    return (*seed % 2001 - 1000) * pow(10, *seed % 7 - 3);
}

static void same_or_no_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static void raises_by_kind(void **state)
{
    (void)state;
    int seed = 1;
    double x[MOST];
    int kind[MOST];
    for (int n = 0; n <= MOST; ++n)
        for (int round = 0; round < 8; ++round) {
            for (int i = 0; i < n; ++i) {
                x[i] = number(&seed);
                kind[i] = round == 6 ? 1 : i % 3 == 2;
            }
            if (round == 4 && n) x[n / 2] = NAN;
            if (round == 5 && n) x[n - 1] = -INFINITY;
            const double factor = round % 2 ? 1 : 0.3, before = round == 7 ? 1e9 : 0.01;
            double size[2] = {before, before}, expected[2] = {before, before};
            const double zero = ga_norm_raise(n, x, kind, factor, size);
            bool finite = true, missing[2] = {false, false};
            for (int i = 0; i < n; ++i) {
                double value = factor * fabs(x[i]);
                if (value > expected[kind[i]]) expected[kind[i]] = value;
                missing[kind[i]] |= isnan(value);
                finite &= isfinite(value) != 0;
            }
            assert_true(finite ? zero == 0 : isnan(zero));
            for (int k = 0; k < 2; ++k)
                if (missing[k]) expected[k] = before; /* NaN raises nothing of its kind */
            for (int k = 0; k < 2; ++k) same_or_no_number(size[k], expected[k]);
        }
}

/* Only translations and R^n count. */
static void largest_translation(void **state)
{
    (void)state;
    static const ga_node nodes[] = {GA_NODE(GA_GROUP_SE3, 0),   GA_NODE(GA_GROUP_RN, 4),
                                    GA_NODE(GA_GROUP_SO2, 0),   GA_NODE(GA_GROUP_R3SO3, 0),
                                    GA_NODE(GA_GROUP_R2SO2, 0), GA_NODE(GA_GROUP_RN, 0),
                                    GA_NODE(GA_GROUP_SE2, 0),   GA_NODE(GA_GROUP_SO3, 0)};
    static const int counts[] = {3, 4, 0, 3, 2, 0, 2, 0};
    enum { COUNT = sizeof nodes / sizeof *nodes };
    ga_dae dae;
    memset(&dae, 0, sizeof dae);
    dae.sys.node_count = COUNT;
    dae.sys.nodes = nodes;
    const int nq = ga_nodes_nq(COUNT, nodes);
    double q[MOST];
    for (int at = 0; at < nq; ++at) {
        for (int i = 0; i < nq; ++i) q[i] = 0.5;
        q[at] = -3;
        bool counts_here = false;
        for (int k = 0, first = 0; k < COUNT; first += ga_node_nq(nodes[k]), ++k)
            if (at >= first && at < first + counts[k]) counts_here = true;
        assert_true(ga_dae_translation(&dae, q) == (counts_here ? 3 : 0.5));
    }
}

/* M of two nodes in R^3, full blocks; `off` stands beside the diagonal. */
typedef struct masses {
    double off;
    int calls;
} masses;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    masses *m = user;
    ++m->calls;
    for (int k = 0; k < 18; ++k) M[k] = k % 9 % 4 == 0 ? 1.5 + k : 0;
    M[1] = M[3] = m->off;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    memset(f, 0, 6 * sizeof *f);
    return GA_EVAL_OK;
}

/* A constant matrix that turns out to be diagonal is multiplied as one: the same bits. */
static void adds_inertia(void **state)
{
    (void)state;
    static const ga_node nodes[] = {GA_NODE(GA_GROUP_RN, 3), GA_NODE(GA_GROUP_RN, 3)};
    int row[18], col[18], seed = 5;
    for (int k = 0; k < 18; ++k) {
        row[k] = k / 9 * 3 + k % 3;
        col[k] = k / 9 * 3 + k % 9 / 3;
    }
    for (int round = 0; round < 4; ++round) {
        masses m = {round % 2 ? 0.7 : 0, 0};
        const ga_system system = {.struct_size = sizeof(ga_system),
                                  .user = &m,
                                  .node_count = 2,
                                  .nodes = nodes,
                                  .mass = mass,
                                  .mass_pattern = {.count = 18, .row = row, .col = col},
                                  .mass_is_constant = round < 2,
                                  .force = force};
        ga_dae dae;
        double q[6] = {0}, M[18], x[6], y[6], expected[6];
        assert_int_equal(ga_dae_create(&system, &dae), GA_OK);
        assert_int_equal(ga_dae_mass(&dae, 0, q, M), GA_OK);
        assert_int_equal(dae.M_is_diagonal, round == 0);
        for (int i = 0; i < 6; ++i) x[i] = number(&seed), y[i] = expected[i] = number(&seed);
        ga_dae_add_inertia(&dae, M, x, y);
        for (int k = 0; k < 18; ++k) expected[row[k]] += M[k] * x[col[k]];
        assert_memory_equal(y, expected, sizeof y);
        ga_dae_destroy(&dae);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(raises_by_kind),
                                       cmocka_unit_test(largest_translation),
                                       cmocka_unit_test(adds_inertia)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
