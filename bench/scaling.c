/* Experiment: from 10 to 100,000 bodies, the chain with hinges in space. Every run is a process
 * of its own, so that memory is that of one model: galpha_bench --child N STEPS THREADS. */
#define _DEFAULT_SOURCE
#include "bench/scaling.h"
#include "bench/galpha.h"

#include <galpha/plot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static const char *const channels[] = {"rod0.position"};
static const galpha_file chain = {
    .name = "chain_revolute.yaml", .parameter = "N", .channel_count = 1, .channels = channels};
static const double h = 1e-3;

enum { AS_IT_COMES = -1 }; /* threads: as the program takes them by itself */

/* --- in the child ------------------------------------------------------------------------- */

typedef struct watch {
    double cpu, wall, system; /* when the start was done */
    bool started;
} watch;

static double system_clock(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec;
}

static ga_eval progress(void *user, const ga_sim *sim)
{
    watch *w = user;
    (void)sim;
    if (!w->started) *w = (watch){bench_clock(), bench_wall(), system_clock(), true};
    return GA_EVAL_OK;
}

/* As the program does. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

int scaling_child(bench *b, int n, int steps, int threads)
{
    keep_memory();
    bench_case c = {.n = n, .mode = GALPHA_INDEX2, .value = h, .threads = threads};
    double read = 0;
    const ga_model *model = galpha_model(b, &chain, n, &read);
    if (!model) {
        fprintf(stderr, "galpha_bench: %s\n", b->failure);
        return 1;
    }
    watch w = {0};
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    galpha_apply(&c, &def.integrator, &def.control, &def.step);
    if (threads != AS_IT_COMES) galpha_apply_threads(&c, &def);
    def.t_end = steps * h;
    def.output_every = def.t_end;
    def.channels = channels;
    def.channel_count = 1;
    def.multipliers = GA_MULTIPLIERS_SCHEME;
    def.progress = progress;
    def.user = &w;
    ga_sim *sim = NULL;
    const double cpu = bench_clock(), wall = bench_wall();
    ga_status status = ga_sim_create(model, &def, &sim, NULL, &report);
    if (status == GA_OK) status = ga_sim_run(sim, &report);
    const double cpu_end = bench_clock(), wall_end = bench_wall();
    if (status != GA_OK) {
        fprintf(stderr, "galpha_bench: %s\n", report.message);
        ga_sim_destroy(sim);
        return 1;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    ga_statistics s = ga_sim_get_summary(sim).statistics;
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %ld %ld %ld %ld\n", read, w.cpu - cpu,
           cpu_end - w.cpu, w.system, w.wall - wall, wall_end - w.wall, usage.ru_maxrss,
           s.steps, s.iterations, s.factorizations);
    ga_sim_destroy(sim);
    galpha_forget();
    return 0;
}

/* --- in the parent ------------------------------------------------------------------------ */

enum { STEPS = 20, MANY_STEPS = 2000 };

/* What is measured: processor seconds of everything but reading; steps alone, or everything, by
 * the clock on the wall. */
enum { PROCESSOR, WALL_STEPS, WALL_ALL };

/* Hosts of virtual machines take back what is free, and its next user waits for them, here for
 * up to 2 s per GiB. So that much memory is used just before: what a machine of its own has. */
static void have_memory_provided(int n)
{
    const size_t size = (size_t)n * 24 * 1024;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    for (size_t k = 0; k < size; k += 4096) ((volatile char *)memory)[k] = 1;
    munmap(memory, size);
}

static bool run_once(bench *b, const bench_case *c, bench_outcome *o)
{
    char command[1200];
    const int many = c->mode == WALL_STEPS && c->n <= 1000 ? MANY_STEPS : STEPS;
    snprintf(command, sizeof command, "'%s' --child %d %d %d", b->program, c->n, many,
             c->threads);
    have_memory_provided(c->n);
    FILE *child = popen(command, "r");
    double setup, steps, wall_setup, wall_steps;
    long kilobytes;
    if (!child) return bench_fail(b, "no process");
    int got = fscanf(child, "%lf %lf %lf %lf %lf %lf %ld %ld %ld %ld", &o->read, &setup, &steps,
                     &o->system, &wall_setup, &wall_steps, &kilobytes, &o->steps,
                     &o->iterations, &o->factorizations);
    if (pclose(child) != 0 || got != 10) return bench_fail(b, "the child failed");
    o->seconds = c->mode == WALL_STEPS ? wall_steps
                 : c->mode == WALL_ALL ? o->read + wall_setup + wall_steps
                                       : setup + steps;
    o->setup = setup;
    o->bytes = 1024 * (double)kilobytes;
    return true;
}

