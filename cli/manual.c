/* galpha manual: the page galpha.1, made from the tables of the commands. Installed with the
 * program, not meant to be called by users. */
#include "cli/command.h"

#include <galpha/galpha.h>
#include <string.h>

/* Text for troff: hyphens stay hyphens that can be copied, no line begins a request. An empty
 * line begins a paragraph. */
static void print_text(const char *text)
{
    bool line_begins = true;
    for (const char *c = text; *c; ++c) {
        if (line_begins && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (line_begins && *c == '\n')
            fputs(".PP", stdout);
        else if (*c == '-')
            fputs("\\", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else
            putchar(*c);
        line_begins = *c == '\n';
    }
    if (!line_begins) putchar('\n');
}

static void print_option(const cli_option *o)
{
    puts(".TP");
    fputs(".B ", stdout);
    if (o->letter) printf("\\-%c, ", o->letter);
    fputs("\\-\\-", stdout);
    for (const char *c = o->name; *c; ++c) printf(*c == '-' ? "\\%c" : "%c", *c);
    printf("%s%s\n", o->argument ? " " : "", o->argument ? o->argument : "");
    print_text(o->help);
}

static void print_command(const cli_command *command)
{
    char operand[CLI_OPERAND_SIZE];
    printf(".SS galpha %s%s\n", command->name, cli_operand_text(command, operand));
    print_text(command->summary);
    if (command->details) {
        puts(".PP");
        print_text(command->details);
    }
    for (const cli_option *o = command->options; o->name; ++o) print_option(o);
}

static int manual_command(const cli_arguments *arguments)
{
    (void)arguments;
    printf(".TH GALPHA 1 \"\" \"galpha %s\"\n", ga_version());
    puts(".SH NAME\n"
         "galpha \\- simulate mechanisms with generalized\\-alpha methods\n"
         ".SH SYNOPSIS\n"
         ".B galpha\n"
         ".I COMMAND\n"
         "[\\fIARGUMENT\\fR ...]\n"
         ".SH DESCRIPTION\n"
         "A model file in YAML describes bodies, joints, motions and forces;\n"
         ".B galpha\n"
         "computes their motion and the forces in the joints.\n"
         ".SH COMMANDS");
    const cli_command *command;
    for (int k = 0; (command = cli_command_get(k)); ++k)
        if (!command->hidden) print_command(command);
    puts(".SH EXIT STATUS\n"
         ".TP\n"
         "0\n"
         "done\n"
         ".TP\n"
         "1\n"
         "the computation failed\n"
         ".TP\n"
         "2\n"
         "bad input or usage\n"
         ".TP\n"
         "3\n"
         "a file cannot be read or written\n"
         ".TP\n"
         "130\n"
         "stopped by Ctrl\\-C; 143 by SIGTERM: 128 plus the number of the signal\n"
         ".SH EXAMPLES\n"
         ".nf\n"
         "galpha check crank.yaml\n"
         "galpha run crank.yaml \\-o crank.h5 \\-\\-set simulate.step=1e\\-4\n"
         "galpha run crank.yaml \\-\\-quiet \\-\\-csv /dev/stdout | head\n"
         ".fi");
    return EXIT_DONE;
}

static const cli_option options[] = {{0}};

const cli_command cli_manual = {
    .name = "manual",
    .summary = "print the manual page",
    .options = options,
    .hidden = true,
    .run = manual_command,
};
