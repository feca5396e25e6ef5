/* Columns of numbers, quantised and compressed, for pages.
 *
 * A column is stored as doubles, or as codes of 16 or 24 bits: code c stands for low + c s with
 * s = (high - low)/(2^k - 2), the code 2^k - 1 for what is not finite. Codes are written as
 * differences to the one before (mod 2^k, the first to 0), all low bytes first, then the next:
 * a smooth curve then has planes of zeros and of slowly changing bytes, which compress well.
 */
#ifndef GA_IO_BLOB_H
#define GA_IO_BLOB_H

#include "base/buffer.h"

#include <galpha/status.h>
#include <stdint.h>
#include <zlib.h>

typedef enum ga_encoding { GA_ENCODING_F64, GA_ENCODING_D16, GA_ENCODING_D24 } ga_encoding;

extern const char *const ga_encoding_names[];

typedef struct ga_blob_column {
    uint64_t offset; /* bytes, before compression */
    size_t count;
    ga_encoding encoding;
    double low, high; /* of codes */
} ga_blob_column;

/* How exactly a column is kept: within half of `step` where that is more than 0, else with so
 * many bits for its range. */
typedef struct ga_precision {
    ga_encoding encoding; /* at least; a step may need more bits */
    double step;
} ga_precision;

typedef struct ga_blob {
    z_stream stream;
    bool started;
    ga_buffer out;   /* compressed */
    uint64_t length; /* before compression */
    size_t column_count, room;
    ga_blob_column *columns;
    unsigned char *bytes; /* of one column */
    size_t size;
} ga_blob;

ga_status ga_blob_begin(ga_blob *blob);
/* The numbers values[0], values[stride], ...; count of them. */
ga_status ga_blob_add(ga_blob *blob, const double *values, size_t count, size_t stride,
                      ga_precision precision);
ga_status ga_blob_end(ga_blob *blob); /* all is in `out` */
void ga_blob_free(ga_blob *blob);     /* a zeroed one is fine */

#endif
