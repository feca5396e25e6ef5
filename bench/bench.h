/* Benchmarks: galpha and peers side by side, interleaved, with repetitions.
 *
 * An experiment (experiment.def) makes cases and hands them to bench_measure, which runs every
 * case once in turn, again and again: what disturbs the machine for a while disturbs all of
 * them. Ratios are taken repetition by repetition, so that their spread is that of the ratio,
 * not of the machine. A case times itself: what is not to be counted (a reference, a
 * comparison) stays outside of its clock.
 *
 *     int first = bench_measure(b, "chain", cases, count);
 *     bench_print(b, first, count);
 *     bench_spread r = bench_ratio(b, first, first + 1);
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench bench;
typedef struct bench_case bench_case;

typedef enum bench_who {
    BENCH_GALPHA,
    BENCH_IDA,
    BENCH_MUJOCO,
    BENCH_LOOP, /* written for this one problem */
    BENCH_KLU,
    BENCH_WHO_COUNT
} bench_who;

/* What one run was like. Seconds are those of the processor, or of the wall where threads are
 * compared. NaN: not known. */
typedef struct bench_outcome {
    double seconds; /* from ready input to the last state: set-up, start and steps */
    double read;    /* reading the model, before that */
    double setup;   /* part of seconds: until the first step */
    double system;  /* of reading and set-up: the system's part, mostly to provide memory */
    double bytes;   /* largest resident memory of the process */
    double error;
    long steps, rejected, iterations, factorizations;
} bench_outcome;

/* False: it failed; the reason is in b->failure. */
typedef bool bench_function(bench *b, const bench_case *c, bench_outcome *outcome);

struct bench_case {
    const char *problem;
    int n; /* size, 0: none */
    bench_who who;
    const char *variant;
    const char *setting; /* what `value` is: "h", "tol"; null: nothing */
    double value;
    bench_function *run;
    const void *data;
    int mode; /* of the runner: formulation, order, ... */
    int threads;
    /* Loops take as many Newton iterations and factorisations per step as they are told. */
    double iterations, factorizations;
    double newton; /* galpha: relative tolerance of Newton's method; 0: to round-off */
};

typedef struct bench_row {
    const char *experiment;
    bench_case c;
    bench_outcome outcome;
    bool ok;
    int reps;
    double *times; /* seconds of each repetition */
    double *ready; /* seconds before the first step, reading included; of each as well */
} bench_row;

typedef struct bench_spread {
    double low, median, high; /* quartiles */
} bench_spread;

enum { BENCH_NAME = 80, BENCH_FAILURE = 320 };

/* A line of the table at the end. */
typedef struct bench_claim {
    char what[160], measured[96];
    bool known, holds;
} bench_claim;

typedef struct ga_figure ga_figure;

struct bench {
    bool quick;
    double longest;     /* seconds of one run; finer settings of a curve are left out then */
    int reps;           /* 0: chosen by what they cost */
    const char *only;   /* name of an experiment; null: all */
    const char *folder; /* results.csv, index.html */
    const char *models; /* folder of bench/models */
    const char *examples;
    const char *program; /* this program, for children */
    int row_count, row_room;
    bench_row *rows;
    int claim_count;
    bench_claim claims[96];
    int section_count;
    struct bench_section {
        const char *name, *title;
        int first, count; /* rows */
        int figure_count;
        char *figures[16], *captions[16]; /* SVG */
        int note_count;
        char *notes[48];
    } sections[32];
    char failure[BENCH_FAILURE];
};

typedef struct bench_experiment {
    const char *name, *title;
    void (*run)(bench *b);
} bench_experiment;

/* --- measuring ---------------------------------------------------------------------------- */

double bench_clock(void); /* seconds of this process on the processor */
double bench_wall(void);
bool bench_fail(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Rows of the cases, in order; returns the first. */
int bench_measure(bench *b, const char *experiment, const bench_case *cases, int count);
bench_spread bench_spread_of(int count, const double *x);
double bench_median(const bench_row *row);
/* Time of row a by time of row b. */
bench_spread bench_ratio(const bench *b, int row_a, int row_b);
/* The time `who` needs for an error, between measured points on a line in logarithms: of the
 * variant that is fastest there. Repetitions in times (room for 64); 0 if nobody gets there. */
int bench_time_at(const bench *b, int first, int count, bench_who who, double error,
                  double *times, const char **variant);
/* The same where errors of single runs are luck, good or bad: on the line of least squares
 * through all points of a variant, three at least, that are within a factor of 30. */
int bench_time_near(const bench *b, int first, int count, bench_who who, double error,
                    double *times, const char **variant);
bench_spread bench_ratio_of(int count, const double *x, const double *y);

/* --- telling ------------------------------------------------------------------------------ */

const char *bench_who_name(bench_who who);
void bench_print(const bench *b, int first, int count);
/* A line of the table of claims; asked: "<= 1.3", measured: printf-style. */
void bench_claim_add(bench *b, bool known, bool holds, const char *what, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
void bench_note(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Takes the figure. */
void bench_figure(bench *b, ga_figure *figure, const char *caption);
/* Error against time of the rows of one problem and size, a curve for each variant. */
void bench_figure_precision(bench *b, int first, int count, const char *title);
bool bench_write_csv(bench *b, const char *path);
bool bench_write_page(bench *b, const char *path, double seconds);

/* --- pieces of experiments ---------------------------------------------------------------- */

/* Largest |x - y|. */
double bench_distance(int n, const double *x, const double *y);

#define BENCH_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* First member of the structs of figures, where the library has it. */
#ifdef BENCH_FIGURE_SIZES
#define BENCH_SIZED(type) .struct_size = sizeof(type),
#else
#define BENCH_SIZED(type)
#endif

#endif
