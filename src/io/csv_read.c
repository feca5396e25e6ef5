/* Comma-separated values as csv.c writes them: a header `time,top.position.x,...`, then lines
 * of as many numbers. Quoted names, both kinds of line ends, and a byte-order mark are
 * understood.
 *
 * The file is read at once, and its numbers are kept row by row. Room is taken for no more of
 * them than the file can hold: each takes two bytes at least, a digit and what ends it.
 *
 * Columns that belong together become one channel: neighbours `a.x`, `a.y`, `a.z`, where the
 * parts are one of the lists below or 0, 1, 2, ...
 */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "base/report.h"
#include "data/number.h"
#include "io/reader.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv {
    size_t column_count; /* with the time */
    double *numbers;     /* row by row */
    size_t *columns;     /* where the channels begin */
} csv;

/* Where a reader of the text is. */
typedef struct cursor {
    const char *at, *end;
    const char *line_start;
    size_t line;
} cursor;

static ga_status fail_at(const ga_reader_content *content, const cursor *c, const char *at,
                         ga_report *report, const char *what)
{
    const size_t length = strlen(content->path);
    const char *path = length > 120 ? content->path + length - 120 : content->path;
    return ga_fail(report, GA_ERR_INPUT, "%s:%zu:%zu: %s", path, c->line,
                   (size_t)(at - c->line_start) + 1, what);
}

static bool at_line_end(const cursor *c)
{
    return c->at == c->end || *c->at == '\n' || (*c->at == '\r' && c->at[1] == '\n');
}

static void next_line(cursor *c)
{
    if (c->at < c->end && *c->at == '\r') ++c->at;
    if (c->at < c->end) ++c->at;
    c->line_start = c->at;
    ++c->line;
}

/* --- header ------------------------------------------------------------------------------- */

/* One name, into `out`, which has room for the rest of the text. */
static ga_status read_name(const ga_reader_content *content, cursor *c, char *out,
                           size_t *length, ga_report *report)
{
    const cursor begin = *c;
    *length = 0;
    if (c->at == c->end || *c->at != '"') {
        while (!at_line_end(c) && *c->at != ',') out[(*length)++] = *c->at++;
        return GA_OK;
    }
    for (++c->at; c->at < c->end; ++c->at) {
        if (*c->at == '"' && *++c->at != '"') return GA_OK;
        out[(*length)++] = *c->at;
        if (*c->at != '\n') continue;
        c->line_start = c->at + 1;
        ++c->line;
    }
    return fail_at(content, &begin, begin.at, report, "a quote is never closed");
}

static ga_status read_names(ga_reader_content *content, cursor *c, const char **names,
                            size_t count, char *scratch, ga_report *report)
{
    for (size_t k = 0; k < count; ++k) {
        const cursor begin = *c;
        size_t length;
        GA_TRY(read_name(content, c, scratch, &length, report));
        if (c->at < c->end && !at_line_end(c) && *c->at != ',')
            return fail_at(content, c, c->at, report, "expected a comma");
        if (length == 0)
            return fail_at(content, &begin, begin.at, report, "a column has no name");
        if (!(names[k] = ga_reader_text(&content->arena, scratch, length)))
            return ga_reader_out_of_memory(report);
        if (k + 1 < count) ++c->at; /* the comma, counted before */
    }
    return GA_OK;
}

/* Commas outside quotes, up to the end of the line. */
static size_t count_columns(cursor c)
{
    size_t count = 1;
    bool quoted = false;
    for (; c.at < c.end && (quoted || !at_line_end(&c)); ++c.at) {
        if (*c.at == '"') quoted = !quoted;
        if (*c.at == ',' && !quoted) ++count;
    }
    return count;
}

/* --- channels ----------------------------------------------------------------------------- */

static const char *const xyz[] = {"x", "y", "z"};
static const char *const wxyz[] = {"w", "x", "y", "z"};
static const char *const xy[] = {"x", "y"};
static const struct {
    int count;
    const char *const *parts;
} groups[] = {{4, wxyz}, {3, xyz}, {2, xy}};
enum { GROUPS = sizeof groups / sizeof *groups };

