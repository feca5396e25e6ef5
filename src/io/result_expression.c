/* Names and expressions of the channels of a result.
 *
 * A column is one number per frame: a channel that is one number, or `channel.part`, where
 * parts without names are counted from 0. An expression reads the channels it uses in blocks of
 * frames, so that memory does not grow with the length of a run.
 */
#include "base/arena.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/report.h"
#include "data/expression.h"
#include "data/read.h"
#include "io/unit.h"

#include <assert.h>
#include <galpha/result.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1024 /* frames */ };

/* --- columns ------------------------------------------------------------------------------ */

/* The part's name, into `number` where it has none; "" for a channel of one number. */
static const char *part_name(const ga_channel *channel, int part, char number[16])
{
    if (channel->count == 1 && !channel->parts) return "";
    if (channel->parts) return channel->parts[part];
    snprintf(number, 16, "%d", part);
    return number;
}

static int find_part(const ga_channel *channel, const char *name)
{
    char number[16];
    for (int k = 0; k < channel->count; ++k)
        if (strcmp(part_name(channel, k, number), name) == 0) return k;
    return -1;
}

/* `channel` if it is one number, or `channel.part`; false if there is none. */
static bool find_column(const ga_result_reader *reader, const char *name, int *channel,
                        int *part)
{
    const ga_channel *channels = ga_result_reader_channels(reader);
    *channel = ga_result_reader_find(reader, name);
    *part = 0;
    if (*channel >= 0) return channels[*channel].count == 1;
    const char *dot = strrchr(name, '.');
    char stem[512];
    const size_t length = dot ? (size_t)(dot - name) : 0;
    if (length == 0 || length >= sizeof stem) return false;
    memcpy(stem, name, length);
    stem[length] = '\0';
    *channel = ga_result_reader_find(reader, stem);
    if (*channel < 0) return false;
    *part = find_part(&channels[*channel], dot + 1);
    return *part >= 0;
}

/* --- selection ---------------------------------------------------------------------------- */

/* Dotted words against dotted words, where `*` is any one word or any part of it; the name may
 * go on after the pattern. Names with dots in them are cut there, too. */
static bool matches(const char *pattern, const char *name)
{
    for (;;) {
        const size_t n = strcspn(pattern, "."), m = strcspn(name, ".");
        if (!ga_word_matches(pattern, n, name, m)) return false;
        pattern += n, name += m;
        if (!*pattern) return true;
        if (!*name) return false;
        ++pattern, ++name;
    }
}

static int column_name(const ga_channel *channel, int part, char *text, size_t size)
{
    char number[16];
    const char *suffix = part_name(channel, part, number);
    return snprintf(text, size, "%s%s%s", channel->name, *suffix ? "." : "", suffix);
}

/* Calls for all columns the pattern stands for; names go behind `names`, if that is not null.
 * Counts columns and bytes. */
static void list_columns(const ga_result_reader *reader, const char *pattern,
                         ga_result_column *columns, char *names, int *count, size_t *bytes)
{
    const ga_channel *channels = ga_result_reader_channels(reader);
    *count = 0;
    *bytes = 0;
    for (int k = 0; k < ga_result_reader_channel_count(reader); ++k) {
        const bool whole = strcmp(channels[k].name, pattern) == 0;
        for (int part = 0; part < channels[k].count; ++part) {
            char text[1024];
            if (column_name(&channels[k], part, text, sizeof text) >= (int)sizeof text)
                continue;
            if (!whole && !matches(pattern, text)) continue;
            const size_t size = strlen(text) + 1;
            if (columns) {
                memcpy(names + *bytes, text, size);
                columns[*count] = (ga_result_column){names + *bytes, k, part};
            }
            ++*count;
            *bytes += size;
        }
    }
}

ga_status ga_result_select(const ga_result_reader *reader, const char *name,
                           ga_result_column **columns, int *count, ga_report *report)
{
    size_t bytes;
    *columns = NULL;
    list_columns(reader, name, NULL, NULL, count, &bytes);
    if (*count == 0) return GA_OK;
    ga_result_column *list = ga_alloc(1, (size_t)*count * sizeof *list + bytes);
    if (!list) return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    list_columns(reader, name, list, (char *)(list + *count), count, &bytes);
    *columns = list;
    return GA_OK;
}

