/* HDF5 as hdf5.c writes it, and as others may have rewritten it: compressed, with text of fixed
 * length, with integers or single precision for numbers, without units or descriptions.
 *
 * What a file says of its sizes is checked before memory is taken for them. Numbers that are
 * stored as they are cannot be more than the file has bytes for; compressed ones cannot be
 * longer than deflate could have made them, which is at most 1032 : 1. Datasets that draw on
 * other files, links that lead elsewhere and mappings of one dataset to others are refused:
 * what one looks at is in the file.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/memory.h"
#include "base/report.h"
#include "io/hdf5_driver.h"
#include "io/hdf5_heap.h"
#include "io/hdf5_quiet.h"
#include "io/hdf5_vet.h"
#include "io/reader.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const uint64_t COMPRESSION = 1032;

typedef struct hdf5 {
    ga_reader_content *content;
    ga_hdf5_origin origin;
    hid_t id;
    ga_hdf5_heap *heap;    /* while the file is being opened */
    uint64_t text_left;    /* bytes of text that may still be taken */
    bool out_of_memory;    /* if so, that is what is wrong */
    const char **datasets; /* of the channels, as under /channels */
    const char *uneven;    /* the first channel with other rows than /time; or null */
    hsize_t uneven_rows;
    hsize_t least_rows; /* of /time and all channels */
} hdf5;

/* --- errors ------------------------------------------------------------------------------- */

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *user)
{
    const char **reason = user;
    if (n == 0 && error->desc) *reason = error->desc;
    return 0;
}

/* What HDF5 thinks of it, in the words of its innermost function. */
static ga_status fail(const hdf5 *s, ga_report *report, const char *what, const char *name)
{
    if (s->out_of_memory) return ga_reader_out_of_memory(report);
    const char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
    char shown[GA_SHOWN_SIZE], because[GA_SHOWN_SIZE];
    return ga_reader_fail(s->content, report, GA_ERR_INPUT, "%s%s%s%s%s", what,
                          ga_reader_shown(name, shown), reason ? " (HDF5: " : "",
                          reason ? ga_reader_shown(reason, because) : "", reason ? ")" : "");
}

static bool keep(hdf5 *s, const void *memory)
{
    if (!memory) s->out_of_memory = true;
    return memory;
}

/* --- text --------------------------------------------------------------------------------- */

/* An attribute or a dataset, whichever: what is read from both. */
typedef struct source {
    hid_t id;
    bool attribute;
} source;

static hid_t source_type(source from)
{
    return from.attribute ? H5Aget_type(from.id) : H5Dget_type(from.id);
}

static hid_t source_space(source from)
{
    return from.attribute ? H5Aget_space(from.id) : H5Dget_space(from.id);
}

/* HDF5 copies as much of an attribute as is asked for, whether or not there is so much; and of
 * a dataset that is stored in its header. */
static bool has_layout(hid_t dataset, H5D_layout_t layout)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    const bool has = creation >= 0 && H5Pget_layout(creation) == layout;
    if (creation >= 0) H5Pclose(creation);
    return has;
}

static bool source_has(source from, uint64_t bytes)
{
    if (from.attribute) return H5Aget_storage_size(from.id) >= bytes;
    return !has_layout(from.id, H5D_COMPACT) || H5Dget_storage_size(from.id) >= bytes;
}

static bool source_read(source from, hid_t type, void *out)
{
    return (from.attribute ? H5Aread(from.id, type, out)
                           : H5Dread(from.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out)) >= 0;
}

/* Many references to one long text would multiply it. */
static bool add_text(hdf5 *s, const char *text, size_t length, const char **out)
{
    if (length > s->text_left) return false;
    s->text_left -= length;
    return keep(s, *out = ga_reader_text(&s->content->arena, text, length));
}

/* Text of fixed length in the file: `size` bytes each, with zeros or blanks at the end. */
static bool take_fixed(hdf5 *s, hid_t type, const char *bytes, const char **out)
{
    const size_t size = H5Tget_size(type);
    const char *end = memchr(bytes, 0, size);
    size_t length = end ? (size_t)(end - bytes) : size;
    while (H5Tget_strpad(type) == H5T_STR_SPACEPAD && length > 0 && bytes[length - 1] == ' ')
        --length;
    return add_text(s, bytes, length, out);
}

