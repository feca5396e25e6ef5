/* Errors at the end of runs with SOI2. */
#include "verify/soi2.h"

#include <math.h>

const double vf_pair[VF_PAIR] = {1.0 / 3, 2.0 / 3};

const char *const vf_soi2_letter[VF_KINDS] = {"y", "z", "a", "λ", "ψ"};

ga_integrator_def vf_soi2(double rho_inf, ga_step_change change)
{
    ga_integrator_def def = vf_def(rho_inf, GA_SOI2, GA_START_PLAIN);
    def.step_change = change;
    return def;
}

static double distance(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* Errors of the last state, into column k. */
static bool end_errors(vf_run *run, const vf_job *job, const vf_states *states, int k,
                       vf_ladder *ladder)
{
    const int last = states->count - 1, nv = states->nv;
    const double shift = ga_coefficients_describe(&job->def.coefficients).shift;
    const double t = states->t[last];
    const double times[2] = {t + shift * (t - states->t[last - 1]), t};
    vf_states exact, end = *states; /* borrowed: the last row as the only one */
    if (!vf_solution_at(run, job->problem, 2, times, &exact)) return false;
    end.count = 1;
    end.t += last;
    end.q += last * end.nq;
    end.v += last * nv;
    end.vd += last * nv;
    end.lambda += last * end.m;
    end.psi += last * end.p;
    vf_errors errors =
        vf_largest_errors(run, job->problem, &end, &exact, VF_NORM_EUCLIDEAN, t, t);
    errors.of[VF_VD] = distance(nv, states->a + last * nv, exact.vd);
    for (int kind = 0; kind < VF_KINDS; ++kind) ladder->error[kind][k] = errors.of[kind];
    vf_states_free(&exact);
    return true;
}

bool vf_climb_soi2(vf_run *run, const vf_job *job, int levels, const double *h,
                   vf_ladder *ladder)
{
    bool done = true;
    *ladder = (vf_ladder){.levels = levels};
    for (int k = 0; done && k < levels; ++k) {
        vf_job level = *job;
        vf_states states;
        level.h = ladder->h[k] = h[k];
        done = vf_steps(run, &level, &states) && end_errors(run, &level, &states, k, ladder);
        vf_states_free(&states);
    }
    return done;
}

void vf_plot_soi2(ga_figure *figure, int panel, const vf_ladder *ladder)
{
    static const ga_plot_marker markers[VF_KINDS] = {
        GA_MARKER_SQUARE, GA_MARKER_RING, GA_MARKER_CROSS, GA_MARKER_PLUS, GA_MARKER_DIAMOND};
    for (int kind = 0; kind < VF_KINDS; ++kind)
        if (ladder->error[kind][0] > 0)
            vf_plot_ladder(figure, panel,
                           (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                            .label = vf_soi2_letter[kind],
                                            .marker = markers[kind],
                                            .color = (unsigned)(GA_COLOR_BLUE + kind),
                                            /* y and z often have the same errors */
                                            .marker_size = kind == VF_Q ? 9 : 0,
                                            .width = 1},
                           ladder, (vf_kind)kind);
}
