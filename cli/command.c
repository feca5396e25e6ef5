#include "cli/command.h"

#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

#define CLI_COMMAND(table) extern const cli_command table;
#include "cli/command.def"
#undef CLI_COMMAND

const cli_command *cli_command_get(int k)
{
    static const cli_command *const commands[] = {
#define CLI_COMMAND(table) &table,
#include "cli/command.def"
#undef CLI_COMMAND
    };
    return k >= 0 && k < (int)(sizeof commands / sizeof *commands) ? commands[k] : NULL;
}

const cli_command *cli_command_find(const char *name)
{
    const cli_command *command;
    for (int k = 0; (command = cli_command_get(k)); ++k)
        if (strcmp(command->name, name) == 0) break;
    return command;
}

/* --- nearest name ------------------------------------------------------------------------- */

enum { LONGEST_NAME = 40 };

static int smaller(int a, int b) { return a < b ? a : b; }

/* Letters to insert, remove, replace, or swap with their neighbor. */
static int distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME) return LONGEST_NAME;
    int d[LONGEST_NAME + 1][LONGEST_NAME + 1];
    for (int i = 0; i <= n; ++i) d[i][0] = i;
    for (int j = 0; j <= m; ++j) d[0][j] = j;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= m; ++j) {
            d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1,
                              d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *cli_nearest(const char *word, int count, const char *const *names)
{
    const char *nearest = NULL;
    int least = smaller(2, 1 + (int)strlen(word) / 3) + 1;
    for (int k = 0; k < count; ++k) {
        const int d = distance(word, names[k]);
        if (d < least) {
            least = d;
            nearest = names[k];
        }
    }
    return nearest;
}

/* --- parsing ------------------------------------------------------------------------------ */

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    const char *value = NULL;
    for (int k = 0; k < arguments->given_count; ++k)
        if (strcmp(arguments->given[k].option->name, name) == 0)
            value = arguments->given[k].value;
    return value;
}

bool cli_given(const cli_arguments *arguments, const char *name)
{
    for (int k = 0; k < arguments->given_count; ++k)
        if (strcmp(arguments->given[k].option->name, name) == 0) return true;
    return false;
}

/* Every command has it. */
static const cli_option help_option = {"help", 'h', NULL, "show this help"};

static const cli_option *find_long(const cli_command *command, const char *name, size_t length)
{
    for (const cli_option *o = command->options; o->name; ++o)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return length == 4 && memcmp(name, "help", 4) == 0 ? &help_option : NULL;
}

static const cli_option *find_short(const cli_command *command, char letter)
{
    for (const cli_option *o = command->options; o->name; ++o)
        if (o->letter && o->letter == letter) return o;
    return letter == 'h' ? &help_option : NULL;
}

/* The only name that begins like this, as --out for --output. */
static const char *completed(const char *start, int count, const char *const *names)
{
    const char *found = NULL;
    for (int k = 0; k < count; ++k) {
        if (strncmp(names[k], start, strlen(start)) != 0) continue;
        if (found) return NULL;
        found = names[k];
    }
    return found;
}

static bool is_same_word(const char *a, const char *b)
{
    for (; *a && *b; ++a, ++b)
        if (*a != *b && !(*a == '-' && *b == '_')) return false;
    return *a == *b;
}

/* Settings of the model file that people expect as options, --t-end for simulate.t_end. */
static const char *setting_meant(const cli_command *command, const char *name)
{
    static const char *const settings[] = {
        "simulate.t_end",      "simulate.t_start", "simulate.step",        "simulate.tolerance",
        "simulate.method",     "simulate.rho_inf", "simulate.formulation", "simulate.max_step",
        "simulate.first_step", "simulate.solver",  "simulate.threads",     "simulate.error",
        "simulate.kinematics", "output.every",     "output.channels",      "gravity",
    };
    if (!find_long(command, "set", 3)) return NULL;
    for (size_t k = 0; k < sizeof settings / sizeof *settings; ++k) {
        const char *dot = strchr(settings[k], '.');
        if (is_same_word(name, dot ? dot + 1 : settings[k])) return settings[k];
    }
    return NULL;
}

static int unknown_option(const cli_command *command, const char *word)
{
    const char *names[LONGEST_NAME] = {"help"};
    int count = 1;
    for (const cli_option *o = command->options; o->name && count < LONGEST_NAME; ++o)
        names[count++] = o->name;
    char name[LONGEST_NAME + 1] = "";
    if (word[1] == '-')
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = *name ? completed(name, count, names) : NULL;
    if (!nearest && *name) nearest = cli_nearest(name, count, names);
    const char *setting = *name ? setting_meant(command, name) : NULL;
    if (setting)
        cli_error("%s has no option '%s'; values of the model are changed by '--set %s=VALUE'",
                  command->name, word, setting);
    else if (nearest)
        cli_error("%s has no option '%s'; did you mean '--%s'?", command->name, word, nearest);
    else
        cli_error("%s has no option '%s'; see galpha %s --help", command->name, word,
                  command->name);
    return EXIT_INPUT;
}

static void give(cli_arguments *arguments, const cli_option *option, const char *value)
{
    arguments->given[arguments->given_count].option = option;
    arguments->given[arguments->given_count++].value = value;
}

static bool takes_file(const cli_option *option)
{
    return option->argument &&
           (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "DIR") == 0);
}

/* A word such as -q in place of a file is a forgotten name. "-" is left to the commands, some
 * of which write to standard output. */
