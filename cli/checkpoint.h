/* What a checkpoint of the program knows besides the state: where the model is, what was set,
 * where results go, and how many rows they had. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include <galpha/result.h>
#include <galpha/sim.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cli_note {
    const char *model;      /* its path, absolute; "<stdin>" */
    const char *model_text; /* of standard input; else null */
    int set_count;
    const char **set;
    bool include_anywhere, allow_plugins;
    const char *csv, *output, *page; /* absolute, or "-" for csv; null: none */
    long rows;
    ga_result_sums sums; /* of these rows, */
    uint64_t channels;   /* of channels with these names */
    double t_end, every;
    char *own; /* texts, if it was read */
} cli_note;

/* Reads the checkpoint and its note. EXIT_DONE or an exit code, after saying why. Free both in
 * any case. */
int cli_checkpoint_read(const char *path, ga_checkpoint **state, cli_note *note);
void cli_note_free(cli_note *note);
ga_status cli_checkpoint_write(const char *path, const ga_sim *sim, const cli_note *note,
                               ga_report *report);
/* A number that stands for the names of the channels of a simulation. */
uint64_t cli_channels_sum(const ga_sim *sim);
/* The same path from the root; null: memory is out. To be freed. */
char *cli_absolute(const char *path);

#endif
