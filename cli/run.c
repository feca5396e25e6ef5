/* galpha run: simulates a model, writes results, sums up. */
#define _POSIX_C_SOURCE 200809L

#include "cli/run.h"
#include "cli/content.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/text.h"
#include "cli/warnings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* --- while it runs ------------------------------------------------------------------------ */

/* Runs with checkpoints are stopped between two steps. */
static ga_eval go_on(const cli_run_state *r)
{
    return cli_interrupt_caught() && !r->checkpoint ? GA_EVAL_FATAL : GA_EVAL_OK;
}

/* Of writing file k. A closed pipe is no error: whoever read it has seen enough. */
static void note_write(cli_run_state *r, int k, ga_status status, const ga_report *report)
{
    if (status == GA_OK || r->write_status != GA_OK) return;
    if (cli_is_stdout(r->file[k].path) && strstr(report->message, strerror(EPIPE))) {
        r->deserted = true;
        return;
    }
    r->write_status = status;
    r->write_report = *report;
}

/* Nobody wants to see more. */
static bool is_over(const cli_run_state *r) { return r->deserted && !r->file[CLI_HDF5].path; }

static ga_eval output(void *user, const ga_sim *sim)
{
    cli_run_state *r = user;
    for (int k = 0; k < CLI_FILES; ++k) {
        ga_report report;
        if (!r->file[k].result || (r->deserted && cli_is_stdout(r->file[k].path))) continue;
        note_write(
            r, k,
            ga_result_write(r->file[k].result, ga_sim_time(sim), ga_sim_values(sim), &report),
            &report);
    }
    if (r->write_status != GA_OK || is_over(r)) return GA_EVAL_FATAL;
    ++r->rows;
    ga_result_sums_add(&r->sums, ga_sim_time(sim), ga_sim_values(sim), ga_sim_value_count(sim));
    return go_on(r);
}

/* In a long run warnings do not wait for the end: they may be the reason why it is long. */
static void warn_early(cli_run_state *r, const ga_sim *sim)
{
    static const double long_run = 5; /* s */
    if (r->quiet || !ga_sim_get_warning(sim, r->told).code) return;
    if (cli_clock() - r->progress.began < long_run) return;
    cli_progress_clear(&r->progress);
    r->told = cli_warnings_print(sim, r->told);
}

/* Rows are not to wait in memory while the next step is computed. */
static void tick(cli_run_state *r)
{
    for (int k = 0; k < CLI_FILES; ++k) {
        ga_report report;
        if (r->file[k].result)
            note_write(r, k, ga_result_tick(r->file[k].result, &report), &report);
    }
}

/* What a step gives at its end may itself take long: a tick before it, and in pause_run. */
static ga_eval step(void *user, const ga_sim *sim)
{
    cli_run_state *r = user;
    tick(r);
    if (r->write_status != GA_OK) return GA_EVAL_FATAL;
    cli_progress_update(&r->progress, ga_sim_time(sim), ga_sim_step_size(sim));
    warn_early(r, sim);
    return go_on(r);
}

/* --- checkpoints -------------------------------------------------------------------------- */

/* The rows it counts are in the files first. A checkpoint that cannot be written is no reason
 * to stop; the one before is still there. */
static void write_checkpoint(cli_run_state *r)
{
    const ga_status before = r->checkpoint_status;
    for (int k = 0; k < CLI_FILES; ++k) {
        ga_report report;
        if (r->file[k].result)
            note_write(r, k, ga_result_flush(r->file[k].result, &report), &report);
    }
    if (r->write_status != GA_OK) return;
    r->note.rows = r->rows;
    r->note.sums = r->sums;
    if (r->other_channels) r->note.sums.values = 0;
    r->note.channels = cli_channels_sum(r->sim);
    r->checkpoint_status =
        cli_checkpoint_write(r->checkpoint, r->sim, &r->note, &r->checkpoint_report);
    if (r->checkpoint_status != GA_OK && before == GA_OK)
        cli_error("%s; the run continues", r->checkpoint_report.message);
}

