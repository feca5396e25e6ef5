/* Result files of every format: names, the first row, flushing now and then.
 *
 * What a killed process leaves is what was last flushed, so no row is to wait for more than a
 * second. Nobody calls in the middle of a long step; hence rows are flushed early if the next
 * call, by the time since the last one, would come too late. Rows of one step come in quick
 * succession and say nothing about the next step, so ticks are compared with ticks: with the
 * last but one, as there may be two at the end of a step. A flush costs time that grows with
 * the number of channels: it happens so seldom that it takes no more than a fifth of the time.
 */
#define _POSIX_C_SOURCE 200809L

#include <galpha/result.h>

#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "io/writer.h"

#include <assert.h>
#include <limits.h>
#include <time.h>

#define GA_WRITER(name, table) extern const ga_writer_type table;
#include "io/writer.def"
#undef GA_WRITER

static const ga_writer_type *const writers[] = {
#define GA_WRITER(name, table) [name] = &table,
#include "io/writer.def"
#undef GA_WRITER
};

struct ga_result {
    const ga_writer_type *type;
    void *state; /* of the writer */
    ga_file file;
    bool started;      /* has a row */
    bool waiting;      /* rows that were not flushed */
    double next_flush; /* s */
    double last_call;  /* s */
    double ticks[2];   /* the last two, latest first, s */
};

static const double flush_interval = 1;      /* s */
static const double flush_spacing = 1 / 0.2; /* in durations of the last flush */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static ga_status out_of_memory(ga_report *report)
{
    return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
}

static ga_status count_values(int channel_count, const ga_channel *channels, int *count,
                              ga_report *report)
{
    *count = 0;
    for (int k = 0; k < channel_count; ++k) {
        GA_TRY(ga_check_own_size("ga_channel", channels[k].struct_size, sizeof(ga_channel),
                                 report));
        assert(channels[k].count > 0);
        /* one more for the time */
        if (channels[k].count >= INT_MAX - *count) return out_of_memory(report);
        *count += channels[k].count;
    }
    return GA_OK;
}

void ga_result_def_fill(ga_result_def *def, size_t size)
{
    if (ga_is_own_size(def, size, sizeof *def)) *def = (ga_result_def){.struct_size = size};
}

ga_status ga_result_create(const char *path, ga_result_format format, int channel_count,
                           const ga_channel *channels, const char *model_text,
                           ga_result **result, ga_report *report)
{
    ga_result_def def = ga_result_def_default();
    def.channel_count = channel_count;
    def.channels = channels;
    def.model_text = model_text;
    return ga_result_create_with(path, format, &def, result, report);
}

ga_status ga_result_create_with(const char *path, ga_result_format format,
                                const ga_result_def *def, ga_result **result, ga_report *report)
{
    assert(path && result);
    *result = NULL;
    GA_TRY(ga_check_size("ga_result_def", def->struct_size, sizeof *def, report));
    assert(def->channel_count >= 0 && (def->channels || def->channel_count == 0));
    assert((size_t)format < sizeof writers / sizeof *writers);
    ga_writer_content content = {.channel_count = def->channel_count,
                                 .channels = def->channels,
                                 .model_text = def->model_text ? def->model_text : "",
                                 .scene = def->scene};
    GA_TRY(count_values(def->channel_count, def->channels, &content.value_count, report));
    ga_result *r = GA_NEW(ga_result, 1);
    if (!r) return out_of_memory(report);
    r->type = writers[format];
    const bool regular = r->type->needs_regular_file;
    ga_status status = def->descriptor > 0
                           ? ga_file_adopt(&r->file, def->descriptor, path, report)
                           : ga_file_create_part(&r->file, path, regular, report);
    if (status == GA_OK) {
        status = r->type->open(&r->file, &content, &r->state, report);
        if (status != GA_OK) ga_file_close(&r->file, NULL); /* removes it */
    }
    if (status != GA_OK) {
        ga_free(r);
        return status;
    }
    r->last_call = r->ticks[0] = r->ticks[1] = now();
    *result = r;
    return GA_OK;
}

static ga_status flush(ga_result *r, ga_report *report)
{
    const double begin = now();
    GA_TRY(r->type->flush(r->state, report));
    GA_TRY(ga_file_check(&r->file, report));
    const double end = now();
    const double spacing = flush_spacing * (end - begin);
    r->next_flush = begin + (spacing > flush_interval ? spacing : flush_interval);
    r->last_call = end;
    r->waiting = false;
    return GA_OK;
}

/* At t, of calls that come at intervals, if the last one was `before`. */
static ga_status flush_in_time(ga_result *r, double t, double before, ga_report *report)
{
    r->last_call = t;
    return r->waiting && t + (t - before) >= r->next_flush ? flush(r, report) : GA_OK;
}

ga_status ga_result_tick(ga_result *result, ga_report *report)
{
    GA_TRY(ga_file_status(&result->file, report)); /* nothing follows a failure */
    const double t = now(), before = result->ticks[1];
    result->ticks[1] = result->ticks[0];
    result->ticks[0] = t;
    return flush_in_time(result, t, before, report);
}

ga_status ga_result_flush(ga_result *result, ga_report *report)
{
    GA_TRY(ga_file_status(&result->file, report));
    return result->waiting ? flush(result, report) : GA_OK;
}

ga_status ga_result_write(ga_result *result, double t, const double *values, ga_report *report)
{
    GA_TRY(ga_file_status(&result->file, report)); /* nothing follows a failure */
    GA_TRY(result->type->write(result->state, t, values, report));
    result->waiting = true;
    if (result->started) return flush_in_time(result, now(), result->last_call, report);
    GA_TRY(flush(result, report));
    result->started = true;
    return GA_OK;
}

/* Of several errors the first counts. A result without rows is of no use to anybody. */
static ga_status finish(ga_result *result, bool complete, const ga_attribute *attributes,
                        ga_report *report)
{
    if (!result) return GA_OK;
    ga_file *file = &result->file;
    const bool own = !attributes || attributes->struct_size == sizeof *attributes ||
                     (!attributes->struct_size && !attributes->name);
    ga_status status = result->type->close(result->state, own ? attributes : NULL, report);
    if (!own)
        status = ga_check_own_size("ga_attribute", attributes->struct_size, sizeof *attributes,
                                   report);
    file->leave = result->started;
    if (complete && status == GA_OK && result->started) status = ga_file_keep(file, report);
    const ga_status closed = ga_file_close(file, status == GA_OK ? report : NULL);
    ga_free(result);
    return status != GA_OK ? status : closed;
}

ga_status ga_result_close(ga_result *result, const ga_attribute *attributes, ga_report *report)
{
    return finish(result, true, attributes, report);
}

ga_status ga_result_close_part(ga_result *result, const ga_attribute *attributes,
                               ga_report *report)
{
    return finish(result, false, attributes, report);
}

const char *ga_result_path(const ga_result *result)
{
    return result->file.temporary ? result->file.temporary : result->file.path;
}

void ga_result_discard(ga_result *result)
{
    if (!result) return;
    result->type->close(result->state, NULL, NULL);
    ga_file_close(&result->file, NULL);
    ga_free(result);
}