/* Text of variable length: the file has references to it. It ends at a zero at the latest. */
static bool take_variable(hdf5 *s, hid_t type, const char *bytes, const char **out)
{
    (void)type;
    const char *text;
    size_t length;
    if (!ga_hdf5_heap_find(s->heap, (const unsigned char *)bytes, &text, &length)) {
        s->out_of_memory = s->out_of_memory || s->heap->out_of_memory;
        return false;
    }
    const char *end = memchr(text, 0, length);
    return add_text(s, text, end ? (size_t)(end - text) : length, out);
}

/* Exactly `count` texts; false if there are others, or none. */
static bool read_texts(hdf5 *s, source from, hsize_t count, const char **out)
{
    const hid_t type = source_type(from), space = source_space(from);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                (from.attribute || !has_layout(from.id, H5D_CHUNKED)) &&
                H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    const bool variable = good && H5Tis_variable_str(type) > 0;
    const size_t size = variable ? GA_HDF5_REFERENCE_SIZE : good ? H5Tget_size(type) : 0;
    good = size > 0 && size <= s->content->file_size / count && source_has(from, size * count);
    char *bytes = good ? GA_NEW(char, size *count) : NULL;
    good = good && keep(s, bytes) &&
           source_read(from, variable ? s->heap->reference : type, bytes);
    for (hsize_t k = 0; k < count && good; ++k)
        good = (variable ? take_variable : take_fixed)(s, type, bytes + k * size, &out[k]);
    ga_free(bytes);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

/* An attribute that may be missing: then `out` stays as it is. */
static bool read_attribute(hdf5 *s, hid_t object, const char *name, hsize_t count,
                           const char **out)
{
    const htri_t there = H5Aexists(object, name);
    if (there <= 0) return there == 0;
    const hid_t id = H5Aopen(object, name, H5P_DEFAULT);
    const bool good = id >= 0 && read_texts(s, (source){id, true}, count, out);
    if (id >= 0) H5Aclose(id);
    return good;
}

static bool exists(const hdf5 *s, const char *name)
{
    return H5Lexists(s->id, name, H5P_DEFAULT) > 0;
}

/* At the top of the file, undamaged, and not a link that leads elsewhere. */
static bool is_here(const hdf5 *s, const char *name)
{
    return exists(s, name) && ga_hdf5_vet(&s->origin, s->id, name);
}

/* A dataset that holds one text, and may be missing. */
static ga_status read_document(hdf5 *s, const char *name, const char **text, ga_report *report)
{
    if (!exists(s, name)) return GA_OK;
    const hid_t id = is_here(s, name) ? H5Dopen2(s->id, name, H5P_DEFAULT) : -1;
    const bool good = id >= 0 && read_texts(s, (source){id, false}, 1, text);
    const ga_status status = good ? GA_OK : fail(s, report, "no text in /", name);
    if (id >= 0) H5Dclose(id);
    return status;
}

/* --- the facts of the run ----------------------------------------------------------------- */

typedef struct fact {
    ga_attribute attribute;
    struct fact *next;
} fact;

typedef struct facts {
    hdf5 *s;
    fact *first, **last;
    uint64_t count;
} facts;

/* True: it is one number, or one text. Others are left out. */
static bool read_fact(hdf5 *s, hid_t id, ga_attribute *out)
{
    const hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (good && (class == H5T_FLOAT || class == H5T_INTEGER))
        good = H5Aread(id, H5T_NATIVE_DOUBLE, &out->number) >= 0;
    else
        good = good && class == H5T_STRING && read_texts(s, (source){id, true}, 1, &out->text);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool add_fact(void *user, hid_t group, const char *name)
{
    facts *all = user;
    /* more than the file has bytes for: a list that bites its tail */
    ga_reader_content *content = all->s->content;
    if (++all->count > content->file_size) return false;
    ga_attribute attribute = {.struct_size = sizeof attribute};
    const hid_t id = H5Aopen(group, name, H5P_DEFAULT);
    const bool good = id >= 0 && read_fact(all->s, id, &attribute);
    if (id >= 0) H5Aclose(id);
    if (!good) return !all->s->out_of_memory;
    fact *f = GA_ARENA_NEW(&content->arena, fact, 1);
    if (!keep(all->s, f) || !add_text(all->s, name, strlen(name), &attribute.name))
        return false;
    f->attribute = attribute;
    *all->last = f;
    all->last = &f->next;
    return true;
}

static ga_status read_facts(hdf5 *s, ga_report *report)
{
    ga_reader_content *content = s->content;
    if (!exists(s, "solver")) return GA_OK;
    if (!is_here(s, "solver")) return fail(s, report, "damaged group /solver", "");
    facts all = {.s = s, .last = &all.first};
    const hid_t group = H5Gopen2(s->id, "solver", H5P_DEFAULT);
    const bool good = group >= 0 && ga_hdf5_each_attribute(&s->origin, group, add_fact, &all);
    const ga_status status = good ? GA_OK : fail(s, report, "no attributes in /solver", "");
    if (group >= 0) H5Gclose(group);
    if (status != GA_OK) return status;
    size_t count = 0;
    for (const fact *f = all.first; f; f = f->next) ++count;
    content->attributes = GA_ARENA_NEW(&content->arena, ga_attribute, count + 1);
    if (!content->attributes) return ga_reader_out_of_memory(report);
    count = 0;
    for (const fact *f = all.first; f; f = f->next) content->attributes[count++] = f->attribute;
    return GA_OK;
}

/* --- columns ------------------------------------------------------------------------------ */

typedef struct shape {
    int rank;
    hsize_t rows, count; /* numbers per row */
} shape;

static bool is_number(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    const bool good = class == H5T_FLOAT || class == H5T_INTEGER;
    if (type >= 0) H5Tclose(type);
    return good;
}

/* Bytes of a number in the file. */
static uint64_t size_of(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const uint64_t size = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    return size;
}

static bool measure(hid_t dataset, shape *size)
{
    const hid_t space = H5Dget_space(dataset);
    hsize_t extent[2] = {0, 1};
    size->rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    const bool good = (size->rank == 1 || size->rank == 2) &&
                      H5Sget_simple_extent_dims(space, extent, NULL) >= 0;
    if (space >= 0) H5Sclose(space);
    size->rows = extent[0];
    size->count = extent[1];
    return good && size->count > 0 && size->count < INT_MAX;
}

/* How many bytes of numbers the dataset can hold at most, by how it is stored; 0: it is stored
 * in a way we do not follow. */
static uint64_t capacity(const ga_reader_content *content, hid_t dataset, shape size)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    if (creation < 0) return 0;
    const H5D_layout_t layout = H5Pget_layout(creation);
    const int filters = H5Pget_nfilters(creation);
    uint64_t bytes = layout == H5D_VIRTUAL || layout < 0 || filters < 0 ||
                             H5Pget_external_count(creation) != 0
                         ? 0
                         : content->file_size;
    if (filters > 0) bytes *= COMPRESSION;
    hsize_t chunk[2] = {0, 1};
    if (bytes && layout == H5D_CHUNKED &&
        (H5Pget_chunk(creation, 2, chunk) != size.rank || chunk[1] == 0 ||
         chunk[0] > (bytes > 65536 ? bytes : 65536) / chunk[1]))
        bytes = 0; /* a chunk is in memory as a whole */
    H5Pclose(creation);
    return bytes;
}

/* --- chunks ------------------------------------------------------------------------------- */

/* A compressed chunk has the size in memory that it unpacks to, and HDF5 1.10 copies as much as
 * a whole chunk has. So all that are read are unpacked to see; those that are stored as they
 * are have been looked at (ga_hdf5_vet). */
typedef struct chunks {
    hsize_t extent[2];
    uint64_t bytes;       /* of a whole one */
    int filters, deflate; /* how many, and which unpacks; -1: none */
} chunks;

/* True: chunked, in a way that is known. */
static bool find_chunks(hid_t dataset, shape size, chunks *c)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    *c = (chunks){.extent = {0, 1}, .deflate = -1};
    bool good = creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED &&
                H5Pget_chunk(creation, 2, c->extent) == size.rank && c->extent[0] > 0 &&
                c->extent[1] > 0;
    c->filters = good ? H5Pget_nfilters(creation) : 0;
    for (int k = 0; k < c->filters; ++k) {
        const H5Z_filter_t filter =
            H5Pget_filter2(creation, (unsigned)k, NULL, NULL, NULL, 0, NULL, NULL);
        if (filter == H5Z_FILTER_DEFLATE && c->deflate < 0)
            c->deflate = k;
        else if (filter != H5Z_FILTER_SHUFFLE)
            good = false;
    }
    if (creation >= 0) H5Pclose(creation);
    c->bytes = c->extent[0] * c->extent[1] * size_of(dataset);
    return good;
}

