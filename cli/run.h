/* galpha run and galpha resume: what they share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/checkpoint.h"
#include "cli/input.h"
#include "cli/progress.h"

#include <galpha/galpha.h>
#include <string.h>

enum { CLI_CSV, CLI_HDF5, CLI_FILES };

/* A run of the program. */
typedef struct cli_run_state {
    cli_input input;
    ga_sim_def def;
    ga_sim *sim;
    struct {
        const char *path; /* null: not wanted; "-": standard output, CSV only */
        char *part;       /* where the rows are if the run does not finish */
        bool complete;    /* closed under its own name */
        ga_result *result;
        long lacks;   /* rows of the run that are not in it */
        double begin; /* time of its first row */
    } file[CLI_FILES];
    char *own_path;     /* of the HDF5 result, if none was given */
    const char *page;   /* null: not wanted */
    char *page_of_part; /* its name, if the run does not finish */
    bool replaces;      /* an earlier result of standard input, maybe of another model */
    bool only_for_page; /* an HDF5 result that nobody else wants */
    FILE *out;          /* the summary: stdout, unless results go there */
    cli_progress progress;
    long rows;
    ga_result_sums sums; /* of them */
    bool other_channels; /* than those of the rows before: sums of values are not known */
    double began, wall;
    ga_status write_status; /* of result files */
    ga_report write_report;
    ga_status status; /* of the simulation */
    ga_report report;
    bool quiet;
    int told;      /* warnings printed so far */
    bool deserted; /* standard output has no reader any more */
    int caught;    /* the signal that ended the run; 0: none */
    int page_code; /* of writing the page */

    /* checkpoints */
    const char *checkpoint;      /* file; null: not wanted */
    cli_note note;               /* of them */
    char *absolute[4];           /* paths in it */
    double checkpoint_next;      /* when the next one is due, by the clock */
    ga_status checkpoint_status; /* of the last one */
    ga_report checkpoint_report;
    /* of what is resumed */
    const ga_checkpoint *state;     /* null: a run from the start */
    const char *earlier[CLI_FILES]; /* where its results are; null: nowhere */
    long earlier_rows;              /* so many were written before */
    ga_result_sums earlier_sums;    /* of these */
    uint64_t earlier_channels;
    bool page_added; /* a page that the earlier run did not make */
} cli_run_state;

static inline bool cli_is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* run.c */
#define CLI_RUN_OPTIONS                                                                        \
    {"csv", 0, "FILE", "write results to FILE (CSV); -: standard output"},                     \
        {"no-results", 0, NULL, "write no HDF5 file"},                                         \
    {                                                                                          \
        "view", 0, "FILE", "write an interactive HTML page of the run to FILE"                 \
    }
/* What cannot be had together; files and their names from the options. Exit codes. */
int cli_run_check_options(const char *command, const cli_arguments *arguments);
int cli_run_choose_files(cli_run_state *r, const cli_arguments *arguments);
/* Makes checkpoints, if r->checkpoint is given, from r->note, whose files are those of r. */
int cli_run_prepare_checkpoints(cli_run_state *r, const cli_arguments *arguments);
/* From the model that was read to the exit code. */
int cli_run_simulate(cli_run_state *r);
void cli_run_free(cli_run_state *r);

/* resume.c */
/* Where the earlier rows are: either file has them for both. If none is there, results begin at
 * the checkpoint, which is said. */
void cli_run_find_earlier(cli_run_state *r);

/* run_summary.c */
const char *cli_run_outcome(const cli_run_state *r);
long cli_steps_accepted(const ga_sim_summary *s);
long cli_steps_rejected(const ga_sim_summary *s);
/* Where the rows are, now that the files are closed; null: nowhere. */
const char *cli_run_written(const cli_run_state *r, int k);
/* Files that somebody wants to know of. */
bool cli_run_is_wanted(const cli_run_state *r, int k);
void cli_run_print_summary(const cli_run_state *r);
void cli_run_print_json(const cli_run_state *r);

#endif
