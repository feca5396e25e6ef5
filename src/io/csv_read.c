/* Comma-separated values as csv.c writes them: a header `time,top.position.x,...`, then lines
 * of as many numbers. Quoted names, both kinds of line ends, and a byte-order mark are
 * understood.
 *
 * The file is read at once and parsed in one pass. Nothing is counted in advance: names and
 * numbers go into lists that grow as they are met, and the text is only ever looked at through
 * `peek`, which knows where it ends. A second pass with a grammar of its own, to count columns
 * or rows, would have to agree with the first on every malformed file.
 *
 * A last line without its end is one that a writer was killed in, if the file is a part: it is
 * left out. Other files may do without the end of their last line.
 *
 * Columns that belong together become one channel: neighbours `a.x`, `a.y`, `a.z`, where the
 * parts are one of the lists below or 0, 1, 2, ...
 */
#define _POSIX_C_SOURCE 200809L

#include "base/buffer.h"
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
    const char *at, *end; /* *end is 0 */
    const char *line_start;
    size_t line;
} cursor;

/* A list that grows; `items` is freed with ga_free. */
typedef struct list {
    void *items;
    size_t count, room;
} list;

/* Makes room for one more item; false: memory is out. */
static bool grow(list *l, size_t size)
{
    if (l->count < l->room) return true;
    const size_t room = l->room ? 2 * l->room : 64;
    if (room < l->room) return false;
    void *larger = ga_alloc(room, size);
    if (!larger) return false;
    if (l->count) memcpy(larger, l->items, l->count * size);
    ga_free(l->items);
    l->items = larger;
    l->room = room;
    return true;
}

static ga_status fail_at(const ga_reader_content *content, const cursor *c, const char *at,
                         ga_report *report, const char *what)
{
    const size_t length = strlen(content->path);
    const char *path = length > 120 ? content->path + length - 120 : content->path;
    return ga_fail(report, GA_ERR_INPUT, "%s:%zu:%zu: %s", path, c->line,
                   (size_t)(at - c->line_start) + 1, what);
}

enum { END = -1 };

/* The character `ahead` of the cursor, or END. */
static int peek(const cursor *c, size_t ahead)
{
    return (size_t)(c->end - c->at) > ahead ? (unsigned char)c->at[ahead] : END;
}

static bool at_line_end(const cursor *c)
{
    const int x = peek(c, 0);
    return x == END || x == '\n' || (x == '\r' && peek(c, 1) == '\n');
}

/* Past one character, which is not END. */
static void advance(cursor *c)
{
    if (*c->at++ != '\n') return;
    c->line_start = c->at;
    ++c->line;
}

/* From the end of a line to the next one. */
static void next_line(cursor *c)
{
    if (peek(c, 0) == '\r') advance(c);
    if (peek(c, 0) == '\n') advance(c);
}

/* --- header ------------------------------------------------------------------------------- */

/* One name, into a buffer. A quoted one may hold commas, line ends, and quotes written twice.
 */
static ga_status read_name(const ga_reader_content *content, cursor *c, ga_buffer *name,
                           ga_report *report)
{
    const cursor begin = *c;
    const bool quoted = peek(c, 0) == '"';
    name->length = 0;
    if (quoted) advance(c);
    for (;; advance(c)) {
        const int x = peek(c, 0);
        if (quoted && x == END)
            return fail_at(content, &begin, begin.at, report, "a quote is not closed");
        if (!quoted && (x == ',' || at_line_end(c))) return GA_OK;
        if (x == 0) return fail_at(content, c, c->at, report, "a NUL byte in a name");
        if (x == '"' && !quoted)
            return fail_at(content, c, c->at, report, "a quote inside an unquoted name");
        if (x == '"') {
            advance(c);
            if (peek(c, 0) != '"') return GA_OK;
        }
        ga_buffer_add_n(name, c->at, 1);
    }
}

/* The names of a line: into `names`, a list of const char *. */
static ga_status read_names(ga_reader_content *content, cursor *c, list *names,
                            ga_buffer *scratch, ga_report *report)
{
    for (;; advance(c)) {
        const cursor begin = *c;
        GA_TRY(read_name(content, c, scratch, report));
        if (scratch->length == 0)
            return fail_at(content, &begin, begin.at, report, "a column has no name");
        const char *name =
            scratch->failed ? NULL
                            : ga_reader_text(&content->arena, scratch->text, scratch->length);
        if (!name || !grow(names, sizeof name)) return ga_reader_out_of_memory(report);
        ((const char **)names->items)[names->count++] = name;
        if (at_line_end(c)) return GA_OK;
        if (peek(c, 0) != ',') return fail_at(content, c, c->at, report, "expected a comma");
        if (names->count > INT_MAX / 2)
            return fail_at(content, c, c->at, report, "too many columns");
    }
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
        content->channels[content->channel_count++] =
            (ga_channel){sizeof(ga_channel), name, "", "", n, parts};
        k += (size_t)n;
    }
    return ga_reader_name_channels(content, report);
}

