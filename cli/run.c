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

#include <errno.h>
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
        const char *path; /* null: not wanted; "-": standard output, CSV only */
        char *part;       /* where the rows are if the run does not finish */
        bool complete;    /* closed under its own name */
        ga_result *result;
    } file[FILES];
    char *own_path;     /* of the HDF5 result, if none was given */
    const char *page;   /* null: not wanted */
    char *page_of_part; /* its name, if the run does not finish */
    bool only_for_page; /* an HDF5 result that nobody else wants */
    FILE *out;          /* the summary: stdout, unless results go there */
    cli_progress progress;
    long rows;
    double began, wall;
    ga_status write_status; /* of result files */
    ga_report write_report;
    ga_status status; /* of the simulation */
    ga_report report;
    bool quiet;
    bool deserted; /* standard output has no reader any more */
    int caught;    /* the signal that ended the run; 0: none */
    int page_code; /* of writing the page */
} run;

/* --- while it runs ------------------------------------------------------------------------ */

static ga_eval go_on(void) { return cli_interrupt_caught() ? GA_EVAL_FATAL : GA_EVAL_OK; }

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Of writing file k. A closed pipe is no error: whoever read it has seen enough. */
static void note_write(run *r, int k, ga_status status, const ga_report *report)
{
    if (status == GA_OK || r->write_status != GA_OK) return;
    if (is_stdout(r->file[k].path) && strstr(report->message, strerror(EPIPE))) {
        r->deserted = true;
        return;
    }
    r->write_status = status;
    r->write_report = *report;
}

/* Nobody wants to see more. */
static bool is_over(const run *r) { return r->deserted && !r->file[HDF5].path; }

static ga_eval output(void *user, const ga_sim *sim)
{
    run *r = user;
    for (int k = 0; k < FILES; ++k) {
        ga_report report;
        if (!r->file[k].result || (r->deserted && is_stdout(r->file[k].path))) continue;
        note_write(
            r, k,
            ga_result_write(r->file[k].result, ga_sim_time(sim), ga_sim_values(sim), &report),
            &report);
    }
    if (r->write_status != GA_OK || is_over(r)) return GA_EVAL_FATAL;
    ++r->rows;
    return go_on();
}

static ga_eval step(void *user, const ga_sim *sim)
{
    run *r = user;
    for (int k = 0; k < FILES; ++k) {
        ga_report report;
        if (r->file[k].result)
            note_write(r, k, ga_result_tick(r->file[k].result, &report), &report);
    }
    if (r->write_status != GA_OK) return GA_EVAL_FATAL;
    cli_progress_update(&r->progress, ga_sim_time(sim), ga_sim_step_size(sim));
    return go_on();
}

/* --- files -------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    char *own = malloc(strlen(text) + 1);
    return own ? strcpy(own, text) : NULL;
}

static ga_status open_files(run *r, const ga_channel *channels, const char *scene)
{
    static const ga_result_format formats[FILES] = {GA_RESULT_CSV, GA_RESULT_HDF5};
    ga_result_def def = {.channel_count = ga_sim_channel_count(r->sim),
                         .channels = channels,
                         .model_text = ga_model_text(r->input.model),
                         .scene = scene};
    for (int k = 0; k < FILES && r->write_status == GA_OK; ++k) {
        ga_report report;
        const char *path = r->file[k].path;
        if (!path) continue;
        def.descriptor = is_stdout(path) ? STDOUT_FILENO : 0;
        note_write(r, k,
                   ga_result_create_with(def.descriptor ? "standard output" : path, formats[k],
                                         &def, &r->file[k].result, &report),
                   &report);
        if (r->file[k].result && !def.descriptor)
            r->file[k].part = copy(ga_result_path(r->file[k].result));
    }
    return r->write_status;
}

static bool is_done(const run *r)
{
    return r->write_status == GA_OK && r->status == GA_OK && !r->caught;
}

/* --- expected size ----------------------------------------------------------------------- */

