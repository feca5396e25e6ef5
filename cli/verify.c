/* galpha verify: reruns published results. */
#include "verify/verify.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which problems ----------------------------------------------------------------------- */

static int problem_count(void)
{
    int count = 0;
    while (vf_problem_get(count)) ++count;
    return count;
}

/* A name stands for the problem, or for all that begin with it and a dash: abc14. */
static bool is_meant(const char *word, const char *name)
{
    size_t length = strlen(word);
    return strncmp(word, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}

static int unknown_problem(const char *word)
{
    int count = problem_count();
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) return cli_out_of_memory();
    for (int k = 0; k < count; ++k) names[k] = vf_problem_get(k)->name;
    const char *near = cli_nearest(word, count, names);
    free((void *)names);
    if (near)
        cli_error("verify: no problem '%s', did you mean '%s'?", word, near);
    else
        cli_error("verify: no problem '%s'; `galpha verify --list` lists all", word);
    return EXIT_INPUT;
}

/* Marks the problems asked for; without names: all, or all quick ones. */
static int choose(const cli_arguments *arguments, bool quick, bool *chosen)
{
    int count = problem_count();
    for (int i = 0; i < arguments->operand_count; ++i) {
        bool found = false;
        for (int k = 0; k < count; ++k)
            if (is_meant(arguments->operands[i], vf_problem_get(k)->name))
                chosen[k] = found = true;
        if (!found) return unknown_problem(arguments->operands[i]);
    }
    for (int k = 0; arguments->operand_count == 0 && k < count; ++k)
        chosen[k] = !quick || vf_problem_get(k)->quick;
    return EXIT_DONE;
}

static int list_problems(void)
{
    const vf_problem *problem;
    for (int k = 0; (problem = vf_problem_get(k)); ++k)
        printf("%-28s %s  %s\n", problem->name, problem->title, problem->source);
    return cli_flush() ? EXIT_DONE : EXIT_FILES;
}

/* --- what came out ------------------------------------------------------------------------ */

static void print_expected(const vf_result *r, char *text, size_t size)
{
    if (r->expected_text)
        snprintf(text, size, "%s", r->expected_text);
    else if (!isnan(r->expected))
        snprintf(text, size, "%.9g", r->expected);
    else if (!isnan(r->least))
        snprintf(text, size, "%.4g ... %.4g", r->least, r->most);
    else
        snprintf(text, size, "-");
}

static void print_number(const vf_result *r)
{
    char expected[48];
    print_expected(r, expected, sizeof expected);
    printf("  %-4s %-52s %16s %16.9g", r->pass ? "pass" : "FAIL", r->quantity, expected,
           r->got);
    if (!isnan(r->expected)) printf("  %9.2e", r->got - r->expected);
    putchar('\n');
}

/* One line; numbers that failed, or all of them and the notes. */
static void print_run(const vf_run *run, double seconds, bool verbose)
{
    printf("%-4s %-28s %3d of %3d numbers, %6.1f s  %s %s\n", run->failed ? "FAIL" : "pass",
           run->problem->name, run->result_count - run->failed, run->result_count, seconds,
           run->problem->title, run->problem->source);
    for (int k = 0; k < run->result_count; ++k)
        if (verbose || !run->results[k].pass) print_number(run->results + k);
    for (int k = 0; verbose && k < run->note_count; ++k)
        cli_print_line(stdout, "  ", run->notes[k]);
}