/* Exactly `wanted` bytes, when it is unpacked. */
static bool unpacks_to(unsigned char *packed, size_t length, uint64_t wanted)
{
    unsigned char out[16384];
    z_stream z = {.next_in = packed, .avail_in = (uInt)length};
    if (inflateInit(&z) != Z_OK) return false;
    int state = Z_OK;
    while (state == Z_OK && z.total_out <= wanted) {
        z.next_out = out;
        z.avail_out = sizeof out;
        state = inflate(&z, Z_NO_FLUSH);
    }
    const bool good = state == Z_STREAM_END && z.total_out == wanted;
    inflateEnd(&z);
    return good;
}

static bool vet_chunk(const hdf5 *s, hid_t dataset, const chunks *c, const hsize_t *at)
{
    hsize_t stored = 0;
    uint32_t left_out = 0; /* filters, as bits */
    if (H5Dget_chunk_storage_size(dataset, at, &stored) < 0) return false;
    if (stored == 0) return true; /* never written: zeros */
    if (stored > s->content->file_size || stored > UINT32_MAX) return false;
    unsigned char *packed = GA_NEW(unsigned char, stored);
    bool good = packed && H5Dread_chunk(dataset, H5P_DEFAULT, at, &left_out, packed) >= 0;
    if (good && (c->deflate < 0 || (left_out >> c->deflate & 1u)))
        good = stored == c->bytes;
    else
        good = good && unpacks_to(packed, (size_t)stored, c->bytes);
    ga_free(packed);
    return good;
}