static bool is_file_name(const cli_option *option, const char *value)
{
    return !takes_file(option) || value[0] != '-' || value[1] == '\0';
}

/* One option at words[*at]; a value in the next word moves *at. */
static int parse_option(const cli_command *command, int count, char **words, int *at,
                        cli_arguments *arguments)
{
    const char *word = words[*at], *value = NULL;
    const cli_option *option;
    if (word[1] == '-') {
        const size_t length = strcspn(word + 2, "=");
        option = find_long(command, word + 2, length);
        if (word[2 + length] == '=') value = word + 3 + length;
    } else {
        option = find_short(command, word[1]);
        if (word[2]) value = word + 2;
    }
    if (!option || (!option->argument && value && word[1] != '-'))
        return unknown_option(command, word);
    if (!option->argument && value) {
        cli_error("--%s takes no value, got '%s'", option->name, value);
        return EXIT_INPUT;
    }
    if (option->argument && !value) {
        if (*at + 1 >= count) {
            cli_error("%s: a value is missing, expected %s", word, option->argument);
            return EXIT_INPUT;
        }
        value = words[++*at];
    }
    if (takes_file(option) && !*value) {
        cli_error("--%s: a value is missing, expected %s", option->name, option->argument);
        return EXIT_INPUT;
    }
    if (!is_file_name(option, value)) {
        cli_error("--%s: '%s' looks like an option; expected a file (./%s if that is its name)",
                  option->name, value, value);
        return EXIT_INPUT;
    }
    give(arguments, option, value);
    return EXIT_DONE;
}

static int check_operands(const cli_command *command, const cli_arguments *arguments)
{
    const int most = command->operand ? 1 : 0;
    const int least = command->operand && !command->operand_optional ? 1 : 0;
    if (arguments->operand_count < least) {
        cli_error("%s: %s is missing", command->name, command->operand);
        cli_print_usage(stderr, command);
        return EXIT_INPUT;
    }
    if (arguments->operand_count > most && !command->operand_repeats) {
        cli_error("%s: unexpected argument '%s'", command->name, arguments->operands[most]);
        cli_print_usage(stderr, command);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments)
{
    const size_t room = (size_t)count + 1;
    *arguments = (cli_arguments){.operands = calloc(room, sizeof *arguments->operands),
                                 .given = calloc(room, sizeof *arguments->given)};
    if (!arguments->operands || !arguments->given) return cli_out_of_memory();
    bool options_end = false;
    for (int at = 0; at < count; ++at) {
        const char *word = words[at];
        if (options_end || word[0] != '-' || word[1] == '\0') { /* "-" is an operand */
            arguments->operands[arguments->operand_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            options_end = true;
        } else {
            const int code = parse_option(command, count, words, &at, arguments);
            if (code != EXIT_DONE) return code;
        }
    }
    return cli_given(arguments, "help") ? EXIT_DONE : check_operands(command, arguments);
}

void cli_arguments_free(cli_arguments *arguments)
{
    free(arguments->operands);
    free(arguments->given);
    *arguments = (cli_arguments){0};
}

/* --- help --------------------------------------------------------------------------------- */

const char *cli_operand_text(const cli_command *command, char text[CLI_OPERAND_SIZE])
{
    const bool optional = command->operand_optional;
    if (command->further) {
        snprintf(text, CLI_OPERAND_SIZE, " %s [%s ...]", command->operand, command->further);
        return text;
    }
    snprintf(text, CLI_OPERAND_SIZE, "%s%s%s%s%s", command->operand ? " " : "",
             optional ? "[" : "", command->operand ? command->operand : "",
             command->operand_repeats ? " ..." : "", optional ? "]" : "");
    return text;
}

void cli_print_usage(FILE *out, const cli_command *command)
{
    char operand[CLI_OPERAND_SIZE];
    fprintf(out, "usage: galpha %s%s", command->name, cli_operand_text(command, operand));
    if (command->options->name) fputs(" [OPTION ...]", out);
    fputc('\n', out);
}

static void print_option(const cli_option *o)
{
    char left[64];
    int n = o->letter ? snprintf(left, sizeof left, "-%c, ", o->letter)
                      : snprintf(left, sizeof left, "    ");
    snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    printf("  %-31s %s\n", left, o->help);
}

void cli_print_help(const cli_command *command)
{
    printf("galpha %s: %s\n\n", command->name, command->summary);
    cli_print_usage(stdout, command);
    puts("");
    for (const cli_option *o = command->options; o->name; ++o) print_option(o);
    print_option(&help_option);
    if (command->details) printf("\n%s", command->details);
}

void cli_print_overview(FILE *out)
{
    fputs("galpha simulates mechanisms of rigid bodies, joints and forces.\n"
          "\n"
          "usage: galpha COMMAND [ARGUMENT ...]\n"
          "\n",
          out);
    const cli_command *command;
    for (int k = 0; (command = cli_command_get(k)); ++k) {
        if (command->hidden) continue;
        char left[64], operand[CLI_OPERAND_SIZE];
        snprintf(left, sizeof left, "%s%s", command->name, cli_operand_text(command, operand));
        fprintf(out, "  %-26s %s\n", left, command->summary);
    }
    fputs("\n"
          "  galpha COMMAND --help   show the options of a command\n"
          "  galpha --version        show the version\n"
          "\n"
          "First steps: galpha check MODEL, then galpha run MODEL --view page.html.\n"
          "Once galpha is installed, `man galpha` shows the manual page, and bash completes "
          "commands.\n",
          out);
}
