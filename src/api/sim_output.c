/* Channels at a moment of a run. */
#include "api/sim.h"

#include <string.h>

double ga_sim_shown_time(const ga_sim *sim, double t)
{
    if (t == sim->given.begin) return sim->def.t_start;
    return t == sim->given.end ? sim->def.t_end : t;
}

void ga_sim_residuals(ga_sim *sim, const ga_sample *at, ga_moment *moment)
{
    const ga_system *system = &sim->assembly->system;
    int m = sim->model->rows, p = sim->model->speed_rows;
    ga_point point = {.t = at->t, .q = at->q, .v = at->v};
    double *w = sim->work.residual, *B = sim->work.residual + m + p;
    if (m) {
        system->constraint(system->user, &point, w);
        moment->position_residual = ga_sim_largest(m, w);
        memset(w, 0, (size_t)m * sizeof *w);
        if (system->constraint_rate) system->constraint_rate(system->user, &point, w);
        system->gradient(system->user, &point, B);
        const ga_pattern *blocks = &system->gradient_pattern;
        for (int k = 0; k < blocks->count; ++k)
            for (int j = 0; j < blocks->width[k]; ++j)
                for (int i = 0; i < blocks->height[k]; ++i)
                    w[blocks->row[k] + i] += *B++ * at->v[blocks->col[k] + j];
    }
    if (p) system->nonholonomic(system->user, &point, w + m);
    moment->velocity_residual = ga_sim_largest(m + p, w);
}

void ga_sim_fill_channels(ga_sim *sim, const ga_sample *at)
{
    ga_moment moment = {
        .model = sim->model,
        .assembly = sim->assembly,
        .vd = at->vd,
        .step = at->step,
        .error = at->error,
        .iterations = at->iterations,
        .energy = sim->balance.energy,
    };
    ga_powers now;
    ga_sim_powers(sim, at, &now);
    moment.energy.kinetic = now.kinetic;
    moment.energy.potential = now.potential;
    /* Between steps: with what the last step did up to here. */
    if (sim->started && sim->channels.work) ga_sim_add_work(sim, &now, at, &moment.energy);
    if (sim->channels.residuals) ga_sim_residuals(sim, at, &moment);
    double *lambda = sim->work.scheme, *psi = sim->work.scheme + sim->model->rows;
    const bool scheme =
        sim->channels.scheme && ga_integrator_interpolate(sim->integrator, at->t, NULL, NULL,
                                                          NULL, lambda, psi) == GA_OK;
    /* the assembly is at the sample from here on: methods may evaluate it elsewhere above */
    moment.state = ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    moment.scheme = moment.state;
    if (scheme) {
        moment.scheme.lambda = lambda;
        moment.scheme.psi = psi;
    }
    ga_channels_fill(&sim->channels, &moment);
}

ga_eval ga_sim_put_out(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    sim->t = ga_sim_shown_time(sim, at->t);
    sim->step = at->step;
    ga_sim_fill_channels(sim, at);
    return sim->def.output ? sim->def.output(sim->def.user, sim) : GA_EVAL_OK;
}

void ga_sim_stand_at(ga_sim *sim, const ga_sample *at)
{
    memcpy(sim->now_q, at->q, (size_t)sim->assembly->nq * sizeof *at->q);
    memcpy(sim->now_v, at->v, (size_t)sim->assembly->nv * sizeof *at->v);
    sim->t = ga_sim_shown_time(sim, at->t);
    ga_sim_fill_channels(sim, at);
}
