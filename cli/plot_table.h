/* `plot --list` and `plot --stats`: numbers of a result as a table. */
#ifndef CLI_PLOT_TABLE_H
#define CLI_PLOT_TABLE_H

#include "cli/command.h"

typedef enum cli_table { CLI_TABLE_LIST, CLI_TABLE_STATS } cli_table;

/* Prints the table on stdout. The exit code. */
int cli_plot_table(const cli_arguments *arguments, cli_table which);

#endif
