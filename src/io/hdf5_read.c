/* HDF5 as hdf5.c writes it, and as others may have rewritten it: compressed, with text of fixed
 * length, with integers or single precision for numbers, without units or descriptions.
 *
 * What a file says of its sizes is checked before memory is taken for them. Numbers that are
 * stored as they are cannot be more than the file has bytes for; compressed ones cannot be
 * longer than deflate could have made them, which is at most 1032 : 1. Datasets that draw on
 * other files, links that lead elsewhere and mappings of one dataset to others are refused:
 * what one looks at is in the file.
 */
#include "base/memory.h"
#include "base/report.h"
#include "io/hdf5_quiet.h"
#include "io/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const uint64_t COMPRESSION = 1032;

typedef struct hdf5 {
    hid_t id;
    const char **datasets; /* of the channels, as under /channels */
} hdf5;

/* --- errors ------------------------------------------------------------------------------- */

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *user)
{
    const char **reason = user;
    if (n == 0 && error->desc) *reason = error->desc;
    return 0;
}

/* What HDF5 thinks of it, in the words of its innermost function. */
static ga_status fail(const ga_reader_content *content, ga_report *report, const char *what,
                      const char *name)
{
    const char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
    char shown[GA_SHOWN_SIZE], because[GA_SHOWN_SIZE];
    return ga_reader_fail(content, report, GA_ERR_INPUT, "%s%s%s%s%s", what,
                          ga_reader_shown(name, shown), reason ? " (HDF5: " : "",
                          reason ? ga_reader_shown(reason, because) : "", reason ? ")" : "");
}

/* --- text --------------------------------------------------------------------------------- */

/* An attribute or a dataset, whichever: what is read from both. */
typedef struct source {
    hid_t id;
    bool attribute;
} source;

static hid_t source_type(source s)
{
    return s.attribute ? H5Aget_type(s.id) : H5Dget_type(s.id);
}

static hid_t source_space(source s)
{
    return s.attribute ? H5Aget_space(s.id) : H5Dget_space(s.id);
}

static bool source_read(source s, hid_t type, void *out)
{
    return (s.attribute ? H5Aread(s.id, type, out)
                        : H5Dread(s.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out)) >= 0;
}

/* Text of fixed length in the file: `size` bytes each, with zeros or blanks at the end. */
static bool read_fixed(ga_reader_content *content, source s, hid_t type, hsize_t count,
                       const char **out)
{
    const size_t size = H5Tget_size(type);
    if (size == 0 || size > content->file_size / count) return false;
    const bool blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    char *bytes = GA_NEW(char, size *count);
    bool good = bytes && source_read(s, type, bytes);
    for (hsize_t k = 0; k < count && good; ++k) {
        const char *text = bytes + k * size, *end = memchr(text, 0, size);
        size_t length = end ? (size_t)(end - text) : size;
        while (blanks && length > 0 && text[length - 1] == ' ') --length;
        good = (out[k] = ga_reader_text(&content->arena, text, length));
    }
    ga_free(bytes);
    return good;
}

/* Text of variable length: HDF5 allocates it, from what its heap in the file holds. */
static bool read_variable(ga_reader_content *content, source s, hid_t type, hid_t space,
                          hsize_t count, const char **out)
{
    char **texts = GA_NEW(char *, count);
    bool good = texts && source_read(s, type, texts);
    for (hsize_t k = 0; k < count && good; ++k) {
        const char *text = texts[k] ? texts[k] : "";
        good = (out[k] = ga_reader_text(&content->arena, text, strlen(text)));
    }
    if (texts) H5Dvlen_reclaim(type, space, H5P_DEFAULT, texts);
    ga_free(texts);
    return good;
}

/* Exactly `count` texts. False if there are others, or none; also if memory is out, which HDF5
 * does not tell from a damaged file either. */
