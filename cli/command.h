/* Commands and their options. A command is a table; parsing, help, completion and the manual
 * page are made from it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

enum {
    EXIT_DONE = 0,
    EXIT_NUMERICAL = 1, /* the computation failed */
    EXIT_INPUT = 2,     /* bad input or usage */
    EXIT_FILES = 3,     /* something cannot be read or written */
    EXIT_SIGNAL = 128,  /* and the number of the signal */
};

typedef struct cli_option {
    const char *name; /* json, for --json */
    char letter;      /* q, for -q; 0: none */
    const char
        *argument; /* FILE; null: the option takes none. FILE and MODEL complete to files */
    const char *help;
} cli_option;

typedef struct cli_arguments {
    int operand_count;
    const char **operands;
    int given_count;
    struct {
        const cli_option *option;
        const char *value; /* null if it takes none */
    } * given;
} cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *operand; /* MODEL; null: none */
    bool operand_optional;
    bool operand_repeats;      /* one or more of them */
    const char *further;       /* what may follow the first one; null: more of its kind */
    const char *summary;       /* one line */
    const char *details;       /* paragraphs */
    const cli_option *options; /* ends with a null name */
    bool hidden;               /* for packaging, not for users */
    int (*run)(const cli_arguments *arguments);
} cli_command;

/* All commands, k-th; null past the last. */
const cli_command *cli_command_get(int k);
const cli_command *cli_command_find(const char *name);
/* " MODEL", in brackets if it may be left out, or "". */
enum { CLI_OPERAND_SIZE = 32 };
const char *cli_operand_text(const cli_command *command, char text[CLI_OPERAND_SIZE]);

/* The value of an option given last; null if it was not given. */
const char *cli_value(const cli_arguments *arguments, const char *name);
bool cli_given(const cli_arguments *arguments, const char *name);
/* Reads words[0 .. count-1] by the table of the command. EXIT_DONE, or EXIT_INPUT with the
 * mistake on stderr. Free with cli_arguments_free in any case. */
int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments);
void cli_arguments_free(cli_arguments *arguments);

/* The name nearest to a word, among names[0 .. count-1]; null if none is near. */
const char *cli_nearest(const char *word, int count, const char *const *names);

void cli_print_usage(FILE *out, const cli_command *command); /* one line */
void cli_print_help(const cli_command *command);
void cli_print_overview(FILE *out);

#endif
