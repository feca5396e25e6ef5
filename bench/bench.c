/* make bench: runs the experiments, prints tables, writes CSV and a page.
 *
 *   galpha_bench [--quick] [--only NAME] [--reps N] [--out FOLDER] [--csv FILE] [--list]
 *   galpha_bench --check      no times: do all of them get the right result?
 */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"
#include "bench/check.h"
#include "bench/galpha.h"
#include "bench/scaling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BENCH_EXPERIMENT(name, title) void bench_run_##name(bench *b);
#include "bench/experiment.def"
#undef BENCH_EXPERIMENT

static const bench_experiment experiments[] = {
#define BENCH_EXPERIMENT(name, title) {#name, title, bench_run_##name},
#include "bench/experiment.def"
#undef BENCH_EXPERIMENT
};

static int usage(const char *why, const char *what)
{
    fprintf(stderr,
            "galpha_bench: %s%s\nusage: galpha_bench [--quick] [--only NAME] [--reps N] "
            "[--out FOLDER] [--csv FILE] [--list] [--check]\n",
            why, what);
    return 2;
}

static int list(void)
{
    for (int k = 0; k < BENCH_COUNT(experiments); ++k)
        printf("%-12s %s\n", experiments[k].name, experiments[k].title);
    return 0;
}

static bool known(const char *name)
{
    for (int k = 0; k < BENCH_COUNT(experiments); ++k)
        if (strcmp(name, experiments[k].name) == 0) return true;
    return false;
}

static void run(bench *b)
{
    for (int k = 0; k < BENCH_COUNT(experiments); ++k) {
        const bench_experiment *e = experiments + k;
        if (b->only && strcmp(b->only, e->name) != 0) continue;
        struct bench_section *s = b->sections + b->section_count++;
        *s = (struct bench_section){.name = e->name, .title = e->title, .first = b->row_count};
        printf("\n=== %s ===\n", e->title);
        fflush(stdout);
        e->run(b);
        s->count = b->row_count - s->first;
        galpha_forget();
    }
}

static void print_claims(const bench *b)
{
    if (!b->claim_count) return;
    puts("\nWhat is asked, and what was measured (medians; quartiles in brackets)\n");
    for (int k = 0; k < b->claim_count; ++k) {
        const bench_claim *c = b->claims + k;
        printf("%-9s %-78s %s\n", c->known ? c->holds ? "holds" : "DOES NOT" : "unknown",
               c->what, c->measured);
    }
}

static bool write_results(bench *b, const char *csv, double seconds)
{
    char path[1024];
    if (csv && !bench_write_csv(b, csv)) return false;
    if (!b->folder) return true;
    if (mkdir(b->folder, 0777) != 0 && errno != EEXIST)
        return bench_fail(b, "%s: %s", b->folder, strerror(errno));
    snprintf(path, sizeof path, "%s/results.csv", b->folder);
    if (!bench_write_csv(b, path)) return false;
    snprintf(path, sizeof path, "%s/index.html", b->folder);
    if (!bench_write_page(b, path, seconds)) return false;
    printf("\nresults: %s/results.csv, %s/index.html\n", b->folder, b->folder);
    return true;
}

static void release(bench *b)
{
    for (int k = 0; k < b->row_count; ++k) free(b->rows[k].times);
    free(b->rows);
    for (int k = 0; k < b->section_count; ++k) {
        struct bench_section *s = b->sections + k;
        for (int i = 0; i < s->figure_count; ++i) {
            ga_text_free(s->figures[i]);
            free(s->captions[i]);
        }
        for (int i = 0; i < s->note_count; ++i) free(s->notes[i]);
    }
}

int main(int count, char **arguments)
{
    static bench b = {.models = BENCH_MODELS, .examples = BENCH_EXAMPLES, .longest = 40};
    const char *csv = NULL;
    b.program = arguments[0];
    if (count == 5 && strcmp(arguments[1], "--child") == 0)
        return scaling_child(&b, atoi(arguments[2]), atoi(arguments[3]), atoi(arguments[4]));
    for (int k = 1; k < count; ++k) {
        const char *name = arguments[k], *value = k + 1 < count ? arguments[k + 1] : NULL;
        if (strcmp(name, "--quick") == 0) {
            b.quick = true;
            b.longest = 3;
            continue;
        }
        if (strcmp(name, "--list") == 0) return list();
        if (strcmp(name, "--check") == 0) return check_run(&b);
        if (!value) return usage("unknown, or without a value: ", name);
        ++k;
        if (strcmp(name, "--only") == 0)
            b.only = value;
        else if (strcmp(name, "--reps") == 0)
            b.reps = atoi(value);
        else if (strcmp(name, "--out") == 0)
            b.folder = value;
        else if (strcmp(name, "--csv") == 0)
            csv = value;
        else
            return usage("unknown option ", name);
    }
    if (b.only && !known(b.only)) return usage("no such experiment: ", b.only);
    if (b.reps < 0) return usage("--reps: expected a positive number", "");
    const double begin = bench_wall();
    run(&b);
    print_claims(&b);
    bool ok = write_results(&b, csv, bench_wall() - begin);
    if (!ok) fprintf(stderr, "galpha_bench: %s\n", b.failure);
    release(&b);
    return ok ? 0 : 1;
}
