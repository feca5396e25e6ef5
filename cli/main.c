/* The program: finds the command, runs it, and sees to it that what it printed arrived. */
#define _POSIX_C_SOURCE 200809L

#include "cli/command.h"
#include "cli/text.h"

#include <errno.h>
#include <galpha/galpha.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static int unknown_command(const char *word)
{
    const char *names[16];
    int count = 0;
    const cli_command *command;
    for (int k = 0; (command = cli_command_get(k)) && count < 16; ++k)
        if (!command->hidden) names[count++] = command->name;
    const char *nearest = cli_nearest(word, count, names);
    const char *kind = word[0] == '-' ? "option" : "command";
    if (nearest)
        cli_error("there is no %s '%s'; did you mean '%s'?", kind, word, nearest);
    else if (access(word, R_OK) == 0)
        cli_error("there is no command '%s'; did you mean 'galpha run %s'?", word, word);
    else
        cli_error("there is no %s '%s'; see galpha --help", kind, word);
    return EXIT_INPUT;
}

static int run_command(const cli_command *command, int count, char **words)
{
    cli_arguments arguments;
    int code = cli_parse(command, count, words, &arguments);
    if (code == EXIT_DONE) {
        if (cli_given(&arguments, "help"))
            cli_print_help(command);
        else
            code = command->run(&arguments);
    }
    cli_arguments_free(&arguments);
    return code;
}

/* galpha help, of everything or of one command */
static int help(int count, char **words)
{
    if (count == 0) {
        cli_print_overview(stdout);
        return EXIT_DONE;
    }
    const cli_command *command = cli_command_find(words[0]);
    if (!command) return unknown_command(words[0]);
    cli_print_help(command);
    return EXIT_DONE;
}

static int dispatch(int count, char **words)
{
    if (count == 0) {
        cli_print_overview(stderr);
        return EXIT_INPUT;
    }
    const char *word = words[0];
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0) {
        printf("galpha %s\n", ga_version());
        return EXIT_DONE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return help(0, NULL);
    if (strcmp(word, "help") == 0) return help(count - 1, words + 1);
    const cli_command *command = cli_command_find(word);
    return command ? run_command(command, count - 1, words + 1) : unknown_command(word);
}

/* Setting up a large model takes arrays of many megabytes and gives them back. What is kept for
 * those that follow does not come from the system again, page by page, cleared. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

/* HDF5 ends the program without a word if it is short of memory. */
static bool over;
static void explain_exit(void)
{
    if (over) return;
    cli_error(
        "a library ended the program, as HDF5 does when memory is out; unfinished results "
        "are in FILE.part");
    _exit(EXIT_NUMERICAL);
}

int main(int count, char **words)
{
    atexit(explain_exit);
    keep_memory();
    /* A closed pipe and a file grown too large are errors to report, not reasons to die. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(count > 0 ? count - 1 : 0, words + 1);
    if (!cli_flush() && code == EXIT_DONE) {
        cli_error("standard output: %s", errno ? strerror(errno) : "cannot be written");
        code = EXIT_FILES;
    }
    over = true;
    return code;
}
