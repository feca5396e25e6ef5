/* galpha info of results and of models. Both return the exit code. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "cli/command.h"

int cli_info_result(const char *path, bool json);
int cli_info_model(const cli_arguments *arguments);

/* Lists longer than this are cut short on terminals; JSON has all. */
enum { CLI_INFO_MOST = 60 };

#endif