static ga_eval pause_run(void *user, const ga_sim *sim)
{
    cli_run_state *r = user;
    (void)sim;
    tick(r);
    if (!r->checkpoint) return r->write_status == GA_OK ? GA_EVAL_OK : GA_EVAL_FATAL;
    const bool caught = cli_interrupt_caught();
    if (!caught && cli_clock() < r->checkpoint_next) return GA_EVAL_OK;
    write_checkpoint(r);
    r->checkpoint_next = cli_clock() + r->note.every;
    return caught || r->write_status != GA_OK ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static char *note_path(cli_run_state *r, int k, const char *path)
{
    free(r->absolute[k]);
    return r->absolute[k] = path ? cli_absolute(path) : NULL;
}

static int read_every(cli_run_state *r, const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "checkpoint-every");
    if (!(r->note.every > 0)) r->note.every = 60;
    if (!text) return EXIT_DONE;
    char *end;
    const double seconds = strtod(text, &end);
    if (*end || end == text || !(seconds > 0 && isfinite(seconds))) {
        cli_error("--checkpoint-every: expected a number of seconds above 0, not `%s`", text);
        return EXIT_INPUT;
    }
    r->note.every = seconds;
    return EXIT_DONE;
}

/* Told before the run rather than when the first checkpoint is due. */
static int check_checkpoint(const char *path)
{
    struct stat about;
    const char *slash = strrchr(path, '/');
    const bool exists = stat(path, &about) == 0;
    char folder[4096] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path);
    if (exists && !S_ISREG(about.st_mode)) {
        cli_error("%s: %s: a checkpoint is a file", path,
                  S_ISDIR(about.st_mode) ? "is a folder" : "is not a regular file");
    } else if (exists && about.st_size > 0 && cli_content_of(path) != CLI_CONTENT_CHECKPOINT) {
        cli_error(
            "%s: this file is not a checkpoint and would be overwritten; give --checkpoint "
            "another name",
            path);
        return EXIT_INPUT;
    } else if (access(exists ? path : folder, W_OK) != 0) {
        cli_error("%s: no checkpoint can be written: %s", path, strerror(errno));
    } else {
        return EXIT_DONE;
    }
    return EXIT_FILES;
}

int cli_run_prepare_checkpoints(cli_run_state *r, const cli_arguments *arguments)
{
    const int code = read_every(r, arguments);
    if (code != EXIT_DONE) return code;
    if (!r->checkpoint) {
        if (!cli_given(arguments, "checkpoint-every")) return EXIT_DONE;
        cli_error("--checkpoint-every needs --checkpoint");
        return EXIT_INPUT;
    }
    if (r->page && (r->only_for_page || !r->file[CLI_HDF5].path)) {
        cli_error("a page of a run with checkpoints needs the HDF5 result: leave out "
                  "--no-results, or give -o");
        return EXIT_INPUT;
    }
    const int checked = r->state ? EXIT_DONE : check_checkpoint(r->checkpoint);
    if (checked != EXIT_DONE) return checked;
    const char *csv = r->file[CLI_CSV].path, *h5 = r->file[CLI_HDF5].path;
    r->note.csv = cli_is_stdout(csv) ? csv : note_path(r, 0, csv);
    r->note.output = note_path(r, 1, h5);
    r->note.page = note_path(r, 2, r->page);
    const bool memory = !csv == !r->note.csv && !h5 == !r->note.output;
    return memory ? EXIT_DONE : cli_out_of_memory();
}

/* --- files -------------------------------------------------------------------------------- */

static char *copy(const char *text)
{
    char *own = malloc(strlen(text) + 1);
    return own ? strcpy(own, text) : NULL;
}

/* A result that goes on where an earlier one ended. One whose rows cannot be taken over is
 * left as it is: GA_ERR_INPUT. */
