#include "verify/model.h"

#include <string.h>

static int count_of(const char *const *list)
{
    int count = 0;
    while (list && list[count]) ++count;
    return count;
}

static const char *find_text(const char *name)
{
    for (const vf_model_file *file = vf_model_files; file->name; ++file)
        if (strcmp(file->name, name) == 0) return file->text;
    return NULL;
}

static ga_eval forward(void *user, const ga_sim *sim)
{
    const vf_simulation *simulation = user;
    if (simulation->output)
        simulation->output(simulation->user, ga_sim_time(sim), ga_sim_values(sim));
    return GA_EVAL_OK;
}

static ga_model *read_model(vf_run *run, const vf_simulation *simulation)
{
    const char *text = find_text(simulation->model);
    if (!text) {
        vf_fail(run, "there is no model %s", simulation->model);
        return NULL;
    }
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    ga_model_options options = ga_model_options_default();
    options.set_count = count_of(simulation->set);
    options.set = simulation->set;
    if (ga_model_parse(simulation->model, text, strlen(text), &options, &model, messages)) {
        char line[300] = "out of memory";
        if (ga_messages_count(messages) > 0) ga_messages_format(messages, 0, line, sizeof line);
        vf_fail(run, "%s", line);
    }
    ga_messages_destroy(messages);
    return model;
}

static bool run_model(vf_run *run, const ga_model *model, const vf_simulation *simulation,
                      double *final, int room, ga_sim_summary *summary)
{
    ga_sim *sim = NULL;
    ga_report report = {.message = ""};
    vf_simulation copy = *simulation;
    ga_sim_def def = ga_sim_def_of(model);
    def.channels = simulation->channels;
    def.channel_count = count_of(simulation->channels);
    def.output = forward;
    def.user = &copy;
    if (!vf_ok(run, ga_sim_create(model, &def, &sim, NULL, &report), &report)) return false;
    bool done = vf_ok(run, ga_sim_run(sim, &report), &report);
    int count = ga_sim_value_count(sim) < room ? ga_sim_value_count(sim) : room;
    if (done && final) memcpy(final, ga_sim_values(sim), (size_t)count * sizeof *final);
    if (summary) *summary = ga_sim_get_summary(sim);
    ga_sim_destroy(sim);
    return done;
}

bool vf_simulate(vf_run *run, const vf_simulation *simulation, double *final, int room,
                 ga_sim_summary *summary)
{
    ga_model *model = read_model(run, simulation);
    if (!model) return false;
    bool done = run_model(run, model, simulation, final, room, summary);
    ga_model_destroy(model);
    return done;
}
