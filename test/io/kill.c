/* Preloaded into a program, ends it at a chosen write to its result files, as kill -9 would.
 *
 *     KILL_FILE   how the name of the file ends; others are left alone
 *     KILL_AT     the number of the call that changes the file, from 1; 0: none
 *     KILL_HOW    before, or middle: half of a write is done, a rename is not
 *     KILL_COUNT  a file for the number of calls
 *     KILL_CLOCK  seconds by which every look at the clock moves it on; otherwise it is as it
 * is
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static long calls;

static bool ends_so(const char *path)
{
    const char *end = getenv("KILL_FILE");
    const size_t n = strlen(path), m = end ? strlen(end) : 0;
    return m > 0 && n >= m && strcmp(path + n - m, end) == 0;
}

static bool is_ours(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return false;
    path[n] = '\0';
    return ends_so(path);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static bool is_middle(void)
{
    const char *how = getenv("KILL_HOW");
    return how && strcmp(how, "middle") == 0;
}

/* True: half of this one, then the end. */
static bool count(void)
{
    const char *at = getenv("KILL_AT"), *file = getenv("KILL_COUNT");
    ++calls;
    if (file) {
        FILE *out = fopen(file, "w");
        if (out) fprintf(out, "%ld\n", calls);
        if (out) fclose(out);
    }
    if (!at || calls != atol(at)) return false;
    if (!is_middle()) die();
    return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *bytes, size_t size)
{
    if (is_ours(descriptor) && count()) {
        REAL(write)(descriptor, bytes, size / 2);
        die();
    }
    return REAL(write)(descriptor, bytes, size);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    if (is_ours(descriptor) && count()) {
        REAL(pwrite)(descriptor, bytes, size / 2, offset);
        die();
    }
    return REAL(pwrite)(descriptor, bytes, size, offset);
}

int ftruncate(int descriptor, off_t size)
{
    if (is_ours(descriptor) && count()) die();
    return REAL(ftruncate)(descriptor, size);
}

int posix_fallocate(int descriptor, off_t begin, off_t size)
{
    if (is_ours(descriptor) && count()) {
        REAL(posix_fallocate)(descriptor, begin, (size + 1) / 2);
        die();
    }
    return REAL(posix_fallocate)(descriptor, begin, size);
}

int rename(const char *from, const char *to)
{
    if (ends_so(from) && count()) {
        REAL(rename)(from, to);
        die();
    }
    return REAL(rename)(from, to);
}

/* A program that is killed loses nothing that it has written: the disk need not be waited for.
 */
int fsync(int descriptor)
{
    (void)descriptor;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static double ahead = 1000;
    const char *step = getenv("KILL_CLOCK");
    if (!step || clock != CLOCK_MONOTONIC) return REAL(clock_gettime)(clock, now);
    ahead += atof(step);
    now->tv_sec = (time_t)ahead;
    now->tv_nsec = (long)(1e9 * (ahead - (double)now->tv_sec));
    return 0;
}