static void take_rows(cli_run_state *r, int k, ga_result_format format,
                      const ga_result_def *def)
{
    ga_report report;
    const char *path = r->file[k].path;
    ga_result_sums sums = r->sums;
    if (r->other_channels) sums.values = 0;
    const ga_status status = ga_result_create_after(
        path, format, def, r->earlier[k], (size_t)r->rows, &sums, &r->file[k].result, &report);
    note_write(r, k, status, &report);
    if (status != GA_ERR_INPUT) return;
    cli_error("the rows before t = %.9g s cannot be kept: %s", ga_sim_time(r->sim),
              report.message);
    if (r->page_added)
        cli_error("  resume without --view; `galpha view %s` makes a page afterwards", path);
    else
        cli_error("  resume with the original output.channels, or move that file away: the "
                  "results then begin at this time");
}

/* Rows that an interrupted `resume` had set aside. They belong to an earlier run: a checkpoint
 * of this one must not find them. */
static void remove_set_aside(const cli_run_state *r, const char *path)
{
    char *name = malloc(strlen(path) + sizeof ".before");
    if (!name) return;
    strcat(strcpy(name, path), ".before");
    if (r->checkpoint && !r->state) unlink(name);
    free(name);
}

/* What an interrupted run leaves is beside the file, not beside a link to it: there a resume
 * has to look. */
static void note_part(cli_run_state *r, int k)
{
    static const char ending[] = ".part";
    const char *part = ga_result_path(r->file[k].result);
    const size_t n = strlen(part), m = sizeof ending - 1;
    r->file[k].part = copy(part);
    char *path = copy(part);
    if (!path || n <= m || strcmp(part + n - m, ending) != 0) {
        free(path);
        return;
    }
    path[n - m] = '\0';
    remove_set_aside(r, path);
    *(k == CLI_CSV ? &r->note.csv : &r->note.output) = note_path(r, k, path);
    free(path);
}

static ga_status open_files(cli_run_state *r, const ga_channel *channels, const char *scene)
{
    static const ga_result_format formats[CLI_FILES] = {GA_RESULT_CSV, GA_RESULT_HDF5};
    ga_result_def def = ga_result_def_default();
    def.channel_count = ga_sim_channel_count(r->sim);
    def.channels = channels;
    def.model_text = ga_model_text(r->input.model);
    def.scene = scene;
    if (r->state) cli_run_find_earlier(r);
    const long taken = r->rows;
    for (int k = 0; k < CLI_FILES && r->write_status == GA_OK; ++k) {
        ga_report report;
        const char *path = r->file[k].path;
        if (!path) continue;
        def.descriptor = cli_is_stdout(path) ? STDOUT_FILENO : 0;
        const bool takes = taken > 0 && !def.descriptor;
        r->file[k].lacks = takes ? 0 : taken;
        r->file[k].begin = r->state && !takes ? ga_sim_time(r->sim) : r->def.t_start;
        if (takes)
            take_rows(r, k, formats[k], &def);
        else
            note_write(r, k,
                       ga_result_create_with(def.descriptor ? "standard output" : path,
                                             formats[k], &def, &r->file[k].result, &report),
                       &report);
        if (r->file[k].result && !def.descriptor) note_part(r, k);
    }
    return r->write_status;
}

static bool is_done(const cli_run_state *r)
{
    return r->write_status == GA_OK && r->status == GA_OK && !r->caught;
}

/* --- expected size ----------------------------------------------------------------------- */

