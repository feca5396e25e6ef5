/* galpha info: what is in a result, or in a model. */
#include "cli/info.h"

#include "cli/content.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/text.h"

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
    if (!cli_content_is_result(cli_content_of(path))) return cli_info_model(arguments);
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
        "galpha distinguishes results from models by their content. Nothing is simulated.\n"
        "\n"
        "Exit codes: 0 done, 2 bad input or usage, 3 the file cannot be read.\n",
    .options = options,
    .run = info_command,
};
