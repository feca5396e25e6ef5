/* R^n, sizes, and products of nodes. */
#include "group_checks.h"
#include "lie/group.h"

static const ga_node nodes[] = {
    GA_NODE(GA_GROUP_SE3, 0),   GA_NODE(GA_GROUP_RN, 4),    GA_NODE(GA_GROUP_SO2, 0),
    GA_NODE(GA_GROUP_R3SO3, 0), GA_NODE(GA_GROUP_R2SO2, 0), GA_NODE(GA_GROUP_RN, 0),
    GA_NODE(GA_GROUP_SE2, 0),   GA_NODE(GA_GROUP_SO3, 99),  GA_NODE(GA_GROUP_RN, 11),
};
enum {
    count = sizeof nodes / sizeof *nodes,
    nq = 7 + 4 + 1 + 7 + 3 + 0 + 3 + 4 + 11,
    nv = 6 + 4 + 1 + 6 + 3 + 0 + 3 + 3 + 11
};

static void test_sizes(void **state)
{
    (void)state;
    static const int sizes[][3] = {
        {GA_GROUP_SO2, 1, 1}, {GA_GROUP_R2SO2, 3, 3}, {GA_GROUP_SE2, 3, 3},
        {GA_GROUP_SO3, 4, 3}, {GA_GROUP_R3SO3, 7, 6}, {GA_GROUP_SE3, 7, 6},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        ga_node node = GA_NODE((ga_group)sizes[i][0], 0);
        assert_int_equal(ga_node_nq(node), sizes[i][1]);
        assert_int_equal(ga_node_nv(node), sizes[i][2]);
        assert_true(ga_node_nq(node) <= GA_NODE_MAX_NQ && ga_node_nv(node) <= GA_NODE_MAX_NV);
    }
    assert_int_equal(ga_node_nq((ga_node)GA_NODE(GA_GROUP_RN, 17)), 17);
    assert_int_equal(ga_node_nv((ga_node)GA_NODE(GA_GROUP_RN, 17)), 17);
    assert_int_equal(ga_node_nq((ga_node)GA_NODE(GA_GROUP_STATE, 17)), 0);
    assert_int_equal(ga_node_nv((ga_node)GA_NODE(GA_GROUP_STATE, 17)), 17);
    /* invalid nodes */
    assert_int_equal(ga_node_nv((ga_node)GA_NODE(GA_GROUP_STATE, -1)), 0);
    assert_int_equal(ga_node_nq((ga_node)GA_NODE(GA_GROUP_RN, -1)), 0);
    assert_int_equal(ga_node_nv((ga_node)GA_NODE(GA_GROUP_RN, -1)), 0);
    assert_int_equal(ga_node_nq((ga_node)GA_NODE((ga_group)8, 3)), 0);
    assert_int_equal(ga_node_nv((ga_node)GA_NODE((ga_group)8, 3)), 0);

    assert_int_equal(ga_nodes_nq(count, nodes), nq);
    assert_int_equal(ga_nodes_nv(count, nodes), nv);
    assert_int_equal(ga_nodes_nq(0, NULL), 0);
    assert_int_equal(ga_nodes_nv(0, NULL), 0);
}

/* States have no q: nothing is read from it or written to it, and T is the identity. */
static void test_states(void **state)
{
    (void)state;
    enum { n = 7 };
    const ga_node states = GA_NODE(GA_GROUP_STATE, n);
    double x[n], y[n], M[n * n], q[1] = {42};
    uint64_t seed = 43;
    random_vector(&seed, n, 5, x);
    ga_lie_identity(states, q);
    ga_lie_compose(states, q, q, q);
    ga_lie_inverse(states, q, q);
    for (int m = 0; m < 2; ++m) {
        const ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
        ga_lie_map(states, map, x, q);
        ga_lie_update(states, map, q, x, q);
        ga_nodes_update(1, &states, map, q, x, q);
        memset(y, 0xff, sizeof y);
        ga_lie_map_inverse(states, map, q, y);
        for (int i = 0; i < n; ++i) assert_true(y[i] == 0);
        ga_lie_tangent(states, map, x, M);
        for (int i = 0; i < n * n; ++i) assert_true(M[i] == (i % (n + 1) == 0));
        ga_lie_tangent_inverse(states, map, x, M);
        for (int i = 0; i < n * n; ++i) assert_true(M[i] == (i % (n + 1) == 0));
    }
    assert_true(q[0] == 42);
    memset(y, 0xff, sizeof y);
    ga_nodes_difference(1, &states, q, q, y);
    for (int i = 0; i < n; ++i) assert_true(y[i] == 0);
    ga_nodes_bracket(1, &states, x, x, y);
    for (int i = 0; i < n; ++i) assert_true(y[i] == 0);
}

