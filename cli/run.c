/* galpha run: simulates a model, writes results, sums up. */
#define _POSIX_C_SOURCE 200809L

#include "cli/command.h"
#include "cli/failure.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/warnings.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CSV, HDF5, FILES };

typedef struct run {
    cli_input input;
    ga_sim_def def;
    ga_sim *sim;
    struct {
        const char *path; /* null: not wanted */
        ga_result *result;
        bool lost; /* could not be completed */
    } file[FILES];
    const char *page;    /* null: not wanted */
    char *only_for_page; /* an HDF5 result that nobody else wants; null: none */
    cli_progress progress;
    long rows;
    double began, wall;
    ga_status write_status; /* of result files */
    ga_report write_report;
    ga_status status; /* of the simulation */
    ga_report report;
    bool quiet;
    int page_code; /* of writing the page */
} run;

/* --- while it runs ------------------------------------------------------------------------ */

static ga_eval go_on(void) { return cli_interrupt_caught() ? GA_EVAL_FATAL : GA_EVAL_OK; }

static void note_write(run *r, ga_status status, const ga_report *report)
{
    if (status == GA_OK || r->write_status != GA_OK) return;
    r->write_status = status;
    r->write_report = *report;
}

static ga_eval output(void *user, const ga_sim *sim)
{
    run *r = user;
    for (int k = 0; k < FILES; ++k) {
        ga_report report;
        if (r->file[k].result)
            note_write(r,
                       ga_result_write(r->file[k].result, ga_sim_time(sim), ga_sim_values(sim),
                                       &report),
                       &report);
    }
    if (r->write_status != GA_OK) return GA_EVAL_FATAL;
    ++r->rows;
    return go_on();
}

static ga_eval step(void *user, const ga_sim *sim)
{
    run *r = user;
    cli_progress_update(&r->progress, ga_sim_time(sim), ga_sim_step_size(sim));
    return go_on();
}

/* --- files -------------------------------------------------------------------------------- */

static ga_status open_files(run *r, const ga_channel *channels, const char *scene)
{
    static const ga_result_format formats[FILES] = {GA_RESULT_CSV, GA_RESULT_HDF5};
    const ga_result_def def = {ga_sim_channel_count(r->sim), channels,
                               ga_model_text(r->input.model), scene};
    for (int k = 0; k < FILES && r->write_status == GA_OK; ++k) {
        ga_report report;
        if (r->file[k].path)
            note_write(r,
                       ga_result_create_with(r->file[k].path, formats[k], &def,
                                             &r->file[k].result, &report),
                       &report);
    }
    return r->write_status;
}

/* --- expected size -------------------------------------------------------------------------
 */

static const double gigabyte = 1e9;
/* HDF5 holds doubles; CSV up to 17 digits, sign, point, exponent, comma. */
static const double bytes_of_number[FILES] = {[CSV] = 20, [HDF5] = 8};

/* Bytes free where a file is to be; infinite if that cannot be told. */
static double free_space(const char *path)
{
    struct statvfs about;
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (!folder) return INFINITY;
    memcpy(folder, path, length);
    strcpy(folder + length, length ? "" : ".");
    const bool known = statvfs(folder, &about) == 0;
    free(folder);
    return known ? (double)about.f_bavail * (double)about.f_frsize : INFINITY;
}

/* Says before the run what it will write, if that is much or more than there is space for. Of
 * output at every step only fixed steps tell the number. A run that is stopped, or meets a full
 * disk, keeps what it has written, so this is a warning and no error. */
