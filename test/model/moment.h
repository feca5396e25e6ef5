/* Models to try equations on, and states of them in general position. */
#ifndef TEST_MODEL_MOMENT_H
#define TEST_MODEL_MOMENT_H

#include "model/assembly.h"
#include "test/api/examples.h"

#include <math.h>
#include <stdlib.h>

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

/* A state near the start. */
typedef struct moment {
    ga_assembly *a;
    double *q, *v, *vd, *multipliers;
} moment;

static double some(int k) { return sin(1 + 12.9898 * k); }

static double *numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

static moment make_moment(const ga_model *model, bool se)
{
    moment m = {0};
    ga_report report;
    assert_int_equal(ga_assembly_create(model, se, &m.a, &report), GA_OK);
    const ga_system *sys = &m.a->system;
    const int mp = sys->constraint_count + sys->nonholonomic_count;
    m.q = numbers(m.a->nq);
    m.v = numbers(m.a->nv);
    m.vd = numbers(m.a->nv);
    m.multipliers = numbers(mp);
    double *x = numbers(m.a->nv);
    ga_assembly_initial(m.a, m.q, m.v);
    ga_assembly_remember(m.a, 0, m.q, m.v);
    for (int k = 0; k < m.a->nv; ++k) {
        x[k] = 0.1 * some(k);
        m.v[k] += some(k + 1000);
        m.vd[k] = 3 * some(k + 3000);
    }
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
    free(m->vd);
    free(m->multipliers);
}

#endif
