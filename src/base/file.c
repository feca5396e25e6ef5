#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700 /* realpath */

#include "base/file.h"

#include "base/lock.h"
#include "base/memory.h"
#include "base/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In place of an errno: another process writes the file. */
enum { IN_USE = -1 };

static ga_status fail_because(ga_report *report, ga_status status, const char *path,
                              const char *reason)
{
    /* The end of a long path says more than its beginning, and the reason must fit. */
    enum { LONGEST = 180 };
    const size_t length = strlen(path);
    const bool clip = length > LONGEST;
    return ga_fail(report, status, "%s%s: %s", clip ? "..." : "",
                   clip ? path + length - LONGEST : path, reason);
}

static ga_status fail_with(ga_report *report, const char *path, int error)
{
    char reason[128];
    if (error == IN_USE)
        snprintf(reason, sizeof reason, "another run is writing this file");
    else if (strerror_r(error, reason, sizeof reason) != 0)
        snprintf(reason, sizeof reason, "error %d", error);
    return fail_because(report, error == ENOMEM ? GA_ERR_MEMORY : GA_ERR_FILE, path, reason);
}

static char *copy_text(const char *text)
{
    char *copy = GA_NEW(char, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* a, up to its length, and b; null: no memory. */
static char *join(const char *a, size_t length, const char *b)
{
    const size_t size = strlen(b) + 1;
    char *text = GA_NEW(char, length + size);
    if (!text) return NULL;
    memcpy(text, a, length);
    memcpy(text + length, b, size);
    return text;
}

/* Length of the folder of a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The path with symbolic links followed, so that renaming replaces the file and not a link to
 * it. The last of them may lead to a file that does not exist yet. */
static char *follow_links(const char *path)
{
    enum { MOST_LINKS = 40 };
    char target[PATH_MAX];
    char *at = realpath(path, target) ? copy_text(target) : copy_text(path);
    for (int k = 0; at && k < MOST_LINKS; ++k) {
        const ssize_t n = readlink(at, target, sizeof target - 1);
        if (n <= 0) break;
        target[n] = '\0';
        char *next = join(at, target[0] == '/' ? 0 : folder_length(at), target);
        ga_free(at);
        at = next;
    }
    return at;
}

char *ga_file_real_path(const char *path)
{
    char folder[PATH_MAX];
    char *at = follow_links(path);
    if (!at) return NULL;
    const size_t length = folder_length(at);
    char *name = copy_text(at + length);
    at[length] = '\0';
    char *real = NULL;
    if (name && realpath(length ? at : ".", folder)) {
        const size_t n = strlen(folder);
        if (n + 1 < sizeof folder && folder[n - 1] != '/') strcpy(folder + n, "/");
        real = join(folder, strlen(folder), name);
    } else if (name) {
        real = join(at, length, name);
    }
    ga_free(name);
    ga_free(at);
    return real;
}

/* A new file next to the path. The name has the process in it: two runs with the same output do
 * not write into each other. */
static int open_temporary(ga_file *file)
{
    const size_t size = strlen(file->path) + 64;
    file->temporary = GA_NEW(char, size);
    if (!file->temporary) return ENOMEM;
    enum { ATTEMPTS = 100 };
    for (int k = 0; k < ATTEMPTS; ++k) {
        snprintf(file->temporary, size, "%s.%ld-%d.part", file->path, (long)getpid(), k);
        file->descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->descriptor >= 0) return 0;
        if (errno != EEXIST) break;
    }
    const int error = errno;
    ga_free(file->temporary);
    file->temporary = NULL;
    return error;
}

/* Still the file of that name? Its writer may have renamed it since it was opened. */
static bool is_there(const char *path, int descriptor)
{
    struct stat named, open;
    return stat(path, &named) == 0 && fstat(descriptor, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

static int open_and_lock(const char *path, int *descriptor)
{
    enum { ATTEMPTS = 100 };
    for (int k = 0; k < ATTEMPTS; ++k) {
        *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (*descriptor < 0) return errno;
        if (!ga_lock(*descriptor)) break;
        if (is_there(path, *descriptor)) return ftruncate(*descriptor, 0) == 0 ? 0 : errno;
        close(*descriptor);
        *descriptor = -1;
    }
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
    return IN_USE;
}

/* PATH.part */
static int open_part(ga_file *file)
{
    const size_t size = strlen(file->path) + sizeof ".part";
    file->temporary = GA_NEW(char, size);
    if (!file->temporary) return ENOMEM;
    snprintf(file->temporary, size, "%s.part", file->path);
    const int error = open_and_lock(file->temporary, &file->descriptor);
    if (error == 0) return 0;
    if (file->descriptor >= 0) close(file->descriptor);
    ga_free(file->temporary);
    file->temporary = NULL;
    return error;
}

static int open_file(ga_file *file, const char *path, bool must_be_regular,
                     int (*open_new)(ga_file *file))
{
    struct stat about;
    const bool exists = stat(path, &about) == 0;
    if (exists && S_ISDIR(about.st_mode)) return EISDIR;
    file->regular = !exists || S_ISREG(about.st_mode);
    if (!file->regular) {
        if (must_be_regular) return ESPIPE;
        if (!(file->path = copy_text(path))) return ENOMEM;
        file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        return file->descriptor < 0 ? errno : 0;
    }
    /* Renaming would replace a file that was protected from writing. */
    if (exists && access(path, W_OK) != 0) return errno;
    if (!(file->path = follow_links(path))) return ENOMEM;
    return open_new(file);
}

static ga_status create(ga_file *file, const char *path, bool must_be_regular,
                        int (*open_new)(ga_file *file), ga_report *report)
{
    *file = (ga_file){.descriptor = -1};
    const int error = open_file(file, path, must_be_regular, open_new);
    if (error == 0) return GA_OK;
    ga_free(file->path);
    *file = (ga_file){.descriptor = -1};
    return fail_with(report, path, error);
}

ga_status ga_file_create(ga_file *file, const char *path, bool must_be_regular,
                         ga_report *report)
{
    return create(file, path, must_be_regular, open_temporary, report);
}

ga_status ga_file_create_part(ga_file *file, const char *path, bool must_be_regular,
                              ga_report *report)
{
    return create(file, path, must_be_regular, open_part, report);
}

ga_status ga_file_edit(ga_file *file, const char *path, ga_report *report)
{
    *file = (ga_file){.descriptor = open(path, O_RDWR | O_CLOEXEC), .regular = true};
    struct stat about;
    int error = 0;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        error = errno;
    else if (!S_ISREG(about.st_mode))
        error = ESPIPE;
    else if (!ga_lock(file->descriptor))
        error = IN_USE;
    else if (!(file->path = copy_text(path)))
        error = ENOMEM;
    if (error == 0) return GA_OK;
    if (file->descriptor >= 0) close(file->descriptor);
    *file = (ga_file){.descriptor = -1};
    return fail_with(report, path, error);
}

ga_status ga_file_adopt(ga_file *file, int descriptor, const char *name, ga_report *report)
{
    *file = (ga_file){.descriptor = dup(descriptor)};
    if (file->descriptor < 0) return fail_with(report, name, errno);
    if ((file->path = copy_text(name))) return GA_OK;
    close(file->descriptor);
    return fail_with(report, name, ENOMEM);
}

/* Writes piece by piece, for a full disk or a pipe may take less than all. */
static bool write_all(ga_file *file, const char *bytes, size_t count, const uint64_t *offset)
{
    size_t done = 0;
    while (done < count && file->error == 0) {
        const ssize_t n = offset ? pwrite(file->descriptor, bytes + done, count - done,
                                          (off_t)(*offset + done))
                                 : write(file->descriptor, bytes + done, count - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            file->error = ENOSPC;
        else if (errno != EINTR)
            file->error = errno;
    }
    return file->error == 0;
}

bool ga_file_write(ga_file *file, const void *bytes, size_t count)
{
    return write_all(file, bytes, count, NULL);
}

bool ga_file_write_at(ga_file *file, const void *bytes, size_t count, uint64_t offset)
{
    return write_all(file, bytes, count, &offset);
}

bool ga_file_reserve(ga_file *file, uint64_t size)
{
    if (file->error) return false;
    struct stat about;
    if (fstat(file->descriptor, &about) != 0) {
        file->error = errno;
        return false;
    }
    if ((uint64_t)about.st_size >= size) return true;
    int error;
    do error = posix_fallocate(file->descriptor, about.st_size, (off_t)size - about.st_size);
    while (error == EINTR);
    /* Some file systems cannot; then a write will tell. */
    if (error != 0 && error != EINVAL && error != EOPNOTSUPP) file->error = error;
    return file->error == 0;
}

bool ga_file_resize(ga_file *file, uint64_t size)
{
    if (file->error == 0 && ftruncate(file->descriptor, (off_t)size) != 0) file->error = errno;
    return file->error == 0;
}

static bool sync_bytes(ga_file *file)
{
    int result;
    if (file->error || !file->regular) return file->error == 0;
    do result = fsync(file->descriptor);
    while (result != 0 && errno == EINTR);
    /* Some file systems cannot. */
    if (result != 0 && errno != EINVAL && errno != ENOSYS) file->error = errno;
    return file->error == 0;
}

/* Makes a new name in the folder of `path` last: a folder is a file, too. That it cannot is no
 * reason to fail. */
static void sync_folder(const char *path)
{
    const size_t length = folder_length(path);
    char folder[PATH_MAX] = ".";
    if (length >= sizeof folder) return;
    if (length) memcpy(folder, path, length);
    if (length) folder[length] = '\0';
    const int descriptor = open(folder, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)!fsync(descriptor);
    close(descriptor);
}

bool ga_file_sync(ga_file *file)
{
    if (!sync_bytes(file)) return false;
    if (file->temporary && !file->named) sync_folder(file->temporary);
    file->named = true;
    return true;
}

static const char gone[] = "was removed or replaced while it was being written";

/* Whether the path still leads to the file: else what was written is lost when it is closed. */
static bool leads_to(const ga_file *file, const char *path)
{
    struct stat own, there;
    if (file->descriptor < 0 || !file->regular) return true;
    if (fstat(file->descriptor, &own) != 0) return true;
    return stat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

ga_status ga_file_check(const ga_file *file, ga_report *report)
{
    const char *path = file->temporary ? file->temporary : file->path;
    GA_TRY(ga_file_status(file, report));
    return leads_to(file, path) ? GA_OK : fail_because(report, GA_ERR_FILE, path, gone);
}

ga_status ga_file_keep(ga_file *file, ga_report *report)
{
    if (!file->temporary) return GA_OK;
    if (sync_bytes(file)) GA_TRY(ga_file_check(file, report));
    if (file->error == 0 && rename(file->temporary, file->path) != 0) file->error = errno;
    GA_TRY(ga_file_status(file, report));
    sync_folder(file->temporary); /* the same folder */
    ga_free(file->temporary);
    file->temporary = NULL;
    return GA_OK;
}

ga_status ga_file_status(const ga_file *file, ga_report *report)
{
    return file->error ? fail_with(report, file->path, file->error) : GA_OK;
}

ga_status ga_file_close(ga_file *file, ga_report *report)
{
    const char *path = file->temporary ? file->temporary : file->path;
    const bool stays = !file->temporary || file->leave;
    const bool lost = stays && !file->error && !leads_to(file, path);
    if (file->descriptor >= 0 && close(file->descriptor) != 0 && !file->error)
        file->error = errno;
    if (file->temporary && !file->leave) unlink(file->temporary);
    ga_status status = ga_file_status(file, report);
    if (status == GA_OK && lost) status = fail_because(report, GA_ERR_FILE, path, gone);
    ga_free(file->temporary);
    ga_free(file->path);
    *file = (ga_file){.descriptor = -1};
    return status;
}