/* Everything on R^n is exact. */
static void test_rn(void **state)
{
    (void)state;
    enum { n = 8 };
    ga_node rn = GA_NODE(GA_GROUP_RN, n);
    double a[n], b[n], c[n], M[n * n];
    uint64_t seed = 41;
    random_vector(&seed, n, 5, a);
    random_vector(&seed, n, 5, b);
    for (int m = 0; m < 2; ++m) {
        ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
        ga_lie_map(rn, map, a, c);
        assert_memory_equal(a, c, sizeof a);
        ga_lie_map_inverse(rn, map, a, c);
        assert_memory_equal(a, c, sizeof a);
        memcpy(c, a, sizeof c);
        ga_lie_update(rn, map, c, b, c);
        for (int i = 0; i < n; ++i) assert_true(c[i] == a[i] + b[i]);
        void (*const units[])(ga_node, ga_map, const double *,
                              double *) = {ga_lie_tangent, ga_lie_tangent_inverse};
        void (*const zeros[])(ga_node, ga_map, const double *, const double *, double *) = {
            ga_lie_tangent_derivative, ga_lie_tangent_inverse_derivative};
        for (int k = 0; k < 2; ++k) {
            units[k](rn, map, a, M);
            for (int i = 0; i < n * n; ++i) assert_true(M[i] == (i % (n + 1) == 0));
            zeros[k](rn, map, a, b, M);
            for (int i = 0; i < n * n; ++i) assert_true(M[i] == 0);
        }
    }
    ga_lie_adjoint(rn, a, M);
    for (int i = 0; i < n * n; ++i) assert_true(M[i] == (i % (n + 1) == 0));
    ga_lie_identity(rn, c);
    for (int i = 0; i < n; ++i) assert_true(c[i] == 0);
    ga_lie_compose(rn, a, b, c);
    for (int i = 0; i < n; ++i) assert_true(c[i] == a[i] + b[i]);
    ga_lie_inverse(rn, a, c);
    for (int i = 0; i < n; ++i) assert_true(c[i] == -a[i]);
    ga_lie_bracket(rn, a, b, c);
    for (int i = 0; i < n; ++i) assert_true(c[i] == 0);
    ga_lie_cayley_defect(rn, a, c);
    for (int i = 0; i < n; ++i) assert_true(c[i] == 0);
}

/* Each node's part of a product is what the node alone gives, and nothing is written beyond. */
static void test_products(void **state)
{
    (void)state;
    uint64_t seed = 43;
    for (int k = 0; k < 200; ++k) {
        ga_map map = k % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[nv], y[nv], z[nv + 1], q[nq], q1[nq + 1], alone[11];
        random_vector(&seed, nv, 1.5, x);
        random_vector(&seed, nv, 1.5, y);
        int iq = 0, iv = 0;
        for (int i = 0; i < count; ++i) {
            ga_lie_map(nodes[i], GA_MAP_EXP, y + iv, q + iq);
            iq += ga_node_nq(nodes[i]);
            iv += ga_node_nv(nodes[i]);
        }
        z[nv] = q1[nq] = 12345;
        ga_nodes_update(count, nodes, map, q, x, q1);
        ga_nodes_bracket(count, nodes, x, y, z);
        assert_true(z[nv] == 12345 && q1[nq] == 12345);
        iq = iv = 0;
        for (int i = 0; i < count; ++i) {
            ga_lie_update(nodes[i], map, q + iq, x + iv, alone);
            check_small(gap(ga_node_nq(nodes[i]), alone, q1 + iq), 0, "update", i);
            ga_lie_bracket(nodes[i], x + iv, y + iv, alone);
            check_small(gap(ga_node_nv(nodes[i]), alone, z + iv), 0, "bracket", i);
            iq += ga_node_nq(nodes[i]);
            iv += ga_node_nv(nodes[i]);
        }

        /* a o exp(x) = b gives x back (|w| < 1.5 sqrt(3) < pi): 20 eps of order 3 */
        ga_nodes_update(count, nodes, GA_MAP_EXP, q, x, q1);
        ga_nodes_difference(count, nodes, q, q1, z);
        assert_true(z[nv] == 12345);
        check_small(gap(nv, x, z), 1.4e-14, "difference", k);

        memcpy(q1, q, sizeof q);
        ga_nodes_update(count, nodes, map, q1, x, q1);
        ga_nodes_update(count, nodes, map, q, x, q);
        check_small(gap(nq, q, q1), 0, "in place", k);
    }
}

