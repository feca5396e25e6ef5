/* galpha info: what is in a result, or in a model. */
#define _POSIX_C_SOURCE 200809L

#include "cli/info.h"

#include "cli/guard.h"
#include "cli/input.h"
#include "cli/text.h"

#include <string.h>
#include <sys/stat.h>

/* Which of the two, by how the file begins, not by its name: HDF5 has a signature, CSV begins
 * with the column `time`. What cannot be read is left to those who read it. */
static bool is_result(const char *path)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n", header[] = "time",
                      quoted[] = "\"time\"";
    char start[8] = "";
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false; /* a pipe is read once */
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t n = fread(start, 1, sizeof start, file);
    fclose(file);
    if (n == sizeof start && memcmp(start, signature, sizeof start) == 0) return true;
    if (n > 4 && memcmp(start, header, 4) == 0) return strchr(",\r\n", start[4]) != NULL;
    return n > 6 && memcmp(start, quoted, 6) == 0;
}

typedef struct work {
    const char *path;
    bool json;
} work;

static int show_result(const void *user)
{
    const work *w = user;
    return cli_info_result(w->path, w->json);
}

static int info_command(const cli_arguments *arguments)
{
    const char *path = arguments->operands[0];
    if (!is_result(path)) return cli_info_model(arguments);
    if (cli_given(arguments, "set") || cli_given(arguments, "include-anywhere") ||
        cli_given(arguments, "allow-plugins")) {
        cli_error("info: %s is a result; --set, --include-anywhere and --allow-plugins are for "
                  "models",
                  path);
        return EXIT_INPUT;
    }
    const work w = {path, cli_given(arguments, "json")};
    return cli_guard(1, &path, show_result, &w);
}

static const cli_option options[] = {
    {"json", 0, NULL, "print everything as one JSON object"}, CLI_INPUT_OPTIONS, {0}};

const cli_command cli_info = {
    .name = "info",
    .operand = "FILE",
    .summary = "show the contents of a result or a model",
    .details =
        "For a result, HDF5 or CSV, finished or not (FILE.part): channels with units and "
        "ranges,\n"
        "settings and statistics of the run. For a model, or - for standard input: bodies,\n"
        "joints, motions, forces, parameters, settings, and the channels it can output.\n"
        "Results and models are told apart by their content. Nothing is simulated.\n"
        "\n"
        "Exit codes: 0 done, 2 bad input or usage, 3 the file cannot be read.\n",
    .options = options,
    .run = info_command,
};