/* The chunks that hold these rows; true also if there are none. */
static bool vet_rows(const hdf5 *s, hid_t dataset, shape size, hsize_t first, hsize_t last)
{
    chunks c;
    if (!has_layout(dataset, H5D_CHUNKED)) return true;
    if (!find_chunks(dataset, size, &c)) return false;
    if (c.filters == 0) return true;
    hsize_t at[2];
    for (at[0] = first / c.extent[0] * c.extent[0]; at[0] <= last; at[0] += c.extent[0])
        for (at[1] = 0; at[1] < size.count; at[1] += c.extent[1])
            if (!vet_chunk(s, dataset, &c, at)) return false;
    return true;
}

/* GA_OK: numbers in rows, no more than the file can hold. */
static ga_status check_column(const hdf5 *s, hid_t dataset, const char *name, shape *size,
                              ga_report *report)
{
    if (dataset < 0) return fail(s, report, "there is no dataset ", name);
    if (!is_number(dataset)) return fail(s, report, "no numbers in ", name);
    if (!measure(dataset, size)) return fail(s, report, "not one or two dimensions: ", name);
    /* a number takes one byte at least */
    const uint64_t bytes = capacity(s->content, dataset, *size);
    if (bytes == 0) return fail(s, report, "unsupported storage layout: ", name);
    if (size->rows > bytes / size->count ||
        size->rows > SIZE_MAX / sizeof(double) / size->count ||
        !source_has((source){dataset, false}, size->rows * size->count * size_of(dataset)))
        return fail(s, report, "more numbers than the file can hold: ", name);
    return GA_OK;
}

