/* Tables of channels: --list with units and ranges, --stats with extremes, mean and rms.
 *
 * Rows need not be uniform in time, so means are integrals, by the trapezoidal rule:
 *
 *     mean = 1/T int y dt,    rms = sqrt(1/T int y^2 dt)
 *
 * Values that are not finite are left out.
 */
#include "cli/plot_table.h"

#include "cli/input.h"
#include "cli/json.h"
#include "cli/plot.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stats {
    double min, max, t_min, t_max, mean, rms;
} stats;

/* One line of a table. */
typedef struct line {
    char name[CLI_PLOT_NAME], unit[CLI_PLOT_UNIT];
    const char *description; /* "" for expressions */
    stats s;
} line;

typedef struct table {
    const cli_arguments *arguments;
    cli_table which;
    const char *file;
    ga_result_reader *result;
    size_t first, count; /* rows */
    int line_count, room;
    line *lines;
} table;

/* --- numbers ------------------------------------------------------------------------------ */

static stats measure(size_t n, const double *t, const double *y)
{
    stats s = {.min = NAN, .max = NAN, .t_min = NAN, .t_max = NAN};
    double time = 0, sum = 0, squares = 0, last = NAN;
    for (size_t k = 0; k < n; ++k) {
        if (!isfinite(y[k])) continue;
        last = y[k];
        if (!(s.min <= y[k])) s.min = y[k], s.t_min = t[k];
        if (!(s.max >= y[k])) s.max = y[k], s.t_max = t[k];
        if (k == 0 || !isfinite(y[k - 1])) continue;
        const double h = t[k] - t[k - 1], a = y[k - 1], b = y[k];
        time += h;
        sum += h * (a + b) / 2;
        squares += h * (a * a + b * b) / 2;
    }
    s.mean = time > 0 ? sum / time : last;
    s.rms = time > 0 ? sqrt(squares / time) : fabs(last);
    return s;
}

static int refuse(const ga_report *report)
{
    cli_error("%s", report->message);
    return cli_exit_code(report->status);
}

static line *new_line(table *t)
{
    if (t->line_count == t->room) {
        const int room = t->room ? 2 * t->room : 64;
        line *lines = realloc(t->lines, (size_t)room * sizeof *lines);
        if (!lines) return NULL;
        t->lines = lines;
        t->room = room;
    }
    return &t->lines[t->line_count++];
}

static int add_line(table *t, const char *name, const char *unit, const char *description,
                    const double *y)
{
    const double *times = ga_result_reader_times(t->result) + t->first;
    line *l = new_line(t);
    if (!l) return cli_out_of_memory();
    snprintf(l->name, sizeof l->name, "%s", name);
    snprintf(l->unit, sizeof l->unit, "%s", unit);
    l->description = description;
    l->s = measure(t->count, times, y);
    return EXIT_DONE;
}

static int add_column(table *t, const ga_result_column *column)
{
    const ga_channel *channel = ga_result_reader_channels(t->result) + column->channel;
    const size_t parts = (size_t)channel->count;
    double *values = malloc(t->count * parts * sizeof *values);
    ga_report report;
    if (!values) return cli_out_of_memory();
    int code = EXIT_DONE;
    if (ga_result_reader_read(t->result, column->channel, t->first, 1, t->count, values,
                              &report) != GA_OK)
        code = refuse(&report);
    for (size_t k = 0; k < t->count && code == EXIT_DONE; ++k)
        values[k] = values[k * parts + (size_t)column->part];
    if (code == EXIT_DONE)
        code = add_line(t, column->name, channel->unit, channel->description, values);
    free(values);
    return code;
}

static int add_expression(table *t, const char *text)
{
    ga_result_expression *expression = NULL;
    const int code = cli_plot_compile(t->result, t->file, text, &expression);
    if (code != EXIT_DONE) return code;
    double *values = malloc(t->count * sizeof *values);
    ga_report report;
    int done = values ? EXIT_DONE : cli_out_of_memory();
    if (values &&
        ga_result_expression_read(expression, t->first, 1, t->count, values, &report) != GA_OK)
        done = refuse(&report);
    if (done == EXIT_DONE)
        done = add_line(t, text, ga_result_expression_unit(expression), "", values);
    free(values);
    ga_result_expression_destroy(expression);
    return done;
}

