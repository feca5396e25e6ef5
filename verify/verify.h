/* The catalogue of published results: each problem is a file, joined by a line in verify.def.
 * A problem runs, compares numbers with what papers and references say, and draws figures.
 *
 *     static void run(vf_run *run)
 *     {
 *         double error = ...;
 *         vf_paper(run, "max |e_lambda|, h = 1e-2, plain", "1.23e-1", error);
 *         vf_check(run, "lambda(2)", 10.3011689461592, lambda, 1e-6, "second order at h =
 * 1e-3"); vf_figure(run, figure, "The error at the start ...");
 *     }
 *
 *     const vf_problem vf_abc14_pendulum = {
 *         .name = "abc14-pendulum", .title = "...", .source = "[ABC14] example 1", ... };
 *
 * Clients of <galpha/...> and "problems/...", as the program itself.
 */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include <galpha/galpha.h>
#include <stdbool.h>

typedef struct ga_figure ga_figure;
typedef struct vf_run vf_run;

typedef struct vf_problem {
    const char *name;       /* abc14-pendulum: paper, then what */
    const char *title;      /* a few words */
    const char *source;     /* [ABC14] example 1, figure 1 */
    const char *statement;  /* what is solved, in sentences; paragraphs end with \n\n */
    const char *parameters; /* method, steps, numbers; one per line */
    /* Runs in a second or two: part of --quick. Slower problems may look at vf_is_quick and do
     * less. */
    bool quick;
    void (*run)(vf_run *run);
} vf_problem;

/* All problems, k-th; null past the last. */
const vf_problem *vf_problem_get(int k);

/* --- for problems ------------------------------------------------------------------------- */

bool vf_is_quick(const vf_run *run);

/* |got - expected| <= tolerance, with the reason for the tolerance. */
void vf_check(vf_run *run, const char *quantity, double expected, double got, double tolerance,
              const char *why);
/* The same, tolerance relative to |expected|. */
void vf_check_relative(vf_run *run, const char *quantity, double expected, double got,
                       double tolerance, const char *why);
/* A number as a paper prints it, "2.48e-1": agrees if it rounds to the same digits, give or
 * take one in the last. */
void vf_paper(vf_run *run, const char *quantity, const char *printed, double got);
/* least <= got <= most: orders of convergence, bounds. */
void vf_between(vf_run *run, const char *quantity, double least, double most, double got,
                const char *why);
/* Something that must not happen did: the problem fails with this reason. printf-style. */
void vf_fail(vf_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A status other than GA_OK fails the problem with the report; true if it was GA_OK. */
bool vf_ok(vf_run *run, ga_status status, const ga_report *report);
/* Takes the figure (may be null: memory is out). The caption says what to see. */
void vf_figure(vf_run *run, ga_figure *figure, const char *caption);
/* A remark below the table, printf-style. */
void vf_note(vf_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- for the program ---------------------------------------------------------------------- */

typedef struct vf_result {
    const char *quantity;
    const char *expected_text; /* as the paper prints it, or null */
    double expected, got, tolerance;
    double least, most; /* of vf_between; expected is NaN then */
    const char *why;
    bool pass;
} vf_result;

typedef struct vf_drawn {
    ga_figure *figure;
    const char *caption;
} vf_drawn;

struct vf_run {
    const vf_problem *problem;
    bool quick;
    int result_count, failed;
    vf_result *results;
    int figure_count;
    vf_drawn *figures;
    int note_count;
    char **notes;
    double seconds;
    bool out_of_memory;
};

/* Runs one problem; quick: the short version. */
void vf_run_problem(const vf_problem *problem, bool quick, vf_run *run);
void vf_run_free(vf_run *run);
/* The report: one self-contained page, DIR/index.html, and the figures beside it as SVG.
 * GA_ERR_FILE with the reason. */
ga_status vf_report_write(const char *folder, int count, const vf_run *runs, double seconds,
                          ga_report *report);

#endif
