/* HDF5, readable without this library:
 *
 *     /time                  n numbers; attributes unit, description
 *     /channels/top.position n x 3 numbers (n for a single number); attributes name, unit,
 *                            description, and parts (x, y, z) if there are several
 *     /model                 the text of the model
 *     /scene                 what to draw, as JSON; not in every file
 *     /solver                attributes: settings, version, statistics, when the run is over
 *
 * All text is UTF-8. In the names of datasets `/` is written %2F, `%` is %25, and a name `.` is
 * %2E, because HDF5 would take them for groups; the attribute `name` is the plain one.
 *
 * Rows are collected in memory, column by column, and appended a block at a time: a write to a
 * dataset costs some microseconds, whatever its size. Each block is committed too, so that
 * little is lost when a disk fills up quickly; but not with thousands of channels, where that
 * would double the time.
 *
 * The file is readable as it was last committed, also if the process is killed or the disk is
 * full (io/hdf5_journal.h). HDF5 keeps its descriptions in memory until they are flushed, so
 * that a commit has one state of them. The file format is that of HDF5 1.8, which has no mark
 * for files that were not closed.
 */
#include "base/memory.h"
#include "base/report.h"
#include "io/hdf5_driver.h"
#include "io/hdf5_quiet.h"
#include "io/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_ROWS = 512,           /* of a chunk */
    BUFFER_NUMBERS = 1 << 21, /* 16 MB, from which on chunks have fewer rows */
    MIN_ROWS = 16,
    CACHE_SIZE = 32 << 20, /* of HDF5's descriptions; it grows beyond where it must */
};

typedef struct column {
    hid_t dataset;
    hsize_t count; /* numbers per row */
    int rank;      /* 1: a single number, 2: several */
    double *held;  /* rows not yet in the file */
} column;

typedef struct hdf5 {
    ga_hdf5_target target;
    hid_t id, text_type;
    hsize_t stored;     /* rows in the file */
    hsize_t held, room; /* rows in memory, and how many fit */
    int column_count;   /* time, then the channels */
    column *columns;
    double *numbers; /* behind the columns' `held` */
} hdf5;

/* --- errors ------------------------------------------------------------------------------- */

/* What the system said, if it said something. Otherwise columns may have different lengths now,
 * so that nothing more is to reach the file. */
static ga_status fail(const hdf5 *s, ga_report *report, const char *what, const char *name)
{
    GA_TRY(ga_file_status(s->target.file, report));
    s->target.file->error = EIO;
    return ga_fail(report, GA_ERR_FILE, "%.140s: HDF5 cannot %s%.100s", s->target.file->path,
                   what, name);
}

/* --- text --------------------------------------------------------------------------------- */

static hid_t make_text_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0)
        return type;
    if (type >= 0) H5Tclose(type);
    return -1;
}

/* An attribute of any type: a scalar, or count values if count > 0. */
static bool put_attribute(hid_t object, const char *name, hid_t file_type, hid_t memory_type,
                          hsize_t count, const void *values)
{
    const hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute =
        space < 0 ? -1 : H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, memory_type, values) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool put_text(const hdf5 *s, hid_t object, const char *name, const char *text)
{
    if (!text) text = "";
    return put_attribute(object, name, s->text_type, s->text_type, 0, &text);
}

static bool put_number(hid_t object, const char *name, double number)
{
    return put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &number);
}

/* A dataset at the top that is one text. */
static bool put_document(const hdf5 *s, const char *name, const char *text)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t dataset =
        H5Dcreate2(s->id, name, s->text_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = dataset >= 0 && H5Dwrite(dataset, s->text_type, H5S_ALL, H5S_ALL,
                                               H5P_DEFAULT, &text) >= 0;
    if (dataset >= 0) H5Dclose(dataset);
    if (space >= 0) H5Sclose(space);
    return good;
}

/* Null if memory is out. */
static char *escape_name(const char *name)
{
    char *escaped = GA_NEW(char, 3 * strlen(name) + 1);
    if (!escaped) return NULL;
    const bool dot = strcmp(name, ".") == 0;
    char *out = escaped;
    for (const char *c = name; *c; ++c) {
        if (*c == '/' || *c == '%' || dot)
            out += sprintf(out, "%%%02X", (unsigned)(unsigned char)*c);
        else
            *out++ = *c;
    }
    return escaped;
}

/* --- datasets ----------------------------------------------------------------------------- */

/* Rows of a chunk: many, but the memory for the rows held stays within bounds. */
static hsize_t choose_rows(int value_count)
{
    hsize_t rows = MAX_ROWS;
    while (rows > MIN_ROWS && rows * (hsize_t)value_count > BUFFER_NUMBERS) rows /= 2;
    return rows;
}

