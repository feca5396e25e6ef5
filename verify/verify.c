/* Collecting what problems report. */
#include "verify/verify.h"

#include <galpha/plot.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VF_PROBLEM(problem) extern const vf_problem problem;
#include "verify/verify.def"
#undef VF_PROBLEM

static const vf_problem *const problems[] = {
#define VF_PROBLEM(problem) &problem,
#include "verify/verify.def"
#undef VF_PROBLEM
    NULL,
};

const vf_problem *vf_problem_get(int k) { return problems[k]; }

bool vf_is_quick(const vf_run *run) { return run->quick; }

/* One more entry in an array that doubles when its count is a power of two. */
static void *append(vf_run *run, void *items, int count, size_t size)
{
    if (count & (count - 1)) return items;
    void *more = realloc(items, (size_t)(count ? 2 * count : 1) * size);
    if (!more) run->out_of_memory = true;
    return more;
}

static void add(vf_run *run, vf_result result)
{
    void *more = append(run, run->results, run->result_count, sizeof result);
    if (!more) return;
    run->results = more;
    run->results[run->result_count++] = result;
    if (!result.pass) ++run->failed;
}

void vf_check(vf_run *run, const char *quantity, double expected, double got, double tolerance,
              const char *why)
{
    bool pass = fabs(got - expected) <= tolerance;
    add(run, (vf_result){.quantity = quantity,
                         .expected = expected,
                         .got = got,
                         .tolerance = tolerance,
                         .why = why,
                         .pass = pass});
}

void vf_check_relative(vf_run *run, const char *quantity, double expected, double got,
                       double tolerance, const char *why)
{
    vf_check(run, quantity, expected, got, tolerance * fabs(expected), why);
}

/* One unit in the last digit of a decimal number: 1e-3 for 2.48e-1. */
static double last_digit(const char *printed)
{
    int digits = 0;
    bool fraction = false;
    for (const char *c = printed; *c && *c != 'e' && *c != 'E'; ++c) {
        if (*c == '.') fraction = true;
        if (*c >= '0' && *c <= '9' && fraction) ++digits;
    }
    const char *e = strpbrk(printed, "eE");
    return pow(10, (e ? strtod(e + 1, NULL) : 0) - digits);
}

void vf_paper(vf_run *run, const char *quantity, const char *printed, double got)
{
    double expected = strtod(printed, NULL), unit = last_digit(printed);
    add(run, (vf_result){.quantity = quantity,
                         .expected_text = printed,
                         .expected = expected,
                         .got = got,
                         .tolerance = 1.5 * unit,
                         .why = "the digits the paper prints",
                         .pass = fabs(got - expected) <= 1.5 * unit});
}

void vf_between(vf_run *run, const char *quantity, double least, double most, double got,
                const char *why)
{
    add(run, (vf_result){.quantity = quantity,
                         .expected = NAN,
                         .got = got,
                         .tolerance = NAN,
                         .least = least,
                         .most = most,
                         .why = why,
                         .pass = got >= least && got <= most});
}

static char *print(vf_run *run, const char *format, va_list arguments)
{
    char text[1000];
    vsnprintf(text, sizeof text, format, arguments);
    char *copy = malloc(strlen(text) + 1);
    if (copy)
        strcpy(copy, text);
    else
        run->out_of_memory = true;
    return copy;
}

static void add_note(vf_run *run, char *text)
{
    void *more = text ? append(run, run->notes, run->note_count, sizeof *run->notes) : NULL;
    if (!more) {
        free(text);
        return;
    }
    run->notes = more;
    run->notes[run->note_count++] = text;
}

void vf_note(vf_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(run, print(run, format, arguments));
    va_end(arguments);
}

void vf_fail(vf_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = print(run, format, arguments);
    va_end(arguments);
    add_note(run, text); /* owns it */
    add(run, (vf_result){.quantity = text ? text : "out of memory",
                         .expected = NAN,
                         .got = NAN,
                         .tolerance = NAN,
                         .least = NAN,
                         .most = NAN,
                         .why = "it must not happen",
                         .pass = false});
}

bool vf_ok(vf_run *run, ga_status status, const ga_report *report)
{
    if (status == GA_OK) return true;
    vf_fail(run, "%s", report && report->message[0] ? report->message : ga_status_text(status));
    return false;
}

void vf_figure(vf_run *run, ga_figure *figure, const char *caption)
{
    void *more =
        figure ? append(run, run->figures, run->figure_count, sizeof *run->figures) : NULL;
    if (!more) {
        run->out_of_memory = true;
        ga_figure_destroy(figure);
        return;
    }
    run->figures = more;
    run->figures[run->figure_count++] = (vf_drawn){figure, caption};
}

void vf_run_problem(const vf_problem *problem, bool quick, vf_run *run)
{
    *run = (vf_run){.problem = problem, .quick = quick};
    clock_t start = clock();
    problem->run(run);
    run->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (run->out_of_memory) vf_fail(run, "out of memory");
    if (run->result_count == 0) vf_fail(run, "nothing was compared");
}

void vf_run_free(vf_run *run)
{
    for (int k = 0; k < run->figure_count; ++k) ga_figure_destroy(run->figures[k].figure);
    for (int k = 0; k < run->note_count; ++k) free(run->notes[k]);
    free(run->results);
    free(run->figures);
    free(run->notes);
    *run = (vf_run){0};
}
