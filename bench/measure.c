/* Repetitions, quartiles, ratios. */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_clock(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double bench_wall(void) { return seconds_of(CLOCK_MONOTONIC); }

bool bench_fail(bench *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->failure, sizeof b->failure, format, arguments);
    va_end(arguments);
    return false;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(int count, const double *sorted, double p)
{
    double at = p * (count - 1);
    int k = (int)at;
    if (k + 1 >= count) return sorted[count - 1];
    return sorted[k] + (at - k) * (sorted[k + 1] - sorted[k]);
}

enum { MOST_REPS = 64 };

bench_spread bench_spread_of(int count, const double *x)
{
    double sorted[MOST_REPS];
    if (count <= 0) return (bench_spread){NAN, NAN, NAN};
    if (count > MOST_REPS) count = MOST_REPS;
    memcpy(sorted, x, (size_t)count * sizeof *x);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return (bench_spread){quantile(count, sorted, 0.25), quantile(count, sorted, 0.5),
                          quantile(count, sorted, 0.75)};
}

double bench_median(const bench_row *row)
{
    return row->ok ? bench_spread_of(row->reps, row->times).median : NAN;
}

bench_spread bench_ratio_of(int count, const double *x, const double *y)
{
    double ratio[MOST_REPS];
    for (int k = 0; k < count; ++k) ratio[k] = x[k] / y[k];
    return bench_spread_of(count, ratio);
}

bench_spread bench_ratio(const bench *b, int row_a, int row_b)
{
    const bench_row *x = b->rows + row_a, *y = b->rows + row_b;
    if (!x->ok || !y->ok) return (bench_spread){NAN, NAN, NAN};
    return bench_ratio_of(x->reps < y->reps ? x->reps : y->reps, x->times, y->times);
}

static bench_row *new_rows(bench *b, int count)
{
    if (b->row_count + count > b->row_room) {
        int room = 2 * (b->row_count + count);
        bench_row *rows = realloc(b->rows, (size_t)room * sizeof *rows);
        if (!rows) {
            fputs("bench: out of memory\n", stderr);
            exit(1);
        }
        b->rows = rows;
        b->row_room = room;
    }
    bench_row *first = b->rows + b->row_count;
    memset(first, 0, (size_t)count * sizeof *first);
    b->row_count += count;
    return first;
}

/* Short runs several times, so that the clock is no part of the result. */
static bool sample(bench *b, bench_row *row, int rep)
{
    const double enough = b->quick ? 5e-3 : 2e-2;
    double sum = 0;
    int count = 0;
    do {
        bench_outcome outcome = {
            .error = NAN, .read = NAN, .setup = NAN, .system = NAN, .bytes = NAN};
        if (!row->c.run(b, &row->c, &outcome)) return false;
        row->outcome = outcome;
        sum += outcome.seconds;
        ++count;
    } while (sum < enough && count < 1000);
    row->times[rep] = sum / count;
    row->ready[rep] = row->outcome.read + row->outcome.setup;
    return true;
}

/* As many repetitions as fit the time they are worth. */
static int choose_reps(const bench *b, const bench_row *rows, int count)
{
    double round = 0;
    const double budget = b->quick ? 1.5 : 15; /* seconds */
    for (int k = 0; k < count; ++k)
        if (rows[k].ok) round += fmax(rows[k].times[0], b->quick ? 5e-3 : 2e-2);
    if (b->reps) return b->reps < MOST_REPS ? b->reps : MOST_REPS;
    double reps = budget / fmax(round, 1e-3);
    int least = round > 2 * budget ? 1 : b->quick ? 2 : 3;
    return (int)fmin(fmax(reps, least), b->quick ? 5 : 15);
}

static bool same_curve(const bench_row *x, const bench_row *y)
{
    return x->c.who == y->c.who && x->c.n == y->c.n && strcmp(x->c.variant, y->c.variant) == 0;
}

/* A coarser setting of the same variant has taken so long that a finer one is not tried. */
static bool hopeless(const bench *b, const bench_row *rows, int k)
{
    if (k == 0 || !same_curve(rows + k - 1, rows + k)) return false;
    return !rows[k - 1].ok || rows[k - 1].times[0] > b->longest;
}

int bench_measure(bench *b, const char *experiment, const bench_case *cases, int count)
{
    bench_row *rows = new_rows(b, count);
    const int first = (int)(rows - b->rows);
    for (int k = 0; k < count; ++k) {
        rows[k] = (bench_row){.experiment = experiment, .c = cases[k]};
        rows[k].times = calloc(2 * MOST_REPS, sizeof(double));
        rows[k].ready = rows[k].times ? rows[k].times + MOST_REPS : NULL;
        const bool skip = hopeless(b, rows, k);
        rows[k].ok = rows[k].times && !skip && sample(b, rows + k, 0);
        if (!rows[k].ok && !skip)
            fprintf(stderr, "bench: %s n = %d, %s, %s %g: %s\n", cases[k].problem, cases[k].n,
                    cases[k].variant, cases[k].setting ? cases[k].setting : "", cases[k].value,
                    b->failure);
    }
    const int reps = choose_reps(b, rows, count);
    for (int rep = reps > 1 ? 0 : 1; rep < reps; ++rep) /* the first round was to warm up */
        for (int k = 0; k < count; ++k) {
            if (rows[k].ok) rows[k].ok = sample(b, rows + k, rep);
        }
    for (int k = 0; k < count; ++k) rows[k].reps = reps;
    return first;
}

/* --- time to an error --------------------------------------------------------------------- */

/* Between two points of one variant, on a line in logarithms; of one repetition. */
static double between(const bench_row *worse, const bench_row *better, int rep, double error)
{
    double e0 = log(worse->outcome.error), e1 = log(better->outcome.error);
    double t0 = log(worse->times[rep]), t1 = log(better->times[rep]);
    return exp(t0 + (t1 - t0) * (log(error) - e0) / (e1 - e0));
}

int bench_time_at(const bench *b, int first, int count, bench_who who, double error,
                  double *times, const char **variant)
{
    double best = INFINITY;
    int reps = 0;
    for (int k = first; k < first + count; ++k) {
        const bench_row *row = b->rows + k;
        if (!row->ok || row->c.who != who || !(row->outcome.error <= error)) continue;
        /* the coarser neighbour that does not reach the error, if there is one */
        const bench_row *worse = NULL;
        for (int i = k - 1; i >= first && same_curve(row, b->rows + i); --i)
            if (b->rows[i].ok && b->rows[i].outcome.error > error) {
                worse = b->rows + i;
                break;
            }
        double t[MOST_REPS];
        for (int rep = 0; rep < row->reps; ++rep)
            t[rep] = worse ? between(worse, row, rep, error) : row->times[rep];
        double median = bench_spread_of(row->reps, t).median;
        if (median < best) {
            best = median;
            reps = row->reps;
            memcpy(times, t, sizeof t);
            *variant = row->c.variant;
        }
    }
    return reps;
}

/* Points of one curve near an error. */
typedef struct near_points {
    int count;
    const bench_row *row[64];
} near_points;

static near_points find_near(const bench *b, int from, int end, double error)
{
    const double factor = 30;
    near_points found = {0};
    for (int k = from; k < end; ++k) {
        const bench_row *row = b->rows + k;
        const double e = row->outcome.error;
        if (row->ok && e >= error / factor && e <= error * factor && found.count < 64)
            found.row[found.count++] = row;
    }
    return found;
}

/* The line of least squares through them, in logarithms; of one repetition. */
static double on_line(const near_points *p, int rep, double error)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int k = 0; k < p->count; ++k) {
        const double e = log(p->row[k]->outcome.error / error), t = log(p->row[k]->times[rep]);
        x += e, y += t, xx += e * e, xy += e * t;
    }
    const double n = p->count, slope = (n * xy - x * y) / (n * xx - x * x);
    return exp((y - slope * x) / n);
}

int bench_time_near(const bench *b, int first, int count, bench_who who, double error,
                    double *times, const char **variant)
{
    double best = INFINITY;
    int reps = 0;
    for (int from = first, end; from < first + count; from = end) {
        for (end = from + 1; end < first + count && same_curve(b->rows + from, b->rows + end);)
            ++end;
        if (b->rows[from].c.who != who) continue;
        const near_points points = find_near(b, from, end, error);
        if (points.count < 3) continue;
        double t[MOST_REPS];
        const int n = points.row[0]->reps;
        for (int rep = 0; rep < n; ++rep) t[rep] = on_line(&points, rep, error);
        const double median = bench_spread_of(n, t).median;
        if (!(median < best)) continue;
        best = median;
        reps = n;
        memcpy(times, t, sizeof t);
        *variant = b->rows[from].c.variant;
    }
    return reps;
}

double bench_distance(int n, const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < n; ++i)
        if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]);
    return most;
}