static const double gigabyte = 1e9;
/* HDF5 holds doubles; CSV up to 17 digits, sign, point, exponent, comma. */
static double bytes_of_number(int file) { return file == HDF5 ? 8 : 20; }

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
        if (!r->file[k].path || !strcmp(r->file[k].path, "-")) continue;
        if (stat(r->file[k].path, &about) == 0 && !S_ISREG(about.st_mode)) continue;
        const double bytes = rows * numbers * bytes_of_number(k);
        const double room = free_space(r->file[k].path);
        if (bytes <= gigabyte && bytes <= room) continue;
        char more[80] = "";
        if (bytes > room)
            snprintf(more, sizeof more, ", but only %.3g GB are free there", room / gigabyte);
        cli_error("warning: %s will take about %.3g GB (%.3g rows of %.0f numbers)%s; a larger "
                  "output.every or fewer output.channels make it smaller",
                  r->file[k].path, bytes / gigabyte, rows, numbers, more);
    }
}

static const char *outcome(const run *r)
{
    if (r->write_status != GA_OK || r->status != GA_OK) return "failed";
    return r->caught ? "interrupted" : "done";
}

static long steps_accepted(const ga_sim_summary *s)
{
    return s->control.accepted ? s->control.accepted : s->statistics.steps;
}

static long steps_rejected(const ga_sim_summary *s)
{
    return s->control.rejected + s->statistics.halvings;
}

/* What a result file knows about the run. */
static void close_files(run *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_sim_def *def = &r->def;
    const bool family = def->integrator.method == GA_METHOD_GENERALIZED_ALPHA;
    const ga_coefficients none = {0, 0, 0, 0};
    const ga_coefficients *method = family ? &def->integrator.coefficients : &none;
    const ga_attribute attributes[] = {
        {"version", ga_version(), 0},
        {"model", cli_input_name(&r->input), 0},
        {"status", outcome(r), 0},
        {"message", r->status == GA_OK ? "" : r->report.message, 0},
        {"method", cli_method_name(def->integrator.method), 0},
        {"formulation", family ? cli_formulation(def->integrator.formulation) : "none", 0},
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
        {"evaluations", NULL, (double)s.statistics.evaluations},
        {"energy_drift_max", NULL, s.energy_drift_max},
        {"position_residual_max", NULL, s.statistics.position_residual_max},
        {"velocity_residual_max", NULL, s.statistics.velocity_residual_max},
        {"wall_seconds", NULL, r->wall},
        {NULL, NULL, 0},
    };
    for (int k = 0; k < FILES; ++k) {
        ga_report report;
        const bool done = is_done(r);
        const ga_status status =
            done ? ga_result_close(r->file[k].result, attributes, &report)
                 : ga_result_close_part(r->file[k].result, attributes, &report);
        note_write(r, k, status, &report);
        r->file[k].complete = done && status == GA_OK;
        r->file[k].result = NULL;
    }
}

/* Where the rows are, now that the files are closed; null: nowhere. */
static const char *written(const run *r, int k)
{
    if (!r->file[k].path || r->rows == 0) return NULL;
    if (r->file[k].complete || !r->file[k].part) return r->file[k].path;
    return access(r->file[k].part, F_OK) == 0 ? r->file[k].part : NULL; /* someone removed it */
}

/* --- page --------------------------------------------------------------------------------- */

/* What was computed is shown, also if that is not all; but then the page has another name, so
 * that it does not replace that of a run that finished: top.html becomes top.part.html. */
static int name_page(run *r)
{
    if (is_done(r)) return EXIT_DONE;
    const char *dot = strrchr(r->page, '.'), *slash = strrchr(r->page, '/');
    const size_t size = strlen(r->page) + sizeof ".part";
    const size_t stem =
        dot && dot > r->page && (!slash || dot > slash + 1) ? (size_t)(dot - r->page) : size;
    if (!(r->page_of_part = malloc(size))) return cli_out_of_memory();
    snprintf(r->page_of_part, size, "%.*s.part%s", (int)stem, r->page, stem < size ? dot : "");
    r->page = r->page_of_part;
    return EXIT_DONE;
}

