/* Locks of open files, which Linux has, tell two files of one process apart, too. */
#define _GNU_SOURCE

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifdef F_OFD_SETLK
enum { SET_LOCK = F_OFD_SETLK };
#else
enum { SET_LOCK = F_SETLK };
#endif

bool ga_lock(int descriptor)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, SET_LOCK, &all) == 0 || (errno != EAGAIN && errno != EACCES);
}