static ga_status read_times(const hdf5 *s, ga_report *report)
{
    ga_reader_content *content = s->content;
    if (!exists(s, "time"))
        return ga_reader_fail(content, report, GA_ERR_INPUT,
                              "not a galpha result: there is no dataset /time");
    const hid_t dataset = is_here(s, "time") ? H5Dopen2(s->id, "time", H5P_DEFAULT) : -1;
    shape size = {0};
    ga_status status = check_column(s, dataset, "/time", &size, report);
    if (status == GA_OK && (size.rank != 1 || size.count != 1))
        status = fail(s, report, "more than one dimension: ", "/time");
    double *times = NULL;
    if (status == GA_OK && !(times = GA_ARENA_NEW(&content->arena, double, size.rows + 1)))
        status = ga_reader_out_of_memory(report);
    if (status == GA_OK && size.rows > 0 && !vet_rows(s, dataset, size, 0, size.rows - 1))
        status = fail(s, report, "damaged numbers in ", "/time");
    if (status == GA_OK && size.rows > 0 &&
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) < 0)
        status = fail(s, report, "cannot read ", "/time");
    if (dataset >= 0) H5Dclose(dataset);
    content->frames = (size_t)size.rows;
    content->times = times;
    return status;
}

/* --- channels ----------------------------------------------------------------------------- */

typedef struct entry {
    const char *name;
    struct entry *next;
} entry;

typedef struct links {
    hdf5 *s;
    entry *first, **last;
    uint64_t count;
} links;

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group;
    links *all = user;
    ga_arena *arena = &all->s->content->arena;
    if (++all->count > all->s->content->file_size || all->count > INT_MAX / 2) return -1;
    if (info->type != H5L_TYPE_HARD) return 0;
    entry *l = GA_ARENA_NEW(arena, entry, 1);
    if (!keep(all->s, l) || !keep(all->s, l->name = ga_arena_text(arena, name))) return -1;
    *all->last = l;
    all->last = &l->next;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %2F is /, where the attribute with the plain name is missing. */
static const char *unescape_name(ga_arena *arena, const char *name)
{
    char *plain = ga_arena_text(arena, name), *out = plain;
    if (!plain) return NULL;
    for (const char *c = name; *c; ++c) {
        const bool code = *c == '%' && digit(c[1]) >= 0 && digit(c[2]) >= 0;
        const int byte = code ? 16 * digit(c[1]) + digit(c[2]) : 0;
        *out++ = byte ? (char)byte : *c;
        if (byte) c += 2;
    }
    *out = '\0';
    return ga_reader_text(arena, plain, strlen(plain));
}

static ga_status describe(hdf5 *s, hid_t dataset, const char *name, ga_channel *channel,
                          ga_report *report)
{
    ga_reader_content *content = s->content;
    shape size = {0};
    GA_TRY(check_column(s, dataset, name, &size, report));
    if (size.rows != content->frames && !s->uneven) {
        s->uneven = name;
        s->uneven_rows = size.rows;
    }
    if (size.rows < s->least_rows) s->least_rows = size.rows;
    *channel = (ga_channel){.struct_size = sizeof *channel,
                            .name = unescape_name(&content->arena, name),
                            .unit = "",
                            .description = "",
                            .count = (int)size.count};
    /* A name of a part takes a byte at least. */
    const char **parts = NULL;
    const bool has_parts =
        size.count > 1 && H5Aexists(dataset, "parts") > 0 && size.count <= content->file_size;
    if (has_parts) parts = GA_ARENA_NEW(&content->arena, const char *, size.count);
    if (!channel->name || (has_parts && !parts)) return ga_reader_out_of_memory(report);
    if (!read_attribute(s, dataset, "name", 1, &channel->name) ||
        !read_attribute(s, dataset, "unit", 1, &channel->unit) ||
        !read_attribute(s, dataset, "description", 1, &channel->description) ||
        (parts && !read_attribute(s, dataset, "parts", size.count, parts)))
        return fail(s, report, "damaged attributes of channel ", name);
    channel->parts = parts;
    return GA_OK;
}

