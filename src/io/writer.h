/* A format of result files: how a header and rows become bytes. Names, errors and timing of the
 * file are result.c's. */
#ifndef GA_IO_WRITER_H
#define GA_IO_WRITER_H

#include "base/file.h"

#include <galpha/result.h>
#include <stdbool.h>

/* What a file will hold; borrowed during open, channels are not kept. */
typedef struct ga_writer_content {
    int channel_count;
    const ga_channel *channels;
    int value_count; /* of all channels, at least 0 */
    const char *model_text;
    const char *scene; /* null: none */
} ga_writer_content;

typedef struct ga_writer_type {
    bool needs_regular_file; /* goes back in the file, so no pipe will do */
    /* Writes what stands before the rows. On failure nothing is left in *state. */
    ga_status (*open)(ga_file *file, const ga_writer_content *content, void **state,
                      ga_report *report);
    /* Takes a row; it may stay in memory until flush. */
    ga_status (*write)(void *state, double t, const double *values, ga_report *report);
    /* All rows so far are in the file, which is readable as it stands. */
    ga_status (*flush)(void *state, ga_report *report);
    /* Flushes, adds the attributes (may be null) where the format can, frees; frees also on
     * failure. The file itself stays open. */
    ga_status (*close)(void *state, const ga_attribute *attributes, ga_report *report);
} ga_writer_type;

#endif
