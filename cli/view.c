/* galpha view: results as a page that shows them move. */
#include "cli/command.h"
#include "cli/guard.h"
#include "cli/page.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

/* top.h5 becomes top.html. The caller frees it. */
static char *default_path(const char *result)
{
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

static int view(const cli_arguments *arguments, const char *path)
{
    for (int k = 0; k < arguments->operand_count; ++k)
        if (cli_same_file(path, arguments->operands[k])) {
            cli_error("%s would be overwritten by the page", path);
            return EXIT_INPUT;
        }
    const cli_page page = {.path = path,
                           .count = arguments->operand_count,
                           .results = arguments->operands,
                           .title = cli_value(arguments, "title"),
                           .quiet = cli_given(arguments, "quiet")};
    const int code = cli_guard(page.count, page.results, write_page, &page);
    if (code == EXIT_DONE && !page.quiet) {
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
    {"output", 'o', "FILE", "write the page to FILE; else RESULT with the ending .html"},
    {"title", 0, "TEXT", "title of the page; else the name of the model"},
    {"quiet", 'q', NULL, "say nothing but errors"},
    {0},
};

const cli_command cli_view = {
    .name = "view",
    .operand = "RESULT",
    .operand_repeats = true,
    .summary = "make a page that shows results move",
    .details =
        "RESULT is a file of `galpha run -o`; several are shown over each other. The page is\n"
        "one HTML file that needs nothing else: it opens in any browser, without a network.\n"
        "Where it would become too large, frames are left out evenly.\n\n"
        "Exit codes: 0 done, 2 bad input or usage, or built without the viewer, 3 a file\n"
        "cannot be read or written.\n",
    .options = options,
    .run = view_command,
};
