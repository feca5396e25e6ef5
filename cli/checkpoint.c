/* A note is a sequence of keys and values, each ended by a zero. */
#define _POSIX_C_SOURCE 200809L

#include "cli/checkpoint.h"

#include "cli/command.h"
#include "cli/content.h"
#include "cli/input.h"
#include "cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cli_absolute(const char *path)
{
    char folder[4096];
    if (path[0] == '/' || !getcwd(folder, sizeof folder)) folder[0] = '\0';
    const size_t size = strlen(folder) + strlen(path) + 2;
    char *whole = malloc(size);
    if (whole) snprintf(whole, size, "%s%s%s", folder, folder[0] ? "/" : "", path);
    return whole;
}

/* --- writing ------------------------------------------------------------------------------ */

typedef struct text {
    char *bytes;
    size_t size, room;
    bool failed;
} text;

static void add(text *t, const char *word)
{
    const size_t more = strlen(word) + 1;
    if (t->failed) return;
    if (t->size + more > t->room) {
        const size_t room = 2 * (t->size + more);
        char *bytes = realloc(t->bytes, room);
        t->failed = !bytes;
        if (!bytes) return;
        t->bytes = bytes;
        t->room = room;
    }
    memcpy(t->bytes + t->size, word, more);
    t->size += more;
}

static void add_pair(text *t, const char *key, const char *value)
{
    if (!value) return;
    add(t, key);
    add(t, value);
}

static void add_number(text *t, const char *key, double x)
{
    char number[40];
    snprintf(number, sizeof number, "%.17g", x);
    add_pair(t, key, number);
}

static void add_sum(text *t, const char *key, uint64_t sum)
{
    char number[40];
    snprintf(number, sizeof number, "%" PRIu64, sum);
    add_pair(t, key, number);
}

uint64_t cli_channels_sum(const ga_sim *sim)
{
    ga_result_sums sums = ga_result_sums_none();
    for (int k = 0; k < ga_sim_channel_count(sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(sim, k);
        for (const char *c = channel.name; *c; ++c) ga_result_sums_add(&sums, *c, NULL, 0);
        ga_result_sums_add(&sums, -channel.count, NULL, 0);
    }
    return sums.times;
}

ga_status cli_checkpoint_write(const char *path, const ga_sim *sim, const cli_note *note,
                               ga_report *report)
{
    text t = {0};
    add_pair(&t, "model", note->model);
    add_pair(&t, "text", note->model_text);
    for (int k = 0; k < note->set_count; ++k) add_pair(&t, "set", note->set[k]);
    add_number(&t, "include-anywhere", note->include_anywhere);
    add_number(&t, "allow-plugins", note->allow_plugins);
    add_pair(&t, "csv", note->csv);
    add_pair(&t, "output", note->output);
    add_pair(&t, "page", note->page);
    add_number(&t, "rows", (double)note->rows);
    add_sum(&t, "times", note->sums.times);
    add_sum(&t, "values", note->sums.values);
    add_sum(&t, "channels", note->channels);
    add_number(&t, "t_end", note->t_end);
    add_number(&t, "every", note->every);
    ga_status status = GA_ERR_MEMORY;
    if (t.failed)
        snprintf(report->message, sizeof report->message, "no memory for a checkpoint");
    else
        status = ga_checkpoint_write(path, sim, t.bytes, t.size, report);
    free(t.bytes);
    return status;
}

/* --- reading ------------------------------------------------------------------------------ */

static void take(cli_note *note, const char *key, const char *value)
{
    const struct {
        const char *key, **to;
    } texts[] = {{"model", &note->model},
                 {"text", &note->model_text},
                 {"csv", &note->csv},
                 {"output", &note->output},
                 {"page", &note->page}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k)
        if (strcmp(key, texts[k].key) == 0) *texts[k].to = value;
    if (strcmp(key, "set") == 0) note->set[note->set_count++] = value;
    if (strcmp(key, "include-anywhere") == 0) note->include_anywhere = atoi(value) != 0;
    if (strcmp(key, "allow-plugins") == 0) note->allow_plugins = atoi(value) != 0;
    if (strcmp(key, "rows") == 0) note->rows = atol(value);
    if (strcmp(key, "times") == 0) note->sums.times = strtoull(value, NULL, 10);
    if (strcmp(key, "values") == 0) note->sums.values = strtoull(value, NULL, 10);
    if (strcmp(key, "channels") == 0) note->channels = strtoull(value, NULL, 10);
    if (strcmp(key, "t_end") == 0) note->t_end = atof(value);
    if (strcmp(key, "every") == 0) note->every = atof(value);
}

static bool parse(const ga_checkpoint *state, cli_note *note)
{
    size_t size;
    const char *bytes = ga_checkpoint_note(state, &size);
    note->own = malloc(size + 2);
    note->set = calloc(size / 2 + 1, sizeof *note->set);
    if (!note->own || !note->set) return false;
    memcpy(note->own, bytes, size);
    memset(note->own + size, 0, 2);
    for (const char *at = note->own; at < note->own + size;) {
        const char *key = at, *value = key + strlen(key) + 1;
        take(note, key, value);
        at = value + strlen(value) + 1;
    }
    return true;
}

int cli_checkpoint_read(const char *path, ga_checkpoint **state, cli_note *note)
{
    ga_report report;
    *note = (cli_note){.t_end = NAN, .sums = ga_result_sums_none()};
    if (!cli_expect_checkpoint(path, &report)) {
        cli_error("%s: %s", path, report.message);
        return EXIT_INPUT;
    }
    const ga_status status = ga_checkpoint_read(path, state, &report);
    if (status != GA_OK) {
        cli_error("%s", report.message);
        return cli_exit_code(status);
    }
    if (!parse(*state, note)) return cli_out_of_memory();
    if (note->model) return EXIT_DONE;
    cli_error("%s: the checkpoint is not one of `galpha run`: it names no model", path);
    return EXIT_INPUT;
}

void cli_note_free(cli_note *note)
{
    free(note->own);
    free(note->set);
    *note = (cli_note){0};
}
