#define _POSIX_C_SOURCE 200809L

#include "cli/content.h"

#include "cli/command.h"
#include "cli/input.h"
#include "cli/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool begins(const char *text, size_t length, const char *start, size_t n)
{
    return length >= n && memcmp(text, start, n) == 0;
}
#define BEGINS(text, length, start) begins(text, length, start, sizeof(start) - 1)

/* CSV begins with the column `time`, and has another column or ends its line. */
static bool is_csv(const char *text, size_t length)
{
    if (BEGINS(text, length, "\"time\"")) return true;
    return BEGINS(text, length, "time") && length > 4 && strchr(",\r\n", text[4]);
}

/* The first line that is neither empty nor a comment begins with the key every model has. */
static bool is_model(const char *text)
{
    while (*text && strchr("#\n\r%-", *text)) {
        text += strcspn(text, "\n");
        if (*text) ++text;
    }
    text += strspn(text, " \t\n\r{");
    return strncmp(text, "galpha:", 7) == 0 || strncmp(text, "\"galpha\"", 8) == 0;
}

static bool is_page(const char *text, size_t length)
{
    return BEGINS(text, length, "<!DOCTYPE html") || BEGINS(text, length, "<!doctype html") ||
           BEGINS(text, length, "<html");
}

/* Text has no control characters but blanks; a slip of the editor leaves one or two. UTF-16 is
 * text, which the reader of models knows. */
static bool is_binary(const char *text, size_t length)
{
    enum { FEW = 4 };
    int controls = 0;
    if (BEGINS(text, length, "\xff\xfe") || BEGINS(text, length, "\xfe\xff")) return false;
    for (size_t k = 0; k < length; ++k) {
        const unsigned char c = (unsigned char)text[k];
        controls += (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 127;
    }
    return controls > FEW;
}

cli_content cli_content_of(const char *path)
{
    char text[4097];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return CLI_CONTENT_OTHER;
    FILE *file = fopen(path, "rb");
    if (!file) return CLI_CONTENT_OTHER;
    const size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    if (BEGINS(text, n, "\x89HDF\r\n\x1a\n")) return CLI_CONTENT_HDF5;
    if (BEGINS(text, n, "galpha checkpoint")) return CLI_CONTENT_CHECKPOINT;
    if (is_binary(text, n)) return CLI_CONTENT_BINARY;
    if (is_csv(text, n)) return CLI_CONTENT_CSV;
    if (is_page(text, n)) return CLI_CONTENT_PAGE;
    return is_model(text) ? CLI_CONTENT_MODEL : CLI_CONTENT_OTHER;
}

bool cli_content_is_result(cli_content content)
{
    return content == CLI_CONTENT_HDF5 || content == CLI_CONTENT_CSV;
}

/* What the file is instead, and what to do with it. */
static bool refuse(cli_content content, const char *expected, ga_report *report)
{
    static const struct {
        const char *is, *use;
    } words[] = {
        [CLI_CONTENT_MODEL] = {"a model", "; `galpha run` simulates it"},
        [CLI_CONTENT_HDF5] = {"an HDF5 file",
                              "; results are read by `galpha info`, `plot` and `view`"},
        [CLI_CONTENT_CSV] = {"a CSV file with a column `time`",
                             "; results are read by `galpha info`, `plot` and `view`"},
        [CLI_CONTENT_CHECKPOINT] = {"a checkpoint", "; `galpha resume` continues its run"},
        [CLI_CONTENT_PAGE] = {"an HTML page", "; open it in a browser"},
        [CLI_CONTENT_BINARY] = {"a binary file", ""},
    };
    *report = (ga_report){.status = GA_ERR_INPUT};
    snprintf(report->message, sizeof report->message, "this is %s, not %s%s", words[content].is,
             expected, words[content].use);
    return false;
}

/* There is no such file, but one with an ending: `run crank` or `crank.yml` beside crank.yaml.
 */
static bool refuse_missing(const char *path, const char *const *endings, bool results,
                           ga_report *report)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) == 0 || errno != ENOENT) return false;
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool ends = dot && dot > (slash ? slash + 1 : path);
    const int stem = (int)(ends ? (size_t)(dot - path) : strlen(path));
    for (int k = 0; endings[k / 2]; ++k) { /* added to the name, or in place of its ending */
        char longer[4096];
        if (k % 2 && !ends) continue;
        const int n = snprintf(longer, sizeof longer, "%.*s%s",
                               k % 2 ? stem : (int)strlen(path), path, endings[k / 2]);
        if (n >= (int)sizeof longer || stat(longer, &about) != 0) continue;
        *report = (ga_report){.status = GA_ERR_FILE};
        const bool is_model = strcmp(endings[k / 2], ".yaml") == 0;
        snprintf(report->message, sizeof report->message,
                 results && ends && is_model
                     ? "there is no such file; `galpha run %.200s` writes results"
                     : "there is no such file; did you mean %.200s?",
                 longer);
        return true;
    }
    return false;
}

bool cli_expect_model(const char *path, ga_report *report)
{
    static const char *const endings[] = {".yaml", ".yml", ".json", NULL};
    if (refuse_missing(path, endings, false, report)) return false;
    const cli_content content = cli_content_of(path);
    if (content == CLI_CONTENT_OTHER || content == CLI_CONTENT_MODEL) return true;
    return refuse(content,
                  content == CLI_CONTENT_BINARY ? "a model, which is a text file" : "a model",
                  report);
}

bool cli_expect_checkpoint(const char *path, ga_report *report)
{
    const cli_content content = cli_content_of(path);
    if (content == CLI_CONTENT_OTHER || content == CLI_CONTENT_CHECKPOINT) return true;
    refuse(content, "a checkpoint", report);
    if (content == CLI_CONTENT_MODEL)
        snprintf(report->message, sizeof report->message,
                 "this is a model, not a checkpoint; `galpha run MODEL --checkpoint FILE` "
                 "writes one");
    return false;
}

int cli_expect_results(int count, const char *const *paths)
{
    static const char *const endings[] = {".h5", ".csv", ".part", ".h5.part", ".yaml", NULL};
    for (int k = 0; k < count; ++k) {
        const cli_content content = cli_content_of(paths[k]);
        ga_report report;
        if (cli_content_is_result(content)) continue;
        if (content != CLI_CONTENT_OTHER)
            refuse(content, "a result", &report);
        else if (!refuse_missing(paths[k], endings, true, &report))
            continue;
        cli_error("%s: %s", paths[k], report.message);
        return cli_exit_code(report.status);
    }
    return EXIT_DONE;
}