static void announce_size(const run *r)
{
    const double spacing = r->def.output_every > 0 ? r->def.output_every : r->def.step;
    if (!(spacing > 0) || !isfinite(r->def.t_end)) return;
    const double rows = floor((r->def.t_end - r->def.t_start) / spacing) + 1;
    double numbers = 1;
    for (int k = 0; k < ga_sim_channel_count(r->sim); ++k)
        numbers += ga_sim_channel(r->sim, k).count;
    for (int k = 0; k < FILES; ++k) {
        struct stat about;
        if (!r->file[k].path) continue;
        if (stat(r->file[k].path, &about) == 0 && !S_ISREG(about.st_mode)) continue;
        const double bytes = rows * numbers * bytes_of_number[k];
        const double room = free_space(r->file[k].path);
        if (bytes <= gigabyte && bytes <= room) continue;
        char more[80] = "";
        if (bytes > room)
            snprintf(more, sizeof more, ", but only %.3g GB are free there", room / gigabyte);
        cli_error("warning: %s will have about %.3g GB (%.3g rows of %.0f numbers)%s; a larger "
                  "output.every or fewer output.channels make it smaller",
                  r->file[k].path, bytes / gigabyte, rows, numbers, more);
    }
}

static const char *outcome(const run *r)
{
    if (r->write_status != GA_OK || r->status != GA_OK) return "failed";
    return cli_interrupt_caught() ? "interrupted" : "done";
}

static long steps_accepted(const ga_sim_summary *s)
{
    return s->control.accepted ? s->control.accepted : s->statistics.steps;
}

static long steps_rejected(const ga_sim_summary *s)
{
    return s->control.rejected + s->statistics.halvings;
}

static const char *formulation_name(ga_formulation formulation)
{
    static const char *const names[GA_FORMULATION_COUNT] = {[GA_INDEX3] = "index3",
                                                            [GA_INDEX2] = "index2",
                                                            [GA_SOI2] = "soi2",
                                                            [GA_HHT_I3] = "hht-i3"};
    return (size_t)formulation < GA_FORMULATION_COUNT ? names[formulation] : "";
}

/* What a result file knows about the run. */
static void close_files(run *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_sim_def *def = &r->def;
    const ga_method *method = &def->integrator.method;
    const ga_attribute attributes[] = {
        {"version", ga_version(), 0},
        {"model", cli_input_name(&r->input), 0},
        {"status", outcome(r), 0},
        {"message", r->status == GA_OK ? "" : r->report.message, 0},
        {"formulation", formulation_name(def->integrator.formulation), 0},
        {"kinematics", def->kinematics == GA_KINEMATICS_SE3 ? "se3" : "r3so3", 0},
        {"alpha_m", NULL, method->alpha_m},
        {"alpha_f", NULL, method->alpha_f},
        {"beta", NULL, method->beta},
        {"gamma", NULL, method->gamma},
        {"step", NULL, def->step},
        {"tolerance_relative", NULL, def->control.relative},
        {"tolerance_absolute", NULL, def->control.absolute_translation},
        {"t_start", NULL, def->t_start},
        {"t_end", NULL, s.t},
        {"steps_accepted", NULL, (double)steps_accepted(&s)},
        {"steps_rejected", NULL, (double)steps_rejected(&s)},
        {"newton_iterations", NULL, (double)s.statistics.iterations},
        {"factorizations", NULL, (double)s.statistics.factorizations},
        {"renewals", NULL, (double)s.statistics.renewals},
        {"evaluations", NULL, (double)s.statistics.evaluations},
        {"energy_drift_max", NULL, s.energy_drift_max},
        {"position_residual_max", NULL, s.statistics.position_residual_max},
        {"velocity_residual_max", NULL, s.statistics.velocity_residual_max},
        {"wall_seconds", NULL, r->wall},
        {NULL, NULL, 0},
    };
    for (int k = 0; k < FILES; ++k) {
        ga_report report;
        const ga_status status = ga_result_close(r->file[k].result, attributes, &report);
        note_write(r, status, &report);
        r->file[k].lost = status != GA_OK;
        r->file[k].result = NULL;
    }
}

/* --- page --------------------------------------------------------------------------------- */

