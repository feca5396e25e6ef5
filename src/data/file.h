/* Files and the paths between them. */
#ifndef GA_DATA_FILE_H
#define GA_DATA_FILE_H

#include "base/arena.h"

#include <galpha/status.h>
#include <stdbool.h>

enum { GA_FILE_MAX_MEGABYTES = 256, GA_FILE_REASON_SIZE = 128 };

typedef struct ga_file_text {
    const char *text; /* null-terminated; it may hold NULs itself */
    size_t length;
    char reason[GA_FILE_REASON_SIZE]; /* why it cannot be read */
} ga_file_text;

/* The whole file. GA_OK; GA_ERR_FILE or, if it is too large, GA_ERR_INPUT, with a reason; or
 * GA_ERR_MEMORY. */
ga_status ga_file_read(const char *path, ga_arena *arena, ga_file_text *file);
/* The same for a file that another file names. It must be a regular one: a pipe would block, a
 * device may never end or do something when it is opened. */
ga_status ga_file_read_regular(const char *path, ga_arena *arena, ga_file_text *file);
/* Whether it is one; false with a reason. */
bool ga_file_is_regular(const char *path, char reason[GA_FILE_REASON_SIZE]);

/* The folder of a file: "." if the path names none. Null if memory is out. */
const char *ga_path_folder(ga_arena *arena, const char *path);
/* A path that starts at a folder; absolute ones stay. Null if memory is out. */
const char *ga_path_join(ga_arena *arena, const char *folder, const char *path);
/* The one true name of an existing file: absolute, without .., symbolic links followed. GA_OK,
 * GA_ERR_FILE with a reason, GA_ERR_MEMORY. */
ga_status ga_path_resolve(ga_arena *arena, const char *path, const char **resolved,
                          char reason[GA_FILE_REASON_SIZE]);
/* Both resolved. */
bool ga_path_is_below(const char *path, const char *folder);

#endif
