/* galpha schema: the JSON Schema of model files. */
#include "cli/command.h"
#include "cli/text.h"

#include <galpha/model.h>

static int schema_command(const cli_arguments *arguments)
{
    (void)arguments;
    return cli_print_owned(ga_model_schema());
}

static const cli_option options[] = {{0}};

const cli_command cli_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of model files",
    .details = "Editors use it to complete and check model files while you type.\n",
    .options = options,
    .run = schema_command,
};
