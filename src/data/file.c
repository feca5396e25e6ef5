/* POSIX: realpath, fstat, and strerror_r because strerror is not for threads. */
#define _XOPEN_SOURCE 700
#include "data/file.h"

#include "base/memory.h"
#include "base/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ga_status explain(int error, char reason[GA_FILE_REASON_SIZE])
{
    if (error == ENOMEM) return GA_ERR_MEMORY;
    if (strerror_r(error, reason, GA_FILE_REASON_SIZE) != 0)
        snprintf(reason, GA_FILE_REASON_SIZE, "system error %d", error);
    return GA_ERR_FILE;
}

/* To the end rather than to the size, because pipes have none. */
static ga_status read_all(FILE *stream, char **text, size_t *length, char *reason)
{
    const size_t limit = (size_t)GA_FILE_MAX_MEGABYTES << 20;
    size_t capacity = 0;
    for (;;) {
        if (*length == capacity) {
            const size_t larger = capacity ? 2 * capacity : (size_t)1 << 16;
            char *copy = GA_NEW(char, larger + 1);
            if (!copy) return GA_ERR_MEMORY;
            if (*length) memcpy(copy, *text, *length);
            ga_free(*text);
            *text = copy;
            capacity = larger;
        }
        const size_t got = fread(*text + *length, 1, capacity - *length, stream);
        *length += got;
        if (*length > limit) {
            snprintf(reason, GA_FILE_REASON_SIZE, "larger than %d MB", GA_FILE_MAX_MEGABYTES);
            return GA_ERR_INPUT;
        }
        if (ferror(stream)) return explain(errno, reason);
        if (got == 0) return GA_OK;
    }
}

/* Reads to the end and closes. */
static ga_status take_stream(FILE *stream, ga_arena *arena, ga_file_text *file)
{
    char *text = NULL;
    ga_status status = read_all(stream, &text, &file->length, file->reason);
    fclose(stream);
    if (status == GA_OK) {
        file->text = ga_arena_text_n(arena, text, file->length);
        if (!file->text) status = GA_ERR_MEMORY;
    }
    ga_free(text);
    return status;
}

ga_status ga_file_read(const char *path, ga_arena *arena, ga_file_text *file)
{
    *file = (ga_file_text){0};
    errno = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream) return explain(errno, file->reason);
    struct stat what;
    if (fstat(fileno(stream), &what) == 0 && S_ISDIR(what.st_mode)) {
        fclose(stream);
        return explain(EISDIR, file->reason);
    }
    return take_stream(stream, arena, file);
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static ga_status check_regular(mode_t mode, char reason[GA_FILE_REASON_SIZE])
{
    if (S_ISREG(mode)) return GA_OK;
    snprintf(reason, GA_FILE_REASON_SIZE, "is %s, expected a regular file", kind_of(mode));
    return GA_ERR_FILE;
}

bool ga_file_is_regular(const char *path, char reason[GA_FILE_REASON_SIZE])
{
    struct stat what;
    errno = 0;
    if (stat(path, &what) == 0) return check_regular(what.st_mode, reason) == GA_OK;
    if (explain(errno, reason) == GA_ERR_MEMORY)
        snprintf(reason, GA_FILE_REASON_SIZE, "%s", ga_status_text(GA_ERR_MEMORY));
    return false;
}

/* Asked before it is opened, because opening alone may block, and again afterwards, because the
 * path may by then lead elsewhere. */
ga_status ga_file_read_regular(const char *path, ga_arena *arena, ga_file_text *file)
{
    *file = (ga_file_text){0};
    struct stat what;
    errno = 0;
    if (stat(path, &what) != 0) return explain(errno, file->reason);
    GA_TRY(check_regular(what.st_mode, file->reason));
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return explain(errno, file->reason);
    ga_status status = fstat(descriptor, &what) == 0 ? check_regular(what.st_mode, file->reason)
                                                     : explain(errno, file->reason);
    FILE *stream = status == GA_OK ? fdopen(descriptor, "rb") : NULL;
    if (stream) return take_stream(stream, arena, file);
    if (status == GA_OK) status = explain(errno, file->reason);
    close(descriptor);
    return status;
}

const char *ga_path_folder(ga_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    return ga_arena_text_n(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *ga_path_join(ga_arena *arena, const char *folder, const char *path)
{
    if (*path == '/' || !strcmp(folder, ".")) return ga_arena_text(arena, path);
    const size_t n = strlen(folder), m = strlen(path);
    const size_t slash = folder[n - 1] != '/';
    char *joined = GA_ARENA_NEW(arena, char, n + slash + m + 1);
    if (!joined) return NULL;
    memcpy(joined, folder, n);
    if (slash) joined[n] = '/';
    memcpy(joined + n + slash, path, m);
    return joined;
}

ga_status ga_path_resolve(ga_arena *arena, const char *path, const char **resolved,
                          char reason[GA_FILE_REASON_SIZE])
{
    errno = 0;
    char *real = realpath(path, NULL);
    if (!real) return explain(errno, reason);
    *resolved = ga_arena_text(arena, real);
    free(real);
    return *resolved ? GA_OK : GA_ERR_MEMORY;
}

bool ga_path_is_below(const char *path, const char *folder)
{
    const size_t n = strlen(folder);
    if (strncmp(path, folder, n) != 0) return false;
    return folder[n - 1] == '/' || path[n] == '/';
}