static hid_t make_dataset(const hdf5 *s, hid_t place, const char *name, const column *c)
{
    const hsize_t none[2] = {0, c->count}, most[2] = {H5S_UNLIMITED, c->count};
    const hsize_t chunk[2] = {s->room, c->count};
    const hid_t space = H5Screate_simple(c->rank, none, most);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t dataset = -1;
    /* Rows go to the file at once, through no cache: blocks come whole, and the default of 1 MB
     * for each dataset would add up. */
    if (space >= 0 && creation >= 0 && access >= 0 && links >= 0 &&
        H5Pset_chunk(creation, c->rank, chunk) >= 0 &&
        H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER) >= 0 &&
        H5Pset_chunk_cache(access, 0, 0, 0) >= 0 &&
        H5Pset_char_encoding(links, H5T_CSET_UTF8) >= 0)
        dataset = H5Dcreate2(place, name, H5T_IEEE_F64LE, space, links, creation, access);
    if (links >= 0) H5Pclose(links);
    if (access >= 0) H5Pclose(access);
    if (creation >= 0) H5Pclose(creation);
    if (space >= 0) H5Sclose(space);
    return dataset;
}

static bool make_time(hdf5 *s)
{
    column *c = &s->columns[0];
    *c = (column){.dataset = -1, .count = 1, .rank = 1, .held = s->numbers};
    c->dataset = make_dataset(s, s->id, "time", c);
    return c->dataset >= 0 && put_text(s, c->dataset, "unit", "s") &&
           put_text(s, c->dataset, "description", "time");
}

static bool make_channel(hdf5 *s, hid_t place, const ga_channel *channel, column *c)
{
    char *name = escape_name(channel->name);
    if (!name) return false;
    c->dataset = make_dataset(s, place, name, c);
    ga_free(name);
    return c->dataset >= 0 && put_text(s, c->dataset, "name", channel->name) &&
           put_text(s, c->dataset, "unit", channel->unit) &&
           put_text(s, c->dataset, "description", channel->description) &&
           (!channel->parts || put_attribute(c->dataset, "parts", s->text_type, s->text_type,
                                             (hsize_t)channel->count, channel->parts));
}

static ga_status make_channels(hdf5 *s, const ga_writer_content *content, ga_report *report)
{
    const hid_t place = H5Gcreate2(s->id, "channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (place < 0) return fail(s, report, "create a group", "");
    ga_status status = GA_OK;
    double *held = s->numbers + s->room;
    for (int k = 0; k < content->channel_count && status == GA_OK; ++k) {
        const ga_channel *channel = &content->channels[k];
        column *c = &s->columns[s->column_count++];
        *c = (column){.dataset = -1,
                      .count = (hsize_t)channel->count,
                      .rank = channel->count > 1 ? 2 : 1,
                      .held = held};
        held += s->room * c->count;
        if (!make_channel(s, place, channel, c))
            status = fail(s, report, "store a channel named ", channel->name);
    }
    H5Gclose(place);
    return status;
}

/* Descriptions stay in memory until they are flushed, so that the file always holds one state
 * of them. */
static bool keep_descriptions(hid_t access)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};
    if (H5Pget_mdc_config(access, &config) < 0) return false;
    config.set_initial_size = 1;
    config.initial_size = config.max_size = CACHE_SIZE;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    config.evictions_enabled = 0;
    return H5Pset_mdc_config(access, &config) >= 0;
}

