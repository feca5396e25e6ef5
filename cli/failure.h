/* A simulation failed: where, how badly, and what to try. */
#ifndef CLI_FAILURE_H
#define CLI_FAILURE_H

#include "cli/json.h"

#include <galpha/sim.h>
#include <stdbool.h>

typedef struct cli_failure {
    const ga_sim *sim;
    const ga_sim_def *def;
    const ga_report *report;
    const char *path; /* of the model */
    bool examined;    /* by `check` or `view`, which are then not advised */
    bool checked;     /* by `check`; `view` shows more */
} cli_failure;

void cli_failure_print(const cli_failure *failure);
/* As members of the object that is open. */
void cli_failure_json(cli_json *json, const cli_failure *failure);

#endif
