/* A file that is being written: it has a temporary name until it is complete, and remembers the
 * first error. After that error nothing more goes to the disk, so what is there stays as it
 * was. */
#ifndef GA_BASE_FILE_H
#define GA_BASE_FILE_H

#include <galpha/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ga_file {
    char *path;      /* where it will be; links are followed */
    char *temporary; /* its name until ga_file_keep; null: path */
    int descriptor;
    bool regular;
    bool leave; /* under its temporary name, when it is closed */
    bool named; /* its temporary name is on the disk, too */
    int error;  /* errno of the first failure; 0: none */
} ga_file;

/* The one path of a file that need not exist: absolute, with links followed. Null: no memory;
 * else to be freed by ga_free. */
char *ga_file_real_path(const char *path);
/* What exists and is no regular file, a pipe or a device, is opened as it is. */
ga_status ga_file_create(ga_file *file, const char *path, bool must_be_regular,
                         ga_report *report);
/* The same with the temporary name PATH.part, for files that are of use before they are
 * complete. One writer at a time: who comes second is refused. What a writer that is no more
 * left there is replaced. */
ga_status ga_file_create_part(ga_file *file, const char *path, bool must_be_regular,
                              ga_report *report);
/* An existing regular file, to be changed in place; refused while it has a writer. */
ga_status ga_file_edit(ga_file *file, const char *path, ga_report *report);
/* Writes to a descriptor that is open and stays so; `name` is for messages. */
ga_status ga_file_adopt(ga_file *file, int descriptor, const char *name, ga_report *report);
/* False, with file->error, if not all of it could be written. */
bool ga_file_write(ga_file *file, const void *bytes, size_t count);
bool ga_file_write_at(ga_file *file, const void *bytes, size_t count, uint64_t offset);
/* Takes space on the disk up to `size`, so that writes within it do not fail for want of it. */
bool ga_file_reserve(ga_file *file, uint64_t size);
bool ga_file_resize(ga_file *file, uint64_t size);
/* All that was written is on the disk when it returns, not only with the system. */
bool ga_file_sync(ga_file *file);
/* GA_ERR_FILE if the file was removed or replaced by others while it is written. */
ga_status ga_file_check(const ga_file *file, ga_report *report);
/* Gives the file its own name, when all of it is on the disk. */
ga_status ga_file_keep(ga_file *file, ga_report *report);
/* GA_OK, or GA_ERR_FILE with the path and the system's reason. */
ga_status ga_file_status(const ga_file *file, ga_report *report);
/* Closes and frees; a file that was not kept is removed, unless file->leave. */
ga_status ga_file_close(ga_file *file, ga_report *report);

#endif
