/* galpha completion: a script for bash, made from the tables of the commands. Installed with
 * the program, not meant to be called by users. */
#include "cli/command.h"

#include <galpha/model.h>
#include <string.h>

static void print_options(const cli_command *command)
{
    for (const cli_option *o = command->options; o->name; ++o) printf("--%s ", o->name);
    fputs("--help", stdout);
}

static bool takes_file(const char *what)
{
    static const char *const files[] = {"FILE", "MODEL", "RESULT"};
    for (int k = 0; k < 3 && what; ++k)
        if (strncmp(what, files[k], strlen(files[k])) == 0) return true;
    return false;
}

/* `run:-o | run:--output | run:--csv) files ;;`, and nothing after other options with values.
 */
static void print_values(const cli_command *command)
{
    for (const cli_option *o = command->options; o->name; ++o) {
        if (!o->argument) continue;
        printf("    %s:--%s", command->name, o->name);
        if (o->letter) printf(" | %s:-%c", command->name, o->letter);
        puts(takes_file(o->argument) ? ") _galpha_files; return ;;" : ") return ;;");
    }
}

static void print_operands(const cli_command *command)
{
    printf("    %s) ", command->name);
    if (takes_file(command->operand)) {
        fputs("_galpha_files", stdout);
    } else if (command->operand) {
        fputs("_galpha_words \"", stdout);
        for (int k = 0; ga_model_element_name(k); ++k)
            printf("%s%s", k ? " " : "", ga_model_element_name(k));
        fputs("\"", stdout);
    } else {
        fputs(":", stdout);
    }
    puts(" ;;");
}

static void for_all(void (*print)(const cli_command *command))
{
    const cli_command *command;
    for (int k = 0; (command = cli_command_get(k)); ++k)
        if (!command->hidden) print(command);
}

static void print_name(const cli_command *command) { printf("%s ", command->name); }

static void print_option_words(const cli_command *command)
{
    printf("        %s) _galpha_words \"", command->name);
    print_options(command);
    puts("\" ;;");
}

static int completion_command(const cli_arguments *arguments)
{
    (void)arguments;
    puts("# bash completion for galpha; made by `galpha completion`\n"
         "_galpha_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$word\")); }\n"
         "_galpha_files() { compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")); }\n"
         "_galpha() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command=${COMP_WORDS[1]}\n"
         "    COMPREPLY=()");
    fputs("    if [ \"$COMP_CWORD\" -eq 1 ]; then _galpha_words \"", stdout);
    for_all(print_name);
    puts("--help --version\"; return; fi\n"
         "    case $command:$before in");
    for_all(print_values);
    puts("    esac\n"
         "    case $word in\n"
         "    -*)\n"
         "        case $command in");
    for_all(print_option_words);
    puts("        esac\n"
         "        return ;;\n"
         "    esac\n"
         "    case $command in");
    for_all(print_operands);
    puts("    esac\n"
         "}\n"
         "complete -F _galpha galpha");
    return EXIT_DONE;
}

static const cli_option options[] = {{0}};

const cli_command cli_completion = {
    .name = "completion",
    .summary = "print a completion script for bash",
    .options = options,
    .hidden = true,
    .run = completion_command,
};