/* Many nodes of one kind are updated together: the bits are those of each alone, whatever the
 * angle, for quaternions that are not of unit length, and for what is no number. */
static void test_runs(void **state)
{
    (void)state;
    enum { most = 21 };
    static const double sizes[] = {1e-9, 0.1, 1.5, 40};
    uint64_t seed = 47;
    for (int k = 0; k < 7 * 8 * most; ++k) {
        const int many = k % most + 1;
        const ga_map map = k / most % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        const double size = sizes[k / most / 2 % 4];
        ga_node run[most];
        for (int i = 0; i < many; ++i)
            run[i] =
                (ga_node)GA_NODE((ga_group)(k / most / 8), k / most / 8 == GA_GROUP_RN ? 5 : 0);
        const int n = ga_node_nq(*run), m = ga_node_nv(*run);
        double x[6 * most], q[7 * most], q1[7 * most + 1], alone[7];
        random_vector(&seed, m * many, size, x);
        for (int i = 0; i < many; ++i) {
            double y[6];
            random_vector(&seed, m, 1.5, y);
            ga_lie_map(*run, GA_MAP_EXP, y, q + n * i);
            if (i % 5 == 3) q[n * i + n - 1] += 1e-9;
            if (i % 5 == 4) q[n * i + n - 1] *= 1.25;
        }
        if (many > 2) x[m] = NAN;
        q1[n * many] = 12345;
        ga_nodes_update(many, run, map, q, x, q1);
        assert_true(q1[n * many] == 12345);
        for (int i = 0; i < many; ++i) {
            ga_lie_update(*run, map, q + n * i, x + m * i, alone);
            for (int c = 0; c < n; ++c)
                assert_true(alone[c] == q1[n * i + c] ||
                            (isnan(alone[c]) && isnan(q1[n * i + c])));
        }
        ga_nodes_update(many, run, map, q, x, q);
        assert_memory_equal(q, q1, (size_t)(n * many) * sizeof *q);
    }
}

/* The logarithm of several turns is the one expected. */
static void test_difference_near(void **state)
{
    (void)state;
    static const ga_group groups[] = {GA_GROUP_SO3, GA_GROUP_R3SO3, GA_GROUP_SE3};
    uint64_t seed = 11;
    for (int k = 0; k < 300; ++k) {
        const ga_node node = GA_NODE(groups[k % 3], 0);
        const int m = ga_node_nv(node);
        double a[7], b[7], x[6], y[6], expected[6];
        random_vector(&seed, m, 1.5, y);
        ga_lie_map(node, GA_MAP_EXP, y, a);
        random_vector(&seed, m, 30, x);
        double angle = 0;
        for (int i = m - 3; i < m; ++i) angle += x[i] * x[i];
        angle = sqrt(angle);
        if (fabs(sin(angle / 2)) < 0.05) continue; /* next to full turns */
        ga_lie_update(node, GA_MAP_EXP, a, x, b);
        for (int i = 0; i < m; ++i) expected[i] = x[i] * (1 + 2 / angle);
        assert_true(ga_lie_difference_near(node, a, b, expected, y));
        check_small(gap(m, x, y), 1e-11, "difference over turns", k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_rn),
        cmocka_unit_test(test_states), cmocka_unit_test(test_products),
        cmocka_unit_test(test_runs),   cmocka_unit_test(test_difference_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
