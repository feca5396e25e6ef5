/* Result files of every format, as they are read: which format it is, what all of them check,
 * and text that others can rely on.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "base/report.h"
#include "io/reader.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct ga_result_reader {
    const ga_reader_type *type;
    void *state; /* of the format */
    ga_reader_content content;
};

/* --- messages ----------------------------------------------------------------------------- */

ga_status ga_reader_fail(const ga_reader_content *content, ga_report *report, ga_status status,
                         const char *format, ...)
{
    /* The end of a long path says more than its beginning, and the rest must fit. */
    enum { LONGEST = 120 };
    const size_t length = strlen(content->path);
    const bool clip = length > LONGEST;
    char what[GA_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return ga_fail(report, status, "%s%s: %s", clip ? "..." : "",
                   clip ? content->path + length - LONGEST : content->path, what);
}

ga_status ga_reader_out_of_memory(ga_report *report)
{
    return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
}

static ga_status fail_with(const ga_reader_content *content, ga_report *report, int error)
{
    char reason[128];
    if (error == ENOMEM) return ga_reader_out_of_memory(report);
    if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    return ga_reader_fail(content, report, GA_ERR_FILE, "%s", reason);
}

/* --- text --------------------------------------------------------------------------------- */

/* The length of the character at the start of n bytes; 0: it is none. Overlong forms,
 * surrogates and what lies beyond U+10FFFF are none. */
static size_t character_length(const unsigned char *c, size_t n)
{
    if (c[0] < 0x80) return 1;
    const size_t length = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    if (c[0] < 0xc2 || c[0] > 0xf4 || length > n) return 0;
    for (size_t k = 1; k < length; ++k)
        if ((c[k] & 0xc0) != 0x80) return 0;
    const unsigned second = c[1];
    const bool wrong = (c[0] == 0xe0 && second < 0xa0) || (c[0] == 0xed && second > 0x9f) ||
                       (c[0] == 0xf0 && second < 0x90) || (c[0] == 0xf4 && second > 0x8f);
    return wrong ? 0 : length;
}

char *ga_reader_text(ga_arena *arena, const char *bytes, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *in = (const unsigned char *)bytes;
    size_t wrong = 0;
    for (size_t k = 0; k < length;) {
        const size_t n = character_length(in + k, length - k);
        if (n == 0) ++wrong;
        k += n ? n : 1;
    }
    char *text = GA_ARENA_NEW(arena, char, length + 2 * wrong + 1);
    if (!text) return NULL;
    char *out = text;
    for (size_t k = 0; k < length;) {
        const size_t n = character_length(in + k, length - k);
        memcpy(out, n ? bytes + k : replacement, n ? n : 3);
        out += n ? n : 3;
        k += n ? n : 1;
    }
    *out = '\0';
    return text;
}

const char *ga_reader_shown(const char *name, char shown[GA_SHOWN_SIZE])
{
    size_t n = 0;
    for (; name[n] && n + 4 < GA_SHOWN_SIZE; ++n)
        shown[n] = (unsigned char)name[n] < 0x20 || name[n] == 0x7f ? ' ' : name[n];
    /* not in the middle of a character */
    while (name[n] && n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) --n;
    strcpy(shown + n, name[n] ? "..." : "");
    return shown;
}

/* --- what all formats check --------------------------------------------------------------- */

ga_status ga_reader_name_channels(ga_reader_content *content, ga_report *report)
{
    for (int k = 0; k < content->channel_count; ++k) {
        const char *name = content->channels[k].name;
        const size_t length = strlen(name);
        char shown[GA_SHOWN_SIZE];
        if (ga_names_find(&content->names, name, length) >= 0)
            return ga_reader_fail(content, report, GA_ERR_INPUT,
                                  "two channels have the name '%s'",
                                  ga_reader_shown(name, shown));
        if (ga_names_put(&content->names, name, length, k) != GA_OK)
            return ga_reader_out_of_memory(report);
    }
    return GA_OK;
}

static ga_status check_times(const ga_reader_content *content, ga_report *report)
{
    if (content->frames == 0)
        return ga_reader_fail(content, report, GA_ERR_INPUT, "it contains no frames");
    const double *t = content->times;
    for (size_t k = 0; k < content->frames; ++k) {
        if (!isfinite(t[k]))
            return ga_reader_fail(content, report, GA_ERR_INPUT,
                                  "the time of frame %zu is not finite", k);
        if (k > 0 && t[k] < t[k - 1])
            return ga_reader_fail(content, report, GA_ERR_INPUT,
                                  "time decreases from %g to %g at frame %zu", t[k - 1], t[k],
                                  k);
    }
    return GA_OK;
}

/* --- open --------------------------------------------------------------------------------- */

/* HDF5 may have something else in front, up to an offset of 512, 1024, 2048, ... bytes; such
 * files are not ours, but calling them bad CSV would be a riddle. */
static bool is_hdf5(FILE *file)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const long last = 1L << 20;
    unsigned char bytes[sizeof signature];
    for (long at = 0; at <= last; at = at ? 2 * at : 512) {
        if (fseek(file, at, SEEK_SET) != 0 ||
            fread(bytes, 1, sizeof bytes, file) < sizeof bytes)
            return false;
        if (memcmp(bytes, signature, sizeof signature) == 0) return true;
    }
    return false;
}

