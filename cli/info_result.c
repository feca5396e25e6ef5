/* What a result file holds. */
#include "cli/info.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/text.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of one component of a channel; NaN where no value is finite. */
typedef struct range {
    double least, most, last;
    size_t gaps; /* values that are not finite */
} range;

typedef struct content {
    ga_result_reader *reader;
    range *ranges; /* channel after channel, part after part */
} content;

/* --- reading ------------------------------------------------------------------------------ */

static void extend(range *r, double x)
{
    r->last = x;
    if (!isfinite(x)) {
        ++r->gaps;
        return;
    }
    if (!(x >= r->least)) r->least = x;
    if (!(x <= r->most)) r->most = x;
}

enum { CHUNK = 4096 }; /* frames at a time */

static ga_status find_range(content *c, int k, range *ranges, ga_report *report)
{
    const ga_channel *channel = ga_result_reader_channels(c->reader) + k;
    const size_t frames = ga_result_reader_frames(c->reader), parts = (size_t)channel->count;
    double *values = malloc(CHUNK * parts * sizeof *values);
    if (!values) return cli_out_of_memory(), GA_ERR_MEMORY;
    for (size_t i = 0; i < parts; ++i) ranges[i] = (range){NAN, NAN, NAN, 0};
    ga_status status = GA_OK;
    for (size_t first = 0; first < frames && status == GA_OK; first += CHUNK) {
        const size_t count = frames - first < CHUNK ? frames - first : CHUNK;
        status = ga_result_reader_read(c->reader, k, first, 1, count, values, report);
        for (size_t n = 0; n < count * parts && status == GA_OK; ++n)
            extend(ranges + n % parts, values[n]);
    }
    free(values);
    return status;
}

static ga_status find_ranges(content *c, ga_report *report)
{
    const ga_channel *channels = ga_result_reader_channels(c->reader);
    const int count = ga_result_reader_channel_count(c->reader);
    size_t parts = 1, at = 0;
    for (int k = 0; k < count; ++k) parts += (size_t)channels[k].count;
    if (!(c->ranges = calloc(parts, sizeof *c->ranges))) return GA_ERR_MEMORY;
    for (int k = 0; k < count; ++k) {
        const ga_status status = find_range(c, k, c->ranges + at, report);
        if (status != GA_OK) return status;
        at += (size_t)channels[k].count;
    }
    return GA_OK;
}

/* --- facts about the run ------------------------------------------------------------------ */

typedef enum group { ABOUT, SETTING, STATISTIC } group;

static group group_of(const char *name)
{
    static const char *const about[] = {"version", "model", "status", "message", NULL};
    static const char *const settings[] = {"method",  "formulation", "kinematics", "alpha_m",
                                           "alpha_f", "beta",        "gamma",      "step",
                                           "t_start", "t_end",       NULL};
    for (int k = 0; about[k]; ++k)
        if (strcmp(name, about[k]) == 0) return ABOUT;
    for (int k = 0; settings[k]; ++k)
        if (strcmp(name, settings[k]) == 0) return SETTING;
    return strncmp(name, "tolerance", 9) == 0 ? SETTING : STATISTIC;
}

static const char *text_of(const content *c, const char *name)
{
    const ga_attribute *a = ga_result_reader_attributes(c->reader);
    for (; a->name; ++a)
        if (strcmp(a->name, name) == 0) return a->text ? a->text : "";
    return "";
}

static const char *status_of(const content *c)
{
    const char *status = text_of(c, "status");
    if (*status) return status;
    return ga_result_reader_format(c->reader) == GA_RESULT_CSV ? "unknown" : "unfinished";
}

/* --- for people --------------------------------------------------------------------------- */

static double number_of(const content *c, const char *name)
{
    const ga_attribute *a = ga_result_reader_attributes(c->reader);
    for (; a->name; ++a)
        if (strcmp(a->name, name) == 0) return a->text ? NAN : a->number;
    return NAN;
}

/* A run has either a step or a tolerance; only generalized-alpha has a formulation and
 * coefficients. */
static bool is_idle(const content *c, const char *name)
{
    static const char *const family[] = {"formulation", "alpha_m", "alpha_f",
                                         "beta",        "gamma",   NULL};
    for (int k = 0; family[k]; ++k)
        if (strcmp(name, family[k]) == 0) return strcmp(text_of(c, "formulation"), "none") == 0;
    if (strcmp(name, "step") == 0) return number_of(c, "step") == 0;
    return strncmp(name, "tolerance", 9) == 0 && number_of(c, "tolerance_relative") == 0;
}

