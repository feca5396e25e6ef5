/* galpha view MODEL: the start of a model as a page.
 *
 * An assembled start is one frame with all channels; where assembly moved bodies, the model as
 * written is beside it, transparent. A start that cannot be assembled is shown as written, with
 * the gaps of its joints, and beside it how far assembly got if that left smaller gaps.
 *
 * A page is made from HDF5 results, so these are written beside the page and removed again.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/start.h"

#include "cli/content.h"
#include "cli/failure.h"
#include "cli/input.h"
#include "cli/page.h"
#include "cli/text.h"
#include "cli/warnings.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 2, MOST_GAPS_PRINTED = 8 };

typedef struct start {
    cli_input input;
    const char *page;
    int count; /* of what is shown */
    char *files[MOST_FRAMES];
    const char *labels[MOST_FRAMES];
} start;

/* --- what is a model ---------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

bool cli_start_is_model(const char *path)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    const cli_content content = cli_content_of(path);
    if (strcmp(path, "-") == 0 || content == CLI_CONTENT_MODEL) return true;
    for (int k = 0; k < 3 && content == CLI_CONTENT_OTHER; ++k)
        if (ends_with(path, endings[k])) return true;
    return false;
}

/* --- frames ------------------------------------------------------------------------------- */

/* The frame is a file beside the page, of which the user knows nothing. */
static void name_page(const char *page, const char *frame, ga_report *report)
{
    const size_t length = strlen(frame);
    if (strncmp(report->message, frame, length) != 0) return;
    char rest[sizeof report->message];
    snprintf(rest, sizeof rest, "%s", report->message + length);
    snprintf(report->message, sizeof report->message, "%.180s%.120s", page, rest);
}

static ga_status write_frame(start *s, const ga_sim *sim, const char *label, const char *status,
                             ga_report *report)
{
    const int count = ga_sim_channel_count(sim);
    const size_t size = strlen(s->page) + 48;
    char *path = malloc(size), *scene = ga_sim_scene(sim);
    ga_channel *channels = calloc((size_t)count + 1, sizeof *channels);
    ga_result *result = NULL;
    ga_status done = GA_ERR_MEMORY;
    snprintf(report->message, sizeof report->message, "out of memory");
    if (path && scene && channels) {
        const ga_attribute facts[] = {GA_ATTRIBUTE_TEXT("version", ga_version()),
                                      GA_ATTRIBUTE_TEXT("model", cli_input_name(&s->input)),
                                      GA_ATTRIBUTE_TEXT("status", status),
                                      {0}};
        for (int k = 0; k < count; ++k) channels[k] = ga_sim_get_channel(sim, k);
        snprintf(path, size, "%s.%ld.%d.h5", s->page, (long)getpid(), s->count);
        ga_result_def def = ga_result_def_default();
        def.channel_count = count;
        def.channels = channels;
        def.model_text = ga_model_text(s->input.model);
        def.scene = scene;
        done = ga_result_create_with(path, GA_RESULT_HDF5, &def, &result, report);
        if (done == GA_ERR_FILE) name_page(s->page, path, report);
        if (done == GA_OK)
            done = ga_result_write(result, ga_sim_time(sim), ga_sim_values(sim), report);
        ga_report closing;
        const ga_status closed = result ? ga_result_close(result, facts, &closing) : GA_OK;
        if (done == GA_OK && closed != GA_OK) {
            done = closed;
            *report = closing;
        }
        s->labels[s->count] = label;
        s->files[s->count++] = path;
        path = NULL;
    }
    free(path);
    ga_text_free(scene);
    free(channels);
    return done;
}

/* A simulation that shows only where things are. */
static ga_status create_still(const start *s, ga_sim **sim, ga_report *report)
{
    static const char *const names[] = {"*.position"};
    ga_sim_def def = ga_sim_def_of(s->input.model);
    def.channel_count = 1;
    def.channels = names;
    def.motion = true;
    return ga_sim_create(s->input.model, &def, sim, NULL, report);
}

/* --- gaps --------------------------------------------------------------------------------- */

static void print_gap(const ga_gap *gap)
{
    char angle[CLI_ANGLE_SIZE];
    if (gap->distance > 0 && gap->angle > 0)
        cli_error("  %s: sides are %.3g m apart, rotated by %s", gap->element, gap->distance,
                  cli_angle(gap->angle, angle));
    else if (gap->distance > 0)
        cli_error("  %s: sides are %.3g m apart", gap->element, gap->distance);
    else if (gap->angle > 0)
        cli_error("  %s: sides are rotated by %s", gap->element, cli_angle(gap->angle, angle));
    else
        cli_error("  %s: %s is violated by %.3g", gap->element, gap->row, gap->residual);
}