static int add_word(table *t, const char *word)
{
    ga_result_column *columns = NULL;
    int count = 0, code = EXIT_DONE;
    ga_report report;
    if (cli_plot_is_product(t->result, word)) return add_expression(t, word);
    if (ga_result_select(t->result, word, &columns, &count, &report) != GA_OK)
        return refuse(&report);
    for (int k = 0; k < count && code == EXIT_DONE; ++k) code = add_column(t, columns + k);
    ga_result_columns_free(columns);
    return count > 0 || code != EXIT_DONE ? code : add_expression(t, word);
}

/* The rows within --range. */
static int choose_rows(table *t, const cli_plot_range *range)
{
    const double *times = ga_result_reader_times(t->result);
    size_t end = ga_result_reader_frames(t->result);
    t->first = 0;
    if (range->given) {
        while (t->first < end && times[t->first] < range->low) ++t->first;
        while (end > t->first && times[end - 1] > range->high) --end;
    }
    t->count = end - t->first;
    if (t->count > 0) return EXIT_DONE;
    cli_error("%s: no row between t = %g s and %g s; the results are from %g s to %g s",
              t->file, range->low, range->high, times[0],
              times[ga_result_reader_frames(t->result) - 1]);
    return EXIT_INPUT;
}

/* --- for people --------------------------------------------------------------------------- */

static void widths(const table *t, int *name, int *unit)
{
    *name = 7, *unit = 4;
    for (int k = 0; k < t->line_count; ++k) {
        const int n = (int)strlen(t->lines[k].name), u = (int)strlen(t->lines[k].unit);
        if (n > *name) *name = n;
        if (u > *unit) *unit = u;
    }
}

/* The largest number in the unit of a line; 0 of channels of the solver, whose residuals are
 * small by nature. */
static double scale_of(const table *t, const line *l)
{
    double scale = 0;
    if (strncmp(l->name, "solver.", 7) == 0) return 0;
    for (int k = 0; k < t->line_count; ++k)
        if (strcmp(t->lines[k].unit, l->unit) == 0)
            scale = fmax(scale, fmax(fabs(t->lines[k].s.min), fabs(t->lines[k].s.max)));
    return scale;
}

/* 0 for what is below the round-off of the largest, or smaller than any quantity. */
static double shown(double x, double scale)
{
    static const double round_off = 1e-15, least = 1e-30;
    return fabs(x) <= fmax(round_off * scale, least) ? 0 : x;
}

static bool is_angle(const line *l) { return strcmp(l->unit, "rad") == 0; }

/* A line of an angle once more, in degrees. */
static line in_degrees(const line *l)
{
    line turned = *l;
    turned.name[0] = '\0';
    turned.description = "";
    strcpy(turned.unit, "deg");
    double *const numbers[] = {&turned.s.min, &turned.s.max, &turned.s.mean, &turned.s.rms};
    for (int k = 0; k < 4; ++k) *numbers[k] = cli_degrees(*numbers[k]);
    return turned;
}

static void print_line(cli_table which, const line *l, double scale, int name, int unit)
{
    const stats *s = &l->s;
    cli_print_text(stdout, l->name);
    printf("%*s  ", name - (int)strlen(l->name), "");
    cli_print_text(stdout, l->unit);
    printf("%*s  ", unit - (int)strlen(l->unit), "");
    if (which == CLI_TABLE_LIST) {
        printf("%12.6g  %12.6g", shown(s->min, scale), shown(s->max, scale));
        cli_print_line(stdout, *l->description ? "  " : "", l->description);
    } else {
        printf("%12.6g  %10.6g  %12.6g  %10.6g  %12.6g  %12.6g\n", shown(s->min, scale),
               s->t_min, shown(s->max, scale), s->t_max, shown(s->mean, scale),
               shown(s->rms, scale));
    }
}