static void print_facts(const content *c, group which, const char *title)
{
    const ga_attribute *a = ga_result_reader_attributes(c->reader);
    bool any = false;
    for (; a->name; ++a) {
        if (group_of(a->name) != which || is_idle(c, a->name)) continue;
        if (!any) puts(title);
        any = true;
        printf("    %-24s", a->name);
        if (a->text)
            cli_print_line(stdout, " ", a->text);
        else
            printf(" %.9g\n", a->number);
    }
}

/* The largest number in this unit; 0 if there is none. */
static double largest(const content *c, const char *unit)
{
    const ga_channel *channels = ga_result_reader_channels(c->reader);
    const range *r = c->ranges;
    double most = 0;
    for (int k = 0; k < ga_result_reader_channel_count(c->reader); ++k)
        for (int i = 0; i < channels[k].count; ++i, ++r)
            if (strcmp(channels[k].unit, unit) == 0)
                most = fmax(most, fmax(fabs(r->least), fabs(r->most)));
    return most;
}

/* The size of numbers in this unit, whatever the size of the mechanism: the largest of them, or
 * what others imply. Angles, and numbers without unit, are compared with 1. */
static double scale_of(const content *c, const char *unit)
{
    const size_t frames = ga_result_reader_frames(c->reader);
    const double *times = ga_result_reader_times(c->reader);
    const double duration = frames > 1 ? times[frames - 1] - times[0] : 0;
    const double own = largest(c, unit);
    if (strcmp(unit, "rad") == 0 || *unit == '\0' || strcmp(unit, "1") == 0)
        return fmax(own, 1);
    if (strcmp(unit, "N m") == 0) return fmax(own, largest(c, "N") * largest(c, "m"));
    if (!(duration > 0)) return own;
    if (strcmp(unit, "m/s") == 0) return fmax(own, largest(c, "m") / duration);
    if (strcmp(unit, "rad/s") == 0) return fmax(own, 1 / duration);
    return own;
}

/* Of a channel's values what is round-off: small beside the channel's other components, or a
 * few units in the last place of the numbers in its unit. Residuals are of that size, and are
 * shown. */
static double round_off_of(const content *c, const ga_channel *channel, const range *r)
{
    double own = 0;
    if (strncmp(channel->name, "solver.", strlen("solver.")) == 0) return 0;
    for (int i = 0; i < channel->count; ++i)
        own = fmax(own, fmax(fabs(r[i].least), fabs(r[i].most)));
    return fmax(1e-12 * own, 1e-14 * scale_of(c, channel->unit));
}

static double shown(double x, double round_off) { return fabs(x) <= round_off ? 0 : x; }

/* An angle is shown in degrees as well. */
static void print_range(const ga_channel *channel, int part, const range *r, double round_off)
{
    char name[GA_RESULT_NAME_SIZE];
    const char *suffix = channel->parts ? channel->parts[part] : "";
    snprintf(name, sizeof name, "%s%s%s", channel->name, *suffix ? "." : "", suffix);
    fputs("    ", stdout);
    cli_print_text(stdout, name);
    for (size_t n = strlen(name); n < 36; ++n) putchar(' ');
    printf(" %13.6g %13.6g %13.6g  %s", shown(r->least, round_off), shown(r->most, round_off),
           shown(r->last, round_off), channel->unit);
    if (r->gaps) printf("  (%zu values are not finite)", r->gaps);
    putchar('\n');
    if (strcmp(channel->unit, "rad") != 0) return;
    printf("    %-36s %13.6g %13.6g %13.6g  deg\n", "", cli_degrees(shown(r->least, round_off)),
           cli_degrees(shown(r->most, round_off)), cli_degrees(shown(r->last, round_off)));
}

static void print_channels(const content *c)
{
    const ga_channel *channels = ga_result_reader_channels(c->reader);
    const range *r = c->ranges;
    const int count = ga_result_reader_channel_count(c->reader);
    int lines = 0, left = 0;
    printf("  %-38s %13s %13s %13s  unit\n", "channels", "minimum", "maximum", "last");
    for (int k = 0; k < count; ++k) {
        const double round_off = lines < CLI_INFO_MOST ? round_off_of(c, channels + k, r) : 0;
        for (int i = 0; i < channels[k].count; ++i, ++r)
            if (lines < CLI_INFO_MOST)
                print_range(channels + k, i, r, round_off), ++lines;
            else
                ++left;
    }
    if (left) printf("    ... and %d more; --json shows all\n", left);
}

