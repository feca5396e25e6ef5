#define _POSIX_C_SOURCE 200809L

#include "cli/page.h"

#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"

#include <galpha/galpha.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int cli_page_check(void)
{
    if (ga_page_is_built_in()) return EXIT_DONE;
    cli_error("this galpha was built without the viewer; building it needs Node.js");
    return EXIT_INPUT;
}

bool cli_page_is_name(const char *path)
{
    static const char *const pictures[] = {".png", ".svg", ".pdf", ".jpg",
                                           ".gif", ".mp4", ".webp"};
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof pictures / sizeof *pictures; ++k)
        if (strcasecmp(dot, pictures[k]) == 0) {
            cli_error(
                "%s: pages are HTML, expected a name that ends in .html; pictures are saved "
                "from the page in a browser, plots by `galpha plot`",
                path);
            return false;
        }
    return true;
}

static bool has_positions(const ga_result_reader *result)
{
    static const char ending[] = ".position";
    for (int k = 0; k < ga_result_reader_channel_count(result); ++k) {
        const char *name = ga_result_reader_channels(result)[k].name;
        const size_t length = strlen(name), m = sizeof ending - 1;
        if (length > m && strcmp(name + length - m, ending) == 0) return true;
    }
    return false;
}

static void warn_still(const char *file)
{
    cli_error("warning: %s has no positions of bodies: nothing will move", file);
    cli_print_line(stderr, "  remedy: ",
                   "run with --view, or add *.position and *.rotation to output.channels");
}

/* What a user might miss in the page. */
static void tell(const char *file, const ga_result_reader *result, const ga_page_shown *shown)
{
    if (shown->every > 1)
        cli_error("%s: the page shows %zu of %zu frames to limit its size", file, shown->frames,
                  shown->frames_in_file);
    if (shown->scene_damaged)
        cli_error("warning: %s: the scene is damaged: bodies are drawn as boxes", file);
    else if (!ga_result_reader_scene(result))
        cli_error("warning: %s has no scene: bodies are drawn as boxes", file);
    if (!has_positions(result)) warn_still(file);
}

static ga_status open_results(const cli_page *page, ga_result_reader **results,
                              ga_report *report)
{
    for (int k = 0; k < page->count; ++k) {
        const ga_status status = ga_result_open(page->results[k], results + k, report);
        if (status != GA_OK) return status;
    }
    return GA_OK;
}

int cli_page_write(const cli_page *page)
{
    ga_result_reader **results = calloc((size_t)page->count, sizeof *results);
    ga_page_shown *shown = calloc((size_t)page->count, sizeof *shown);
    ga_report report;
    int code = EXIT_DONE;
    if (!results || !shown) {
        code = cli_out_of_memory();
    } else {
        ga_page_def def = ga_page_def_default();
        def.title = page->title;
        def.labels = page->labels;
        ga_status status = open_results(page, results, &report);
        if (status == GA_OK)
            status = ga_page_write(page->path, page->count, results, &def, shown, &report);
        if (status != GA_OK) cli_error("%s", report.message);
        code = cli_exit_code(status);
        for (int k = 0; k < page->count && status == GA_OK && !page->quiet; ++k)
            tell(page->labels ? page->labels[k] : page->results[k], results[k], shown + k);
    }
    for (int k = 0; k < page->count && results; ++k) ga_result_reader_close(results[k]);
    free(results);
    free(shown);
    return code;
}
