/* The warnings of a simulation, printed. */
#ifndef CLI_WARNINGS_H
#define CLI_WARNINGS_H

#include "cli/json.h"

#include <galpha/sim.h>

/* "warning: message; remedy: ..." on stderr, a line each. */
void cli_warnings_print(const ga_sim *sim);
/* A line of the summary: how many, and their codes; nothing if there are none. */
void cli_warnings_sum_up(FILE *out, const ga_sim *sim);
/* The list `warnings` of the object being written. */
void cli_warnings_json(cli_json *json, const ga_sim *sim);

#endif
