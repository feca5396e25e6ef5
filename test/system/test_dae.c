/* Sizes of vectors, four numbers at a time, against the plain loops. */
#include "system/dae.h"

#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 70 };

/* Something of either sign and any size. */
static double number(int *seed)
{
    *seed = (*seed * 7919 + 104729) % 1000003;
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
            ga_norm_raise(n, x, kind, factor, size);
            for (int i = 0; i < n; ++i) {
                double value = factor * fabs(x[i]);
                if (!(value <= expected[kind[i]])) expected[kind[i]] = value;
            }
            for (int k = 0; k < 2; ++k) same_or_no_number(size[k], expected[k]);
        }
}

/* Only translations and R^n count. */
static void largest_translation(void **state)
{
    (void)state;
    static const ga_node nodes[] = {{GA_GROUP_SE3, 0},   {GA_GROUP_RN, 4},    {GA_GROUP_SO2, 0},
                                    {GA_GROUP_R3SO3, 0}, {GA_GROUP_R2SO2, 0}, {GA_GROUP_RN, 0},
                                    {GA_GROUP_SE2, 0},   {GA_GROUP_SO3, 0}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(raises_by_kind),
                                       cmocka_unit_test(largest_translation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
