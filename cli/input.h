/* The model a command works on, and what is wrong with it. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/command.h"
#include "cli/json.h"

#include <galpha/sim.h>

/* For the tables of commands that read a model. */
#define CLI_INPUT_OPTIONS                                                                      \
    {"set", 0, "PATH=VALUE", "override a value of the model, as in simulate.step=1e-4"},       \
        {"include-anywhere", 0, NULL,                                                          \
         "allow includes and plug-ins outside the folder of the model"},                       \
    {                                                                                          \
        "allow-plugins", 0, NULL, "allow the model to load plug-ins, which run native code"    \
    }
#define CLI_JSON_OPTION                                                                        \
    {                                                                                          \
        "json", 0, NULL, "print the result as one JSON object"                                 \
    }

typedef struct cli_input {
    const char *path; /* as given */
    bool json;
    bool quiet; /* warnings are not printed */
    ga_model *model;
    ga_messages *messages;
    int printed; /* messages so far */
    char *text;  /* of standard input */
} cli_input;

/* Reads the model, prints messages. EXIT_DONE or the exit code; then everything was said, also
 * in JSON where asked for. Free in any case. */
int cli_input_read(cli_input *input, const cli_arguments *arguments);
/* The same with these options; text: of the model, null if it is in its file. */
int cli_input_load(cli_input *input, const char *path, const char *text, bool json,
                   const ga_model_options *options);
/* The values of --set, as many as options at most; returns their number. */
int cli_input_set(const cli_arguments *arguments, const char **set);
/* What cli_input_read says, for what is noticed later: the report belongs to the status. */
int cli_input_refuse(cli_input *input, ga_status status, const ga_report *report);
void cli_input_print_messages(cli_input *input); /* those not printed yet */
void cli_input_free(cli_input *input);

/* The name of the model, or of its file. */
const char *cli_input_name(const cli_input *input);
void cli_json_messages(cli_json *json, const char *key, const ga_messages *messages);
int cli_exit_code(ga_status status);

#endif