static bool read_texts(ga_reader_content *content, source s, hsize_t count, const char **out)
{
    const hid_t type = source_type(s), space = source_space(s);
    bool good = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
                H5Sget_simple_extent_npoints(space) == (hssize_t)count;
    if (good)
        good = H5Tis_variable_str(type) > 0 ? read_variable(content, s, type, space, count, out)
                                            : read_fixed(content, s, type, count, out);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

/* An attribute that may be missing: then `out` stays as it is. */
static bool read_attribute(ga_reader_content *content, hid_t object, const char *name,
                           hsize_t count, const char **out)
{
    const htri_t there = H5Aexists(object, name);
    if (there <= 0) return there == 0;
    const hid_t id = H5Aopen(object, name, H5P_DEFAULT);
    const bool good = id >= 0 && read_texts(content, (source){id, true}, count, out);
    if (id >= 0) H5Aclose(id);
    return good;
}

/* A link of the file itself, not one that leads elsewhere. */
static bool is_here(hid_t place, const char *name)
{
    H5L_info_t info;
    return H5Lexists(place, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(place, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

/* A dataset that holds one text, and may be missing. */
static ga_status read_document(const hdf5 *s, ga_reader_content *content, const char *name,
                               const char **text, ga_report *report)
{
    if (H5Lexists(s->id, name, H5P_DEFAULT) == 0) return GA_OK;
    const hid_t id = is_here(s->id, name) ? H5Dopen2(s->id, name, H5P_DEFAULT) : -1;
    const bool good = id >= 0 && read_texts(content, (source){id, false}, 1, text);
    const ga_status status = good ? GA_OK : fail(content, report, "no text in /", name);
    if (id >= 0) H5Dclose(id);
    return status;
}

/* --- the facts of the run ----------------------------------------------------------------- */

typedef struct fact {
    ga_attribute attribute;
    struct fact *next;
} fact;

typedef struct facts {
    ga_reader_content *content;
    fact *first, **last;
    uint64_t count;
} facts;

/* True: it is one number, or one text. Others are left out. */
static bool read_fact(ga_reader_content *content, hid_t id, ga_attribute *out)
{
    const hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (good && (class == H5T_FLOAT || class == H5T_INTEGER))
        good = H5Aread(id, H5T_NATIVE_DOUBLE, &out->number) >= 0;
    else
        good = good && class == H5T_STRING &&
               read_texts(content, (source){id, true}, 1, &out->text);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return good;
}

static herr_t add_fact(hid_t group, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    facts *all = user;
    /* more than the file has bytes for: a list that bites its tail */
    if (++all->count > all->content->file_size) return -1;
    ga_attribute attribute = {0};
    const hid_t id = H5Aopen(group, name, H5P_DEFAULT);
    const bool good = id >= 0 && read_fact(all->content, id, &attribute);
    if (id >= 0) H5Aclose(id);
    if (!good) return 0;
    fact *f = GA_ARENA_NEW(&all->content->arena, fact, 1);
    attribute.name = ga_reader_text(&all->content->arena, name, strlen(name));
    if (!f || !attribute.name) return -1;
    f->attribute = attribute;
    *all->last = f;
    all->last = &f->next;
    return 0;
}

static ga_status read_facts(const hdf5 *s, ga_reader_content *content, ga_report *report)
{
    if (!is_here(s->id, "solver")) return GA_OK;
    facts all = {.content = content, .last = &all.first};
    const hid_t group = H5Gopen2(s->id, "solver", H5P_DEFAULT);
    const bool good =
        group >= 0 && H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_fact, &all) >= 0;
    const ga_status status =
        good ? GA_OK : fail(content, report, "no attributes in /solver", "");
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

/* GA_OK: numbers in rows, no more than the file can hold. */
static ga_status check_column(const ga_reader_content *content, hid_t dataset, const char *name,
                              shape *size, ga_report *report)
{
    if (dataset < 0) return fail(content, report, "there is no dataset ", name);
    if (!is_number(dataset)) return fail(content, report, "no numbers in ", name);
    if (!measure(dataset, size))
        return fail(content, report, "not one or two dimensions: ", name);
    /* a number takes one byte at least */
    const uint64_t bytes = capacity(content, dataset, *size);
    if (bytes == 0) return fail(content, report, "stored in a way that is not read: ", name);
    if (size->rows > bytes / size->count ||
        size->rows > SIZE_MAX / sizeof(double) / size->count)
        return fail(content, report, "more numbers than the file can hold: ", name);
    return GA_OK;
}

static ga_status read_times(const hdf5 *s, ga_reader_content *content, ga_report *report)
{
    const bool there = is_here(s->id, "time");
    if (!there)
        return ga_reader_fail(content, report, GA_ERR_INPUT,
                              "no result of galpha: there is no dataset /time");
    const hid_t dataset = H5Dopen2(s->id, "time", H5P_DEFAULT);
    shape size = {0};
    ga_status status = check_column(content, dataset, "/time", &size, report);
    if (status == GA_OK && (size.rank != 1 || size.count != 1))
        status = fail(content, report, "more than one dimension: ", "/time");
    double *times = NULL;
    if (status == GA_OK && !(times = GA_ARENA_NEW(&content->arena, double, size.rows + 1)))
        status = ga_reader_out_of_memory(report);
    if (status == GA_OK && size.rows > 0 &&
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) < 0)
        status = fail(content, report, "cannot read ", "/time");
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
    ga_reader_content *content;
    entry *first, **last;
    uint64_t count;
} links;

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    (void)group;
    links *all = user;
    if (++all->count > all->content->file_size || all->count > INT_MAX) return -1;
    if (info->type != H5L_TYPE_HARD) return 0;
    entry *l = GA_ARENA_NEW(&all->content->arena, entry, 1);
    if (!l || !(l->name = ga_arena_text(&all->content->arena, name))) return -1;
    *all->last = l;
    all->last = &l->next;
    return 0;
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

static ga_status describe(ga_reader_content *content, hid_t dataset, const char *name,
                          ga_channel *channel, ga_report *report)
{
    shape size = {0};
    GA_TRY(check_column(content, dataset, name, &size, report));
    char shown[GA_SHOWN_SIZE];
    if (size.rows != content->frames)
        return ga_reader_fail(
            content, report, GA_ERR_INPUT, "channel '%s' has %llu rows, but /time has %zu",
            ga_reader_shown(name, shown), (unsigned long long)size.rows, content->frames);
    *channel =
        (ga_channel){unescape_name(&content->arena, name), "", "", (int)size.count, NULL};
    /* A name of a part takes a byte at least. */
    const char **parts = NULL;
    const bool has_parts =
        size.count > 1 && H5Aexists(dataset, "parts") > 0 && size.count <= content->file_size;
    if (has_parts) parts = GA_ARENA_NEW(&content->arena, const char *, size.count);
    if (!channel->name || (has_parts && !parts)) return ga_reader_out_of_memory(report);
    if (!read_attribute(content, dataset, "name", 1, &channel->name) ||
        !read_attribute(content, dataset, "unit", 1, &channel->unit) ||
        !read_attribute(content, dataset, "description", 1, &channel->description) ||
        (parts && !read_attribute(content, dataset, "parts", size.count, parts)))
        return fail(content, report, "damaged attributes of channel ", name);
    channel->parts = parts;
    return GA_OK;
}

static ga_status read_channels(hdf5 *s, ga_reader_content *content, hid_t place,
                               ga_report *report)
{
    links all = {.content = content, .last = &all.first};
    if (H5Literate(place, H5_INDEX_NAME, H5_ITER_INC, NULL, add_link, &all) < 0)
        return fail(content, report, "damaged group /channels", "");
    content->channels = GA_ARENA_NEW(&content->arena, ga_channel, all.count + 1);
    s->datasets = GA_ARENA_NEW(&content->arena, const char *, all.count + 1);
    if (!content->channels || !s->datasets) return ga_reader_out_of_memory(report);
    for (const entry *l = all.first; l; l = l->next) {
        const hid_t dataset = H5Dopen2(place, l->name, H5P_DEFAULT);
        const int k = content->channel_count++;
        s->datasets[k] = l->name;
        const ga_status status =
            describe(content, dataset, l->name, &content->channels[k], report);
        if (dataset >= 0) H5Dclose(dataset);
        if (status != GA_OK) return status;
    }
    return ga_reader_name_channels(content, report);
}

/* --- open, read, close -------------------------------------------------------------------- */

static hid_t open_file(const char *path)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return -1;
    hid_t id = -1;
    /* Closing it closes all that was opened in it. */
    bool good = H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0;
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
    /* Some file systems cannot lock, and a result may be read while it grows. */
    good = good && H5Pset_file_locking(access, 0, 1) >= 0;
#endif
    if (good) id = H5Fopen(path, H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return id;
}

static ga_status read_all(hdf5 *s, ga_reader_content *content, ga_report *report)
{
    s->id = open_file(content->path);
    if (s->id < 0) return fail(content, report, "no readable HDF5 file", "");
    GA_TRY(read_times(s, content, report));
    if (!is_here(s->id, "channels"))
        return ga_reader_fail(content, report, GA_ERR_INPUT,
                              "no result of galpha: there is no group /channels");
    const hid_t place = H5Gopen2(s->id, "channels", H5P_DEFAULT);
    if (place < 0) return fail(content, report, "damaged group /channels", "");
    const ga_status status = read_channels(s, content, place, report);
    H5Gclose(place);
    GA_TRY(status);
    GA_TRY(read_document(s, content, "model", &content->model, report));
    GA_TRY(read_document(s, content, "scene", &content->scene, report));
    return read_facts(s, content, report);
}

static void close_hdf5(void *state)
{
    hdf5 *s = state;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    if (s->id >= 0) H5Fclose(s->id);
    ga_hdf5_quiet_end(before);
    ga_free(s);
}

static ga_status open_hdf5(ga_reader_content *content, void **state, ga_report *report)
{
    hdf5 *s = GA_NEW(hdf5, 1);
    if (!s) return ga_reader_out_of_memory(report);
    s->id = -1;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const ga_status status = read_all(s, content, report);
    ga_hdf5_quiet_end(before);
    if (status == GA_OK)
        *state = s;
    else
        close_hdf5(s);
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
                      read_rows(dataset, size, first, stride, count, values);
    const ga_status status =
        good ? GA_OK
             : fail(content, report, "cannot read channel ", content->channels[channel].name);
    if (dataset >= 0) H5Dclose(dataset);
    if (place >= 0) H5Gclose(place);
    ga_hdf5_quiet_end(before);
    return status;
}

const ga_reader_type ga_reader_hdf5 = {
    .format = GA_RESULT_HDF5,
    .open = open_hdf5,
    .read = read_hdf5,
    .close = close_hdf5,
};