static const double gigabyte = 1e9;
/* HDF5 holds doubles; CSV up to 17 digits, sign, point, exponent, comma. */
static double bytes_of_number(int file) { return file == CLI_HDF5 ? 8 : 20; }

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
static void announce_size(const cli_run_state *r)
{
    const double spacing = r->def.output_every > 0 ? r->def.output_every : r->def.step;
    if (!(spacing > 0) || !isfinite(r->def.t_end)) return;
    const double rows = floor((r->def.t_end - r->def.t_start) / spacing) + 1;
    double numbers = 1;
    for (int k = 0; k < ga_sim_channel_count(r->sim); ++k)
        numbers += ga_sim_get_channel(r->sim, k).count;
    for (int k = 0; k < CLI_FILES; ++k) {
        struct stat about;
        if (!r->file[k].path || !strcmp(r->file[k].path, "-")) continue;
        if (stat(r->file[k].path, &about) == 0 && !S_ISREG(about.st_mode)) continue;
        const double bytes = rows * numbers * bytes_of_number(k);
        const double room = free_space(r->file[k].path);
        if (bytes <= gigabyte && bytes <= room) continue;
        char more[80] = "";
        if (bytes > room)
            snprintf(more, sizeof more, ", but only %.3g GB is free there", room / gigabyte);
        cli_error("warning: %s will take about %.3g GB (%.3g rows of %.0f numbers)%s; a larger "
                  "output.every or fewer output.channels would reduce it",
                  r->file[k].path, bytes / gigabyte, rows, numbers, more);
    }
}

