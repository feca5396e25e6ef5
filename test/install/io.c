/* A client of all three libraries: a model from text, run, its result written and read. */
#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

static const char text[] =
    "galpha: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {stone: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 10]}}\n"
    "simulate: {t_end: 1, step: 0.01}\n"
    "output: {every: 0.1, channels: [stone.position]}\n";

static ga_eval write_row(void *user, const ga_sim *sim)
{
    ga_report report;
    return ga_result_write(user, ga_sim_time(sim), ga_sim_values(sim), &report) ? GA_EVAL_FATAL
                                                                                : GA_EVAL_OK;
}

int main(void)
{
    ga_report report = {0};
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_result *result = NULL;
    ga_result_reader *reader = NULL;
    if (ga_model_parse("stone", text, sizeof text - 1, NULL, &model, NULL)) return 1;
    ga_sim_def def = ga_sim_def_of(model);
    def.output = write_row;
    ga_result_def contents = ga_result_def_default();
    double z[3] = {0};
    int code = 2;
    if (ga_sim_create(model, &def, &sim, NULL, &report) == GA_OK) {
        const ga_channel channel = ga_sim_get_channel(sim, 0);
        contents.channel_count = 1;
        contents.channels = &channel;
        code = ga_result_create_with("stone.h5", GA_RESULT_HDF5, &contents, &result, &report);
        ga_sim_destroy(sim);
        def.user = result;
        sim = NULL;
        if (code == 0 && (ga_sim_create(model, &def, &sim, NULL, &report) ||
                          ga_sim_run(sim, &report) || ga_result_close(result, NULL, &report) ||
                          ga_result_open("stone.h5", &reader, &report) ||
                          ga_result_reader_read(reader, 0, 10, 1, 1, z, &report)))
            code = 3;
    }
    if (code) fprintf(stderr, "%s\n", report.message);
    printf("galpha %s: height %.6f\n", ga_version(), z[2]);
    ga_result_reader_close(reader);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    if (code) return code;
    return fabs(z[2] - (10 - 9.81 / 2)) < 1e-9 ? 0 : 4;
}
