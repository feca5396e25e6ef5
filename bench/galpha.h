/* galpha as its users call it: model files through <galpha/sim.h>, callbacks through
 * <galpha/simulate.h>. */
#ifndef BENCH_GALPHA_H
#define BENCH_GALPHA_H

#include "bench/bench.h"
#include "problems/problems.h"

#include <galpha/galpha.h>

/* mode of a case: value is the step for the first three, the tolerance for the others */
typedef enum galpha_mode {
    GALPHA_INDEX3,
    GALPHA_INDEX2,
    GALPHA_SOI2,
    GALPHA_ADAPTIVE, /* the default of generalized-alpha */
    GALPHA_SECOND_ORDER,
    GALPHA_EXTRAPOLATE,
    GALPHA_ADAPTIVE_INDEX3,
    GALPHA_EXPLICIT, /* this and what follows: only of versions with methods */
    GALPHA_RADAU,
    GALPHA_AUTO, /* as model files have it by default */
    GALPHA_MODE_COUNT
} galpha_mode;

const char *galpha_mode_name(int mode);
bool galpha_mode_is_adaptive(int mode);
/* Does the version have it? Others run as GALPHA_SECOND_ORDER. */
bool galpha_has_mode(int mode);

/* data of a case that runs a model file, for the time the file says, with output at the end
 * only. Reading is timed, too, but is no part of `seconds`. */
typedef struct galpha_file {
    const char *name;      /* chain_planar.yaml */
    bool example;          /* of examples/, else of bench/models/ */
    const char *parameter; /* what n is; null: nothing */
    double t_end;          /* 0: as the file says */
    int channel_count;     /* 0: as the file says */
    const char *const *channels;
    /* From the values of the channels at the end; null: no error is known. */
    double (*error)(bench *b, const bench_case *c, int count, const double *values);
} galpha_file;

bench_function galpha_run_file;

/* data of a case that runs callbacks */
typedef struct galpha_callbacks {
    ga_status (*create)(pb_problem **problem);
    double t_end;
    double (*error)(const double *q);
} galpha_callbacks;

bench_function galpha_run_callbacks;

/* The model, read once and kept; null with b->failure. seconds (may be null): reading it. */
const ga_model *galpha_model(bench *b, const galpha_file *file, int n, double *seconds);
/* Forgets the models that are kept. */
void galpha_forget(void);

/* Settings of mode, value, newton and threads in a definition. */
void galpha_apply(const bench_case *c, ga_integrator_def *def, ga_control *control,
                  double *step);
/* Threads of the whole simulation, where the library has such a setting. */
void galpha_apply_threads(const bench_case *c, ga_sim_def *def);
/* Whether `threads` of cases means anything. */
bool galpha_has_threads(void);

#endif
