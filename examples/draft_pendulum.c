/* A mechanism built in C instead of read from a file: a rod on a hinge, released at 30 degrees.
 * Names, units, defaults and checks are those of model files; `galpha elements` lists them.
 */
#include <galpha/galpha.h>
#include <galpha/sim.h>
#include <stdio.h>

static ga_model *make_pendulum(ga_messages *messages)
{
    ga_draft *draft = ga_draft_create();
    ga_model *model = NULL;
    ga_draft_set(draft, &(ga_property)GA_NUMBERS("gravity", 0, 0, -9.81));
    ga_draft_add(draft, "bodies", "rod",
                 GA_PROPERTIES(GA_NUMBER("mass", 2), GA_NUMBERS("inertia", 0.17, 0.17, 0.001),
                               GA_NUMBERS("position", 0.25, 0, -0.4330127),
                               GA_GROUP("rotation", GA_NUMBERS("axis", 0, 1, 0),
                                        GA_TEXT("angle", "-30 deg"))));
    ga_draft_add(draft, "joints", "hinge",
                 GA_PROPERTIES(GA_TEXT("type", "revolute"),
                               GA_TEXTS("between", "ground", "rod"), GA_NUMBERS("at", 0, 0, 0),
                               GA_NUMBERS("axis", 0, 1, 0), GA_NUMBER("damping", 0.05)));
    ga_draft_add(draft, "simulate", NULL,
                 GA_PROPERTIES(GA_NUMBER("t_end", 1), GA_NUMBER("step", 1e-3)));
    ga_draft_add(draft, "output", NULL,
                 GA_PROPERTIES(GA_NUMBER("every", 0.25),
                               GA_TEXTS("channels", "hinge.angle", "hinge.rate")));
    /* Whatever went wrong above, memory included, comes out here. */
    ga_draft_finish(draft, &model, messages);
    return model;
}

static ga_eval print(void *user, const ga_sim *sim)
{
    const double *value = ga_sim_values(sim);
    printf("t = %.2f s: angle %8.4f rad, rate %8.4f rad/s\n", ga_sim_time(sim), value[0],
           value[1]);
    return GA_EVAL_OK;
}

static ga_status simulate(const ga_model *model, ga_messages *messages, ga_report *report)
{
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    def.output = print;
    ga_status status = ga_sim_create(model, &def, &sim, messages, report);
    if (!status) status = ga_sim_run(sim, report);
    ga_sim_destroy(sim);
    return status;
}

int main(void)
{
    ga_messages *messages = ga_messages_create();
    ga_report report = {0};
    ga_model *model = make_pendulum(messages);
    ga_status status = model ? simulate(model, messages, &report) : GA_ERR_INPUT;
    for (int k = 0; k < ga_messages_count(messages); ++k) {
        char line[200];
        ga_messages_format(messages, k, line, sizeof line);
        fprintf(stderr, "%s\n", line);
    }
    if (status && report.message[0]) fprintf(stderr, "%s\n", report.message);
    ga_model_destroy(model);
    ga_messages_destroy(messages);
    return status ? 1 : 0;
}