void ga_result_columns_free(ga_result_column *columns) { ga_free(columns); }

/* Channels, then their parts, for suggestions. */
typedef struct all_names {
    const ga_result_reader *reader;
    bool columns_only;
    int channel, part; /* of the next name */
    char text[GA_RESULT_NAME_SIZE];
    ga_arena arena; /* a suggestion is kept until the end */
} all_names;

static const char *next_name(void *user, int k)
{
    all_names *all = user;
    if (k == 0) all->channel = 0, all->part = -1;
    const ga_channel *channels = ga_result_reader_channels(all->reader);
    if (all->channel >= ga_result_reader_channel_count(all->reader)) return NULL;
    const ga_channel *channel = &channels[all->channel];
    const char *name = channel->name;
    if (all->part < 0 && channel->count > 1 && all->columns_only) all->part = 0;
    if (all->part >= 0 || (channel->count == 1 && channel->parts)) {
        column_name(channel, all->part < 0 ? 0 : all->part, all->text, sizeof all->text);
        const char *copy = ga_arena_text(&all->arena, all->text);
        if (copy) name = copy;
    }
    if (++all->part >= channel->count || channel->count == 1) ++all->channel, all->part = -1;
    return name;
}

int ga_result_suggest(const ga_result_reader *reader, const char *name,
                      char near[GA_RESULT_NAME_SIZE])
{
    all_names all = {.reader = reader};
    const char *found = ga_suggest(name, &all, next_name);
    if (found) snprintf(near, GA_RESULT_NAME_SIZE, "%s", found);
    ga_arena_free(&all.arena);
    return found != NULL;
}

/* --- expressions -------------------------------------------------------------------------- */

typedef struct variable {
    int channel, part; /* channel -1: time */
} variable;

struct ga_result_expression {
    ga_result_reader *reader;
    ga_expression *program;
    int count;
    variable variables[GA_EXPRESSION_MAX_VARIABLES];
    char unit[GA_UNIT_SIZE];
};

/* While it is compiled. */
typedef struct compilation {
    ga_result_expression *e;
    all_names names;
} compilation;

static const char *symbol_name(void *user, int k)
{
    return next_name(&((compilation *)user)->names, k);
}

static ga_symbol find_symbol(void *user, const char *name, size_t length)
{
    ga_result_expression *e = ((compilation *)user)->e;
    const ga_symbol none = {GA_SYMBOL_UNKNOWN, 0, 0};
    char text[512];
    if (length >= sizeof text) return none;
    memcpy(text, name, length);
    text[length] = '\0';
    variable v = {-1, 0};
    if (strcmp(text, "time") != 0 && !find_column(e->reader, text, &v.channel, &v.part))
        return none;
    int k = 0;
    while (k < e->count &&
           (e->variables[k].channel != v.channel || e->variables[k].part != v.part))
        ++k;
    if (k == GA_EXPRESSION_MAX_VARIABLES) return none;
    e->variables[k] = v;
    if (k == e->count) ++e->count;
    return (ga_symbol){GA_SYMBOL_VARIABLE, 0, k};
}

/* Units of the same meaning keep the text of the channel: N m of moments, not J. */
static void find_unit(ga_result_expression *e)
{
    ga_unit units[GA_EXPRESSION_MAX_VARIABLES];
    const ga_channel *channels = ga_result_reader_channels(e->reader);
    const bool has_units = ga_result_reader_format(e->reader) != GA_RESULT_CSV;
    const char *texts[GA_EXPRESSION_MAX_VARIABLES];
    for (int k = 0; k < e->count; ++k) {
        const int channel = e->variables[k].channel;
        texts[k] = channel < 0 ? "s" : channels[channel].unit;
        units[k] = channel < 0 || has_units ? ga_unit_read(texts[k]) : (ga_unit){0};
    }
    const ga_unit unit = ga_unit_of(e->program, units);
    ga_unit_write(unit, e->unit);
    for (int k = e->count - 1; k >= 0; --k)
        if (ga_unit_equal(unit, units[k])) snprintf(e->unit, sizeof e->unit, "%s", texts[k]);
}