static bool make_file(hdf5 *s)
{
    const hid_t access = ga_hdf5_driver_access(&s->target);
    if (access < 0) return false;
    if (keep_descriptions(access) &&
        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0)
        s->id = H5Fcreate(s->target.file->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return s->id >= 0;
}

static bool make_solver(const hdf5 *s)
{
    const hid_t group = H5Gcreate2(s->id, "solver", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return group >= 0 && H5Gclose(group) >= 0;
}

/* --- rows --------------------------------------------------------------------------------- */

static bool append(const hdf5 *s, const column *c)
{
    const hsize_t rows = s->stored + s->held;
    const hsize_t begin[2] = {s->stored, 0}, extent[2] = {s->held, c->count};
    if (H5Dset_extent(c->dataset, (const hsize_t[2]){rows, c->count}) < 0) return false;
    const hid_t to = H5Dget_space(c->dataset);
    const hid_t from = H5Screate_simple(c->rank, extent, NULL);
    const bool good =
        to >= 0 && from >= 0 &&
        H5Sselect_hyperslab(to, H5S_SELECT_SET, begin, NULL, extent, NULL) >= 0 &&
        H5Dwrite(c->dataset, H5T_NATIVE_DOUBLE, from, to, H5P_DEFAULT, c->held) >= 0;
    if (from >= 0) H5Sclose(from);
    if (to >= 0) H5Sclose(to);
    return good;
}

static ga_status store(hdf5 *s, ga_report *report)
{
    if (s->held == 0) return GA_OK;
    bool good = true;
    s->target.appending = true;
    for (int k = 0; k < s->column_count && good; ++k) good = append(s, &s->columns[k]);
    s->target.appending = false;
    if (!good) return fail(s, report, "append rows", "");
    s->stored += s->held;
    s->held = 0;
    return ga_file_status(s->target.file, report);
}

static ga_status commit(hdf5 *s, bool durable, ga_report *report)
{
    GA_TRY(store(s, report));
    if (!ga_file_reserve(s->target.file, s->target.allocated) ||
        H5Fflush(s->id, H5F_SCOPE_GLOBAL) < 0 || !ga_hdf5_driver_commit(&s->target, durable))
        return fail(s, report, "write", "");
    return ga_file_status(s->target.file, report);
}

/* The first commit only makes the file: one row is soon computed again. */
static ga_status flush(void *state, ga_report *report)
{
    hdf5 *s = state;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const ga_status status = commit(s, s->target.committed > 0, report);
    ga_hdf5_quiet_end(before);
    return status;
}

static ga_status write_row(void *state, double t, const double *values, ga_report *report)
{
    hdf5 *s = state;
    s->columns[0].held[s->held] = t;
    for (int k = 1; k < s->column_count; ++k) {
        const column *c = &s->columns[k];
        memcpy(c->held + s->held * c->count, values, c->count * sizeof *values);
        values += c->count;
    }
    if (++s->held < s->room) return GA_OK;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const ga_status status =
        s->room == MAX_ROWS ? commit(s, false, report) : store(s, report); /* see above */
    ga_hdf5_quiet_end(before);
    return status;
}

/* --- open and close ----------------------------------------------------------------------- */

static bool put_attributes(const hdf5 *s, const ga_attribute *attributes)
{
    const hid_t group = H5Gopen2(s->id, "solver", H5P_DEFAULT);
    bool good = group >= 0;
    for (const ga_attribute *a = attributes; good && a && a->name; ++a)
        good = a->text ? put_text(s, group, a->name, a->text)
                       : put_number(group, a->name, a->number);
    if (group >= 0) H5Gclose(group);
    return good;
}

static void release(hdf5 *s)
{
    for (int k = 0; k < s->column_count; ++k)
        if (s->columns[k].dataset >= 0) H5Dclose(s->columns[k].dataset);
    if (s->id >= 0) H5Fclose(s->id);
    ga_hdf5_driver_commit(&s->target, false); /* HDF5 gives back space it did not need */
    ga_hdf5_driver_release(&s->target);
    if (s->text_type >= 0) H5Tclose(s->text_type);
    ga_free(s->numbers);
    ga_free(s->columns);
    ga_free(s);
}

static ga_status make_all(hdf5 *s, const ga_writer_content *content, ga_report *report)
{
    s->room = choose_rows(content->value_count + 1);
    s->columns = GA_NEW(column, content->channel_count + 1);
    s->numbers = GA_NEW(double, s->room *((hsize_t)content->value_count + 1));
    if (!s->columns || !s->numbers)
        return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    s->text_type = make_text_type();
    if (s->text_type < 0 || !make_file(s)) return fail(s, report, "create a file", "");
    s->column_count = 1;
    if (!make_time(s) || !put_document(s, "model", content->model_text) ||
        (content->scene && !put_document(s, "scene", content->scene)) || !make_solver(s))
        return fail(s, report, "create a file", "");
    return make_channels(s, content, report);
}

static ga_status open_hdf5(ga_file *file, const ga_writer_content *content, void **state,
                           ga_report *report)
{
    hdf5 *s = GA_NEW(hdf5, 1);
    if (!s) return ga_fail(report, GA_ERR_MEMORY, "%s", ga_status_text(GA_ERR_MEMORY));
    *s = (hdf5){.target = {.file = file, .driver = -1}, .id = -1, .text_type = -1};
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    const ga_status status = make_all(s, content, report);
    if (status == GA_OK)
        *state = s;
    else
        release(s);
    ga_hdf5_quiet_end(before);
    return status;
}

static ga_status close_hdf5(void *state, const ga_attribute *attributes, ga_report *report)
{
    hdf5 *s = state;
    const ga_hdf5_quiet before = ga_hdf5_quiet_begin();
    ga_file *file = s->target.file;
    ga_status status = commit(s, false, report);
    if (status == GA_OK && !put_attributes(s, attributes))
        status = fail(s, report, "store the record of the run", "");
    if (status == GA_OK) status = commit(s, false, report);
    release(s);
    if (status == GA_OK) status = ga_file_status(file, report);
    ga_hdf5_quiet_end(before);
    return status;
}

const ga_writer_type ga_writer_hdf5 = {
    .needs_regular_file = true,
    .open = open_hdf5,
    .write = write_row,
    .flush = flush,
    .close = close_hdf5,
};
