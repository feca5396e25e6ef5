/* Tables on the terminal, and as CSV. */
#include "bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const who_names[BENCH_WHO_COUNT] = {"galpha", "IDA", "MuJoCo", "loop",
                                                       "KLU"};

const char *bench_who_name(bench_who who) { return who_names[who]; }

void bench_print(const bench *b, int first, int count)
{
    printf("\n%-22s %7s  %-7s %-24s %-12s %10s %18s %8s %6s %6s %9s\n", "problem", "n", "who",
           "variant", "setting", "median s", "quartiles", "steps", "it/st", "fac/st", "error");
    for (int k = first; k < first + count; ++k) {
        const bench_row *row = b->rows + k;
        const bench_outcome *o = &row->outcome;
        char setting[32] = "", n[16] = "";
        if (row->c.setting)
            snprintf(setting, sizeof setting, "%s %.3g", row->c.setting, row->c.value);
        if (row->c.n) snprintf(n, sizeof n, "%d", row->c.n);
        printf("%-22s %7s  %-7s %-24s %-12s ", row->c.problem, n, who_names[row->c.who],
               row->c.variant, setting);
        if (!row->ok) {
            puts("        --");
            continue;
        }
        bench_spread s = bench_spread_of(row->reps, row->times);
        printf("%10.3e %8.2e..%8.2e %8ld", s.median, s.low, s.high, o->steps);
        const double steps = (double)o->steps;
        if (o->steps && o->iterations)
            printf(" %6.2f %6.2f", (double)o->iterations / steps,
                   (double)o->factorizations / steps);
        else
            printf(" %6s %6s", "", "");
        printf(isnan(o->error) ? "\n" : " %9.2e\n", o->error);
    }
    fflush(stdout);
}

static char *format_text(const char *format, va_list arguments)
{
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    char *copy = malloc(strlen(text) + 1);
    if (copy) strcpy(copy, text);
    return copy;
}

void bench_claim_add(bench *b, bool known, bool holds, const char *what, const char *format,
                     ...)
{
    if (b->claim_count == BENCH_COUNT(b->claims)) return;
    bench_claim *claim = b->claims + b->claim_count++;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(claim->measured, sizeof claim->measured, format, arguments);
    va_end(arguments);
    snprintf(claim->what, sizeof claim->what, "%s", what);
    claim->known = known;
    claim->holds = holds;
}

void bench_note(bench *b, const char *format, ...)
{
    struct bench_section *s = b->sections + b->section_count - 1;
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    if (!text) return;
    printf("%s\n", text);
    if (s->note_count < BENCH_COUNT(s->notes))
        s->notes[s->note_count++] = text;
    else
        free(text);
}

bool bench_write_csv(bench *b, const char *path)
{
    const bool to_stdout = strcmp(path, "-") == 0;
    FILE *out = to_stdout ? stdout : fopen(path, "w");
    if (!out) return bench_fail(b, "%s cannot be written", path);
    fputs("experiment,problem,n,who,variant,setting,value,threads,repetitions,median_s,"
          "first_quartile_s,third_quartile_s,steps,rejected,iterations,factorizations,error,"
          "read_s,setup_s,peak_bytes\n",
          out);
    for (int k = 0; k < b->row_count; ++k) {
        const bench_row *row = b->rows + k;
        const bench_outcome *o = &row->outcome;
        if (!row->ok) continue;
        bench_spread s = bench_spread_of(row->reps, row->times);
        fprintf(out,
                "%s,\"%s\",%d,%s,\"%s\",%s,%.6g,%d,%d,%.6g,%.6g,%.6g,%ld,%ld,%ld,%ld,%.4g,%.4g,"
                "%.4g,"
                "%.6g\n",
                row->experiment, row->c.problem, row->c.n, who_names[row->c.who],
                row->c.variant, row->c.setting ? row->c.setting : "", row->c.value,
                row->c.threads ? row->c.threads : 1, row->reps, s.median, s.low, s.high,
                o->steps, o->rejected, o->iterations, o->factorizations, o->error, o->read,
                o->setup, o->bytes);
    }
    bool written = !ferror(out);
    if (!to_stdout && fclose(out) != 0) written = false;
    return written || bench_fail(b, "%s cannot be written", path);
}
