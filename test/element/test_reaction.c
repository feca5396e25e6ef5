/* The dynamics as models add them up, against M vd - f + B^T lambda from the matrices, entry by
 * entry: the same bits, with one thread or two, however bodies and joints are numbered. */
#include "test/model/moment.h"

#include <galpha/model.h>
#include <stdio.h>
#include <string.h>

static void add_product(const ga_pattern *A, const double *values, bool transposed,
                        const double *x, double *y)
{
    for (int k = 0; k < A->count; ++k)
        for (int j = A->col[k]; j < A->col[k] + A->width[k]; ++j)
            for (int i = A->row[k]; i < A->row[k] + A->height[k]; ++i, ++values) {
                if (transposed)
                    y[j] += *values * x[i];
                else
                    y[i] += *values * x[j];
            }
}

/* -0 and 0 are the same here. */
static void same(const char *name, const char *what, int n, const double *a, const double *b)
{
    for (int i = 0; i < n; ++i)
        if (!(a[i] == b[i]))
            fail_msg("%s: %s, number %d: %.17g, %.17g", name, what, i, a[i], b[i]);
}

/* With and without B, at this point and after another one. */
static void compare(const char *name, moment *m)
{
    const ga_system *sys = &m->a->system;
    if (!sys->equations) return;
    const int nv = m->a->nv, rows = sys->constraint_count,
              count = ga_pattern_size(&sys->gradient_pattern, rows, nv);
    ga_point at = {0.3, m->q, m->v, m->vd, m->multipliers, m->multipliers + rows};
    double *M = numbers(ga_pattern_size(&sys->mass_pattern, nv, nv)), *B = numbers(count),
           *Phi = numbers(rows), *r = numbers(nv), *sum = numbers(nv), *own_B = numbers(count),
           *own_Phi = numbers(rows);
    sys->mass(sys->user, &at, M);
    sys->force(sys->user, &at, sum);
    for (int i = 0; i < nv; ++i) sum[i] = -sum[i];
    add_product(&sys->mass_pattern, M, false, m->vd, sum);
    if (rows) {
        sys->gradient(sys->user, &at, B);
        sys->constraint(sys->user, &at, Phi);
        add_product(&sys->gradient_pattern, B, true, m->multipliers, sum);
    }
    for (int round = 0; round < 3; ++round) {
        const ga_wanted wanted = {.constraint = rows ? own_Phi : NULL,
                                  .gradient = rows && round == 1 ? own_B : NULL};
        for (int i = 0; i < nv; ++i) r[i] = NAN;
        for (int i = 0; i < rows; ++i) own_Phi[i] = NAN;
        assert_int_equal(sys->equations(sys->user, &at, &wanted, r), GA_EVAL_OK);
        same(name, "r", nv, r, sum);
        same(name, "Phi", rows, own_Phi, Phi);
        if (round == 1) same(name, "B", count, own_B, B);
        m->q[0] += 1; /* somewhere else in between */
        sys->equations(sys->user, &at, &(ga_wanted){.constraint = NULL}, r);
        m->q[0] -= 1;
        at.q = m->q;
        if (rows) sys->constraint(sys->user, &at, Phi);
        sys->force(sys->user, &at, sum);
        for (int i = 0; i < nv; ++i) sum[i] = -sum[i];
        add_product(&sys->mass_pattern, M, false, m->vd, sum);
        if (rows) sys->gradient(sys->user, &at, B);
        if (rows) add_product(&sys->gradient_pattern, B, true, m->multipliers, sum);
    }
    double *memory[] = {M, B, Phi, r, sum, own_B, own_Phi};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) free(memory[k]);
}

static void compare_model(const char *name, const ga_model *model)
{
    ga_pool *pool;
    assert_int_equal(ga_pool_create(2, &pool), GA_OK);
    for (int se = 0; se < 2; ++se) {
        moment m = make_moment(model, se);
        compare(name, &m);
        ga_assembly_use(m.a, pool);
        compare(name, &m);
        free_moment(&m);
    }
    ga_pool_destroy(pool);
}

static void test_examples(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k) {
        ga_model *model = read_example(examples[k], 0, NULL);
        compare_model(examples[k], model);
        ga_model_destroy(model);
    }
}

/* N bodies, and joints between bodies that expressions name; more than a part of a batch. */
typedef struct layout {
    const char *name, *first, *second;
} layout;

static const layout layouts[] = {
    {"along", "b{i}", "b{i+1}"},
    {"against", "b{i+1}", "b{i}"},
    {"star", "b{0}", "b{i+1}"},
    {"star, hub second", "b{i+1}", "b{0}"},
    {"by leaps", "b{mod(37*i, N)}", "b{mod(37*i + 37, N)}"},
    {"far apart", "b{i}", "b{N-1-i}"},
};

static const char *const kinds[] = {
    "dimension: 2\nrepeat:\n"
    "  - count: N\n    bodies: {\"b{i}\": {mass: 1 + i/N, inertia: 0.1, position: [i, i/7]}}\n"
    "  - count: N/2 - 1\n    joints: {\"j{i}\": {type: revolute, between: [\"%s\", \"%s\"], "
    "at: [i + 0.5, 0.3]}}\n",
    "dimension: 2\nrepeat:\n"
    "  - count: N\n    bodies: {\"b{i}\": {mass: 2, inertia: 0.1, position: [i, 0]}}\n"
    "  - count: N/2 - 1\n    joints: {\"j{i}\": {type: prismatic, between: [\"%s\", \"%s\"], "
    "axis: [1, 0.5]}}\n",
    "repeat:\n"
    "  - count: N\n    bodies: {\"b{i}\": {mass: 1, inertia: [1, 2, 2.5], position: [i, 0, "
    "1]}}\n"
    "  - count: N/2 - 1\n    joints: {\"j{i}\": {type: spherical, between: [\"%s\", \"%s\"], "
    "at: [i + 0.5, 0.1, 0.2]}}\n",
    "repeat:\n"
    "  - count: N\n    bodies: {\"b{i}\": {mass: 1, inertia: [1, 2, 2.5], position: [i, 0, "
    "1]}}\n"
    "  - count: N/2 - 1\n    joints: {\"j{i}\": {type: revolute, between: [\"%s\", \"%s\"], "
    "at: [i + 0.5, 0.1, 0.2], axis: [1, i, 2]}}\n",
    "repeat:\n"
    "  - count: N\n    bodies: {\"b{i}\": {mass: 1, inertia: [1, 2, 2.5], position: [i, 0, "
    "1]}}\n"
    "  - count: N/2 - 1\n    joints: {\"j{i}\": {type: distance, between: [\"%s\", \"%s\"]}}\n",
};

static void test_numberings(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; ++l) {
            char text[1000], body[800], name[100];
            snprintf(body, sizeof body, kinds[k], layouts[l].first, layouts[l].second);
            snprintf(text, sizeof text, "galpha: 1\nparameters: {N: 1200}\n%s", body);
            snprintf(name, sizeof name, "kind %d, %s", (int)k, layouts[l].name);
            ga_model *model = NULL;
            if (ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL) != GA_OK)
                fail_msg("%s: not read:\n%s", name, text);
            compare_model(name, model);
            ga_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_numberings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