/* Short runs count by the median of five; where threads are compared, which small models do not
 * use, by the fastest: any difference is noise then. */
static bool run_child(bench *b, const bench_case *c, bench_outcome *o)
{
    enum { RUNS = 5 };
    double seconds[RUNS];
    if (c->n > 1000) return run_once(b, c, o);
    for (int k = 0; k < RUNS; ++k) {
        if (!run_once(b, c, o)) return false;
        seconds[k] = o->seconds;
    }
    o->seconds = bench_spread_of(RUNS, seconds).median;
    for (int k = 0; c->mode == WALL_STEPS && k < RUNS; ++k)
        if (seconds[k] < o->seconds) o->seconds = seconds[k];
    return true;
}

static void draw(bench *b, int first, int count)
{
    double n[8], read[8], setup[8], step[8];
    size_t points = 0;
    for (int k = first; k < first + count && points < 8; ++k) {
        const bench_row *row = b->rows + k;
        if (!row->ok) continue;
        n[points] = row->c.n;
        read[points] = row->outcome.read;
        setup[points] = row->outcome.setup;
        step[points++] = (bench_median(row) - row->outcome.setup) / (double)row->outcome.steps;
    }
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        BENCH_SIZED(ga_figure_def).title = "Chain with hinges in space", .width = 560});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){
                    BENCH_SIZED(ga_plot_panel).x = {.label = "bodies", .scale = GA_SCALE_LOG},
                    .y = {.label = "time", .unit = "s", .scale = GA_SCALE_LOG},
                    .legend = GA_LEGEND_TOP_LEFT});
    const struct {
        const char *label;
        const double *y;
    } curves[] = {{"reading", read}, {"set-up and start", setup}, {"one step", step}};
    for (int k = 0; k < BENCH_COUNT(curves); ++k)
        ga_figure_series(figure, panel,
                         &(ga_plot_series){BENCH_SIZED(ga_plot_series).label = curves[k].label,
                                           .count = points, .x = n, .y = curves[k].y,
                                           .marker = GA_MARKER_CIRCLE});
    bench_figure(b, figure,
                 "Time to read the model, to set it up and start, and for one step (index 2), "
                 "against the number of bodies.");
}

static const bench_row *row_of(const bench *b, int first, int count, int n)
{
    for (int k = first; k < first + count; ++k)
        if (b->rows[k].c.n == n && b->rows[k].ok) return b->rows + k;
    return NULL;
}

static void claim_size(bench *b, int first, int count)
{
    const bench_row *small = row_of(b, first, count, 1000);
    const bench_row *large = row_of(b, first, count, 100000);
    const bench_row *none = row_of(b, first, count, 10);
    const char *growth = "3-D revolute chain: time(N = 100,000)/time(N = 1,000) <= 120";
    const char *memory = "3-D revolute chain: peak memory per body <= 25 KiB";
    const char *setup = "N = 100,000: reading, set-up and start <= 5 s";
    if (!small || !large || !none) {
        bench_claim_add(b, false, false, growth, "not measured");
        bench_claim_add(b, false, false, memory, "not measured");
        bench_claim_add(b, false, false, setup, "not measured");
        return;
    }
    bench_spread r = bench_ratio(b, (int)(large - b->rows), (int)(small - b->rows));
    bench_claim_add(b, true, r.median <= 120, growth, "%.1f [%.1f, %.1f]", r.median, r.low,
                    r.high);
    double kib = (large->outcome.bytes - none->outcome.bytes) / 1024 / (100000 - 10);
    bench_claim_add(b, true, kib <= 25, memory, "%.1f KiB", kib);
    r = bench_spread_of(large->reps, large->ready);
    bench_claim_add(b, true, r.median <= 5, setup,
                    "%.2f [%.2f, %.2f] s; the last time %.2f s of it to provide memory",
                    r.median, r.low, r.high, large->outcome.system);
}

