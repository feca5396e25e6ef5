/* A result that begins with rows of an earlier one: of a run that goes on from a checkpoint.
 *
 * The earlier result may be the very file that the new one replaces. So it is set aside first,
 * under a name that is looked for, and removed when its rows are in the new file: whenever this
 * is interrupted, the rows are in one file or the other.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/archive.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"

#include <galpha/result.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where each number of a row comes from. */
typedef struct source {
    int channel, part;
    int parts; /* of the channel */
} source;

typedef struct copying {
    ga_result_reader *reader;
    int count; /* numbers of a row */
    source *from;
    double *rows, *values; /* so many rows; of one channel */
} copying;

enum { AT_ONCE = 256 };

static char *join(const char *path, const char *ending)
{
    const size_t size = strlen(path) + strlen(ending) + 1;
    char *name = GA_NEW(char, size);
    if (name) snprintf(name, size, "%s%s", path, ending);
    return name;
}

static void end_copying(copying *c)
{
    ga_result_reader_close(c->reader);
    ga_free(c->from);
    ga_free(c->rows);
    ga_free(c->values);
    *c = (copying){0};
}

/* The columns of one channel; their number, or -1: not there. */
static int find_columns(copying *c, const ga_channel *channel, source *from, ga_report *report)
{
    ga_result_column *columns = NULL;
    int count = 0;
    if (ga_result_select(c->reader, channel->name, &columns, &count, report)) return -1;
    const ga_channel *all = ga_result_reader_channels(c->reader);
    const bool there = count == channel->count;
    for (int k = 0; k < count && there; ++k)
        from[k] = (source){columns[k].channel, columns[k].part, all[columns[k].channel].count};
    ga_result_columns_free(columns);
    if (!there)
        ga_fail(report, GA_ERR_INPUT, "%s has no channel %s", ga_result_reader_path(c->reader),
                channel->name);
    return there ? count : -1;
}

static ga_status begin_copying(copying *c, const char *path, const ga_result_def *def,
                               size_t rows, ga_report *report)
{
    GA_TRY(ga_result_open(path, &c->reader, report));
    const size_t frames = ga_result_reader_frames(c->reader);
    if (frames < rows)
        return ga_fail(report, GA_ERR_INPUT, "%s: expected %zu rows, there are %zu", path, rows,
                       frames);
    int most = 0;
    for (int k = 0; k < def->channel_count; ++k) c->count += def->channels[k].count;
    for (int k = 0; k < ga_result_reader_channel_count(c->reader); ++k) {
        const int parts = ga_result_reader_channels(c->reader)[k].count;
        if (parts > most) most = parts;
    }
    const bool memory = (c->from = GA_NEW(source, c->count)) &&
                        (c->rows = GA_NEW(double, (size_t)c->count *AT_ONCE)) &&
                        (c->values = GA_NEW(double, (size_t)most *AT_ONCE));
    if (!memory) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    int at = 0;
    for (int k = 0; k < def->channel_count; ++k) {
        const int found = find_columns(c, def->channels + k, c->from + at, report);
        if (found < 0) return report && report->status != GA_OK ? report->status : GA_ERR_INPUT;
        at += found;
    }
    return GA_OK;
}

/* Rows first .. first + count - 1, into c->rows. */
static ga_status read_rows(copying *c, size_t first, size_t count, ga_report *report)
{
    int last = -1;
    for (int k = 0; k < c->count; ++k) {
        const source *from = c->from + k;
        if (from->channel != last)
            GA_TRY(ga_result_reader_read(c->reader, from->channel, first, 1, count, c->values,
                                         report));
        last = from->channel;
        for (size_t i = 0; i < count; ++i)
            c->rows[i * (size_t)c->count + (size_t)k] =
                c->values[i * (size_t)from->parts + (size_t)from->part];
    }
    return GA_OK;
}

/* Are these the rows of the run that goes on, and not of another of the same name? */
static ga_status check_rows(copying *c, const char *path, size_t rows,
                            const ga_result_sums *expected, ga_report *report)
{
    ga_result_sums sums = ga_result_sums_none();
    const double *times = ga_result_reader_times(c->reader);
    for (size_t first = 0; expected && first < rows; first += AT_ONCE) {
        const size_t count = rows - first < AT_ONCE ? rows - first : AT_ONCE;
        GA_TRY(read_rows(c, first, count, report));
        for (size_t i = 0; i < count; ++i)
            ga_result_sums_add(&sums, times[first + i], c->rows + i * (size_t)c->count,
                               c->count);
    }
    if (!expected || ((!expected->times || sums.times == expected->times) &&
                      (!expected->values || sums.values == expected->values)))
        return GA_OK;
    return ga_fail(report, GA_ERR_INPUT, "%s: its rows are those of another run", path);
}

