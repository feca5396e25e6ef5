/* Files of others, read in a process of their own. HDF5 does not survive every damaged file: it
 * may write where it must not, or look for an end that never comes. */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

/* The exit code of work(user), which runs in another process: what it prints is seen, what it
 * changes in memory is not. Where it crashes, or takes far longer than files of that size do,
 * EXIT_INPUT, after saying that one of the files is damaged. */
int cli_guard(int count, const char *const *files, int (*work)(const void *user),
              const void *user);

#endif