ga_status ga_result_expression_compile(ga_result_reader *reader, const char *text,
                                       ga_result_expression **expression, ga_report *report)
{
    assert(reader && text && expression);
    *expression = NULL;
    ga_result_expression *e = GA_NEW(ga_result_expression, 1);
    if (!e) return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    e->reader = reader;
    compilation c = {e, {.reader = reader, .columns_only = true}};
    const ga_symbols symbols = {.user = &c, .find = find_symbol, .name = symbol_name};
    ga_expression_error error;
    const ga_status status = ga_expression_compile(text, &symbols, &e->program, &error);
    ga_arena_free(&c.names.arena);
    if (status == GA_OK) {
        find_unit(e);
        *expression = e;
        return GA_OK;
    }
    ga_result_expression_destroy(e);
    ga_fail(report, status, "%s",
            status == GA_ERR_INPUT ? error.message : ga_status_text(status));
    if (report && status == GA_ERR_INPUT) report->column = (int)error.offset;
    return status;
}

void ga_result_expression_destroy(ga_result_expression *expression)
{
    if (!expression) return;
    ga_expression_destroy(expression->program);
    ga_free(expression);
}

const char *ga_result_expression_unit(const ga_result_expression *expression)
{
    return expression->unit;
}

/* The block's numbers of every variable, and room for one channel with all its parts. */
typedef struct workspace {
    double *columns; /* BLOCK for each variable */
    double *channel;
} workspace;

static ga_status load_block(const ga_result_expression *e, workspace *w, size_t first,
                            size_t stride, size_t count, ga_report *report)
{
    const ga_channel *channels = ga_result_reader_channels(e->reader);
    const double *times = ga_result_reader_times(e->reader);
    for (int k = 0; k < e->count; ++k) {
        const variable *v = &e->variables[k];
        double *to = w->columns + (size_t)k * BLOCK;
        const size_t parts = v->channel < 0 ? 1 : (size_t)channels[v->channel].count;
        /* parts of one channel stand side by side in most expressions: read it once */
        const bool again = k == 0 || v->channel != e->variables[k - 1].channel;
        if (v->channel >= 0 && again)
            GA_TRY(ga_result_reader_read(e->reader, v->channel, first, stride, count,
                                         w->channel, report));
        for (size_t n = 0; n < count; ++n)
            to[n] = v->channel < 0 ? times[first + n * stride]
                                   : w->channel[n * parts + (size_t)v->part];
    }
    return GA_OK;
}

static ga_status evaluate(const ga_result_expression *e, workspace *w, size_t first,
                          size_t stride, size_t count, double *values, ga_report *report)
{
    double x[GA_EXPRESSION_MAX_VARIABLES] = {0};
    for (size_t done = 0; done < count; done += BLOCK) {
        const size_t here = count - done < BLOCK ? count - done : BLOCK;
        GA_TRY(load_block(e, w, first + done * stride, stride, here, report));
        for (size_t n = 0; n < here; ++n) {
            for (int k = 0; k < e->count; ++k) x[k] = w->columns[(size_t)k * BLOCK + n];
            values[done + n] = ga_expression_value(e->program, x);
        }
    }
    return GA_OK;
}

ga_status ga_result_expression_read(const ga_result_expression *e, size_t first, size_t stride,
                                    size_t count, double *values, ga_report *report)
{
    const ga_channel *channels = ga_result_reader_channels(e->reader);
    size_t parts = 1;
    for (int k = 0; k < e->count; ++k) {
        const int channel = e->variables[k].channel;
        if (channel >= 0 && (size_t)channels[channel].count > parts)
            parts = (size_t)channels[channel].count;
    }
    workspace w = {GA_NEW(double, BLOCK *((size_t)e->count + 1)), GA_NEW(double, BLOCK *parts)};
    const ga_status status =
        w.columns && w.channel
            ? evaluate(e, &w, first, stride, count, values, report)
            : ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    ga_free(w.columns);
    ga_free(w.channel);
    return status;
}
