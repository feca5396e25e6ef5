/* Comma-separated values: a header `time,top.position.x,...`, then one line per row. Names with
 * commas, quotes or line breaks stand in quotes, a quote within them is doubled.
 *
 * Numbers have 17 significant digits, which name every double exactly, and a decimal point
 * whatever the locale says.
 *
 * Every row is handed to the system at once, as one write. A line that does not fit on the disk
 * is taken back, so that a file never ends in half a row; if a process is killed in the middle
 * of the write, readers leave the unfinished line of a part out.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "base/report.h"
#include "io/writer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_SIZE = 32 }; /* "-1.2345678901234567e-308" and a separator, generously */

typedef struct csv {
    ga_file *file;
    int value_count;
    uint64_t written; /* bytes of whole rows in the file */
    bool flushed;
    size_t used;
    char *buffer; /* the header, or one row */
} csv;

/* %.17g with a point. Locales have commas there, or characters of several bytes. */
static size_t format_number(char *out, double x)
{
    char raw[64];
    snprintf(raw, sizeof raw, "%.17g", x);
    size_t n = 0;
    for (const char *c = raw; *c; ++c) {
        if (strchr("0123456789+-einfa", *c))
            out[n++] = *c;
        else if (n == 0 || out[n - 1] != '.')
            out[n++] = '.';
    }
    return n;
}

static ga_status put_out(csv *s, ga_report *report)
{
    if (ga_file_write(s->file, s->buffer, s->used)) {
        s->written += s->used;
        s->used = 0;
    } else if (s->file->regular && ftruncate(s->file->descriptor, (off_t)s->written) != 0) {
        /* The first error is the one to tell. */
    }
    return ga_file_status(s->file, report);
}

static ga_status flush(void *state, ga_report *report)
{
    csv *s = state;
    GA_TRY(put_out(s, report));
    if (s->flushed) ga_file_sync(s->file); /* one row is soon computed again */
    s->flushed = true;
    return ga_file_status(s->file, report);
}

static ga_status write_row(void *state, double t, const double *values, ga_report *report)
{
    csv *s = state;
    if (s->used) GA_TRY(put_out(s, report)); /* the header, which may be long */
    char *out = s->buffer + s->used;
    out += format_number(out, t);
    for (int k = 0; k < s->value_count; ++k) {
        *out++ = ',';
        out += format_number(out, values[k]);
    }
    *out++ = '\n';
    s->used = (size_t)(out - s->buffer);
    return put_out(s, report);
}

/* --- header ------------------------------------------------------------------------------- */

static char *put(char *out, const char *text, bool quoted)
{
    for (const char *c = text; *c; ++c) {
        if (quoted && *c == '"') *out++ = '"';
        *out++ = *c;
    }
    return out;
}

/* One column: `,name.part`, where parts without a name are counted from 0. */
static char *put_column(char *out, const ga_channel *channel, int part)
{
    char number[16];
    snprintf(number, sizeof number, "%d", part);
    const char *suffix = channel->parts       ? channel->parts[part]
                         : channel->count > 1 ? number
                                              : "";
    static const char special[] = ",\"\r\n";
    const bool quoted = strpbrk(channel->name, special) || strpbrk(suffix, special);
    out = put(out, quoted ? ",\"" : ",", false);
    out = put(out, channel->name, quoted);
    if (*suffix) out = put(put(out, ".", false), suffix, quoted);
    return put(out, quoted ? "\"" : "", false);
}

/* Upper bound: every character a quote. */
static size_t header_size(const ga_writer_content *content)
{
    size_t size = sizeof "time\n";
    for (int k = 0; k < content->channel_count; ++k) {
        const ga_channel *channel = &content->channels[k];
        for (int i = 0; i < channel->count; ++i)
            size += 2 * strlen(channel->name) + NUMBER_SIZE +
                    (channel->parts ? 2 * strlen(channel->parts[i]) : 0);
    }
    return size;
}

static size_t write_header(char *buffer, const ga_writer_content *content)
{
    char *out = put(buffer, "time", false);
    for (int k = 0; k < content->channel_count; ++k)
        for (int i = 0; i < content->channels[k].count; ++i)
            out = put_column(out, &content->channels[k], i);
    *out++ = '\n';
    return (size_t)(out - buffer);
}

/* --- open and close ----------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static ga_status open_csv(ga_file *file, const ga_writer_content *content, void **state,
                          ga_report *report)
{
    csv *s = GA_NEW(csv, 1);
    const size_t row = ((size_t)content->value_count + 1) * NUMBER_SIZE;
    const size_t size = larger(row, header_size(content));
    char *buffer = GA_NEW(char, size);
    if (!s || !buffer) {
        ga_free(s);
        ga_free(buffer);
        return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    }
    *s = (csv){.file = file, .value_count = content->value_count, .buffer = buffer};
    s->used = write_header(buffer, content);
    *state = s;
    return GA_OK;
}

static ga_status close_csv(void *state, const ga_attribute *attributes, ga_report *report)
{
    (void)attributes; /* the format has no place for them */
    csv *s = state;
    const ga_status status = put_out(s, report);
    ga_free(s->buffer);
    ga_free(s);
    return status;
}

const ga_writer_type ga_writer_csv = {
    .open = open_csv,
    .write = write_row,
    .flush = flush,
    .close = close_csv,
};
