/* How far a run is, on stderr: a bar on a terminal, otherwise a line for every 10 %, and at
 * least one a minute. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

typedef struct cli_progress {
    bool shown, terminal;
    double t_start, t_end;
    double began, drawn; /* clock */
    int tenths;          /* of the run when the last line was written */
    bool dirty;          /* a bar stands on the terminal */
} cli_progress;

cli_progress cli_progress_begin(bool shown, double t_start, double t_end);
/* A step of 0: t is not a time, and only the share of what is done is shown. */
void cli_progress_update(cli_progress *progress, double t, double step);
void cli_progress_clear(cli_progress *progress); /* takes the bar away, until the next update */
void cli_progress_end(cli_progress *progress);   /* for good */

#endif
