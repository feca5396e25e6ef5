/* Sizes of vectors. */
#include "system/dae.h"

#include "base/finite.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 90 };

static double number(int *seed)
{
    *seed = (int)((*seed * 7919LL + 104729) % 1000003);
    return (*seed % 2001 - 1000) * pow(10, *seed % 7 - 3);
}

static void same_or_no_number(double a, double b)
{
    assert_true(a == b || (isnan(a) && isnan(b)));
}

/* Numbers, and from time to time something else among them. */
static void fill(int n, int round, int *seed, double *x)
{
    static const double odd[] = {NAN, -INFINITY, 1.7e308, -0.0};
    for (int i = 0; i < n; ++i) x[i] = number(seed);
    if (n && round >= 2) x[*seed % n] = odd[round % 4];
    if (n && round == 6) x[0] = x[n - 1] = 1.7e308; /* their sum is not finite, they are */
}

static void finds_the_largest(void **state)
{
    (void)state;
    int seed = 5;
    for (int n = 0; n <= MOST; ++n)
        for (int round = 0; round < 8; ++round) {
            double x[MOST], largest = 0;
            bool finite = true;
            fill(n, round, &seed, x);
            for (int i = 0; i < n; ++i) {
                finite = finite && isfinite(x[i]);
                if (isnan(x[i]) || fabs(x[i]) > largest) largest = fabs(x[i]);
                if (isnan(x[i])) break;
            }
            same_or_no_number(ga_norm_max(n, x), largest);
            assert_int_equal(ga_all_finite(n, x), finite);
        }
}

/* Many nodes of one kind; R^7 and R^3 have as many coordinates as bodies. */
static void translations_of_nodes_that_are_alike(void **state)
{
    (void)state;
    static const ga_node kinds[] = {
        GA_NODE(GA_GROUP_R2SO2, 0), GA_NODE(GA_GROUP_SE2, 0), GA_NODE(GA_GROUP_R3SO3, 0),
        GA_NODE(GA_GROUP_SE3, 0),   GA_NODE(GA_GROUP_SO2, 0), GA_NODE(GA_GROUP_SO3, 0),
        GA_NODE(GA_GROUP_RN, 7),    GA_NODE(GA_GROUP_RN, 3),  GA_NODE(GA_GROUP_RN, 2)};
    static const int counts[] = {2, 2, 3, 3, 0, 0, 7, 3, 2};
    for (size_t g = 0; g < sizeof kinds / sizeof *kinds; ++g)
        for (int count = 1; count <= 12; ++count) {
            ga_node nodes[12];
            double q[MOST];
            for (int k = 0; k < count; ++k) nodes[k] = kinds[g];
            ga_dae dae;
            memset(&dae, 0, sizeof dae);
            dae.sys.node_count = count;
            dae.sys.nodes = nodes;
            dae.alike = true;
            const int each = ga_node_nq(kinds[g]), nq = each * count;
            for (int at = 0; at < nq; ++at) {
                for (int i = 0; i < nq; ++i) q[i] = 0.5;
                q[at] = -3;
                const double rest = counts[g] ? 0.5 : 0;
                assert_true(ga_dae_translation(&dae, q) == (at % each < counts[g] ? 3 : rest));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_largest),
        cmocka_unit_test(translations_of_nodes_that_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