static void print_lines(const table *t)
{
    const double *times = ga_result_reader_times(t->result) + t->first;
    int name, unit;
    widths(t, &name, &unit);
    cli_print_text(stdout, t->file);
    printf(": %zu rows, t = %g ... %g s\n", t->count, times[0], times[t->count - 1]);
    if (t->which == CLI_TABLE_LIST)
        printf("%-*s  %-*s  %12s  %12s  description\n", name, "channel", unit, "unit", "min",
               "max");
    else
        printf("%-*s  %-*s  %12s  %10s  %12s  %10s  %12s  %12s\n", name, "channel", unit,
               "unit", "min", "at s", "max", "at s", "mean", "rms");
    for (int k = 0; k < t->line_count; ++k) {
        const line *l = &t->lines[k];
        const double scale = scale_of(t, l);
        print_line(t->which, l, scale, name, unit);
        if (!is_angle(l)) continue;
        const line turned = in_degrees(l);
        print_line(t->which, &turned, cli_degrees(scale), name, unit);
    }
}

/* --- for programs ------------------------------------------------------------------------- */

static void print_json(cli_json *json, const table *t)
{
    const double *times = ga_result_reader_times(t->result) + t->first;
    cli_json_object(json, NULL);
    cli_json_text(json, "file", t->file);
    cli_json_integer(json, "rows", (long)t->count);
    cli_json_number(json, "t_start", times[0]);
    cli_json_number(json, "t_end", times[t->count - 1]);
    cli_json_list(json, "channels");
    for (int k = 0; k < t->line_count; ++k) {
        const line *l = &t->lines[k];
        cli_json_object(json, NULL);
        cli_json_text(json, "name", l->name);
        cli_json_text(json, "unit", l->unit);
        if (t->which == CLI_TABLE_LIST) cli_json_text(json, "description", l->description);
        cli_json_number(json, "min", l->s.min);
        if (t->which == CLI_TABLE_STATS) cli_json_number(json, "t_min", l->s.t_min);
        cli_json_number(json, "max", l->s.max);
        if (t->which == CLI_TABLE_STATS) {
            cli_json_number(json, "t_max", l->s.t_max);
            cli_json_number(json, "mean", l->s.mean);
            cli_json_number(json, "rms", l->s.rms);
        }
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
    cli_json_end_object(json);
}

/* --- the table ---------------------------------------------------------------------------- */

static int fill(table *t, const cli_plot_range *range)
{
    ga_report report;
    if (ga_result_open(t->file, &t->result, &report) != GA_OK) return refuse(&report);
    int code = choose_rows(t, range);
    if (code == EXIT_DONE && t->arguments->operand_count == 1) {
        code = ga_result_reader_channel_count(t->result) > 0 ? add_word(t, "*") : EXIT_INPUT;
        if (code == EXIT_INPUT) cli_error("%s has no channels", t->file);
    }
    for (int k = 1; k < t->arguments->operand_count && code == EXIT_DONE; ++k)
        code = add_word(t, t->arguments->operands[k]);
    return code;
}

static int print_files(table *tables, int count, bool json)
{
    if (!json) {
        for (int k = 0; k < count; ++k) {
            if (k > 0) puts("");
            print_lines(tables + k);
        }
        return EXIT_DONE;
    }
    cli_json out = {.out = stdout};
    cli_json_object(&out, NULL);
    cli_json_list(&out, "results");
    for (int k = 0; k < count; ++k) print_json(&out, tables + k);
    cli_json_end_list(&out);
    cli_json_end_object(&out);
    return EXIT_DONE;
}

int cli_plot_table(const cli_arguments *arguments, cli_table which)
{
    const char *files[CLI_PLOT_RESULTS];
    table tables[CLI_PLOT_RESULTS] = {{0}};
    cli_plot_range range = {0};
    const int count = cli_plot_files(arguments, files);
    int code = count > 0 ? cli_plot_range_of(arguments, "range", &range) : EXIT_INPUT;
    for (int k = 0; k < count && code == EXIT_DONE; ++k) {
        tables[k] = (table){.arguments = arguments, .which = which, .file = files[k]};
        code = fill(&tables[k], &range);
    }
    if (code == EXIT_DONE) code = print_files(tables, count, cli_given(arguments, "json"));
    for (int k = 0; k < count; ++k) {
        ga_result_reader_close(tables[k].result);
        free(tables[k].lines);
    }
    return code;
}
