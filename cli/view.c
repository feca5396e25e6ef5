/* galpha view: results, or the start of a model, as an interactive page. */
#include "cli/command.h"
#include "cli/content.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/page.h"
#include "cli/start.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* top.h5 becomes top.html, standard input model.html. The caller frees it. */
static char *default_path(const char *result)
{
    if (strcmp(result, "-") == 0) result = "model";
    const char *slash = strrchr(result, '/'), *dot = strrchr(result, '.');
    const char *name = slash ? slash + 1 : result;
    const size_t stem = dot && dot > name ? (size_t)(dot - result) : strlen(result);
    char *path = malloc(stem + sizeof ".html");
    if (!path) return NULL;
    memcpy(path, result, stem);
    memcpy(path + stem, ".html", sizeof ".html");
    return path;
}

static int write_page(const void *page) { return cli_page_write(page); }

/* Models are shown one at a time; options of models mean nothing for results. */
static int check_operands(const cli_arguments *arguments, bool *model)
{
    int models = 0;
    for (int k = 0; k < arguments->operand_count; ++k)
        models += cli_start_is_model(arguments->operands[k]);
    *model = models > 0;
    if (models > 0 && arguments->operand_count > 1) {
        cli_error("view takes one model, or any number of results; got %d files, %d of them "
                  "models",
                  arguments->operand_count, models);
        return EXIT_INPUT;
    }
    const int code =
        models ? EXIT_DONE : cli_expect_results(arguments->operand_count, arguments->operands);
    if (code != EXIT_DONE) return code;
    for (int k = 0; k < arguments->given_count && models == 0; ++k) {
        const char *name = arguments->given[k].option->name;
        if (strcmp(name, "set") != 0 && strcmp(name, "include-anywhere") != 0 &&
            strcmp(name, "allow-plugins") != 0)
            continue;
        cli_error("--%s: %s is a result; only the values of a model can be set", name,
                  arguments->operands[0]);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

static int view_results(const cli_arguments *arguments, const char *path)
{
    const cli_page page = {.path = path,
                           .count = arguments->operand_count,
                           .results = arguments->operands,
                           .title = cli_value(arguments, "title"),
                           .quiet = cli_given(arguments, "quiet")};
    return cli_guard(page.count, page.results, write_page, &page);
}

static int view(const cli_arguments *arguments, const char *path)
{
    if (!cli_page_is_name(path)) return EXIT_INPUT;
    bool model;
    int code = check_operands(arguments, &model);
    if (code != EXIT_DONE) return code;
    for (int k = 0; k < arguments->operand_count; ++k)
        if (cli_same_file(path, arguments->operands[k])) {
            cli_error("%s would be overwritten by the page", path);
            return EXIT_INPUT;
        }
    bool written;
    if (model)
        code = cli_start_page(arguments, path, &written);
    else
        written = (code = view_results(arguments, path)) == EXIT_DONE;
    if (written && !cli_given(arguments, "quiet")) {
        cli_print_text(stdout, path);
        puts("");
    }
    return code;
}

static int view_command(const cli_arguments *arguments)
{
    int code = cli_page_check();
    if (code != EXIT_DONE) return code;
    const char *path = cli_value(arguments, "output");
    char *own = path ? NULL : default_path(arguments->operands[0]);
    if (!path && !own) return cli_out_of_memory();
    code = view(arguments, path ? path : own);
    free(own);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "page to write; default: FILE with the ending .html"},
    {"title", 0, "TEXT", "title of the page; default: the name of the model"},
    CLI_INPUT_OPTIONS,
    {"quiet", 'q', NULL, "print errors only"},
    {0},
};

const cli_command cli_view = {
    .name = "view",
    .operand = "FILE",
    .operand_repeats = true,
    .summary = "make an interactive HTML page (3-D animation and plots)",
    .details =
        "FILE is a result of `galpha run`, or a model file (- for standard input). Several\n"
        "results are overlaid. For a model, the page shows the initial state; if the model\n"
        "cannot be assembled, the page shows and lists the joints that do not close.\n"
        "The page is a single, self-contained HTML file: it opens in any browser, offline.\n"
        "If it would become too large, only every n-th frame is kept.\n"
        "\n"
        "Exit codes: 0 done, 1 the model cannot be assembled (the page is written), 2 bad\n"
        "input or usage, or built without the viewer, 3 a file cannot be read or written.\n",
    .options = options,
    .run = view_command,
};
