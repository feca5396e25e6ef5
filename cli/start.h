/* The page of a model that has not been run, for `view MODEL`. */
#ifndef CLI_START_H
#define CLI_START_H

#include "cli/command.h"

/* Whether an operand of `view` is a model rather than a result: by what the file begins with,
 * by its name where that does not tell; `-` is standard input. */
bool cli_start_is_model(const char *path);
/* Writes the page of the start. The exit code; 1 if the model cannot be assembled. *written:
 * the page exists, which also holds then. */
int cli_start_page(const cli_arguments *arguments, const char *path, bool *written);

#endif