/* What a result file knows about the run. */
static void close_files(cli_run_state *r)
{
    const ga_sim_summary s = ga_sim_get_summary(r->sim);
    const ga_sim_def *def = &r->def;
    /* auto takes generalized-alpha with these where it chooses it */
    const bool family = def->integrator.method == GA_METHOD_GENERALIZED_ALPHA ||
                        def->integrator.method == GA_METHOD_AUTO;
    const ga_coefficients none = GA_COEFFICIENTS(0, 0, 0, 0);
    const ga_coefficients *method = family ? &def->integrator.coefficients : &none;
    const ga_attribute attributes[] = {
        GA_ATTRIBUTE_TEXT("version", ga_version()),
        GA_ATTRIBUTE_TEXT("model", cli_input_name(&r->input)),
        GA_ATTRIBUTE_TEXT("status", cli_run_outcome(r)),
        GA_ATTRIBUTE_TEXT("message", r->status == GA_OK ? "" : r->report.message),
        GA_ATTRIBUTE_TEXT("method", cli_method_name(def->integrator.method)),
        GA_ATTRIBUTE_TEXT("formulation",
                          family ? cli_formulation(def->integrator.formulation) : "none"),
        GA_ATTRIBUTE_TEXT("kinematics", def->kinematics == GA_KINEMATICS_SE3 ? "se3" : "r3so3"),
        GA_ATTRIBUTE("alpha_m", method->alpha_m),
        GA_ATTRIBUTE("alpha_f", method->alpha_f),
        GA_ATTRIBUTE("beta", method->beta),
        GA_ATTRIBUTE("gamma", method->gamma),
        GA_ATTRIBUTE("step", def->step),
        GA_ATTRIBUTE("tolerance_relative", def->control.relative),
        GA_ATTRIBUTE("tolerance_absolute", def->control.absolute_translation),
        GA_ATTRIBUTE("t_start", def->t_start),
        GA_ATTRIBUTE("t_end", s.t),
        GA_ATTRIBUTE("steps_accepted", (double)cli_steps_accepted(&s)),
        GA_ATTRIBUTE("steps_rejected", (double)cli_steps_rejected(&s)),
        GA_ATTRIBUTE("newton_iterations", (double)s.statistics.iterations),
        GA_ATTRIBUTE("factorizations", (double)s.statistics.factorizations),
        GA_ATTRIBUTE("evaluations", (double)s.statistics.evaluations),
        GA_ATTRIBUTE("energy_drift_max", s.energy_drift_max),
        GA_ATTRIBUTE("position_residual_max", s.statistics.position_residual_max),
        GA_ATTRIBUTE("velocity_residual_max", s.statistics.velocity_residual_max),
        GA_ATTRIBUTE("wall_seconds", r->wall),
        {0},
    };
    for (int k = 0; k < CLI_FILES; ++k) {
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

/* --- page --------------------------------------------------------------------------------- */

/* What was computed is shown, also if that is not all; but then the page has another name, so
 * that it does not replace that of a run that finished: top.html becomes top.part.html, which
 * is of no use once the run is done. */
static int name_page(cli_run_state *r)
{
    const char *dot = strrchr(r->page, '.'), *slash = strrchr(r->page, '/');
    const size_t size = strlen(r->page) + sizeof ".part";
    const size_t stem =
        dot && dot > r->page && (!slash || dot > slash + 1) ? (size_t)(dot - r->page) : size;
    if (!(r->page_of_part = malloc(size))) return cli_out_of_memory();
    snprintf(r->page_of_part, size, "%.*s.part%s", (int)stem, r->page, stem < size ? dot : "");
    if (!is_done(r)) r->page = r->page_of_part;
    return EXIT_DONE;
}

static void write_page(cli_run_state *r)
{
    if (!r->page || r->rows == 0 || r->write_status != GA_OK) return;
    if ((r->page_code = name_page(r)) != EXIT_DONE) return;
    const char *result = cli_run_written(r, CLI_HDF5);
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
    if (r->page_code == EXIT_DONE && is_done(r) && r->state) unlink(r->page_of_part);
}

/* --- the command -------------------------------------------------------------------------- */

/* What a run that did not finish has left. */
static void tell_parts(const cli_run_state *r)
{
    const char *first = NULL, *second = NULL;
    for (int k = CLI_FILES - 1; k >= 0; --k) {
        const bool left = cli_run_is_wanted(r, k) && !r->file[k].complete;
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

static bool is_saved(const cli_run_state *r)
{
    return r->checkpoint && r->checkpoint_status == GA_OK;
}

static void tell(const cli_run_state *r)
{
    if (!r->quiet) cli_warnings_print(r->sim, r->told);
    if (r->input.json)
        cli_run_print_json(r);
    else if (!r->quiet && !is_over(r) && (r->rows > 0 || r->write_status == GA_OK))
        cli_run_print_summary(r);
    cli_flush(); /* before what follows, where both go to one place */
    if (r->write_status != GA_OK)
        cli_error("%s", r->write_report.message);
    else if (r->status != GA_OK)
        cli_failure_print(&(cli_failure){
            .sim = r->sim, .def = &r->def, .report = &r->report, .path = r->input.path});
    else if (r->caught)
        cli_error("stopped at t = %.9g s of %.9g s%s%s", ga_sim_get_summary(r->sim).t,
                  r->def.t_end, is_saved(r) ? "; to continue: galpha resume " : "",
                  is_saved(r) ? r->checkpoint : "");
    tell_parts(r);
}

static int exit_code(const cli_run_state *r)
{
    if (r->write_status != GA_OK) return cli_exit_code(r->write_status);
    if (r->status != GA_OK) return cli_exit_code(r->status);
    if (r->checkpoint && r->checkpoint_status != GA_OK)
        return cli_exit_code(r->checkpoint_status);
    return r->caught ? EXIT_SIGNAL + r->caught : r->page_code;
}

/* The simulation as the model asks for it. */
static ga_status create(cli_run_state *r, ga_report *report)
{
    r->def = ga_sim_def_of(r->input.model);
    if (isnan(r->def.t_end)) {
        snprintf(report->message, sizeof report->message,
                 "the model has no end time: add `simulate: {t_end: ...}`");
        return GA_ERR_INPUT;
    }
    if (isfinite(r->note.t_end) && r->state) r->def.t_end = r->note.t_end;
    r->note.t_end = r->def.t_end;
    r->def.output = output;
    r->def.pause = pause_run;
    if (!r->file[CLI_CSV].path && !r->file[CLI_HDF5].path) /* the end is all that is shown */
        r->def.output_every = r->def.t_end - r->def.t_start;
    r->def.progress = step;
    r->def.user = r;
    r->def.motion = r->page != NULL;
    return ga_sim_create(r->input.model, &r->def, &r->sim, r->input.messages, report);
}

/* What a checkpoint left, before any file is touched. */
static int load(cli_run_state *r)
{
    ga_report report;
    if (!r->state) return EXIT_DONE;
    const ga_status status = ga_checkpoint_load(r->state, r->sim, &report);
    if (status != GA_OK) {
        cli_error("%s: %s", r->checkpoint, report.message);
        return cli_exit_code(status);
    }
    if (ga_sim_is_over(r->sim)) {
        cli_error("%s: the run ended at t = %.9g s; --t-end T continues it to a later time",
                  r->checkpoint, ga_sim_time(r->sim));
        return EXIT_INPUT;
    }
    r->rows = r->earlier_rows;
    r->sums = r->earlier_sums;
    r->other_channels = !r->sums.values || r->earlier_channels != cli_channels_sum(r->sim);
    return EXIT_DONE;
}

/* Can it be saved at all? To be known before hours have passed. */
static ga_status check_save(const cli_run_state *r, ga_report *report)
{
    if (!r->checkpoint) return GA_OK;
    const size_t size = ga_sim_save_size(r->sim);
    void *bytes = malloc(size);
    if (!bytes) return GA_ERR_MEMORY;
    const ga_status status = ga_sim_save(r->sim, bytes, size, report);
    free(bytes);
    return status;
}

int cli_run_simulate(cli_run_state *r)
{
    ga_report report;
    ga_status status = create(r, &report);
    if (status == GA_OK) status = check_save(r, &report);
    if (status != GA_OK) return cli_input_refuse(&r->input, status, &report);
    cli_input_print_messages(&r->input);
    const int code = load(r);
    if (code != EXIT_DONE) return code;

    announce_size(r);
    const int count = ga_sim_channel_count(r->sim);
    ga_channel *channels = calloc((size_t)count + 1, sizeof *channels);
    if (!channels) return cli_out_of_memory();
    for (int k = 0; k < count; ++k) channels[k] = ga_sim_get_channel(r->sim, k);
    cli_interrupt_watch(); /* from here on there are files to close */
    char *scene = r->file[CLI_HDF5].path ? ga_model_scene(r->input.model) : NULL;
    if (r->file[CLI_HDF5].path && !scene) {
        free(channels);
        return cli_out_of_memory();
    }
    status = open_files(r, channels, scene);
    ga_text_free(scene);
    free(channels);
    if (status == GA_ERR_INPUT) { /* before anything was computed */
        close_files(r);
        return EXIT_INPUT;
    }
    if (status == GA_OK) {
        r->progress = cli_progress_begin(!r->quiet, r->def.t_start, r->def.t_end);
        r->began = cli_clock();
        r->checkpoint_next = r->began + r->note.every;
        r->status =
            r->state ? ga_sim_continue(r->sim, &r->report) : ga_sim_run(r->sim, &r->report);
        r->wall = cli_clock() - r->began;
        r->caught = r->checkpoint && ga_sim_is_over(r->sim) ? 0 : cli_interrupt_caught();
        cli_progress_end(&r->progress);
    }
    close_files(r);
    /* Not before the results have their names: killed in between, the run is done once more
     * from the checkpoint before. */
    if (r->checkpoint && is_done(r) && ga_sim_is_over(r->sim)) write_checkpoint(r);
    write_page(r);
    tell(r);
    return exit_code(r);
}

/* Is the first where the second is written until it is complete? */
static bool is_part_of(const char *path, const char *result)
{
    const size_t size = strlen(result) + sizeof ".part";
    char *part = malloc(size);
    if (part) snprintf(part, size, "%s.part", result);
    const bool same = part && cli_same_file(path, part);
    free(part);
    return same;
}

/* A model or a checkpoint is hardly what results are to replace. */
static bool is_precious(const char *path)
{
    if (!path || cli_is_stdout(path)) return false;
    const cli_content content = cli_content_of(path);
    if (content != CLI_CONTENT_MODEL && content != CLI_CONTENT_CHECKPOINT) return false;
    cli_error("%s: this is a %s, which would be overwritten by results", path,
              content == CLI_CONTENT_MODEL ? "model" : "checkpoint");
    return true;
}

/* Two outputs in one file, or an output in place of the model, are slips. */
static int check_paths(const cli_run_state *r)
{
    enum { PATHS = 5 };
    const char *paths[PATHS] = {r->input.path, r->file[CLI_CSV].path, r->file[CLI_HDF5].path,
                                r->page, r->checkpoint};
    for (int i = 0; i < PATHS; ++i)
        for (int k = i + 1; k < PATHS; ++k)
            if (paths[i] && paths[k] && !cli_is_stdout(paths[k]) &&
                cli_same_file(paths[i], paths[k])) {
                ga_report report;
                if (i == 0 && !cli_expect_model(paths[i], &report))
                    cli_error("%s: %s", paths[i], report.message);
                else
                    cli_error("%s would be overwritten by results", paths[k]);
                return EXIT_INPUT;
            }
    for (int i = 1; i < PATHS - 1; ++i)
        if (is_precious(paths[i])) return EXIT_INPUT;
    for (int k = 0; k < CLI_FILES; ++k)
        if (r->checkpoint && r->file[k].path && is_part_of(r->checkpoint, r->file[k].path)) {
            cli_error("%s would be overwritten by results", r->checkpoint);
            return EXIT_INPUT;
        }
    return EXIT_DONE;
}

/* A pipe or a device, such as /dev/null. */
static bool is_device(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

static bool is_named_csv(const char *path)
{
    const size_t n = strlen(path);
    return n >= 4 && strcasecmp(path + n - 4, ".csv") == 0;
}

/* What cannot be had together. */
int cli_run_check_options(const char *command, const cli_arguments *arguments)
{
    const bool to_stdout = cli_is_stdout(cli_value(arguments, "csv"));
    const char *wrong = NULL;
    if (cli_given(arguments, "no-results") && cli_given(arguments, "output"))
        wrong = "give either --no-results or -o, not both";
    else if (to_stdout && cli_given(arguments, "json"))
        wrong = "--json and --csv - would both write to standard output";
    else if (cli_is_stdout(cli_value(arguments, "output")))
        wrong = "HDF5 cannot go to standard output; --csv - writes results there";
    else if (cli_is_stdout(cli_value(arguments, "view")))
        wrong = "a page cannot go to standard output; give --view the name of a file";
    else if (cli_is_stdout(cli_value(arguments, "checkpoint")))
        wrong =
            "a checkpoint cannot go to standard output; give --checkpoint the name of a file";
    if (wrong) cli_error("%s: %s", command, wrong);
    const char *output = cli_value(arguments, "output");
    if (!wrong && output && is_named_csv(output)) {
        wrong = output;
        cli_error("%s: -o writes HDF5; for CSV, use --csv %s", command, output);
    }
    if (!wrong && output && is_device(output)) {
        wrong = output;
        cli_error("%s: HDF5 cannot be written to %s, which is no regular file; --no-results "
                  "writes none, --csv writes to pipes",
                  command, output);
    }
    const char *page = cli_value(arguments, "view");
    return wrong || (page && !cli_page_is_name(page)) ? EXIT_INPUT : EXIT_DONE;
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

int cli_run_choose_files(cli_run_state *r, const cli_arguments *arguments)
{
    r->file[CLI_CSV].path = cli_value(arguments, "csv");
    r->file[CLI_HDF5].path = cli_value(arguments, "output");
    r->page = cli_value(arguments, "view");
    r->out = cli_is_stdout(r->file[CLI_CSV].path) ? stderr : stdout;
    const int code = r->page ? check_page(r->page) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    if (r->file[CLI_HDF5].path) return check_paths(r);
    const bool wanted =
        !cli_given(arguments, "no-results") && !cli_is_stdout(r->file[CLI_CSV].path);
    r->only_for_page = !wanted;
    if (!wanted && !r->page) return check_paths(r);
    r->own_path = wanted ? default_path(r->input.path) : temporary_path(r->page);
    r->file[CLI_HDF5].path = r->own_path;
    r->replaces =
        wanted && cli_is_stdout(r->input.path) && r->own_path && access(r->own_path, F_OK) == 0;
    return r->own_path ? check_paths(r) : cli_out_of_memory();
}

void cli_run_free(cli_run_state *r)
{
    ga_sim_destroy(r->sim);
    cli_input_free(&r->input);
    if (r->only_for_page && r->own_path) {
        unlink(r->own_path);
        if (r->file[CLI_HDF5].part) unlink(r->file[CLI_HDF5].part);
    }
    for (int k = 0; k < CLI_FILES; ++k) free(r->file[k].part);
    for (int k = 0; k < 4; ++k) free(r->absolute[k]);
    free(r->own_path);
    free(r->page_of_part);
}

/* What `resume` needs to read the model again. */
static int note_model(cli_run_state *r, const cli_arguments *arguments)
{
    if (!r->checkpoint) return EXIT_DONE;
    const char *path = arguments->operands[0];
    r->note.include_anywhere = cli_given(arguments, "include-anywhere");
    r->note.allow_plugins = cli_given(arguments, "allow-plugins");
    r->note.set = calloc((size_t)arguments->given_count + 1, sizeof *r->note.set);
    if (!r->note.set) return cli_out_of_memory();
    r->note.set_count = cli_input_set(arguments, r->note.set);
    r->note.model_text = r->input.text;
    r->note.model = r->input.text ? "<stdin>" : note_path(r, 3, path);
    return r->note.model ? EXIT_DONE : cli_out_of_memory();
}

static int run_command(const cli_arguments *arguments)
{
    cli_run_state r = {.quiet = cli_given(arguments, "quiet"),
                       .sums = ga_result_sums_none(),
                       .input.path = arguments->operands[0],
                       .checkpoint = cli_value(arguments, "checkpoint")};
    int code = cli_run_check_options("run", arguments);
    if (code == EXIT_DONE) code = cli_run_choose_files(&r, arguments);
    if (code == EXIT_DONE) code = cli_run_prepare_checkpoints(&r, arguments);
    if (code == EXIT_DONE) code = cli_input_read(&r.input, arguments);
    if (code == EXIT_DONE) code = note_model(&r, arguments);
    if (code == EXIT_DONE) code = cli_run_simulate(&r);
    cli_run_free(&r);
    free(r.note.set);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "write results to FILE (HDF5); default: MODEL.h5"},
    CLI_RUN_OPTIONS,
    {"checkpoint", 0, "FILE", "save the state to FILE from time to time, for galpha resume"},
    {"checkpoint-every", 0, "SECONDS", "how often; default: 60"},
    CLI_INPUT_OPTIONS,
    CLI_JSON_OPTION,
    {"quiet", 'q', NULL, "print errors only: no progress, no summary, no warnings"},
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
        "With --checkpoint, the state is saved to FILE every minute, when the run is stopped\n"
        "by Ctrl-C or SIGTERM, and at its end; `galpha resume FILE` continues from\n"
        "there, bit for bit.\n"
        "\n"
        "Exit codes: 0 done, 1 the computation failed, 2 bad input or usage, 3 a file\n"
        "cannot be read or written, 130 stopped by Ctrl-C, 143 by SIGTERM.\n",
    .options = options,
    .run = run_command,
};