/* The length of what stands before ".part"; 0: the name does not end so. */
static size_t stem(const char *name, const char *part)
{
    const size_t n = strlen(name), m = strlen(part);
    if (n < m + 2 || name[n - m - 1] != '.' || strcmp(name + n - m, part) != 0) return 0;
    return n - m - 1;
}

static bool continues(const char *first, size_t length, const char *name, const char *part)
{
    return stem(name, part) == length && memcmp(first, name, length) == 0;
}

/* How many of names[0 .. count-1] are parts of one channel; `length` is that of its name. */
static int group_size(const char **names, size_t count, size_t *length,
                      const char *const **parts)
{
    for (int g = 0; g < GROUPS; ++g) {
        *parts = groups[g].parts;
        *length = stem(names[0], (*parts)[0]);
        int n = 0;
        while (*length && n < groups[g].count && (size_t)n < count &&
               continues(names[0], *length, names[n], (*parts)[n]))
            ++n;
        if (n == groups[g].count) return n;
    }
    *parts = NULL;
    *length = stem(names[0], "0");
    int n = 0;
    char number[16] = "0";
    while (*length && (size_t)n < count && continues(names[0], *length, names[n], number))
        snprintf(number, sizeof number, "%d", ++n);
    if (n > 1) return n;
    *length = strlen(names[0]);
    return 1;
}

static ga_status make_channels(csv *s, ga_reader_content *content, const char **names,
                               ga_report *report)
{
    const size_t count = s->column_count;
    content->channels = GA_ARENA_NEW(&content->arena, ga_channel, count);
    s->columns = GA_NEW(size_t, count);
    if (!content->channels || !s->columns) return ga_reader_out_of_memory(report);
    for (size_t k = 1; k < count;) {
        size_t length;
        const char *const *parts;
        const int n = group_size(names + k, count - k, &length, &parts);
        const char *name = ga_arena_text_n(&content->arena, names[k], length);
        if (!name) return ga_reader_out_of_memory(report);
        s->columns[content->channel_count] = k;
        content->channels[content->channel_count++] = (ga_channel){name, "", "", n, parts};
        k += (size_t)n;
    }
    return ga_reader_name_channels(content, report);
}

static ga_status read_header(csv *s, ga_reader_content *content, cursor *c, ga_report *report)
{
    if (c->end - c->at >= 3 && memcmp(c->at, "\xef\xbb\xbf", 3) == 0) c->at += 3;
    s->column_count = count_columns(*c);
    if (s->column_count > INT_MAX / 2)
        return fail_at(content, c, c->at, report, "too many columns");
    const char **names = GA_NEW(const char *, s->column_count);
    char *scratch = GA_NEW(char, c->end - c->at + 1);
    const char *begin = c->at;
    ga_status status = names && scratch ? GA_OK : ga_reader_out_of_memory(report);
    /* the first name tells foreign files from damaged ones */
    if (status == GA_OK && (c->end - c->at < 4 || memcmp(c->at, "time", 4) != 0 ||
                            (c->end - c->at > 4 && !strchr(",\r\n", c->at[4]))))
        status = fail_at(content, c, begin, report,
                         "neither HDF5 nor a CSV file that begins with the column 'time'");
    if (status == GA_OK)
        status = read_names(content, c, names, s->column_count, scratch, report);
    if (status == GA_OK) status = make_channels(s, content, names, report);
    ga_free(scratch);
    ga_free(names);
    return status;
}

/* --- rows --------------------------------------------------------------------------------- */

/* Also inf and nan as printf writes them. */
static size_t scan_number(const char *text, double *x)
{
    const size_t sign = *text == '-' || *text == '+';
    const bool is_inf = strncmp(text + sign, "inf", 3) == 0;
    if (!is_inf && strncmp(text + sign, "nan", 3) != 0) return ga_number_scan(text, x);
    *x = is_inf ? INFINITY : NAN;
    if (*text == '-') *x = -*x;
    return sign + 3;
}