/* From the file to the last state, as a user waits for it. */
static void measure_waiting(bench *b)
{
    bench_case one = {.problem = "chain, revolute",
                      .n = 1000,
                      .who = BENCH_GALPHA,
                      .variant = "read and run, wall",
                      .setting = "h",
                      .value = h,
                      .run = run_child,
                      .mode = WALL_ALL,
                      .threads = AS_IT_COMES};
    bench_case cases[] = {one, one};
    cases[1].n = 100000;
    int first = bench_measure(b, "scaling", cases, 2);
    bench_print(b, first, 2);
    bench_spread r = bench_ratio(b, first + 1, first);
    bench_claim_add(b, isfinite(r.median), r.median <= 120,
                    "the same with reading and the threads it takes by itself, wall <= 120",
                    "%.1f [%.1f, %.1f]", r.median, r.low, r.high);
}

static void compare_threads(bench *b)
{
    static const int sizes[] = {10, 100, 100000};
    if (!galpha_has_threads()) {
        bench_note(b, "This galpha has no `threads`: nothing to compare.");
        bench_claim_add(b, false, false, "2 threads on N = 100,000: speed-up >= 1.5",
                        "no setting `threads`");
        bench_claim_add(b, false, false, "2 threads on N <= 100: no slowdown",
                        "no setting `threads`");
        return;
    }
    for (int k = 0; k < BENCH_COUNT(sizes); ++k) {
        const int n = sizes[k];
        if (b->quick && n > 1000) continue;
        bench_case one = {.problem = "chain, revolute",
                          .n = n,
                          .who = BENCH_GALPHA,
                          .variant = "1 thread",
                          .setting = "h",
                          .value = h,
                          .run = run_child,
                          .mode = WALL_STEPS,
                          .threads = 1};
        bench_case cases[] = {one, one};
        cases[1].variant = "2 threads", cases[1].threads = 2;
        int first = bench_measure(b, "scaling", cases, 2);
        bench_print(b, first, 2);
        bench_spread r = bench_ratio(b, first, first + 1);
        const double asked = n > 1000 ? 1.5 : 0.97; /* 3 %: what the clock can tell */
        char what[120];
        snprintf(what, sizeof what, "2 threads on N = %d: speed-up >= %s", n,
                 n > 1000 ? "1.5" : "1 (no slowdown, 3 % for the clock)");
        bench_claim_add(b, isfinite(r.median), r.median >= asked, what, "%.2f [%.2f, %.2f]",
                        r.median, r.low, r.high);
    }
}

void bench_run_scaling(bench *b)
{
    static const int sizes[] = {10, 100, 1000, 10000, 100000};
    bench_case cases[BENCH_COUNT(sizes)];
    const int count = b->quick ? 3 : BENCH_COUNT(sizes);
    for (int k = 0; k < count; ++k)
        cases[k] = (bench_case){.problem = "chain, revolute",
                                .n = sizes[k],
                                .who = BENCH_GALPHA,
                                .variant = "index 2",
                                .setting = "h",
                                .value = h,
                                .run = run_child,
                                .threads = 1};
    int first = bench_measure(b, "scaling", cases, count);
    bench_print(b, first, count);
    for (int k = first; k < first + count; ++k) {
        const bench_row *row = b->rows + k;
        const double n = row->c.n, steps = (double)row->outcome.steps;
        if (!row->ok) continue;
        bench_note(
            b,
            "N = %6.0f: reading %.4g s, set-up and start %.4g s, a step %.4g s = %.3g us "
            "per body, peak memory %.4g MiB; the system took %.3g s of reading and set-up",
            n, row->outcome.read, row->outcome.setup,
            (bench_median(row) - row->outcome.setup) / steps,
            1e6 * (bench_median(row) - row->outcome.setup) / steps / n,
            row->outcome.bytes / 1048576, row->outcome.system);
    }
    draw(b, first, count);
    if (!b->quick) claim_size(b, first, count);
    if (!b->quick) measure_waiting(b);
    compare_threads(b);
}