static ga_status read_channels(hdf5 *s, hid_t place, ga_report *report)
{
    ga_reader_content *content = s->content;
    links all = {.s = s, .last = &all.first};
    /* In another order HDF5 1.10 makes a table first and, if a link is damaged, frees all of
     * it, also what it has not filled in. */
    if (H5Literate(place, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_link, &all) < 0)
        return fail(s, report, "damaged group /channels", "");
    content->channels = GA_ARENA_NEW(&content->arena, ga_channel, all.count + 1);
    s->datasets = GA_ARENA_NEW(&content->arena, const char *, all.count + 1);
    if (!content->channels || !s->datasets) return ga_reader_out_of_memory(report);
    int count = 0;
    for (const entry *l = all.first; l; l = l->next) s->datasets[count++] = l->name;
    qsort(s->datasets, (size_t)count, sizeof *s->datasets, compare_names);
    while (content->channel_count < count) {
        const int k = content->channel_count++;
        const char *name = s->datasets[k];
        if (!ga_hdf5_vet(&s->origin, place, name))
            return fail(s, report, "damaged channel ", name);
        const hid_t dataset = H5Dopen2(place, name, H5P_DEFAULT);
        const ga_status status = describe(s, dataset, name, &content->channels[k], report);
        if (dataset >= 0) H5Dclose(dataset);
        if (status != GA_OK) return status;
    }
    return ga_reader_name_channels(content, report);
}

/* --- open, read, close -------------------------------------------------------------------- */

/* Addresses count from the start of the file, and have 8 bytes: so all programs write it, and
 * so the heap is read. */
static bool is_plain(hid_t file)
{
    const hid_t creation = H5Fget_create_plist(file);
    hsize_t user = 1;
    size_t address = 0, length = 0;
    const bool good = creation >= 0 && H5Pget_userblock(creation, &user) >= 0 &&
                      H5Pget_sizes(creation, &address, &length) >= 0 && user == 0 &&
                      address == 8 && length == 8;
    if (creation >= 0) H5Pclose(creation);
    return good;
}

