/* A format of result files, as it is read: how bytes become channels and columns. Names and
 * sizes are checked here and in result_read.c, never believed.
 */
#ifndef GA_IO_READER_H
#define GA_IO_READER_H

#include "base/arena.h"
#include "base/names.h"

#include <galpha/result.h>
#include <stdbool.h>
#include <stdint.h>

/* What a format fills in when it opens a file; all of it lives in the arena. */
typedef struct ga_reader_content {
    ga_arena arena;
    const char *path;   /* as given */
    uint64_t file_size; /* bytes: nothing in the file is larger than this allows */
    size_t frames;
    const double *times;
    int channel_count;
    ga_channel *channels;
    ga_names names; /* of the channels, to their indices */
    const char *model, *scene;
    ga_attribute *attributes; /* null: none */
} ga_reader_content;

typedef struct ga_reader_type {
    ga_result_format format;
    /* On failure nothing is left in *state; the content is the caller's to free. */
    ga_status (*open)(ga_reader_content *content, void **state, ga_report *report);
    ga_status (*read)(void *state, const ga_reader_content *content, int channel, size_t first,
                      size_t stride, size_t count, double *values, ga_report *report);
    void (*close)(void *state);
} ga_reader_type;

extern const ga_reader_type ga_reader_csv, ga_reader_hdf5;

/* "path: what", where long paths lose their beginning. */
ga_status ga_reader_fail(const ga_reader_content *content, ga_report *report, ga_status status,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));
ga_status ga_reader_out_of_memory(ga_report *report);
/* A copy in the arena that is valid UTF-8; null if memory is out. */
char *ga_reader_text(ga_arena *arena, const char *bytes, size_t length);
/* A name as part of a message: short, and without control characters. */
enum { GA_SHOWN_SIZE = 100 };
const char *ga_reader_shown(const char *name, char shown[GA_SHOWN_SIZE]);
/* Joins the names; two channels of one name are an error. */
ga_status ga_reader_name_channels(ga_reader_content *content, ga_report *report);

#endif