static void print_json(int count, const vf_run *runs, int passed, int failed, double seconds)
{
    cli_json json = {.out = stdout, .first = true};
    cli_json_object(&json, NULL);
    cli_json_list(&json, "results");
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < runs[i].result_count; ++k) {
            const vf_result *r = runs[i].results + k;
            cli_json_object(&json, NULL);
            cli_json_text(&json, "problem", runs[i].problem->name);
            cli_json_text(&json, "quantity", r->quantity);
            cli_json_number(&json, "expected", r->expected);
            if (isnan(r->expected)) {
                cli_json_number(&json, "least", r->least);
                cli_json_number(&json, "most", r->most);
            }
            cli_json_number(&json, "got", r->got);
            cli_json_number(&json, "tolerance", r->tolerance);
            cli_json_text(&json, "why", r->why);
            cli_json_boolean(&json, "pass", r->pass);
            cli_json_end_object(&json);
        }
    }
    cli_json_end_list(&json);
    cli_json_integer(&json, "passed", passed);
    cli_json_integer(&json, "failed", failed);
    cli_json_number(&json, "wall_seconds", seconds);
    cli_json_end_object(&json);
}

static int write_report(const char *folder, int count, const vf_run *runs, double seconds)
{
    ga_report report;
    if (!folder || vf_report_write(folder, count, runs, seconds, &report) == GA_OK)
        return EXIT_DONE;
    cli_error("%s", report.message);
    return EXIT_FILES;
}

static int run_chosen(const cli_arguments *arguments, bool quick, const bool *chosen,
                      vf_run *runs)
{
    bool json = cli_given(arguments, "json"), verbose = cli_given(arguments, "verbose");
    int count = 0, passed = 0, failed = 0;
    double start = cli_clock();
    for (int k = 0; vf_problem_get(k); ++k) {
        if (!chosen[k]) continue;
        vf_run *run = runs + count++;
        double began = cli_clock();
        vf_run_problem(vf_problem_get(k), quick, run);
        failed += run->failed;
        passed += run->result_count - run->failed;
        if (!json) print_run(run, cli_clock() - began, verbose);
        if (fflush(stdout) != 0) break; /* nobody reads on */
    }
    double seconds = cli_clock() - start;
    if (json)
        print_json(count, runs, passed, failed, seconds);
    else
        printf("%d problem%s, %d numbers: %d passed, %d failed, %.1f s\n", count,
               count == 1 ? "" : "s", passed + failed, passed, failed, seconds);
    int code = write_report(cli_value(arguments, "output"), count, runs, seconds);
    for (int k = 0; k < count; ++k) vf_run_free(runs + k);
    if (!cli_flush()) return EXIT_FILES;
    return code != EXIT_DONE ? code : failed ? EXIT_NUMERICAL : EXIT_DONE;
}

static int verify_command(const cli_arguments *arguments)
{
    if (cli_given(arguments, "list")) return list_problems();
    bool quick = cli_given(arguments, "quick");
    size_t room = (size_t)problem_count() + 1;
    bool *chosen = calloc(room, sizeof *chosen);
    vf_run *runs = calloc(room, sizeof *runs);
    int code = EXIT_NUMERICAL;
    if (!chosen || !runs) {
        cli_out_of_memory();
    } else {
        code = choose(arguments, quick, chosen);
        if (code == EXIT_DONE) code = run_chosen(arguments, quick, chosen, runs);
    }
    free(chosen);
    free(runs);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "write the verification manual to DIR/index.html"},
    {"verbose", 'v', NULL, "print every number, not only those that fail, and notes"},
    {"quick", 0, NULL, "run only the fast problems, with fewer step sizes"},
    {"json", 0, NULL, "print the results as one JSON object"},
    {"list", 0, NULL, "list the problems without running them"},
    {0},
};

const cli_command cli_verify = {
    .name = "verify",
    .operand = "NAME",
    .operand_optional = true,
    .operand_repeats = true,
    .summary = "reproduce published results and compare",
    .details =
        "Runs problems with published numbers and figures and shows the published or "
        "reference\n"
        "value and that of galpha side by side. NAME is a problem or the first part of its\n"
        "name, such as abc14; without names all are run.\n"
        "\n"
        "Exit codes: 0 all numbers agree, 1 a number differs by more than its tolerance or a\n"
        "problem failed, 2 bad usage, 3 the manual cannot be written.\n",
    .options = options,
    .run = verify_command,
};