static void print_report(const content *c)
{
    const size_t frames = ga_result_reader_frames(c->reader);
    const double *times = ga_result_reader_times(c->reader);
    const bool csv = ga_result_reader_format(c->reader) == GA_RESULT_CSV;
    const char *model = text_of(c, "model"), *message = text_of(c, "message");
    cli_print_text(stdout, ga_result_reader_path(c->reader));
    fputs(": ", stdout);
    if (*model) cli_print_text(stdout, model), fputs(", ", stdout);
    printf("%s, %s", csv ? "CSV" : "HDF5", csv ? "no record of the run" : status_of(c));
    if (*text_of(c, "version")) printf(", galpha %s", text_of(c, "version"));
    putchar('\n');
    if (!csv && strcmp(status_of(c), "unfinished") == 0)
        puts("  the run is still in progress or was killed: no settings or statistics");
    if (*message) cli_print_line(stdout, "  ", message);
    printf("  times        %.9g ... %.9g s, %zu frames\n", times[0], times[frames - 1], frames);
    print_facts(c, SETTING, "  settings");
    print_facts(c, STATISTIC, "  statistics");
    print_channels(c);
}

/* --- for programs ------------------------------------------------------------------------- */

static void print_facts_json(cli_json *json, const content *c, group which, const char *key)
{
    const ga_attribute *a = ga_result_reader_attributes(c->reader);
    cli_json_object(json, key);
    for (; a->name; ++a) {
        if (group_of(a->name) != which) continue;
        if (a->text)
            cli_json_text(json, a->name, a->text);
        else
            cli_json_number(json, a->name, a->number);
    }
    cli_json_end_object(json);
}

/* One number, or a list if the channel has parts. */
static void print_bound_json(cli_json *json, const char *key, const ga_channel *channel,
                             const range *r, size_t offset)
{
    if (channel->count > 1) cli_json_list(json, key);
    for (int i = 0; i < channel->count; ++i) {
        double x;
        memcpy(&x, (const char *)(r + i) + offset, sizeof x);
        cli_json_number(json, channel->count > 1 ? NULL : key, x);
    }
    if (channel->count > 1) cli_json_end_list(json);
}

static void print_channels_json(cli_json *json, const content *c)
{
    const ga_channel *channels = ga_result_reader_channels(c->reader);
    const range *r = c->ranges;
    cli_json_list(json, "channels");
    for (int k = 0; k < ga_result_reader_channel_count(c->reader); ++k) {
        const ga_channel *channel = channels + k;
        size_t gaps = 0;
        for (int i = 0; i < channel->count; ++i) gaps += r[i].gaps;
        cli_json_object(json, NULL);
        cli_json_text(json, "name", channel->name);
        cli_json_text(json, "unit", channel->unit);
        cli_json_text(json, "description", channel->description);
        cli_json_list(json, "parts");
        for (int i = 0; i < channel->count && channel->parts; ++i)
            cli_json_text(json, NULL, channel->parts[i]);
        cli_json_end_list(json);
        print_bound_json(json, "min", channel, r, offsetof(range, least));
        print_bound_json(json, "max", channel, r, offsetof(range, most));
        print_bound_json(json, "last", channel, r, offsetof(range, last));
        cli_json_integer(json, "not_finite", (long)gaps);
        cli_json_end_object(json);
        r += channel->count;
    }
    cli_json_end_list(json);
}

static void print_json(const content *c)
{
    const size_t frames = ga_result_reader_frames(c->reader);
    const double *times = ga_result_reader_times(c->reader);
    const bool csv = ga_result_reader_format(c->reader) == GA_RESULT_CSV;
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "file", ga_result_reader_path(c->reader));
    cli_json_text(&json, "kind", "result");
    cli_json_text(&json, "format", csv ? "csv" : "hdf5");
    cli_json_text(&json, "model", text_of(c, "model"));
    cli_json_text(&json, "version", text_of(c, "version"));
    cli_json_text(&json, "status", status_of(c));
    cli_json_text(&json, "message", text_of(c, "message"));
    cli_json_integer(&json, "frames", (long)frames);
    cli_json_number(&json, "t_first", times[0]);
    cli_json_number(&json, "t_last", times[frames - 1]);
    print_facts_json(&json, c, SETTING, "settings");
    print_facts_json(&json, c, STATISTIC, "statistics");
    print_channels_json(&json, c);
    cli_json_end_object(&json);
}

int cli_info_result(const char *path, bool json)
{
    content c = {0};
    ga_report report = {0};
    ga_status status = ga_result_open(path, &c.reader, &report);
    if (status == GA_OK) status = find_ranges(&c, &report);
    if (status != GA_OK)
        cli_error("%s", report.message[0] ? report.message : ga_status_text(status));
    else if (json)
        print_json(&c);
    else
        print_report(&c);
    free(c.ranges);
    ga_result_reader_close(c.reader);
    return cli_exit_code(status);
}