static ga_status find_type(ga_reader_content *content, const ga_reader_type **type,
                           ga_report *report)
{
    struct stat about;
    if (stat(content->path, &about) != 0) return fail_with(content, report, errno);
    if (S_ISDIR(about.st_mode)) return fail_with(content, report, EISDIR);
    if (!S_ISREG(about.st_mode))
        return ga_reader_fail(content, report, GA_ERR_FILE, "not a regular file");
    content->file_size = (uint64_t)about.st_size;
    if (content->file_size == 0)
        return ga_reader_fail(content, report, GA_ERR_INPUT, "the file is empty");
    FILE *file = fopen(content->path, "rb");
    if (!file) return fail_with(content, report, errno);
    *type = is_hdf5(file) ? &ga_reader_hdf5 : &ga_reader_csv;
    fclose(file);
    return GA_OK;
}

ga_status ga_result_open(const char *path, ga_result_reader **reader, ga_report *report)
{
    assert(path && reader);
    *reader = NULL;
    ga_result_reader *r = GA_NEW(ga_result_reader, 1);
    if (!r) return ga_reader_out_of_memory(report);
    r->content.model = "";
    ga_status status = GA_OK;
    if (!(r->content.path = ga_arena_text(&r->content.arena, path)))
        status = ga_reader_out_of_memory(report);
    if (status == GA_OK) status = find_type(&r->content, &r->type, report);
    if (status == GA_OK) status = r->type->open(&r->content, &r->state, report);
    if (status == GA_OK) status = check_times(&r->content, report);
    if (status == GA_OK)
        *reader = r;
    else
        ga_result_reader_close(r);
    return status;
}

void ga_result_reader_close(ga_result_reader *reader)
{
    if (!reader) return;
    if (reader->state) reader->type->close(reader->state);
    ga_names_free(&reader->content.names);
    ga_arena_free(&reader->content.arena);
    ga_free(reader);
}

/* --- what is in it ------------------------------------------------------------------------ */

ga_result_format ga_result_reader_format(const ga_result_reader *reader)
{
    return reader->type->format;
}

const char *ga_result_reader_path(const ga_result_reader *reader)
{
    return reader->content.path;
}

size_t ga_result_reader_frames(const ga_result_reader *reader)
{
    return reader->content.frames;
}

const double *ga_result_reader_times(const ga_result_reader *reader)
{
    return reader->content.times;
}

int ga_result_reader_channel_count(const ga_result_reader *reader)
{
    return reader->content.channel_count;
}

const ga_channel *ga_result_reader_channels(const ga_result_reader *reader)
{
    return reader->content.channels;
}

int ga_result_reader_find(const ga_result_reader *reader, const char *name)
{
    return ga_names_find(&reader->content.names, name, strlen(name));
}

ga_status ga_result_reader_read(ga_result_reader *reader, int channel, size_t first,
                                size_t stride, size_t count, double *values, ga_report *report)
{
    assert(channel >= 0 && channel < reader->content.channel_count && stride > 0);
    assert(count == 0 || (first < reader->content.frames &&
                          (count - 1) <= (reader->content.frames - 1 - first) / stride));
    if (count == 0) return GA_OK;
    return reader->type->read(reader->state, &reader->content, channel, first, stride, count,
                              values, report);
}

const char *ga_result_reader_model(const ga_result_reader *reader)
{
    return reader->content.model;
}

const char *ga_result_reader_scene(const ga_result_reader *reader)
{
    return reader->content.scene;
}

const ga_attribute *ga_result_reader_attributes(const ga_result_reader *reader)
{
    static const ga_attribute none = {0};
    return reader->content.attributes ? reader->content.attributes : &none;
}