/* What was computed is shown, also if that is not all. */
static void write_page(run *r)
{
    if (!r->page || r->rows == 0 || r->write_status != GA_OK) return;
    const char *result = r->file[HDF5].path;
    const char *const *labels = NULL; /* the name of the file */
    const char *name = cli_input_name(&r->input), *slash = strrchr(name, '/');
    if (strcmp(name, r->input.path) == 0 && slash) name = slash + 1;
    if (r->only_for_page) labels = &name;
    const cli_page page = {.path = r->page,
                           .count = 1,
                           .results = &result,
                           .labels = labels,
                           .title = name,
                           .quiet = r->quiet};
    r->page_code = cli_page_write(&page);
}

/* --- summary ------------------------------------------------------------------------------ */

static double total(const ga_energy *e) { return e->kinetic + e->potential; }

/* Files that were asked for and are there. */
static bool is_wanted(const run *r, int k)
{
    return r->file[k].path && r->file[k].path != r->only_for_page && !r->file[k].lost;
}

static bool has_page(const run *r) { return r->page && r->rows && r->page_code == EXIT_DONE; }

static void print_files(const run *r)
{
    for (int k = 0; k < FILES; ++k)
        if (is_wanted(r, k) && r->rows)
            printf("  results      %s, %ld rows\n", r->file[k].path, r->rows);
    if (has_page(r)) printf("  page         %s\n", r->page);
}

static void print_summary(const run *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_energy *e = &s.final;
    char line[256];
    snprintf(line, sizeof line, ": %s, t = %g ... %.9g s, computed in %.3g s", outcome(r),
             r->def.t_start, s.t, r->wall);
    cli_print_text(stdout, cli_input_name(&r->input));
    puts(line);
    printf("  steps        %ld, %ld rejected", steps_accepted(&s), steps_rejected(&s));
    if (s.control.third_order) printf(", %ld of third order", s.control.third_order);
    if (s.control.step_max > 0)
        printf(", size %.3g ... %.3g s", s.control.step_min, s.control.step_max);
    if (s.control.events) printf(", %ld events", s.control.events);
    printf("\n  Newton       %ld iterations, %ld factorizations, %ld evaluations",
           s.statistics.iterations, s.statistics.factorizations, s.statistics.evaluations);
    if (s.statistics.renewals) printf(", %ld renewals", s.statistics.renewals);
    putchar('\n');
    printf("  energy       kinetic %.6g, potential %.6g, dissipated %.6g, work %.6g J\n",
           e->kinetic, e->potential, e->dissipated, e->work);
    printf("               balance closes to %.2g J", s.energy_drift_max);
    if (s.energy_scale > 0)
        printf(", %.2g of %.3g J", s.energy_drift_max / s.energy_scale, s.energy_scale);
    printf("\n  constraints  residuals at most %.2g (position), %.2g (velocity)\n",
           s.statistics.position_residual_max, s.statistics.velocity_residual_max);
    cli_warnings_sum_up(r->sim);
    print_files(r);
}

static void print_energy_json(cli_json *json, const ga_sim_summary *s)
{
    cli_json_object(json, "energy");
    cli_json_number(json, "initial", total(&s->initial));
    cli_json_number(json, "final", total(&s->final));
    cli_json_number(json, "drift_max", s->energy_drift_max);
    cli_json_number(json, "scale", s->energy_scale);
    cli_json_number(json, "kinetic", s->final.kinetic);
    cli_json_number(json, "potential", s->final.potential);
    cli_json_number(json, "dissipated", s->final.dissipated);
    cli_json_number(json, "work", s->final.work);
    cli_json_end_object(json);
}

static void print_final_json(cli_json *json, const run *r)
{
    const double *values = ga_sim_values(r->sim);
    cli_json_object(json, "final");
    for (int k = 0; k < ga_sim_channel_count(r->sim) && r->rows; ++k) {
        const ga_channel channel = ga_sim_channel(r->sim, k);
        cli_json_numbers(json, channel.name, channel.count, values);
        values += channel.count;
    }
    cli_json_end_object(json);
}

static const char *message(const run *r)
{
    if (r->write_status != GA_OK) return r->write_report.message;
    if (r->status != GA_OK) return r->report.message;
    return cli_interrupt_caught() ? "stopped by a signal" : "";
}