static ga_status read_row(const csv *s, const ga_reader_content *content, cursor *c,
                          double *row, ga_report *report)
{
    for (size_t k = 0; k < s->column_count; ++k) {
        char text[96];
        if (k > 0 && at_line_end(c)) {
            snprintf(text, sizeof text, "%zu numbers, but the header has %zu names", k,
                     s->column_count);
            return fail_at(content, c, c->at, report, text);
        }
        if (k > 0 && *c->at++ != ',')
            return fail_at(content, c, c->at - 1, report, "expected a comma");
        const size_t length = scan_number(c->at, &row[k]);
        if (length == 0) return fail_at(content, c, c->at, report, "expected a number");
        c->at += length;
    }
    if (at_line_end(c)) return GA_OK;
    char text[96];
    snprintf(text, sizeof text, "more numbers than the %zu names of the header",
             s->column_count);
    return fail_at(content, c, c->at, report, *c->at == ',' ? text : "expected a comma");
}

static size_t count_lines(cursor c)
{
    size_t count = 0;
    while (c.at < c.end) {
        const char *end = memchr(c.at, '\n', (size_t)(c.end - c.at));
        ++count;
        c.at = end ? end + 1 : c.end;
    }
    return count;
}

static ga_status read_rows(csv *s, ga_reader_content *content, cursor *c, ga_report *report)
{
    next_line(c);
    const size_t rows = count_lines(*c), most = (size_t)(c->end - c->at) / 2 + 1;
    const size_t columns = s->column_count;
    /* a row that is too short fails before there is no room for it */
    const size_t room = (rows <= most / columns ? rows * columns : most) + columns;
    s->numbers = GA_NEW(double, room);
    if (!s->numbers) return ga_reader_out_of_memory(report);
    for (; c->at < c->end; next_line(c)) {
        if (at_line_end(c)) return fail_at(content, c, c->at, report, "an empty line");
        GA_TRY(read_row(s, content, c, s->numbers + content->frames * columns, report));
        ++content->frames;
    }
    double *times = GA_ARENA_NEW(&content->arena, double, content->frames + 1);
    if (!times) return ga_reader_out_of_memory(report);
    for (size_t k = 0; k < content->frames; ++k) times[k] = s->numbers[k * columns];
    content->times = times;
    return GA_OK;
}

/* --- open, read, close -------------------------------------------------------------------- */

static void close_csv(void *state)
{
    csv *s = state;
    ga_free(s->numbers);
    ga_free(s->columns);
    ga_free(s);
}

/* The whole file, with a 0 behind it. */
static ga_status load(const ga_reader_content *content, char **text, size_t *length,
                      ga_report *report)
{
    *text = content->file_size < SIZE_MAX ? GA_NEW(char, content->file_size + 1) : NULL;
    if (!*text) return ga_reader_out_of_memory(report);
    FILE *file = fopen(content->path, "rb");
    *length = file ? fread(*text, 1, (size_t)content->file_size, file) : 0;
    const bool good = file && !ferror(file);
    if (file) fclose(file);
    return good ? GA_OK
                : ga_reader_fail(content, report, GA_ERR_FILE, "the file cannot be read");
}

static ga_status open_csv(ga_reader_content *content, void **state, ga_report *report)
{
    csv *s = GA_NEW(csv, 1);
    char *text = NULL;
    size_t length = 0;
    ga_status status = s ? GA_OK : ga_reader_out_of_memory(report);
    if (status == GA_OK) status = load(content, &text, &length, report);
    cursor c = {text, text ? text + length : NULL, text, 1};
    if (status == GA_OK) status = read_header(s, content, &c, report);
    if (status == GA_OK) status = read_rows(s, content, &c, report);
    ga_free(text);
    if (status == GA_OK)
        *state = s;
    else if (s)
        close_csv(s);
    return status;
}

static ga_status read_csv(void *state, const ga_reader_content *content, int channel,
                          size_t first, size_t stride, size_t count, double *values,
                          ga_report *report)
{
    (void)report;
    const csv *s = state;
    const size_t parts = (size_t)content->channels[channel].count;
    const double *numbers = s->numbers + s->columns[channel];
    for (size_t k = 0; k < count; ++k)
        memcpy(values + k * parts, numbers + (first + k * stride) * s->column_count,
               parts * sizeof *values);
    return GA_OK;
}

const ga_reader_type ga_reader_csv = {
    .format = GA_RESULT_CSV,
    .open = open_csv,
    .read = read_csv,
    .close = close_csv,
};