static void write_page(run *r)
{
    if (!r->page || r->rows == 0 || r->write_status != GA_OK) return;
    if ((r->page_code = name_page(r)) != EXIT_DONE) return;
    const char *result = written(r, HDF5);
    const char *const *labels = NULL; /* the name of the file */
    const char *name = cli_input_name(&r->input), *slash = strrchr(name, '/');
    if (strcmp(name, r->input.path) == 0 && slash) name = slash + 1;
    if (r->own_path) labels = &name; /* nobody has chosen the name of the file */
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

/* Files that somebody wants to know of. */
static bool is_wanted(const run *r, int k)
{
    return written(r, k) && !(k == HDF5 && r->only_for_page);
}

static bool has_page(const run *r) { return r->page && r->rows && r->page_code == EXIT_DONE; }

static void print_files(const run *r)
{
    char rows[48] = ""; /* of a write that failed, how many are in the file is not known */
    if (r->write_status == GA_OK) snprintf(rows, sizeof rows, ", %ld rows", r->rows);
    for (int k = 0; k < FILES; ++k)
        if (is_wanted(r, k))
            fprintf(r->out, "  results      %s%s\n",
                    is_stdout(written(r, k)) ? "standard output" : written(r, k), rows);
    if (has_page(r)) fprintf(r->out, "  page         %s\n", r->page);
}

/* Work that was put in and taken out again leaves the round-off of its sum. */
static const double SUM_ROUND_OFF = 1e-12;

static double shown(double energy, const ga_sim_summary *s)
{
    const double least = fmax(s->energy_round_off, SUM_ROUND_OFF * s->energy_scale);
    return fabs(energy) <= least ? 0 : energy;
}

static void print_summary(const run *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_energy *e = &s.final;
    FILE *out = r->out;
    char line[256];
    snprintf(line, sizeof line, ": %s, t = %g ... %.9g s, computed in %.3g s", outcome(r),
             r->def.t_start, s.t, r->wall);
    cli_print_text(out, cli_input_name(&r->input));
    fprintf(out, "%s\n", line);
    if (r->rows == 0) return; /* it did not start: there are no numbers */
    fprintf(out, "  steps        %ld, %ld rejected", steps_accepted(&s), steps_rejected(&s));
    if (s.control.third_order) fprintf(out, ", %ld of third order", s.control.third_order);
    if (s.control.step_max > 0)
        fprintf(out, ", size %.3g ... %.3g s", s.control.step_min, s.control.step_max);
    if (s.control.events) fprintf(out, ", %ld events", s.control.events);
    fprintf(out, "\n  Newton       %ld iterations, %ld factorizations, %ld evaluations",
            s.statistics.iterations, s.statistics.factorizations, s.statistics.evaluations);
    fprintf(out,
            "\n  energy       kinetic %.6g, potential %.6g, dissipated %.6g, work %.6g J\n",
            shown(e->kinetic, &s), shown(e->potential, &s), shown(e->dissipated, &s),
            shown(e->work, &s));
    fprintf(out, "               energy balance error at most %.2g J", s.energy_drift_max);
    if (s.energy_scale > s.energy_round_off)
        fprintf(out, " (%.2g of %.3g J)", s.energy_drift_max / s.energy_scale, s.energy_scale);
    fprintf(out, "\n  constraints  residuals at most %.2g (position), %.2g (velocity)\n",
            s.statistics.position_residual_max, s.statistics.velocity_residual_max);
    cli_warnings_sum_up(out, r->sim);
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
    return r->caught ? "stopped by a signal" : "";
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
        if (is_wanted(r, k)) cli_json_text(&json, NULL, written(r, k));
    if (has_page(r)) cli_json_text(&json, NULL, r->page);
    cli_json_end_list(&json);
    cli_warnings_json(&json, r->sim);
    if (r->status != GA_OK)
        cli_failure_json(&json,
                         &(cli_failure){r->sim, &r->def, &r->report, r->input.path, false});
    cli_json_end_object(&json);
}

/* --- the command -------------------------------------------------------------------------- */

/* What a run that did not finish has left. */
static void tell_parts(const run *r)
{
    const char *first = NULL, *second = NULL;
    for (int k = FILES - 1; k >= 0; --k) {
        const bool left = is_wanted(r, k) && !r->file[k].complete;
        const char *part = left ? r->file[k].part : NULL;
        if (part && first) second = part;
        if (part && !first) first = part;
    }
    char rows[48] = "";
    if (r->write_status == GA_OK) snprintf(rows, sizeof rows, ", %ld rows,", r->rows);
    if (first)
        cli_error("  results up to that time%s are in %s%s%s, readable like any result: "
                  "galpha info %s",
                  rows, first, second ? " and " : "", second ? second : "", first);
}

static void tell(const run *r)
{
    if (!r->quiet) cli_warnings_print(r->sim);
    if (r->input.json)
        print_json(r);
    else if (!r->quiet && !is_over(r))
        print_summary(r);
    cli_flush(); /* before what follows, where both go to one place */
    if (r->write_status != GA_OK)
        cli_error("%s", r->write_report.message);
    else if (r->status != GA_OK)
        cli_failure_print(&(cli_failure){r->sim, &r->def, &r->report, r->input.path, false});
    else if (r->caught)
        cli_error("stopped at t = %.9g s of %.9g s", ga_sim_get_summary(r->sim).t,
                  r->def.t_end);
    tell_parts(r);
}

static int exit_code(const run *r)
{
    if (r->write_status != GA_OK) return cli_exit_code(r->write_status);
    if (r->status != GA_OK) return cli_exit_code(r->status);
    return r->caught ? EXIT_SIGNAL + r->caught : r->page_code;
}

/* The simulation as the model asks for it. */
static ga_status create(run *r, ga_report *report)
{
    r->def = ga_sim_def_of(r->input.model);
    if (isnan(r->def.t_end)) {
        snprintf(report->message, sizeof report->message,
                 "the model has no end time: add `simulate: {t_end: ...}`");
        return GA_ERR_INPUT;
    }
    r->def.output = output;
    if (!r->file[CSV].path && !r->file[HDF5].path) /* the end is all that is shown */
        r->def.output_every = r->def.t_end - r->def.t_start;
    r->def.progress = step;
    r->def.user = r;
    r->def.motion = r->page != NULL;
    return ga_sim_create(r->input.model, &r->def, &r->sim, r->input.messages, report);
}

static int simulate(run *r)
{
    ga_report report;
    ga_status status = create(r, &report);
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
        r->caught = cli_interrupt_caught();
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
            if (paths[i] && paths[k] && !is_stdout(paths[k]) &&
                cli_same_file(paths[i], paths[k])) {
                cli_error("%s would be overwritten by results", paths[k]);
                return EXIT_INPUT;
            }
    return EXIT_DONE;
}

/* What cannot be had together. */
static int check_options(const cli_arguments *arguments)
{
    const bool to_stdout = is_stdout(cli_value(arguments, "csv"));
    const char *wrong = NULL;
    if (cli_given(arguments, "no-results") && cli_given(arguments, "output"))
        wrong = "give either --no-results or -o, not both";
    else if (to_stdout && cli_given(arguments, "json"))
        wrong = "--json and --csv - would both write to standard output";
    else if (is_stdout(cli_value(arguments, "output")))
        wrong = "HDF5 cannot go to standard output; --csv - writes results there";
    else if (is_stdout(cli_value(arguments, "view")))
        wrong = "a page cannot go to standard output; give --view the name of a file";
    if (wrong) cli_error("run: %s", wrong);
    return wrong ? EXIT_INPUT : EXIT_DONE;
}

/* dir/top.yaml becomes top.h5, in the current folder; standard input model.h5. */
static char *default_path(const char *model)
{
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    if (strcmp(model, "-") == 0 || !*name) name = "model";
    const char *dot = strrchr(name, '.');
    const size_t stem = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *path = malloc(stem + sizeof ".h5");
    if (path) snprintf(path, stem + sizeof ".h5", "%.*s.h5", (int)stem, name);
    return path;
}

/* A page is made from an HDF5 result. Where that is not wanted, there is one beside the page
 * until it is done. */
static char *temporary_path(const char *page)
{
    const size_t size = strlen(page) + 32;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s.%ld.h5", page, (long)getpid());
    return path;
}

/* Before the run rather than after it: is there a viewer, and a folder for the page? */
static int check_page(const char *page)
{
    const int code = cli_page_check();
    if (code != EXIT_DONE) return code;
    const char *slash = strrchr(page, '/');
    char *folder = copy(slash ? page : ".");
    if (!folder) return cli_out_of_memory();
    if (slash) folder[slash == page ? 1 : slash - page] = '\0';
    const bool good = access(folder, W_OK) == 0;
    if (!good) cli_error("%s: %s", page, strerror(errno));
    free(folder);
    return good ? EXIT_DONE : EXIT_FILES;
}

static int choose_files(run *r, const cli_arguments *arguments)
{
    r->file[CSV].path = cli_value(arguments, "csv");
    r->file[HDF5].path = cli_value(arguments, "output");
    r->page = cli_value(arguments, "view");
    r->out = is_stdout(r->file[CSV].path) ? stderr : stdout;
    const int code = r->page ? check_page(r->page) : EXIT_DONE;
    if (code != EXIT_DONE || r->file[HDF5].path) return code;
    const bool wanted = !cli_given(arguments, "no-results") && !is_stdout(r->file[CSV].path);
    r->only_for_page = !wanted;
    if (!wanted && !r->page) return EXIT_DONE;
    r->own_path = wanted ? default_path(r->input.path) : temporary_path(r->page);
    r->file[HDF5].path = r->own_path;
    return r->own_path ? EXIT_DONE : cli_out_of_memory();
}

static void remove_files(run *r)
{
    if (r->only_for_page && r->own_path) {
        unlink(r->own_path);
        if (r->file[HDF5].part) unlink(r->file[HDF5].part);
    }
    for (int k = 0; k < FILES; ++k) free(r->file[k].part);
    free(r->own_path);
    free(r->page_of_part);
}

static int run_command(const cli_arguments *arguments)
{
    run r = {.quiet = cli_given(arguments, "quiet"), .input.path = arguments->operands[0]};
    int code = check_options(arguments);
    if (code == EXIT_DONE) code = choose_files(&r, arguments);
    if (code == EXIT_DONE) code = check_paths(&r);
    if (code == EXIT_DONE) {
        code = cli_input_read(&r.input, arguments);
        if (code == EXIT_DONE) code = simulate(&r);
        ga_sim_destroy(r.sim);
        cli_input_free(&r.input);
    }
    remove_files(&r);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "write results to FILE (HDF5); default: MODEL.h5"},
    {"csv", 0, "FILE", "write results to FILE (CSV); -: standard output"},
    {"no-results", 0, NULL, "write no HDF5 file"},
    {"view", 0, "FILE", "write an interactive HTML page of the run to FILE"},
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
        "MODEL is a model file, or - for standard input, whose results go to model.h5. By\n"
        "default results go to the current folder, under the name of the model file. --set "
        "may\n"
        "be repeated. With --view, the results also hold the positions and rotations of all\n"
        "bodies and solver.step, whatever output.channels says.\n"
        "Results are written to FILE.part, which is renamed to FILE when the run is done; a\n"
        "run that fails or is stopped leaves FILE.part and does not touch FILE. With --csv -,\n"
        "no HDF5 file is written unless -o is given, and the summary goes to stderr.\n"
        "Otherwise the summary goes to stdout; progress, warnings and errors go to stderr.\n"
        "Ctrl-C finishes the step and closes the files; a second Ctrl-C stops at once.\n"
        "\n"
        "Exit codes: 0 done, 1 the computation failed, 2 bad input or usage, 3 a file\n"
        "cannot be read or written, 130 stopped by Ctrl-C.\n",
    .options = options,
    .run = run_command,
};
