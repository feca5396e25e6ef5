/* The equations of models: what `all` gives in one go is, bit for bit, what the callbacks give
 * one after the other. */
#include "model/assembly.h"
#include "test/api/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const examples[] = {"andrews_squeezer",
                                       "heavy_top",
                                       "slider_crank",
                                       "stick_slip",
                                       "clutch",
                                       "rolling_disc",
                                       "four_bar_spatial",
                                       "flyball_governor",
                                       "stewart_platform",
                                       "n_four_bar",
                                       "cardan_shaft",
                                       "constant_velocity_shaft",
                                       "screw_jack",
                                       "robot_arm",
                                       "washing_machine",
                                       "quick_return",
                                       "crane",
                                       "chain_swing"};

/* A state near the start, in general position. */
typedef struct moment {
    ga_assembly *a;
    double *q, *v, *multipliers;
} moment;

static double some(int k) { return sin(1 + 12.9898 * k); }

static moment make_moment(const ga_model *model, bool se)
{
    moment m = {0};
    ga_report report;
    assert_int_equal(ga_assembly_create(model, se, &m.a, &report), GA_OK);
    const ga_system *sys = &m.a->system;
    int mp = sys->constraint_count + sys->nonholonomic_count;
    m.q = calloc((size_t)m.a->nq + 1, sizeof *m.q);
    m.v = calloc((size_t)m.a->nv + 1, sizeof *m.v);
    m.multipliers = calloc((size_t)mp + 1, sizeof *m.multipliers);
    double *x = calloc((size_t)m.a->nv + 1, sizeof *x);
    ga_assembly_initial(m.a, m.q, m.v);
    ga_assembly_remember(m.a, 0, m.q, m.v);
    for (int k = 0; k < m.a->nv; ++k) x[k] = 0.1 * some(k);
    for (int k = 0; k < m.a->nv; ++k) m.v[k] += some(k + 1000);
    for (int k = 0; k < mp; ++k) m.multipliers[k] = some(k + 2000);
    ga_nodes_update(sys->node_count, sys->nodes, GA_MAP_EXP, m.q, x, m.q);
    free(x);
    return m;
}

static void free_moment(moment *m)
{
    ga_assembly_destroy(m->a);
    free(m->q);
    free(m->v);
    free(m->multipliers);
}

enum { QUANTITIES = 6 };

/* One after the other; what a system lacks has no size. */
typedef struct quantity {
    ga_callback *callback;
    int size;
} quantity;

static void list(const ga_system *sys, int nv, quantity *out)
{
    const quantity all[QUANTITIES] = {
        {sys->constraint, sys->constraint_count},
        {sys->gradient, sys->gradient_pattern.count},
        {sys->constraint_rate, sys->constraint_count},
        {sys->nonholonomic, sys->nonholonomic_count},
        {sys->nonholonomic_gradient, sys->nonholonomic_gradient_pattern.count},
        {sys->force, nv}};
    memcpy(out, all, sizeof all);
}

static void ask(const ga_system *sys, const ga_point *at, double *const *out)
{
    const ga_wanted wanted = {out[0], out[1], out[2], out[3], out[4], out[5]};
    assert_int_equal(sys->all(sys->user, at, &wanted), GA_EVAL_OK);
}

/* Everything at once, and each alone. */
static void compare(const char *name, moment *m)
{
    const ga_system *sys = &m->a->system;
    ga_point at = {0.3,  m->q,           m->v,
                   NULL, m->multipliers, m->multipliers + sys->constraint_count};
    quantity single[QUANTITIES];
    double *one[QUANTITIES], *all[QUANTITIES];
    list(sys, m->a->nv, single);
    for (int k = 0; k < QUANTITIES; ++k) {
        size_t size = ((size_t)single[k].size + 1) * sizeof(double);
        one[k] = malloc(size);
        all[k] = single[k].callback ? malloc(size) : NULL;
        if (all[k]) memset(all[k], 0xff, size); /* NaN */
        if (single[k].callback) single[k].callback(sys->user, &at, one[k]);
    }
    ask(sys, &at, all);
    for (int k = 0; k < QUANTITIES; ++k) {
        size_t size = (size_t)single[k].size * sizeof(double);
        if (!all[k]) continue;
        if (memcmp(one[k], all[k], size) != 0) fail_msg("%s: quantity %d differs", name, k);
        double *alone[QUANTITIES] = {0};
        alone[k] = all[k];
        memset(all[k], 0xff, size);
        m->q[0] += 1e-3; /* another state in between */
        ask(sys, &at, alone);
        m->q[0] = nextafter(m->q[0] - 1e-3, 0);
        ask(sys, &at, alone);
        single[k].callback(sys->user, &at, one[k]);
        if (memcmp(one[k], all[k], size) != 0) fail_msg("%s: %d alone differs", name, k);
    }
    for (int k = 0; k < QUANTITIES; ++k) {
        free(one[k]);
        free(all[k]);
    }
}

static void test_all_is_one_by_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k)
        for (int se = 0; se < 2; ++se) {
            ga_model *model = read_example(examples[k], 0, NULL);
            moment m = make_moment(model, se);
            compare(examples[k], &m);
            free_moment(&m);
            ga_model_destroy(model);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
