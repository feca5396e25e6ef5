#include "io/blob.h"

#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <string.h>

const char *const ga_encoding_names[] = {
    [GA_ENCODING_F64] = "f64", [GA_ENCODING_D16] = "d16", [GA_ENCODING_D24] = "d24"};

static size_t width_of(ga_encoding encoding)
{
    static const size_t widths[] = {
        [GA_ENCODING_F64] = 8, [GA_ENCODING_D16] = 2, [GA_ENCODING_D24] = 3};
    return widths[encoding];
}

/* 2^k - 2, the code of `high`. */
static uint32_t top_code(ga_encoding encoding)
{
    return encoding == GA_ENCODING_D16 ? (1u << 16) - 2 : (1u << 24) - 2;
}

/* --- codes -------------------------------------------------------------------------------- */

static void find_range(const double *values, size_t count, size_t stride, double *low,
                       double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t k = 0; k < count; ++k) {
        const double x = values[k * stride];
        if (!isfinite(x)) continue;
        if (x < *low) *low = x;
        if (x > *high) *high = x;
    }
    if (*low > *high) *low = *high = 0; /* nothing is finite */
}

/* Sets encoding, low and high. Ranges that overflow, or that are too small to be divided, stay
 * doubles. */
static void choose(ga_blob_column *column, ga_precision precision)
{
    const double range = column->high - column->low;
    column->encoding = precision.encoding;
    if (range == 0 || precision.encoding == GA_ENCODING_F64) return;
    if (precision.step > 0)
        column->encoding = range / precision.step <= top_code(GA_ENCODING_D16)
                               ? GA_ENCODING_D16
                               : GA_ENCODING_D24;
    const double top = top_code(column->encoding);
    const double step = fmax(precision.step, range / top);
    const double high = precision.step > range / top ? column->low + step * top : column->high;
    if (!(range / top > 0) || !isfinite(range) || !isfinite(high) || !isfinite(step * top))
        column->encoding = GA_ENCODING_F64;
    else
        column->high = high;
}

static void put_codes(const ga_blob_column *column, const double *values, size_t stride,
                      unsigned char *out)
{
    const uint32_t top = top_code(column->encoding);
    const size_t planes = width_of(column->encoding), n = column->count;
    const double scale = column->high > column->low ? top / (column->high - column->low) : 0;
    uint32_t before = 0;
    for (size_t k = 0; k < n; ++k) {
        const double x = values[k * stride];
        uint32_t code = top + 1;
        if (isfinite(x)) {
            const double c = floor((x - column->low) * scale + 0.5);
            code = c <= 0 ? 0 : c >= top ? top : (uint32_t)c;
        }
        const uint32_t difference = code - before; /* its low bits are those mod 2^k */
        for (size_t p = 0; p < planes; ++p)
            out[p * n + k] = (unsigned char)(difference >> 8 * p);
        before = code;
    }
}

static void put_doubles(const double *values, size_t count, size_t stride, unsigned char *out)
{
    for (size_t k = 0; k < count; ++k) {
        const double x = isfinite(values[k * stride]) ? values[k * stride] : NAN;
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        for (size_t i = 0; i < 8; ++i) out[8 * k + i] = (unsigned char)(bits >> 8 * i);
    }
}

/* --- compression -------------------------------------------------------------------------- */

/* zlib's memory comes from where ours does, so that a test can let it fail. */
static voidpf take(voidpf user, uInt count, uInt size)
{
    (void)user;
    return ga_alloc(count, size);
}

static void give_back(voidpf user, voidpf memory)
{
    (void)user;
    ga_free(memory);
}

ga_status ga_blob_begin(ga_blob *blob)
{
    *blob = (ga_blob){.stream = {.zalloc = take, .zfree = give_back}};
    blob->started = deflateInit(&blob->stream, Z_DEFAULT_COMPRESSION) == Z_OK;
    return blob->started ? GA_OK : GA_ERR_MEMORY;
}

static ga_status compress_bytes(ga_blob *blob, unsigned char *bytes, size_t count, int flush)
{
    enum { PIECE = 1 << 30 }; /* zlib counts in unsigned int */
    unsigned char out[1 << 14];
    z_stream *z = &blob->stream;
    bool done = false;
    while (!done) {
        const size_t piece = count < PIECE ? count : PIECE;
        z->next_in = bytes;
        z->avail_in = (uInt)piece;
        do {
            z->next_out = out;
            z->avail_out = sizeof out;
            deflate(z, piece == count ? flush : Z_NO_FLUSH); /* cannot fail like this */
            ga_buffer_add_n(&blob->out, (const char *)out, sizeof out - z->avail_out);
        } while (z->avail_out == 0);
        bytes += piece;
        count -= piece;
        done = count == 0;
    }
    return blob->out.failed ? GA_ERR_MEMORY : GA_OK;
}

static ga_status make_room(ga_blob *blob, size_t size)
{
    if (blob->column_count == blob->room) {
        const size_t room = blob->room ? 2 * blob->room : 64;
        ga_blob_column *columns = GA_NEW(ga_blob_column, room);
        if (!columns) return GA_ERR_MEMORY;
        if (blob->column_count)
            memcpy(columns, blob->columns, blob->column_count * sizeof *columns);
        ga_free(blob->columns);
        blob->columns = columns;
        blob->room = room;
    }
    if (blob->size >= size) return GA_OK;
    ga_free(blob->bytes);
    blob->bytes = GA_NEW(unsigned char, size);
    blob->size = blob->bytes ? size : 0;
    return blob->bytes ? GA_OK : GA_ERR_MEMORY;
}

ga_status ga_blob_add(ga_blob *blob, const double *values, size_t count, size_t stride,
                      ga_precision precision)
{
    ga_blob_column column = {.offset = blob->length, .count = count};
    find_range(values, count, stride, &column.low, &column.high);
    choose(&column, precision);
    const size_t size = count * width_of(column.encoding);
    GA_TRY(make_room(blob, size));
    if (column.encoding == GA_ENCODING_F64)
        put_doubles(values, count, stride, blob->bytes);
    else
        put_codes(&column, values, stride, blob->bytes);
    blob->columns[blob->column_count++] = column;
    blob->length += size;
    return compress_bytes(blob, blob->bytes, size, Z_NO_FLUSH);
}

ga_status ga_blob_end(ga_blob *blob)
{
    unsigned char nothing = 0;
    return compress_bytes(blob, &nothing, 0, Z_FINISH);
}

void ga_blob_free(ga_blob *blob)
{
    if (blob->started) deflateEnd(&blob->stream);
    ga_buffer_free(&blob->out);
    ga_free(blob->columns);
    ga_free(blob->bytes);
    *blob = (ga_blob){0};
}
