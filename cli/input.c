#include "cli/input.h"

#include "cli/content.h"
#include "cli/text.h"

#include <stdlib.h>
#include <string.h>

int cli_exit_code(ga_status status)
{
    switch (status) {
    case GA_OK:
        return EXIT_DONE;
    case GA_ERR_INPUT:
    case GA_ERR_ARGUMENT:
    case GA_ERR_SYSTEM:
    case GA_ERR_METHOD:
        return EXIT_INPUT;
    case GA_ERR_FILE:
        return EXIT_FILES;
    default:
        return EXIT_NUMERICAL;
    }
}

/* --- messages ----------------------------------------------------------------------------- */

void cli_input_print_messages(cli_input *input)
{
    const ga_messages *messages = input->messages;
    const int count = ga_messages_count(messages);
    if (input->printed == count) return;
    for (; input->printed < count; ++input->printed) {
        const ga_message m = ga_messages_get(messages, input->printed);
        if (input->quiet && m.severity == GA_SEVERITY_WARNING) continue;
        const int length = ga_messages_format(messages, input->printed, NULL, 0);
        char *line = length < 0 ? NULL : malloc((size_t)length + 1);
        if (!line) continue;
        ga_messages_format(messages, input->printed, line, (size_t)length + 1);
        cli_print_line(stderr, "", line);
        free(line);
    }
    int kept = 0;
    for (int k = 0; k < count; ++k)
        kept += ga_messages_get(messages, k).severity == GA_SEVERITY_ERROR;
    const int more = ga_messages_errors(messages) - kept;
    if (more > 0) fprintf(stderr, "... and %d more error%s\n", more, more == 1 ? "" : "s");
}

void cli_json_messages(cli_json *json, const char *key, const ga_messages *messages)
{
    cli_json_list(json, key);
    for (int k = 0; k < ga_messages_count(messages); ++k) {
        const ga_message m = ga_messages_get(messages, k);
        cli_json_object(json, NULL);
        cli_json_text(json, "severity", m.severity == GA_SEVERITY_ERROR ? "error" : "warning");
        cli_json_text(json, "file", m.file);
        cli_json_integer(json, "line", m.line);
        cli_json_integer(json, "column", m.column);
        cli_json_text(json, "path", m.path);
        cli_json_text(json, "text", m.text);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

int cli_input_refuse(cli_input *input, ga_status status, const ga_report *report)
{
    const int code = cli_exit_code(status);
    const bool told = ga_messages_errors(input->messages) > 0;
    const char *text = report && report->message[0] ? report->message : ga_status_text(status);
    cli_input_print_messages(input);
    if (!told) cli_error("%s: %s", input->path, text);
    if (!input->json) return code;
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "model", cli_input_name(input));
    cli_json_text(&json, "file", input->path);
    cli_json_text(&json, "status", code == EXIT_INPUT ? "invalid" : "failed");
    cli_json_text(&json, "code", ga_status_name(status));
    char first[512] = "";
    if (told) ga_messages_format(input->messages, 0, first, sizeof first);
    cli_json_text(&json, "message", told ? first : text);
    cli_json_integer(&json, "errors", ga_messages_errors(input->messages));
    cli_json_messages(&json, "messages", input->messages);
    cli_json_end_object(&json);
    return code;
}

/* --- reading ------------------------------------------------------------------------------ */

/* All of standard input, and a zero; null if it cannot be read or memory is out. */
static char *read_stdin(size_t *length)
{
    size_t size = 1 << 16;
    char *text = malloc(size);
    *length = 0;
    while (text) {
        *length += fread(text + *length, 1, size - 1 - *length, stdin);
        text[*length] = 0;
        if (*length < size - 1) break;
        char *more = realloc(text, size *= 2);
        if (!more) free(text);
        text = more;
    }
    if (text && ferror(stdin)) {
        free(text);
        text = NULL;
    }
    return text;
}

static ga_status read_model(cli_input *input, const char *text, const ga_model_options *options)
{
    if (!text && strcmp(input->path, "-") != 0)
        return ga_model_read(input->path, options, &input->model, input->messages);
    input->path = "<stdin>";
    size_t length = text ? strlen(text) : 0;
    if (!text) text = input->text = read_stdin(&length);
    if (!text) return GA_ERR_FILE;
    return ga_model_parse(input->path, text, length, options, &input->model, input->messages);
}

int cli_input_load(cli_input *input, const char *path, const char *text, bool json,
                   const ga_model_options *options)
{
    *input = (cli_input){
        .path = path, .json = json, .quiet = input->quiet, .messages = ga_messages_create()};
    if (!input->messages) return cli_out_of_memory();
    ga_report report;
    if (!text && !cli_expect_model(path, &report))
        return cli_input_refuse(input, report.status, &report);
    const ga_status status = read_model(input, text, options);
    if (status != GA_OK) return cli_input_refuse(input, status, NULL);
    cli_input_print_messages(input);
    return EXIT_DONE;
}

int cli_input_read(cli_input *input, const cli_arguments *arguments)
{
    const char **set = calloc((size_t)arguments->given_count + 1, sizeof *set);
    if (!set) return cli_out_of_memory();
    ga_model_options options = ga_model_options_default();
    options.set_count = cli_input_set(arguments, set);
    options.set = set;
    options.include_anywhere = cli_given(arguments, "include-anywhere");
    options.allow_plugins = cli_given(arguments, "allow-plugins");
    input->quiet = cli_given(arguments, "quiet");
    const int code = cli_input_load(input, arguments->operands[0], NULL,
                                    cli_given(arguments, "json"), &options);
    free(set);
    return code;
}

int cli_input_set(const cli_arguments *arguments, const char **set)
{
    int count = 0;
    for (int k = 0; k < arguments->given_count; ++k)
        if (strcmp(arguments->given[k].option->name, "set") == 0)
            set[count++] = arguments->given[k].value;
    return count;
}

const char *cli_input_name(const cli_input *input)
{
    const char *name = input->model ? ga_model_name(input->model) : NULL;
    if (name && *name) return name;
    const char *slash = strrchr(input->path, '/');
    return slash ? slash + 1 : input->path;
}

void cli_input_free(cli_input *input)
{
    ga_model_destroy(input->model);
    ga_messages_destroy(input->messages);
    free(input->text);
    *input = (cli_input){0};
}