/* The first name tells foreign files from damaged ones. */
static bool begins_with_time(const cursor *c)
{
    static const char word[] = "time";
    for (size_t k = 0; k < 4; ++k)
        if (peek(c, k) != word[k]) return false;
    const int next = peek(c, 4);
    return next == END || next == ',' || next == '\r' || next == '\n';
}

static ga_status read_header(csv *s, ga_reader_content *content, cursor *c, ga_report *report)
{
    if (c->end - c->at >= 3 && memcmp(c->at, "\xef\xbb\xbf", 3) == 0) c->at += 3;
    if (!begins_with_time(c))
        return fail_at(content, c, c->at, report,
                       "neither HDF5 nor a CSV file that begins with the column 'time'");
    list names = {0};
    ga_buffer scratch = {0};
    ga_status status = read_names(content, c, &names, &scratch, report);
    s->column_count = names.count;
    if (status == GA_OK) status = make_channels(s, content, names.items, report);
    ga_buffer_free(&scratch);
    ga_free(names.items);
    next_line(c);
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
                          list *numbers, ga_report *report)
{
    char text[96];
    for (size_t k = 0; k < s->column_count; ++k) {
        if (k > 0 && at_line_end(c)) {
            snprintf(text, sizeof text, "%zu numbers, but the header has %zu names", k,
                     s->column_count);
            return fail_at(content, c, c->at, report, text);
        }
        if (k > 0 && peek(c, 0) != ',')
            return fail_at(content, c, c->at, report, "expected a comma");
        if (k > 0) advance(c);
        double x;
        /* the 0 behind the text ends every number */
        const size_t length = scan_number(c->at, &x);
        if (length == 0) return fail_at(content, c, c->at, report, "expected a number");
        c->at += length;
        if (!grow(numbers, sizeof x)) return ga_reader_out_of_memory(report);
        ((double *)numbers->items)[numbers->count++] = x;
    }
    if (at_line_end(c)) return GA_OK;
    snprintf(text, sizeof text, "more numbers than the %zu names of the header",
             s->column_count);
    return fail_at(content, c, c->at, report, peek(c, 0) == ',' ? text : "expected a comma");
}

static ga_status read_rows(csv *s, ga_reader_content *content, cursor *c, ga_report *report)
{
    list numbers = {0};
    ga_status status = GA_OK;
    for (; status == GA_OK && c->at < c->end; next_line(c)) {
        status = at_line_end(c) ? fail_at(content, c, c->at, report, "an empty line")
                                : read_row(s, content, c, &numbers, report);
        if (status == GA_OK) ++content->frames;
    }
    s->numbers = numbers.items;
    if (status != GA_OK) return status;
    double *times = GA_ARENA_NEW(&content->arena, double, content->frames + 1);
    if (!times) return ga_reader_out_of_memory(report);
    for (size_t k = 0; k < content->frames; ++k) times[k] = s->numbers[k * s->column_count];
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
    (*text)[*length] = '\0';
    return good ? GA_OK
                : ga_reader_fail(content, report, GA_ERR_FILE, "the file cannot be read");
}

/* What a part has of whole lines. */
static void drop_unfinished(const ga_reader_content *content, char *text, size_t *length)
{
    static const char suffix[] = ".part";
    const size_t n = strlen(content->path), m = sizeof suffix - 1;
    if (n < m || strcmp(content->path + n - m, suffix) != 0) return;
    while (*length > 0 && text[*length - 1] != '\n') --*length;
    text[*length] = '\0';
}

static ga_status open_csv(ga_reader_content *content, void **state, ga_report *report)
{
    csv *s = GA_NEW(csv, 1);
    char *text = NULL;
    size_t length = 0;
    ga_status status = s ? GA_OK : ga_reader_out_of_memory(report);
    if (status == GA_OK) status = load(content, &text, &length, report);
    if (status == GA_OK) drop_unfinished(content, text, &length);
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
