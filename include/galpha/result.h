/* Result files: CSV and HDF5, written row by row, readable even after a failure.
 *
 * CSV: header `time,top.position.x,...`, 17 significant digits. HDF5: /time, one dataset per
 * channel under /channels with attributes `name`, `unit`, `description` and `parts`, /model
 * (the text of the model), /scene (for viewers, as JSON), /solver with settings, version and
 * statistics as attributes. In dataset names `/` becomes %2F, `%` becomes %25, and a name
 * `.` becomes %2E.
 *
 * After a kill at any moment, or on a full disk, files are readable up to the last flush, which
 * is at most a second old, or five times as long as a flush takes. CSV has every row. A file
 * whose writer was killed while it updated the file can be read here as it is, and by other
 * programs after ga_result_repair. HDF5 is usually built without thread safety, so use HDF5
 * results from one thread at a time.
 */
#ifndef GALPHA_RESULT_H
#define GALPHA_RESULT_H

#include <galpha/channel.h>
#include <galpha/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_result_format { GA_RESULT_CSV, GA_RESULT_HDF5 } ga_result_format;

/* A setting or statistic of the run, stored with the result if the format allows it. */
typedef struct ga_attribute {
    size_t struct_size; /* set by the macros below */
    const char *name;   /* null ends a list */
    const char *text;   /* null: a number */
    double number;
} ga_attribute;

#define GA_ATTRIBUTE(name_, number_)                                                           \
    {                                                                                          \
        sizeof(ga_attribute), (name_), NULL, (number_)                                         \
    }
#define GA_ATTRIBUTE_TEXT(name_, text_)                                                        \
    {                                                                                          \
        sizeof(ga_attribute), (name_), (text_), 0                                              \
    }

typedef struct ga_result ga_result;

/* Contents of a result; borrowed during creation. */
typedef struct ga_result_def {
    size_t struct_size; /* set by the function that gives defaults */
    int channel_count;
    const ga_channel *channels;
    const char *model_text; /* null: "" */
    const char *scene;      /* from ga_model_scene; null: none */
    /* An open file descriptor to write CSV to, such as standard output; the path is then used
     * in messages only. 0: none. */
    int descriptor;
} ga_result_def;

/* No channels, no texts. */
GA_API void ga_result_def_fill(ga_result_def *def, size_t size);
static inline ga_result_def ga_result_def_default(void)
{
    ga_result_def def;
    ga_result_def_fill(&def, sizeof def);
    return def;
}

/* The file is written as PATH.part, readable at any time, and renamed to PATH when it is
 * closed, so that a failing run does not replace an earlier file. Two results cannot be written
 * to one path at the same time: GA_ERR_FILE. CSV may also go to a pipe or a device, which is
 * opened directly. */
GA_API ga_status ga_result_create(const char *path, ga_result_format format, int channel_count,
                                  const ga_channel *channels, const char *model_text,
                                  ga_result **result, ga_report *report);
/* The same, with all contents. */
GA_API ga_status ga_result_create_with(const char *path, ga_result_format format,
                                       const ga_result_def *def, ga_result **result,
                                       ga_report *report);
/* Checksums by which rows are recognised: of their times, and of all their numbers. Zero: no
 * rows, or not known. */
typedef struct ga_result_sums {
    size_t struct_size; /* set by ga_result_sums_none */
    uint64_t times, values;
} ga_result_sums;

static inline ga_result_sums ga_result_sums_none(void)
{
    ga_result_sums sums = {sizeof sums, 0, 0};
    return sums;
}
/* One more row, with `count` values. Sums of another size stay as they are. */
GA_API void ga_result_sums_add(ga_result_sums *sums, double t, const double *values, int count);

/* The same, beginning with the first `rows` rows of an earlier result of these channels: what
 * an interrupted run has left as EARLIER.part, or EARLIER itself. They are copied number by
 * number. `sums` (null: none) are those of the rows expected. If both results have the same
 * path, EARLIER.part is renamed to EARLIER.before until the rows are copied; if copying is
 * interrupted, the next call finds them there. GA_ERR_INPUT: there is no such result, it has
 * fewer rows or not all channels, or its rows are those of another run; then nothing has
 * changed. */
GA_API ga_status ga_result_create_after(const char *path, ga_result_format format,
                                        const ga_result_def *def, const char *earlier,
                                        size_t rows, const ga_result_sums *sums,
                                        ga_result **result, ga_report *report);
/* values: all channels, concatenated. A full disk is reported here or in close. */
GA_API ga_status ga_result_write(ga_result *result, double t, const double *values,
                                 ga_report *report);
/* Flushes rows that would otherwise wait for more than a second until the next call but one. To
 * be called after every step, where rows may be far apart. */
GA_API ga_status ga_result_tick(ga_result *result, ga_report *report);
/* All rows so far are in the file when it returns. */
GA_API ga_status ga_result_flush(ga_result *result, ga_report *report);
/* File being written: PATH.part, with links resolved, or the pipe or device. */
GA_API const char *ga_result_path(const ga_result *result);
/* Writes the attributes of /solver (may be null), closes the file, renames it to PATH,
 * replacing an existing file, and frees the result. On failure it stays PATH.part. A result
 * without rows is removed. */
GA_API ga_status ga_result_close(ga_result *result, const ga_attribute *attributes,
                                 ga_report *report);
