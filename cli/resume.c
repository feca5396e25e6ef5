/* galpha resume: continues a run from a checkpoint. */
#define _POSIX_C_SOURCE 200809L

#include "cli/run.h"
#include "cli/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A time given on the command line takes the place of the one before. */
static int read_end(cli_note *note, const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "t-end");
    if (!text) return EXIT_DONE;
    char *end;
    note->t_end = strtod(text, &end);
    if (!*end && end != text && isfinite(note->t_end)) return EXIT_DONE;
    cli_error("--t-end: expected a time in seconds, not `%s`", text);
    return EXIT_INPUT;
}

/* Checkpoints have absolute paths; people read shorter ones better. */
static const char *from_here(const char *path)
{
    char folder[4096];
    const size_t size = path && getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    const bool inside = size > 1 && strncmp(path, folder, size) == 0 && path[size] == '/';
    return inside ? path + size + 1 : path;
}

/* Results go where they went before, unless other files are named. */
static void choose_earlier(cli_run_state *r, const cli_note *from, const cli_arguments *given)
{
    const char *csv = from_here(from->csv), *output = from_here(from->output);
    if (!cli_given(given, "csv")) r->file[CLI_CSV].path = csv;
    if (!cli_given(given, "output") && !cli_given(given, "no-results"))
        r->file[CLI_HDF5].path = output;
    if (!cli_given(given, "view")) r->page = from_here(from->page);
    r->page_added = r->page && !from->page;
    if (cli_is_stdout(csv)) csv = NULL;
    r->earlier[CLI_CSV] = csv ? csv : output;
    r->earlier[CLI_HDF5] = output ? output : csv;
    r->earlier_rows = from->rows;
    r->earlier_sums = from->sums;
    r->earlier_channels = from->channels;
    r->out = cli_is_stdout(r->file[CLI_CSV].path) ? stderr : stdout;
}

/* Has a run left results under this name, complete or not? */
static bool is_there(const char *path)
{
    static const char *const endings[] = {"", ".part", ".before"};
    const size_t size = path ? strlen(path) + sizeof ".before" : 0;
    char *name = path ? malloc(size) : NULL;
    bool there = false;
    for (int k = 0; name && k < 3 && !there; ++k) {
        snprintf(name, size, "%s%s", path, endings[k]);
        there = access(name, F_OK) == 0;
    }
    free(name);
    return there;
}

void cli_run_find_earlier(cli_run_state *r)
{
    const char *csv = is_there(r->earlier[CLI_CSV]) ? r->earlier[CLI_CSV] : NULL;
    const char *h5 = is_there(r->earlier[CLI_HDF5]) ? r->earlier[CLI_HDF5] : NULL;
    r->earlier[CLI_CSV] = csv ? csv : h5;
    r->earlier[CLI_HDF5] = h5 ? h5 : csv;
    if (csv || h5) return;
    for (int k = 0; k < CLI_FILES; ++k)
        if (r->rows && r->file[k].path && !cli_is_stdout(r->file[k].path))
            cli_error(
                "warning: %s begins at t = %.9g s: the results of the earlier run are missing",
                r->file[k].path, ga_sim_time(r->sim));
    r->rows = 0;
    r->sums = ga_result_sums_none();
    r->other_channels = false;
}

static int resume(cli_run_state *r, const cli_arguments *arguments)
{
    cli_note *note = &r->note;
    const cli_note from = *note;
    ga_model_options options = ga_model_options_default();
    options.set_count = note->set_count;
    options.set = note->set;
    options.include_anywhere = note->include_anywhere;
    options.allow_plugins = note->allow_plugins;
    int code = read_end(note, arguments);
    if (code == EXIT_DONE) code = cli_run_check_options("resume", arguments);
    if (code == EXIT_DONE) code = cli_run_choose_files(r, arguments);
    if (code != EXIT_DONE) return code;
    r->input.quiet = r->quiet;
    choose_earlier(r, &from, arguments);
    code = cli_run_prepare_checkpoints(r, arguments);
    if (code == EXIT_DONE)
        code = cli_input_load(&r->input, from_here(from.model), from.model_text,
                              cli_given(arguments, "json"), &options);
    return code == EXIT_DONE ? cli_run_simulate(r) : code;
}

static int resume_command(const cli_arguments *arguments)
{
    ga_checkpoint *state = NULL;
    cli_run_state r = {.quiet = cli_given(arguments, "quiet"),
                       .sums = ga_result_sums_none(),
                       .checkpoint = arguments->operands[0]};
    int code = cli_checkpoint_read(r.checkpoint, &state, &r.note);
    r.state = state;
    r.input.path = from_here(r.note.model);
    if (code == EXIT_DONE) code = resume(&r, arguments);
    cli_run_free(&r);
    cli_note_free(&r.note);
    ga_checkpoint_free(state);
    return code;
}

static const cli_option options[] = {
    {"t-end", 0, "TIME", "continue to this time, in s; default: as before"},
    {"output", 'o', "FILE", "write results to FILE (HDF5); default: as before"},
    CLI_RUN_OPTIONS,
    {"checkpoint-every", 0, "SECONDS", "how often to save; default: as before"},
    CLI_JSON_OPTION,
    {"quiet", 'q', NULL, "print errors only: no progress, no summary, no warnings"},
    {0},
};

const cli_command cli_resume = {
    .name = "resume",
    .operand = "CHECKPOINT",
    .summary = "continue a run from a checkpoint",
    .details =
        "CHECKPOINT is a file that `galpha run --checkpoint` has written. It names the model,\n"
        "which must be where it was and unchanged, and contains the overrides by --set. The\n"
        "steps are, bit for bit, those of a run that was never stopped, and the results are\n"
        "complete: rows written before the checkpoint are taken from FILE.part, or FILE. If\n"
        "these are missing, the results begin at the checkpoint, with a warning. If they are\n"
        "damaged, or lack channels that are asked for (--view needs positions), the command\n"
        "stops before computing anything, and no row is lost.\n"
        "CHECKPOINT is updated as by `galpha run`. With --t-end, the tolerance still refers\n"
        "to the original duration.\n"
        "\n"
        "Exit codes: 0 done, 1 the computation failed, 2 the checkpoint is damaged, of "
        "another\n"
        "version, of a model that has changed or of a finished run, earlier rows cannot be\n"
        "taken over, or bad usage, 3 a file cannot be read or written, 130 stopped by Ctrl-C,\n"
        "143 by SIGTERM.\n",
    .options = options,
    .run = resume_command,
};
