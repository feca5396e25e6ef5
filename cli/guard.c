#define _XOPEN_SOURCE 700

#include "cli/guard.h"

#include "cli/command.h"
#include "cli/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reading and compressing takes a tenth of a second for a megabyte on a slow machine. */
static const double base_seconds = 5, seconds_per_byte = 1e-6;

static rlim_t time_allowed(int count, const char *const *files)
{
    double seconds = base_seconds;
    for (int k = 0; k < count; ++k) {
        struct stat about;
        if (stat(files[k], &about) == 0) seconds += seconds_per_byte * (double)about.st_size;
    }
    return (rlim_t)seconds;
}

static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU};
enum { DEADLY = sizeof deadly / sizeof *deadly };

/* A crash is expected: no handlers, no core files. */
static void set_limits(rlim_t seconds)
{
    for (int k = 0; k < DEADLY; ++k) signal(deadly[k], SIG_DFL);
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    struct rlimit time;
    if (getrlimit(RLIMIT_CPU, &time) != 0) return;
    if (time.rlim_max == RLIM_INFINITY || seconds < time.rlim_max) time.rlim_cur = seconds;
    setrlimit(RLIMIT_CPU, &time);
}

/* What reads the files: HDF5 if one of them begins as its files do. */
static const char *reader_of(int count, const char *const *files)
{
    for (int k = 0; k < count; ++k) {
        char start[4] = "";
        FILE *file = fopen(files[k], "rb");
        const bool is_hdf5 = file && fread(start, 1, sizeof start, file) == sizeof start &&
                             memcmp(start, "\x89HDF", sizeof start) == 0;
        if (file) fclose(file);
        if (is_hdf5) return "HDF5";
    }
    return "the reader of CSV";
}

static int explain(int count, const char *const *files, int killed_by)
{
    const char *more = count > 1 ? ", or one of the others," : "";
    for (int k = 0; k < DEADLY; ++k)
        if (deadly[k] == killed_by) {
            cli_error("%s%s is damaged: %s %s", files[0], more, reader_of(count, files),
                      killed_by == SIGXCPU ? "hangs on it" : "crashes on it");
            return EXIT_INPUT;
        }
    return EXIT_SIGNAL + killed_by;
}

int cli_guard(int count, const char *const *files, int (*work)(const void *user),
              const void *user)
{
    cli_flush();
    fflush(stderr);
    const pid_t child = fork();
    if (child == 0) {
        set_limits(time_allowed(count, files));
        const int code = work(user);
        if (!cli_flush()) _exit(EXIT_FILES);
        _exit(code);
    }
    int status = 0;
    if (child < 0) {
        cli_error("cannot start a second process: %s", strerror(errno));
        return EXIT_NUMERICAL;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return EXIT_NUMERICAL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : explain(count, files, WTERMSIG(status));
}