static void print_gaps(const ga_sim *sim)
{
    int k = 0;
    ga_gap gap;
    for (; k < MOST_GAPS_PRINTED && (gap = ga_sim_get_gap(sim, k)).element; ++k) {
        if (k == 0) cli_error("gaps in the model as given:");
        print_gap(&gap);
    }
    int more = 0;
    while (ga_sim_get_gap(sim, k + more).element) ++more;
    if (more) cli_error("  and %d more", more);
}

/* Sum of squares. A single large gap that iteration spread over all joints is no progress. */
static double total_gap(const ga_sim *sim)
{
    double sum = 0;
    ga_gap gap;
    for (int k = 0; (gap = ga_sim_get_gap(sim, k)).element; ++k)
        sum += gap.residual * gap.residual;
    return sum;
}

static bool is_finite(const ga_sim *sim)
{
    const double *values = ga_sim_values(sim);
    for (int k = 0; k < ga_sim_channel_count(sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(sim, k);
        for (int i = 0; i < channel.count && strncmp(channel.name, "solver.", 7); ++i)
            if (!isfinite(values[i])) return false;
        values += channel.count;
    }
    return true;
}

/* --- the two outcomes --------------------------------------------------------------------- */

/* The model as written, where that is not what was assembled. */
static ga_status show_given(start *s, ga_report *report)
{
    ga_sim *sim = NULL;
    ga_status status = create_still(s, &sim, report);
    if (status == GA_OK) status = ga_sim_look(sim, GA_POSE_GIVEN, report);
    if (status == GA_OK && ga_sim_get_gap(sim, 0).element)
        status = write_frame(s, sim, "as in the file", "given", report);
    ga_sim_destroy(sim);
    return status;
}

/* The start failed. */
static ga_status show_failure(start *s, bool quiet, ga_report *report)
{
    ga_sim *sim = NULL;
    ga_report ignored;
    ga_status status = create_still(s, &sim, report);
    if (status == GA_OK) status = ga_sim_look(sim, GA_POSE_GIVEN, report);
    if (status == GA_OK)
        status = write_frame(s, sim, "as in the file", "not assembled", report);
    if (status == GA_OK && !quiet) print_gaps(sim);
    if (status == GA_OK) {
        const double gap = total_gap(sim);
        ga_sim_start(sim, &ignored); /* for its last iterate */
        status = ga_sim_look(sim, GA_POSE_REACHED, report);
        if (status == GA_OK && is_finite(sim) && total_gap(sim) < 0.25 * gap)
            status = write_frame(s, sim, "as far as assembly got", "not assembled", report);
    }
    ga_sim_destroy(sim);
    return status;
}

static int write_page(const start *s, const char *title, bool quiet)
{
    const cli_page page = {.path = s->page,
                           .count = s->count,
                           .results = (const char *const *)s->files,
                           .labels = s->labels,
                           .title = title ? title : cli_input_name(&s->input),
                           .quiet = quiet};
    return cli_page_write(&page);
}

static int show(start *s, const cli_arguments *arguments, bool *written)
{
    static const char *const everything[] = {"*", "energy"};
    const bool quiet = cli_given(arguments, "quiet");
    ga_sim_def def = ga_sim_def_of(s->input.model);
    ga_sim *sim = NULL;
    ga_report report, failure;
    def.channel_count = 2;
    def.channels = everything;
    ga_status status = ga_sim_create(s->input.model, &def, &sim, s->input.messages, &report);
    if (status != GA_OK) return cli_input_refuse(&s->input, status, &report);
    cli_input_print_messages(&s->input);
    const ga_status started = ga_sim_start(sim, &failure);
    if (started == GA_OK) {
        if (!quiet) cli_warnings_print(sim, 0);
        status = write_frame(s, sim, "assembled", "start", &report);
        if (status == GA_OK) status = show_given(s, &report);
    } else {
        cli_failure_print(&(cli_failure){.sim = sim,
                                         .def = &def,
                                         .report = &failure,
                                         .path = s->input.path,
                                         .examined = true});
        status = show_failure(s, quiet, &report);
    }
    ga_sim_destroy(sim);
    if (status != GA_OK) {
        cli_error("%s", report.message);
        return cli_exit_code(status);
    }
    const int code = write_page(s, cli_value(arguments, "title"), quiet);
    *written = code == EXIT_DONE;
    return *written ? cli_exit_code(started) : code;
}

int cli_start_page(const cli_arguments *arguments, const char *path, bool *written)
{
    *written = false;
    start s = {.page = path};
    int code = cli_input_read(&s.input, arguments);
    if (code == EXIT_DONE) code = show(&s, arguments, written);
    for (int k = 0; k < s.count; ++k) {
        unlink(s.files[k]);
        free(s.files[k]);
    }
    cli_input_free(&s.input);
    return code;
}
