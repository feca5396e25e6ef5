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
} ga_result_def;

/* The file is written under a temporary name next to it and takes its own name with the first
 * row, so that a run that never starts leaves nothing. An existing file is replaced. CSV may
 * also go to a pipe or a device, which is opened as it is. */
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
/* Writes the attributes of /solver (may be null), closes and frees, also on failure. */
GA_API ga_status ga_result_close(ga_result *result, const ga_attribute *attributes,
                                 ga_report *report);
/* Closes and removes what was written. */
GA_API void ga_result_discard(ga_result *result);

#ifdef __cplusplus
}
#endif
#endif
