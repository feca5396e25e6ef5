/* Result files: CSV and HDF5, written row by row, closed properly whatever happens.
 *
 * CSV: header `time,top.position.x,...`, 17 significant digits. HDF5: /time, one dataset per
 * channel under /channels with attributes `name`, `unit`, `description` and `parts`, /model
 * (the text of the model), /scene (what to draw, as JSON), /solver with settings, version and
 * statistics as attributes. In names of datasets `/` becomes %2F, `%` becomes %25, and a name
 * `.` becomes %2E.
 *
 * Files are flushed about once a second: what a killed process or a full disk leaves is
 * readable up to then. HDF5 as most systems have it wants to be used by one thread at a time;
 * so do results in that format.
 */
#ifndef GALPHA_RESULT_H
#define GALPHA_RESULT_H

#include <galpha/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A quantity of one or several numbers. */
typedef struct ga_channel {
    const char *name; /* top.position */
    const char *unit; /* m; "" for none */
    const char *description;
    int count;
    const char *const *parts; /* x, y, z; null for a single number */
} ga_channel;

typedef enum ga_result_format { GA_RESULT_CSV, GA_RESULT_HDF5 } ga_result_format;

/* A fact about the run, stored with the result where the format can. */
typedef struct ga_attribute {
    const char *name; /* null ends a list */
    const char *text; /* null: a number */
    double number;
} ga_attribute;

typedef struct ga_result ga_result;

/* What a result will hold; borrowed while it is created. */
typedef struct ga_result_def {
    int channel_count;
    const ga_channel *channels;
    const char *model_text; /* null: "" */
    const char *scene;      /* from ga_model_scene; null: none */
    /* An open file to write CSV to, such as standard output; the path is then for messages
     * only. 0: none. */
    int descriptor;
} ga_result_def;

/* The file is written as PATH.part and takes its own name when it is closed, so that a run that
 * fails does not replace what was there. Until then it can be read under the other name. Two
 * at a time cannot write to one path: GA_ERR_FILE. CSV may also go to a pipe or a device, which
 * is opened as it is. */
GA_API ga_status ga_result_create(const char *path, ga_result_format format, int channel_count,
                                  const ga_channel *channels, const char *model_text,
                                  ga_result **result, ga_report *report);
/* The same, with all that a result can hold. */
GA_API ga_status ga_result_create_with(const char *path, ga_result_format format,
                                       const ga_result_def *def, ga_result **result,
                                       ga_report *report);
/* values: all channels, one after the other. Full disks are noticed here or in close. */
GA_API ga_status ga_result_write(ga_result *result, double t, const double *values,
                                 ga_report *report);
/* Where the rows are: PATH.part, with links followed, or the pipe or device. */
GA_API const char *ga_result_path(const ga_result *result);
/* Writes the attributes of /solver (may be null), closes, gives the file its own name, which
 * replaces what had it, and frees. On failure it stays PATH.part. A result without rows is
 * removed. */
GA_API ga_status ga_result_close(ga_result *result, const ga_attribute *attributes,
                                 ga_report *report);
/* The same for a run that did not finish: the file stays PATH.part. */
GA_API ga_status ga_result_close_part(ga_result *result, const ga_attribute *attributes,
                                      ga_report *report);
/* Closes and removes what was written. */
GA_API void ga_result_discard(ga_result *result);

/* --- reading ------------------------------------------------------------------------------ */

/* A result file that is open for reading. Descriptions and times are in memory, the numbers of
 * HDF5 channels come from the file when they are asked for. A file is trusted in nothing: what
 * is foreign, cut short or does not fit together ends in GA_ERR_INPUT, what cannot be read in
 * GA_ERR_FILE, both with a sentence that names the file. All text is valid UTF-8: other bytes
 * have become U+FFFD.
 *
 * What is returned by pointer belongs to the reader and lives until it is closed. */
typedef struct ga_result_reader ga_result_reader;

/* HDF5 or CSV, by what the file begins with, not by its name. There is at least one frame;
 * times are finite and do not go back. */
GA_API ga_status ga_result_open(const char *path, ga_result_reader **reader, ga_report *report);
GA_API void ga_result_reader_close(ga_result_reader *reader);

GA_API ga_result_format ga_result_reader_format(const ga_result_reader *reader);
GA_API const char *ga_result_reader_path(const ga_result_reader *reader); /* as given */
GA_API size_t ga_result_reader_frames(const ga_result_reader *reader);
GA_API const double *ga_result_reader_times(const ga_result_reader *reader); /* s */

/* In the order of a CSV file; by name in HDF5. Units and descriptions that a file does not have
 * are "". The columns a.x, a.y, a.z of a CSV file are one channel a; so are a.w, ..., a.z and
 * a.0, a.1, ... */
GA_API int ga_result_reader_channel_count(const ga_result_reader *reader);
GA_API const ga_channel *ga_result_reader_channels(const ga_result_reader *reader);
/* Its index; -1: there is none of that name. */
GA_API int ga_result_reader_find(const ga_result_reader *reader, const char *name);
/* The numbers of one channel in the frames first, first + stride, ...: count frames, all of
 * which exist, stride at least 1. values: the parts of a frame side by side, count times as
 * many as the channel has. NaN and infinity are handed on. */
GA_API ga_status ga_result_reader_read(ga_result_reader *reader, int channel, size_t first,
                                       size_t stride, size_t count, double *values,
                                       ga_report *report);

/* The text of the model; "" if the file has none. */
GA_API const char *ga_result_reader_model(const ga_result_reader *reader);
/* What a viewer draws, JSON; null if the file has none. */
GA_API const char *ga_result_reader_scene(const ga_result_reader *reader);
/* Settings, version and statistics of the run; ends with a null name. */
GA_API const ga_attribute *ga_result_reader_attributes(const ga_result_reader *reader);

/* --- names and expressions of channels ---------------------------------------------------- */

/* One number per frame: a channel, or one part of it. */
typedef struct ga_result_column {
    const char *name;  /* top.position.x */
    int channel, part; /* indices */
} ga_result_column;

/* What a name stands for: `top.position` for all its parts, `top` or `energy` for all channels
 * whose names go on after a dot, and `*` between dots for anything, as in `*.position.z`. In
 * the order of the channels. No column is no mistake here. Names live as long as the list.
 * GA_OK or GA_ERR_MEMORY. */
GA_API ga_status ga_result_select(const ga_result_reader *reader, const char *name,
                                  ga_result_column **columns, int *count, ga_report *report);
GA_API void ga_result_columns_free(ga_result_column *columns);
/* The name nearest to one that does not exist, into `near`; false if none is. */
enum { GA_RESULT_NAME_SIZE = 160 };
GA_API int ga_result_suggest(const ga_result_reader *reader, const char *name,
                             char near[GA_RESULT_NAME_SIZE]);

/* A quantity computed from channels, frame by frame: "top.position.x - 2*top.velocity.y",
 * "sqrt(x.a^2 + `my body`.rate)", in the language of model files. Names are those of columns,
 * and `time`. At most 64 of them. */
typedef struct ga_result_expression ga_result_expression;

/* A mistake is GA_ERR_INPUT, and report->column says where it is in the text. The reader must
 * live as long. */
GA_API ga_status ga_result_expression_compile(ga_result_reader *reader, const char *text,
                                              ga_result_expression **expression,
                                              ga_report *report);
/* Made from the units of the channels: m/s of m and s. "" for none, and where it is not known:
 * sums of different units, files without units, conditions. */
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