static void print_json(const run *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "model", cli_input_name(&r->input));
    cli_json_text(&json, "file", r->input.path);
    cli_json_text(&json, "status", outcome(r));
    cli_json_text(&json, "message", message(r));
    cli_json_number(&json, "t_start", r->def.t_start);
    cli_json_number(&json, "t_end", s.t);
    cli_json_object(&json, "steps");
    cli_json_integer(&json, "accepted", steps_accepted(&s));
    cli_json_integer(&json, "rejected", steps_rejected(&s));
    cli_json_end_object(&json);
    cli_json_integer(&json, "third_order_steps", s.control.third_order);
    cli_json_integer(&json, "newton_iterations", s.statistics.iterations);
    cli_json_integer(&json, "factorizations", s.statistics.factorizations);
    cli_json_integer(&json, "renewals", s.statistics.renewals);
    cli_json_integer(&json, "evaluations", s.statistics.evaluations);
    cli_json_integer(&json, "events", s.control.events);
    cli_json_number(&json, "wall_seconds", r->wall);
    print_energy_json(&json, &s);
    cli_json_object(&json, "constraints");
    cli_json_number(&json, "position_max", s.statistics.position_residual_max);
    cli_json_number(&json, "velocity_max", s.statistics.velocity_residual_max);
    cli_json_end_object(&json);
    print_final_json(&json, r);
    cli_json_list(&json, "files");
    for (int k = 0; k < FILES; ++k)
        if (is_wanted(r, k) && r->rows) cli_json_text(&json, NULL, r->file[k].path);
    if (has_page(r)) cli_json_text(&json, NULL, r->page);
    cli_json_end_list(&json);
    cli_warnings_json(&json, r->sim);
    if (r->status != GA_OK)
        cli_failure_json(&json, &(cli_failure){r->sim, &r->def, &r->report, r->input.path});
    cli_json_end_object(&json);
}

/* --- the command -------------------------------------------------------------------------- */

static void tell(const run *r)
{
    if (!r->quiet) cli_warnings_print(r->sim);
    if (r->input.json)
        print_json(r);
    else if (!r->quiet)
        print_summary(r);
    cli_flush(); /* before what follows, where both go to one place */
    if (r->write_status != GA_OK)
        cli_error("%s", r->write_report.message);
    else if (r->status != GA_OK)
        cli_failure_print(&(cli_failure){r->sim, &r->def, &r->report, r->input.path});
    else if (cli_interrupt_caught())
        cli_error("stopped at t = %.9g s of %.9g s; what was computed until then is complete",
                  ga_sim_get_summary(r->sim).t, r->def.t_end);
}

static int exit_code(const run *r)
{
    if (r->write_status != GA_OK) return cli_exit_code(r->write_status);
    if (r->status != GA_OK) return cli_exit_code(r->status);
    const int caught = cli_interrupt_caught();
    return caught ? EXIT_SIGNAL + caught : r->page_code;
}

static int simulate(run *r)
{
    ga_report report;
    ga_status status =
        ga_sim_create(r->input.model, &r->def, &r->sim, r->input.messages, &report);
    if (status == GA_OK && isnan(r->def.t_end)) {
        status = GA_ERR_INPUT;
        snprintf(report.message, sizeof report.message,
                 "the model does not say how long to simulate: it needs "
                 "`simulate: {t_end: ...}`");
    }
    if (status != GA_OK) return cli_input_refuse(&r->input, status, &report);
    cli_input_print_messages(&r->input);

    announce_size(r);
    const int count = ga_sim_channel_count(r->sim);
    ga_channel *channels = calloc((size_t)count + 1, sizeof *channels);
    if (!channels) return cli_out_of_memory();
    for (int k = 0; k < count; ++k) channels[k] = ga_sim_channel(r->sim, k);
    cli_interrupt_watch(); /* from here on there are files to close */
    char *scene = r->file[HDF5].path ? ga_model_scene(r->input.model) : NULL;
    if (r->file[HDF5].path && !scene) {
        free(channels);
        return cli_out_of_memory();
    }
    status = open_files(r, channels, scene);
    ga_text_free(scene);
    free(channels);
    if (status == GA_OK) {
        r->progress = cli_progress_begin(!r->quiet, r->def.t_start, r->def.t_end);
        r->began = cli_clock();
        r->status = ga_sim_run(r->sim, &r->report);
        r->wall = cli_clock() - r->began;
        cli_progress_end(&r->progress);
    }
    close_files(r);
    write_page(r);
    tell(r);
    return exit_code(r);
}

