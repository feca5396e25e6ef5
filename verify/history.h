/* Runs of model files, with everything they put out. */
#ifndef VERIFY_HISTORY_H
#define VERIFY_HISTORY_H

#include "verify/ladder.h"
#include "verify/model.h"

/* Row k of `values`, `width` numbers in the order of the channels, belongs to t[k]. */
typedef struct vf_history {
    int count, width;
    double *t, *values;
    ga_sim_summary summary;
    int room;
    bool out_of_memory;
} vf_history;

/* width: how many numbers the channels have together. False after telling `run`; the history is
 * empty then and may be freed. */
bool vf_record(vf_run *run, const char *model, const char *const *set,
               const char *const *channels, int width, vf_history *history);
void vf_history_free(vf_history *history);

/* The values at the end of the run. */
const double *vf_history_end(const vf_history *history);
/* Column i, to be freed; null after telling `run`. */
double *vf_history_column(vf_run *run, const vf_history *history, int i);
/* |balance - balance at the start| over the energy scale of the run. The five columns of the
 * channel `energy` begin at i. To be freed. */
double *vf_history_drift(vf_run *run, const vf_history *history, int i);
/* Largest drift over the energy scale of the run. */
double vf_energy_error(const vf_history *history);

/* A panel for drifts over time, on a log axis. */
int vf_drift_panel(ga_figure *figure, double t_end);

/* A model run with steps of fixed size, and its energy. */
typedef struct vf_bench {
    const char *model;
    const char *const *set; /* beside the step size; may be null */
    double t_end;
    const char *const *channels;
    int width;  /* how many numbers the channels have */
    int energy; /* where the five of the channel `energy` begin */
} vf_bench;

enum { VF_BENCH_LEVELS = 4, VF_BENCH_WIDTH = 40 };

typedef struct vf_bench_result {
    int levels;
    double end[VF_BENCH_LEVELS][VF_BENCH_WIDTH]; /* the channels at the end */
    double drift[VF_BENCH_LEVELS];               /* vf_energy_error */
    vf_history finest;
} vf_bench_result;

/* Runs with every step size, the last one the finest, and draws how the energy drifts. The
 * result must be freed in any case. */
bool vf_bench_climb(vf_run *run, const vf_bench *bench, int levels, const double *steps,
                    vf_bench_result *result, const char *caption);
void vf_bench_free(vf_bench_result *result);
/* Value i at the end: Richardson's extrapolation of the last two levels, step sizes 2 : 1. */
double vf_bench_limit(const vf_bench_result *result, int i);
/* Observed order of value i at the end, against what it should be, of the last two levels. */
double vf_bench_order(const vf_bench_result *result, int i, double exact);
double vf_bench_drift_order(const vf_bench_result *result);

#endif
