/* The warnings of a simulation, printed. */
#ifndef CLI_WARNINGS_H
#define CLI_WARNINGS_H

#include "cli/json.h"

#include <galpha/sim.h>

/* "warning: message" on stderr, and "remedy: ..." on a line of its own, from the k-th on.
 * Returns how many there are. */
int cli_warnings_print(const ga_sim *sim, int k);
/* A line of the summary: how many, and their codes; nothing if there are none. */
void cli_warnings_sum_up(FILE *out, const ga_sim *sim);
/* The list `warnings` of the object being written. */
void cli_warnings_json(cli_json *json, const ga_sim *sim);

#endif