/* The same for an unfinished run: the file stays PATH.part. */
GA_API ga_status ga_result_close_part(ga_result *result, const ga_attribute *attributes,
                                      ga_report *report);
/* Closes and deletes the file. */
GA_API void ga_result_discard(ga_result *result);

/* Completes the update of an HDF5 file whose writer was killed during it, so that programs
 * other than this library can read the file, too. *repaired: whether there was something to do.
 * GA_ERR_FILE: the file is still being written. */
GA_API ga_status ga_result_repair(const char *path, int *repaired, ga_report *report);

/* --- reading ------------------------------------------------------------------------------ */

/* A result file that is open for reading. Descriptions and times are in memory; the numbers of
 * HDF5 channels are read from the file on demand. Files are not trusted: foreign, truncated or
 * inconsistent files give GA_ERR_INPUT, unreadable ones GA_ERR_FILE, both with a message that
 * names the file. All text is valid UTF-8: invalid bytes are replaced by U+FFFD.
 *
 * Pointers returned belong to the reader and are valid until it is closed. */
typedef struct ga_result_reader ga_result_reader;

/* HDF5 or CSV, recognised by content, not by name. There is at least one frame; times are
 * finite and do not decrease. A file that is still being written is read up to the last row
 * that all its channels have. */
GA_API ga_status ga_result_open(const char *path, ga_result_reader **reader, ga_report *report);
GA_API void ga_result_reader_close(ga_result_reader *reader);

GA_API ga_result_format ga_result_reader_format(const ga_result_reader *reader);
GA_API const char *ga_result_reader_path(const ga_result_reader *reader); /* as given */
GA_API size_t ga_result_reader_frames(const ga_result_reader *reader);
GA_API const double *ga_result_reader_times(const ga_result_reader *reader); /* s */

/* In file order for CSV, by name for HDF5. Missing units and descriptions are "". The columns
 * a.x, a.y, a.z of a CSV file are one channel a; so are a.w, ..., a.z and a.0, a.1, ... */
GA_API int ga_result_reader_channel_count(const ga_result_reader *reader);
GA_API const ga_channel *ga_result_reader_channels(const ga_result_reader *reader);
/* Its index, or -1. */
GA_API int ga_result_reader_find(const ga_result_reader *reader, const char *name);
/* The numbers of one channel in the frames first, first + stride, ...: count frames, all of
 * which must exist, stride at least 1. values: the components frame by frame, count times the
 * number of components. NaN and infinity are passed on. */
GA_API ga_status ga_result_reader_read(ga_result_reader *reader, int channel, size_t first,
                                       size_t stride, size_t count, double *values,
                                       ga_report *report);

/* The text of the model; "" if the file has none. */
GA_API const char *ga_result_reader_model(const ga_result_reader *reader);
/* Scene for viewers, JSON; null if the file has none. */
GA_API const char *ga_result_reader_scene(const ga_result_reader *reader);
/* Settings, version and statistics of the run; ends with a null name. */
GA_API const ga_attribute *ga_result_reader_attributes(const ga_result_reader *reader);

/* --- names and expressions of channels ---------------------------------------------------- */

/* One number per frame: a channel, or one component of it. */
typedef struct ga_result_column {
    const char *name;  /* top.position.x */
    int channel, part; /* indices */
} ga_result_column;

/* Columns that match a name: `top.position` for all its components, `top` or `energy` for all
 * channels that start with `top.` or `energy.`, and `*` for any word between dots or any part
 * of it, as in `*.position.z` and `hinge*.angle`. In the order of the channels. An empty list
 * is not an error. Names are valid as long as the list. GA_OK or GA_ERR_MEMORY. */
GA_API ga_status ga_result_select(const ga_result_reader *reader, const char *name,
                                  ga_result_column **columns, int *count, ga_report *report);
GA_API void ga_result_columns_free(ga_result_column *columns);
/* Writes the name most similar to an unknown one into `near`; false if there is none. */
enum { GA_RESULT_NAME_SIZE = 160 };
GA_API int ga_result_suggest(const ga_result_reader *reader, const char *name,
                             char near[GA_RESULT_NAME_SIZE]);

/* A quantity computed from channels, frame by frame: "top.position.x - 2*top.velocity.y",
 * "sqrt(x.a^2 + `my body`.rate)", in the language of model files. Names are those of columns,
 * and `time`. At most 64 of them. */
typedef struct ga_result_expression ga_result_expression;

/* A syntax error is GA_ERR_INPUT, with its position in report->column. The reader must outlive
 * the expression. */
GA_API ga_status ga_result_expression_compile(ga_result_reader *reader, const char *text,
                                              ga_result_expression **expression,
                                              ga_report *report);
/* Derived from the units of the channels: m/s from m and s. "" for none, or if unknown: sums of
 * different units, files without units, conditions. */
GA_API const char *ga_result_expression_unit(const ga_result_expression *expression);
/* Frames as in ga_result_reader_read; one number each. */
GA_API ga_status ga_result_expression_read(const ga_result_expression *expression, size_t first,
                                           size_t stride, size_t count, double *values,
                                           ga_report *report);
GA_API void ga_result_expression_destroy(ga_result_expression *expression);

#ifdef __cplusplus
}
#endif
#endif