static ga_status open_file(hdf5 *s, ga_report *report)
{
    s->origin.descriptor = open(s->content->path, O_RDONLY | O_CLOEXEC);
    if (s->origin.descriptor < 0)
        return ga_reader_fail(s->content, report, GA_ERR_FILE, "the file cannot be opened");
    uint64_t plain_size;
    if (!ga_hdf5_journal_load(&s->origin.journal, s->origin.descriptor, s->origin.size,
                              &plain_size))
        return ga_reader_out_of_memory(report);
    const hid_t access = ga_hdf5_origin_access(&s->origin);
    if (access >= 0) s->id = H5Fopen(s->content->path, H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    const bool good = s->id >= 0 && is_plain(s->id) && ga_hdf5_vet_root(&s->origin, s->id);
    return good ? GA_OK : fail(s, report, "not a readable HDF5 file", "");
}

/* A file that is being written grows from one look to the next; facts are added at its end. */
static ga_status check_rows(const hdf5 *s, ga_report *report)
{
    ga_reader_content *content = s->content;
    const bool unfinished = content->attributes && !content->attributes[0].name;
    char shown[GA_SHOWN_SIZE];
    if (s->uneven && !unfinished)
        return ga_reader_fail(content, report, GA_ERR_INPUT,
                              "channel '%s' has %llu rows, but /time has %zu",
                              ga_reader_shown(s->uneven, shown),
                              (unsigned long long)s->uneven_rows, content->frames);
    content->frames = (size_t)s->least_rows;
    return GA_OK;
}

static ga_status read_all(hdf5 *s, ga_report *report)
{
    GA_TRY(open_file(s, report));
    GA_TRY(read_times(s, report));
    s->least_rows = s->content->frames;
    if (!exists(s, "channels"))
        return ga_reader_fail(s->content, report, GA_ERR_INPUT,
                              "not a galpha result: there is no group /channels");
    const hid_t place = is_here(s, "channels") ? H5Gopen2(s->id, "channels", H5P_DEFAULT) : -1;
    if (place < 0) return fail(s, report, "damaged group /channels", "");
    const ga_status status = read_channels(s, place, report);
    H5Gclose(place);
    GA_TRY(status);
    GA_TRY(read_document(s, "model", &s->content->model, report));
    GA_TRY(read_document(s, "scene", &s->content->scene, report));
    GA_TRY(read_facts(s, report));
    return check_rows(s, report);
}

static void close_hdf5(void *state)
{
    hdf5 *s = state;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    if (s->id >= 0) H5Fclose(s->id);
    ga_hdf5_origin_release(&s->origin);
    ga_hdf5_quiet_end(before);
    if (s->origin.descriptor >= 0) close(s->origin.descriptor);
    ga_free(s);
}

/* HDF5 1.10 loses track of memory when it meets a damaged file, and says so when the program
 * ends: "infinite loop closing library". Its errors, which it would print by default, are then
 * better left off; a handler of the caller's own is restored in any case. */
static void end_quiet(ga_hdf5_quiet before, ga_status status)
{
    const hid_t fresh = status == GA_ERR_INPUT ? H5Ecreate_stack() : -1;
    ga_hdf5_quiet usual = {0};
    if (fresh >= 0 && H5Eget_auto2(fresh, &usual.print, &usual.data) >= 0 &&
        before.print == usual.print)
        before = (ga_hdf5_quiet){0};
    if (fresh >= 0) H5Eclose_stack(fresh);
    ga_hdf5_quiet_end(before);
}

static ga_status open_hdf5(ga_reader_content *content, void **state, ga_report *report)
{
    hdf5 *s = GA_NEW(hdf5, 1);
    if (!s) return ga_reader_out_of_memory(report);
    ga_hdf5_heap heap;
    *s = (hdf5){.content = content,
                .origin = {.descriptor = -1, .size = content->file_size, .driver = -1},
                .id = -1,
                .heap = &heap,
                .text_left = 2 * content->file_size};
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const ga_status status = ga_hdf5_heap_open(&heap, &s->origin)
                                 ? read_all(s, report)
                                 : fail(s, report, "HDF5 cannot be used", "");
    ga_hdf5_heap_close(&heap);
    s->heap = NULL;
    if (status == GA_OK)
        *state = s;
    else
        close_hdf5(s);
    end_quiet(before, status);
    return status;
}

static bool read_rows(hid_t dataset, shape size, size_t first, size_t stride, size_t count,
                      double *values)
{
    const hsize_t begin[2] = {first, 0}, step[2] = {stride, 1}, rows[2] = {count, size.count};
    const hid_t from = H5Dget_space(dataset);
    const hid_t to = H5Screate_simple(size.rank, rows, NULL);
    const bool good = from >= 0 && to >= 0 &&
                      H5Sselect_hyperslab(from, H5S_SELECT_SET, begin, step, rows, NULL) >= 0 &&
                      H5Dread(dataset, H5T_NATIVE_DOUBLE, to, from, H5P_DEFAULT, values) >= 0;
    if (to >= 0) H5Sclose(to);
    if (from >= 0) H5Sclose(from);
    return good;
}

static ga_status read_hdf5(void *state, const ga_reader_content *content, int channel,
                           size_t first, size_t stride, size_t count, double *values,
                           ga_report *report)
{
    const hdf5 *s = state;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const hid_t place = H5Gopen2(s->id, "channels", H5P_DEFAULT);
    const hid_t dataset = place < 0 ? -1 : H5Dopen2(place, s->datasets[channel], H5P_DEFAULT);
    shape size = {0};
    const bool good = dataset >= 0 && measure(dataset, &size) &&
                      size.count == (hsize_t)content->channels[channel].count &&
                      vet_rows(s, dataset, size, first, first + (count - 1) * stride) &&
                      read_rows(dataset, size, first, stride, count, values);
    const ga_status status =
        good ? GA_OK : fail(s, report, "cannot read channel ", content->channels[channel].name);
    if (dataset >= 0) H5Dclose(dataset);
    if (place >= 0) H5Gclose(place);
    end_quiet(before, status);
    return status;
}

const ga_reader_type ga_reader_hdf5 = {
    .format = GA_RESULT_HDF5,
    .open = open_hdf5,
    .read = read_hdf5,
    .close = close_hdf5,
};
