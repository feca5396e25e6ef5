/* A file driver of HDF5, for the sake of failures. With HDF5's own driver a full disk leaves a
 * file half updated, objects that cannot be closed, and complaints when the program ends. Here
 * the first failure is kept in the ga_file, from then on nothing is written, and HDF5 is told
 * that all went well: it closes its objects in peace, and the file stays as it was last
 * committed.
 *
 * Rows go to the file at once. They lie where the file as it was last committed has nothing, or
 * in a chunk behind the rows it says it has. All else goes to the journal.
 *
 * Nothing is locked: others may read the file while it grows.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/hdf5_driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

typedef struct driver_file {
    H5FD_t base; /* HDF5's part, first */
    ga_hdf5_target *target;
    haddr_t end; /* of what was written */
} driver_file;

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t max_address)
{
    (void)name, (void)flags, (void)max_address; /* the file is there, and empty */
    ga_hdf5_target *const *target = H5Pget_driver_info(access);
    if (!target) return NULL;
    driver_file *f = calloc(1, sizeof *f); /* HDF5 wants it zeroed, and back in close_file */
    if (!f) return NULL;
    f->target = *target;
    return &f->base;
}

static herr_t close_file(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    /* Small pieces are allocated side by side and written together. */
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)file)->target->allocated;
}

static herr_t set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((driver_file *)file)->target->allocated = address;
    return 0;
}

static haddr_t get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const driver_file *)file)->end;
}

/* Bytes that were never written are zero. */
static herr_t read_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *buffer)
{
    (void)type, (void)transfer;
    const driver_file *f = (const driver_file *)file;
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(f->target->file->descriptor, (char *)buffer + done, size - done,
                                (off_t)(address + done));
        if (n <= 0) break;
        done += (size_t)n;
    }
    memset((char *)buffer + done, 0, size - done);
    ga_hdf5_journal_overlay(&f->target->journal, address, size, buffer);
    return 0;
}

static herr_t write_bytes(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void *buffer)
{
    (void)transfer;
    driver_file *f = (driver_file *)file;
    ga_hdf5_target *target = f->target;
    if (target->appending && type == H5FD_MEM_DRAW)
        ga_file_write_at(target->file, buffer, size, address);
    else if (target->file->error == 0 &&
             !ga_hdf5_journal_add(&target->journal, address, size, buffer))
        target->file->error = ENOMEM;
    if (f->end < address + size) f->end = address + size;
    return 0;
}

/* A reader expects the file to reach as far as addresses are in use: a commit sees to that. */
static herr_t truncate_file(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    driver_file *f = (driver_file *)file;
    f->end = f->target->allocated;
    return 0;
}

static const H5FD_class_t driver = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)511, /* unregistered, for private use */
#endif
    .name = "galpha",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(ga_hdf5_target *),
    .open = open_file,
    .close = close_file,
    .query = query,
    .get_eoa = get_eoa,
    .set_eoa = set_eoa,
    .get_eof = get_eof,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* `info` is what open finds again: the address of a target. */
static hid_t make_access(const H5FD_class_t *class, const void *info, hid_t *id)
{
    *id = H5FDregister(class);
    if (*id < 0) return -1;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_driver(access, *id, info) >= 0) return access;
    if (access >= 0) H5Pclose(access);
    return -1;
}

static void release(hid_t *id)
{
    if (*id >= 0) H5FDunregister(*id);
    *id = -1;
}

hid_t ga_hdf5_driver_access(ga_hdf5_target *target)
{
    return make_access(&driver, &target, &target->driver);
}

bool ga_hdf5_driver_commit(ga_hdf5_target *target, bool durable)
{
    if (target->journal.used == 0 && target->committed == target->allocated) return true;
    if (!ga_hdf5_journal_commit(&target->journal, target->file, target->committed,
                                target->allocated, durable))
        return false;
    target->committed = target->allocated;
    return true;
}

void ga_hdf5_driver_release(ga_hdf5_target *target)
{
    release(&target->driver);
    ga_hdf5_journal_free(&target->journal);
}

/* --- reading ------------------------------------------------------------------------------ */

typedef struct source_file {
    H5FD_t base; /* HDF5's part, first */
    const ga_hdf5_origin *origin;
    haddr_t allocated;
} source_file;

static H5FD_t *open_source(const char *name, unsigned flags, hid_t access, haddr_t max_address)
{
    (void)name, (void)max_address;
    ga_hdf5_origin *const *origin = H5Pget_driver_info(access);
    if (!origin || (flags & H5F_ACC_RDWR)) return NULL;
    source_file *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->origin = *origin;
    return &f->base;
}

static herr_t query_source(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = 0;
    return 0;
}

static haddr_t get_source_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const source_file *)file)->allocated;
}

static herr_t set_source_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((source_file *)file)->allocated = address;
    return 0;
}

static haddr_t get_source_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const source_file *)file)->origin->size;
}

static herr_t read_source(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer)
{
    (void)type, (void)transfer;
    const ga_hdf5_origin *origin = ((const source_file *)file)->origin;
    return ga_hdf5_origin_read(origin, address, size, buffer) ? 0 : -1;
}

static herr_t refuse_to_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address,
                              size_t size, const void *buffer)
{
    (void)file, (void)type, (void)transfer, (void)address, (void)size, (void)buffer;
    return -1;
}

static const H5FD_class_t source = {
#ifdef H5FD_CLASS_VERSION
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)510,
#endif
    .name = "galpha-read",
    .maxaddr = (haddr_t)1 << 62,
    .fc_degree = H5F_CLOSE_STRONG, /* closing the file closes all that was opened in it */
    .fapl_size = sizeof(ga_hdf5_origin *),
    .open = open_source,
    .close = close_file,
    .query = query_source,
    .get_eoa = get_source_eoa,
    .set_eoa = set_source_eoa,
    .get_eof = get_source_eof,
    .read = read_source,
    .write = refuse_to_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t ga_hdf5_origin_access(ga_hdf5_origin *origin)
{
    return make_access(&source, &origin, &origin->driver);
}

void ga_hdf5_origin_release(ga_hdf5_origin *origin)
{
    release(&origin->driver);
    ga_hdf5_journal_free(&origin->journal);
}

bool ga_hdf5_origin_read(const ga_hdf5_origin *origin, uint64_t address, size_t count,
                         void *bytes)
{
    if (address > origin->size || count > origin->size - address) return false;
    for (size_t done = 0; done < count;) {
        const ssize_t n = pread(origin->descriptor, (char *)bytes + done, count - done,
                                (off_t)(address + done));
        if (n <= 0) return false;
        done += (size_t)n;
    }
    ga_hdf5_journal_overlay(&origin->journal, address, count, bytes);
    return true;
}