static ga_status copy_rows(copying *c, size_t rows, ga_result *result, ga_report *report)
{
    const double *times = ga_result_reader_times(c->reader);
    for (size_t first = 0; first < rows; first += AT_ONCE) {
        const size_t count = rows - first < AT_ONCE ? rows - first : AT_ONCE;
        GA_TRY(read_rows(c, first, count, report));
        for (size_t i = 0; i < count; ++i)
            GA_TRY(ga_result_write(result, times[first + i], c->rows + i * (size_t)c->count,
                                   report));
    }
    return ga_result_flush(result, report);
}

/* PATH.part gets another name; refused while it has a writer. */
static ga_status set_aside(const char *part, const char *before, ga_report *report)
{
    ga_file file;
    GA_TRY(ga_file_edit(&file, part, report));
    ga_status status = GA_OK;
    if (rename(part, before) != 0)
        status = ga_fail(report, GA_ERR_FILE, "%s: cannot be renamed to %s", part, before);
    file.leave = true;
    ga_file_close(&file, NULL);
    return status;
}

typedef struct names {
    char *part, *before;
    const char *earlier;
    const char *found; /* one of them */
    bool same;         /* the new result replaces it */
} names;

/* In the first of these files that has the rows. A .part without them was begun by a resume
 * that was killed before it had copied them from the result. */
static ga_status find_rows(copying *c, names *n, const ga_result_def *def, size_t rows,
                           const ga_result_sums *sums, ga_report *report)
{
    const char *candidates[] = {n->before, n->part, n->earlier};
    ga_report first = {0};
    for (int k = 0; k < 3; ++k) {
        ga_report own = {0};
        if (access(candidates[k], F_OK) != 0) continue;
        ga_status status = begin_copying(c, candidates[k], def, rows, &own);
        if (status == GA_OK) status = check_rows(c, candidates[k], rows, sums, &own);
        n->found = candidates[k];
        if (status == GA_OK) return GA_OK;
        own.status = status;
        if (first.status == GA_OK) first = own;
        end_copying(c);
    }
    if (first.status == GA_OK)
        return ga_fail(report, GA_ERR_INPUT, "%s: there is no such file", n->part);
    if (report) *report = first;
    return first.status;
}

static ga_status create_from(const char *path, ga_result_format format,
                             const ga_result_def *def, names *n, size_t rows,
                             const ga_result_sums *sums, ga_result **result, ga_report *report)
{
    copying c = {0};
    ga_status status = find_rows(&c, n, def, rows, sums, report);
    if (status == GA_OK && n->same && n->found == n->part) {
        status = set_aside(n->part, n->before, report); /* the reader has it open */
    }
    if (status == GA_OK) status = ga_result_create_with(path, format, def, result, report);
    if (status == GA_OK) {
        status = copy_rows(&c, rows, *result, report);
        if (status != GA_OK) {
            ga_result_discard(*result);
            *result = NULL;
        }
    }
    end_copying(&c);
    if (status == GA_OK && n->same && n->found != n->earlier) unlink(n->before);
    return status;
}

static uint64_t add_number(uint64_t sum, double x)
{
    if (isnan(x)) x = NAN; /* text has one only */
    return ga_checksum(sum ? sum : GA_CHECKSUM_EMPTY, &x, sizeof x);
}

void ga_result_sums_add(ga_result_sums *sums, double t, const double *values, int count)
{
    if (sums->struct_size != sizeof *sums) return;
    sums->times = add_number(sums->times, t);
    sums->values = add_number(sums->values, t);
    for (int k = 0; k < count; ++k) sums->values = add_number(sums->values, values[k]);
}

ga_status ga_result_create_after(const char *path, ga_result_format format,
                                 const ga_result_def *def, const char *earlier, size_t rows,
                                 const ga_result_sums *sums, ga_result **result,
                                 ga_report *report)
{
    *result = NULL;
    GA_TRY(ga_check_size("ga_result_def", def->struct_size, sizeof *def, report));
    if (sums) GA_TRY(ga_check_size("ga_result_sums", sums->struct_size, sizeof *sums, report));
    char *real = ga_file_real_path(path), *from = ga_file_real_path(earlier);
    names n = {.part = from ? join(from, ".part") : NULL,
               .before = from ? join(from, ".before") : NULL,
               .earlier = from,
               .same = real && from && strcmp(real, from) == 0};
    const ga_status status =
        real && n.part && n.before
            ? create_from(path, format, def, &n, rows, sums, result, report)
            : ga_fail(report, GA_ERR_MEMORY, "out of memory");
    ga_free(n.part);
    ga_free(n.before);
    ga_free(from);
    ga_free(real);
    return status;
}