/* Two outputs in one file, or an output in place of the model, are slips. */
static int check_paths(const run *r)
{
    const char *paths[] = {r->input.path, r->file[CSV].path, r->file[HDF5].path, r->page};
    for (int i = 0; i < 4; ++i)
        for (int k = i + 1; k < 4; ++k)
            if (paths[i] && paths[k] && cli_same_file(paths[i], paths[k])) {
                cli_error("%s would be overwritten by results", paths[k]);
                return EXIT_INPUT;
            }
    return EXIT_DONE;
}

/* A page is made from an HDF5 result. If none is asked for, there is one beside the page until
 * it is done. */
static int prepare_page(run *r)
{
    if (!r->page) return EXIT_DONE;
    const int code = cli_page_check();
    if (code != EXIT_DONE || r->file[HDF5].path) return code;
    const size_t size = strlen(r->page) + 32;
    if (!(r->only_for_page = malloc(size))) return cli_out_of_memory();
    snprintf(r->only_for_page, size, "%s.%ld.h5", r->page, (long)getpid());
    r->file[HDF5].path = r->only_for_page;
    return EXIT_DONE;
}

static void remove_result(run *r)
{
    if (r->only_for_page) unlink(r->only_for_page);
    free(r->only_for_page);
}

static int run_command(const cli_arguments *arguments)
{
    run r = {.quiet = cli_given(arguments, "quiet")};
    r.file[CSV].path = cli_value(arguments, "csv");
    r.file[HDF5].path = cli_value(arguments, "output");
    r.page = cli_value(arguments, "view");
    r.input.path = arguments->operands[0];
    int code = check_paths(&r);
    if (code == EXIT_DONE) code = prepare_page(&r);
    if (code != EXIT_DONE) return code;
    code = cli_input_read(&r.input, arguments);
    if (code == EXIT_DONE) {
        r.def = ga_sim_def_of(r.input.model);
        r.def.output = output;
        if (!r.file[CSV].path && !r.file[HDF5].path) /* the end is all that is shown */
            r.def.output_every = r.def.t_end - r.def.t_start;
        r.def.progress = step;
        r.def.user = &r;
        r.def.motion = r.page != NULL;
        code = simulate(&r);
    }
    ga_sim_destroy(r.sim);
    cli_input_free(&r.input);
    remove_result(&r);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "write results to FILE, HDF5"},
    {"csv", 0, "FILE", "write results to FILE, comma-separated values"},
    {"view", 0, "FILE", "write a page that shows the motion to FILE, HTML"},
    CLI_INPUT_OPTIONS,
    CLI_JSON_OPTION,
    {"quiet", 'q', NULL, "no progress, no summary, no warnings"},
    {0},
};

const cli_command cli_run = {
    .name = "run",
    .operand = "MODEL",
    .summary = "simulate a model",
    .details =
        "MODEL is a model file, or - for standard input. --set may be given several times.\n"
        "With --view results hold the positions and rotations of all bodies, and solver.step,\n"
        "whatever output.channels says.\n"
        "Progress and errors go to stderr, the summary to stdout. Ctrl-C finishes the\n"
        "step and closes the files; a second one stops at once.\n\n"
        "Exit codes: 0 done, 1 the computation failed, 2 bad input or usage, 3 a file\n"
        "cannot be read or written, 130 stopped by Ctrl-C.\n",
    .options = options,
    .run = run_command,
};
