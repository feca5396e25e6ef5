/* <galpha/converge.h>: a reference, a ladder of runs, and their differences.
 *
 * The reference is of another formulation than the one studied, with accelerations and
 * reactions of the acceleration level, on a grid of times that contains the ends of all steps
 * of the ladder (or nearly: between its times it is interpolated by a polynomial through six of
 * them). With fixed steps it comes from runs A, B, C of step sizes 2h, h, h/2, h being the
 * finest of the ladder. Their errors are c2 h^2 + c3 h^3 + ..., so that
 *
 *     P = (4 B - A)/3,   Q = (4 C - B)/3       are of third order,
 *     R = (8 Q - P)/7                          of fourth.
 *
 * The error of R is far below |Q - P| = 7 |R - Q|, which is that of P; where the expansion does
 * not hold, it is still about that.
 *
 * C itself has the error |C - B|/3. Whichever is smaller is taken, component by component. With
 * tolerances, the reference is a run with a hundredth of the finest one, and its error a ninth
 * of the difference to that with a tenth.
 *
 * Where the integration starts anew (events, breakpoints), steps are no longer on the grid and
 * values jump: errors close to that are kept apart.
 */
#include "api/channels.h"
#include "api/converge_judge.h"
#include "api/sim_settings.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    STENCIL = 6,             /* points of an interpolation */
    REACH = STENCIL / 2 + 1, /* how far, in grid intervals, it is felt */
    MOST_VALUES = 8000000,   /* of one run that are kept */
    MOST_SAMPLES = 40000,    /* of a reference with error control */
    MOST_EVENTS = 1000,      /* whose times are kept */
    REFERENCES = 3,
    MOST_NAMES = 16,
};

/* Some numbers of a sample that belong together. */
typedef struct quantity {
    ga_component component;
    int at, count;
    bool quaternion;
} quantity;

typedef struct event_list {
    int count, kept;
    double t[MOST_EVENTS];
} event_list;

struct ga_converge {
    const ga_model *model;
    ga_converge_def def;
    ga_messages *messages;
    double duration;

    int name_count;
    const char *names[MOST_NAMES]; /* of channels */
    int value_count, quantity_count;
    quantity *quantities;

    int size_count;
    double sizes[GA_MOST_LEVELS];

    /* the reference: values at t_start + k every, k < samples */
    double every;
    long samples;
    bool exact_only; /* the grid is coarser than the finest steps: compare on it only */
    double *runs[REFERENCES];
    double *reference; /* one of them */
    event_list events;
    double *interpolated; /* value_count */

    double done, cost; /* of all runs */

    ga_rung rungs[GA_MOST_LEVELS];
    int rung_level[GA_MOST_LEVELS];
    ga_converge_level levels[GA_MOST_LEVELS];
    ga_ladder ladder;
    ga_judgement judgement;
    ga_converge_result result;
};

/* --- what is compared --------------------------------------------------------------------- */

static ga_component component_of(const ga_channel *channel)
{
    const char *dot = strrchr(channel->name, '.');
    const char *what = dot ? dot + 1 : "";
    if (strcmp(what, "total") == 0) return GA_COMPONENT_ENERGY;
    if (strcmp(what, "effort") == 0)
        return strcmp(channel->unit, "N") == 0 ? GA_COMPONENT_FORCE : GA_COMPONENT_TORQUE;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (strcmp(what, ga_component_name((ga_component)i)) == 0) return (ga_component)i;
    return GA_COMPONENT_COUNT;
}

/* Of all channels worth comparing those that the model has. */
static ga_status choose_channels(ga_converge *s, ga_report *report)
{
    static const char *const candidates[] = {"*.position",     "*.rotation",
                                             "*.velocity",     "*.angular_velocity",
                                             "*.acceleration", "*.angular_acceleration",
                                             "*.force",        "*.torque",
                                             "*.effort",       "energy.total"};
    ga_channels all;
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; ++k) {
        const ga_channels_def one = {.count = 1, .names = candidates + k};
        ga_status status = ga_channels_create(s->model, &one, NULL, &all, report);
        if (status == GA_ERR_MEMORY) return status;
        if (status != GA_OK) continue;
        ga_channels_destroy(&all);
        s->names[s->name_count++] = candidates[k];
    }
    const ga_channels_def chosen = {.count = s->name_count, .names = s->names};
    GA_TRY(ga_channels_create(s->model, &chosen, NULL, &all, report));
    s->quantities = GA_NEW(quantity, all.count);
    s->value_count = all.value_count;
    for (int k = 0, at = 0; s->quantities && k < all.count; ++k) {
        const ga_channel *channel = &all.items[k].channel;
        const ga_component component = component_of(channel);
        if (component < GA_COMPONENT_COUNT) {
            s->quantities[s->quantity_count++] =
                (quantity){component, at, channel->count,
                           component == GA_COMPONENT_ROTATION && channel->count == 4};
            s->ladder.present[component] = true;
        }
        at += channel->count;
    }
    ga_channels_destroy(&all);
    s->interpolated = GA_NEW(double, s->value_count);
    if (!s->quantities || !s->interpolated)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a convergence study");
    return GA_OK;
}

static double length(int count, const double *x)
{
    double sum = 0;
    for (int k = 0; k < count; ++k) sum += x[k] * x[k];
    return sqrt(sum);
}

/* Angle between two rotations: 2 |log(conj(p) r)|, from both parts of the product so that small
 * angles are exact. */
static double angle_between(const double *p, const double *r)
{
    const double w = p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + p[3] * r[3];
    const double x[3] = {p[0] * r[1] - p[1] * r[0] - p[2] * r[3] + p[3] * r[2],
                         p[0] * r[2] - p[2] * r[0] - p[3] * r[1] + p[1] * r[3],
                         p[0] * r[3] - p[3] * r[0] - p[1] * r[2] + p[2] * r[1]};
    return 2 * atan2(length(3, x), fabs(w));
}

static double difference(const quantity *q, const double *x, const double *y)
{
    x += q->at;
    y += q->at;
    if (q->quaternion) return angle_between(x, y);
    double sum = 0;
    for (int k = 0; k < q->count; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(sum);
}

static int window_of(const ga_converge *s, double t)
{
    const int w = (int)((t - s->def.sim.t_start) / s->duration * GA_WINDOWS);
    return w < 0 ? 0 : w < GA_WINDOWS ? w : GA_WINDOWS - 1;
}

static bool is_close_to_event(const event_list *events, double t, double reach)
{
    if (events->count > events->kept) return true; /* they are everywhere */
    for (int k = 0; k < events->kept; ++k)
        if (fabs(t - events->t[k]) <= reach) return true;
    return false;
}

/* --- one run ------------------------------------------------------------------------------ */

typedef struct one_run {
    ga_converge *study;
    double weight; /* of all work */
    bool began;
    double last_t, told;
    event_list *events; /* may be null */
    void (*sample)(struct one_run *run, double t, const double *values);
    double *keep;  /* a reference */
    ga_rung *rung; /* a level */
    bool stopped;
    ga_sim_summary summary;
} one_run;

/* Where a step ends at the time it began, the integration has started anew. */
static void note_event(one_run *run, double t)
{
    const double sliver = 1e-11 * run->study->duration;
    if (run->began && run->events && t - run->last_t <= sliver) {
        event_list *e = run->events;
        if (e->kept < MOST_EVENTS) e->t[e->kept++] = t;
        ++e->count;
    }
    run->began = true;
    run->last_t = t;
}

static ga_eval progress(void *user, const ga_sim *sim)
{
    one_run *run = user;
    ga_converge *s = run->study;
    const double t = ga_sim_time(sim), passed = (t - s->def.sim.t_start) / s->duration;
    note_event(run, t);
    if (!s->def.progress || passed - run->told < 0.01) return GA_EVAL_OK;
    run->told = passed;
    const double done = s->cost > 0 ? (s->done + run->weight * passed) / s->cost : 0;
    run->stopped = s->def.progress(s->def.user, fmin(done, 1)) != GA_EVAL_OK;
    return run->stopped ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static ga_eval output(void *user, const ga_sim *sim)
{
    one_run *run = user;
    if (run->sample) run->sample(run, ga_sim_time(sim), ga_sim_values(sim));
    return GA_EVAL_OK;
}

static ga_status make_run(one_run *run, ga_sim_def *def, ga_report *report)
{
    ga_converge *s = run->study;
    ga_sim *sim = NULL;
    def->channel_count = s->name_count;
    def->channels = s->names;
    def->output = output;
    def->progress = progress;
    def->user = run;
    GA_TRY(ga_sim_create(s->model, def, &sim, s->messages, report));
    ga_status status = ga_sim_run(sim, report);
    if (status == GA_OK && run->stopped)
        status = ga_fail(report, GA_ERR_STATE, "the study was stopped");
    run->summary = ga_sim_get_summary(sim);
    s->ladder.redundant = ga_sim_redundant_count(sim);
    ga_sim_destroy(sim);
    s->done += run->weight;
    return status;
}

static void set_size(const ga_converge *s, ga_sim_def *def, double size)
{
    ga_control *c = &def->control;
    def->step = s->def.tolerances ? 0 : size;
    c->relative = s->def.tolerances ? size : 0;
    if (!s->def.tolerances) return;
    const ga_control usual = ga_simulation_default().control;
    const double first = s->def.sim.control.relative;
    /* absolute tolerances keep their proportion to the relative one */
    const double share = first > 0 ? size / first : size / usual.relative;
    c->absolute_translation *= share;
    c->absolute_rotation *= share;
    c->absolute_velocity *= share;
    c->absolute_angular_velocity *= share;
}

/* --- the ladder of sizes ------------------------------------------------------------------ */

/* The number of steps a run with this tolerance takes, without output. */
static ga_status pilot(ga_converge *s, double tolerance, ga_control_statistics *statistics,
                       ga_report *report)
{
    one_run run = {.study = s};
    ga_sim_def def = s->def.sim;
    const bool tolerances = s->def.tolerances;
    s->def.tolerances = true;
    set_size(s, &def, tolerance);
    s->def.tolerances = tolerances;
    def.integrator.formulation = GA_INDEX2;
    def.integrator.start = GA_START_AUTO;
    def.output_every = s->duration;
    ga_status status = make_run(&run, &def, report);
    *statistics = run.summary.control;
    return status;
}

static ga_status check_sizes(const ga_converge *s, ga_report *report)
{
    const char *what = s->def.tolerances ? "tolerance" : "step";
    if (s->size_count < 2 || s->size_count > GA_MOST_LEVELS)
        return ga_fail(report, GA_ERR_ARGUMENT, "%d levels: expected 2 to %d", s->size_count,
                       GA_MOST_LEVELS);
    for (int k = 0; k < s->size_count; ++k) {
        const double size = s->sizes[k];
        if (!(size > 0) || !isfinite(size) || (s->def.tolerances && size >= 1))
            return ga_fail(report, GA_ERR_ARGUMENT, "%s %g: expected a positive number%s", what,
                           size, s->def.tolerances ? " below 1" : "");
        if (k > 0 && !(size < s->sizes[k - 1]))
            return ga_fail(report, GA_ERR_ARGUMENT, "%ss must differ", what);
        if (!s->def.tolerances && size > s->duration)
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "a step of %g s is longer than the run of %g s", size, s->duration);
    }
    return GA_OK;
}

/* Descending, whatever the order in which they were given. */
static void take_sizes(ga_converge *s)
{
    for (int k = 0; k < s->size_count; ++k) {
        int at = k;
        for (; at > 0 && s->sizes[at - 1] < s->def.sizes[k]; --at)
            s->sizes[at] = s->sizes[at - 1];
        s->sizes[at] = s->def.sizes[k];
    }
}

/* The coarsest step: a whole number of them fills the time. */
static ga_status choose_first_step(ga_converge *s, double *h, ga_report *report)
{
    enum { FEWEST_STEPS = 16 };
    const double coarse = 8, coarse_tolerance = 1e-2;
    double steps;
    if (s->def.sim.step > 0) {
        steps = s->duration / (coarse * s->def.sim.step);
    } else {
        ga_control_statistics statistics;
        GA_TRY(pilot(s, coarse_tolerance, &statistics, report));
        steps = (double)statistics.accepted;
    }
    *h = s->duration / fmax(FEWEST_STEPS, ceil(steps - 1e-6));
    return GA_OK;
}

static ga_status choose_sizes(ga_converge *s, double finer, ga_report *report)
{
    s->size_count = s->def.size_count ? s->def.size_count : s->def.levels;
    if (s->size_count < 2 || s->size_count > GA_MOST_LEVELS) return check_sizes(s, report);
    if (s->def.size_count) {
        take_sizes(s);
        return check_sizes(s, report);
    }
    double size = 1e-2, factor = 0.25; /* as half the step */
    if (!s->def.tolerances) {
        factor = 0.5;
        GA_TRY(choose_first_step(s, &size, report));
    }
    size /= finer;
    for (int k = 0; k < s->size_count; ++k, size *= factor) s->sizes[k] = size;
    return check_sizes(s, report);
}

/* --- the reference ------------------------------------------------------------------------ */

static ga_status choose_grid(ga_converge *s, ga_report *report)
{
    const double finest = s->sizes[s->size_count - 1];
    s->every = finest;
    if (s->def.tolerances) {
        ga_control_statistics statistics;
        GA_TRY(pilot(s, finest, &statistics, report));
        const double steps = 2.0 * (double)statistics.accepted;
        s->every = s->duration / fmax(64, fmin(steps, MOST_SAMPLES));
    }
    const double room = floor((double)MOST_VALUES / fmax(1, s->value_count));
    const double wanted = s->duration / s->every;
    s->exact_only = wanted > room && !s->def.tolerances;
    if (wanted > room) s->every *= ceil(wanted / fmax(room, 1));
    s->samples = (long)floor(s->duration / s->every * (1 + 1e-9)) + 1;
    for (int k = 0; k < REFERENCES; ++k)
        if (!(s->runs[k] = GA_NEW(double, s->samples * s->value_count)))
            return ga_fail(report, GA_ERR_MEMORY, "no memory for a reference");
    return GA_OK;
}

/* At events there are several values for one time: the last one is kept. */
static void keep_sample(one_run *run, double t, const double *values)
{
    const ga_converge *s = run->study;
    const double x = (t - s->def.sim.t_start) / s->every;
    const long k = lround(x);
    if (k < 0 || k >= s->samples || fabs(x - (double)k) > 1e-6) return;
    memcpy(run->keep + k * s->value_count, values, (size_t)s->value_count * sizeof *values);
}

static ga_status make_reference(ga_converge *s, int k, double size, ga_formulation formulation,
                                ga_report *report)
{
    s->events.count = s->events.kept = 0;
    one_run run = {.study = s,
                   .weight = 1 / size,
                   .sample = keep_sample,
                   .keep = s->runs[k],
                   .events = &s->events};
    ga_sim_def def = s->def.sim;
    const ga_integrator_def usual = ga_integrator_def_default();
    set_size(s, &def, size);
    def.integrator.formulation = formulation;
    def.integrator.coefficients = usual.coefficients;
    def.integrator.start = usual.start;
    def.integrator.penalty = usual.penalty;
    def.control.mode = GA_ERROR_FULL;
    def.output_every = s->every;
    def.multipliers = GA_MULTIPLIERS_HAT;
    return make_run(&run, &def, report);
}

/* Sizes of the runs of a reference, relative to the finest of the ladder. */
static const double reference_sizes[2][REFERENCES] = {{2, 1, 0.5}, {0.1, 0.01, 0}};

static ga_status make_references(ga_converge *s, ga_formulation formulation, ga_report *report)
{
    const double *sizes = reference_sizes[s->def.tolerances];
    const double finest = s->sizes[s->size_count - 1];
    for (int k = 0; k < REFERENCES && sizes[k] > 0; ++k)
        GA_TRY(make_reference(s, k, fmin(sizes[k] * finest, s->duration), formulation, report));
    s->result.reference_formulation = formulation;
    return GA_OK;
}

/* Errors of the reference in each part of the time: the largest difference of two runs by a
 * factor, away from events. */
static void compare_runs(const ga_converge *s, const double *a, const double *b, double factor,
                         double error[GA_COMPONENT_COUNT][GA_WINDOWS])
{
    memset(error, 0, sizeof(double[GA_COMPONENT_COUNT][GA_WINDOWS]));
    for (long k = 0; k < s->samples; ++k) {
        const double t = s->def.sim.t_start + (double)k * s->every;
        if (is_close_to_event(&s->events, t, REACH * s->every)) continue;
        const int w = window_of(s, t);
        for (int i = 0; i < s->quantity_count; ++i) {
            const quantity *q = s->quantities + i;
            const double d =
                factor * difference(q, a + k * s->value_count, b + k * s->value_count);
            error[q->component][w] = fmax(error[q->component][w], d);
        }
    }
}

/* x := y + factor (y - x), with quaternions of unit length. */
static void extrapolate(const ga_converge *s, double *x, const double *y, double factor)
{
    for (long k = 0; k < s->samples * s->value_count; ++k) x[k] = y[k] + factor * (y[k] - x[k]);
    for (long k = 0; k < s->samples; ++k)
        for (int i = 0; i < s->quantity_count; ++i) {
            const quantity *q = s->quantities + i;
            double *p = x + k * s->value_count + q->at;
            const double size = q->quaternion ? length(4, p) : 1;
            for (int c = 0; q->quaternion && c < 4 && size > 0; ++c) p[c] /= size;
        }
}

static double most(const double *x)
{
    double largest = 0;
    for (int w = 0; w < GA_WINDOWS; ++w) largest = fmax(largest, x[w]);
    return largest;
}

static void copy_component(const ga_converge *s, ga_component component, const double *from,
                           double *to)
{
    for (long k = 0; k < s->samples; ++k)
        for (int i = 0; i < s->quantity_count; ++i) {
            const quantity *q = s->quantities + i;
            const long at = k * s->value_count + q->at;
            if (q->component == component)
                memcpy(to + at, from + at, (size_t)q->count * sizeof *to);
        }
}

/* Of three runs with steps 2h, h, h/2 the best that can be made; component by component. */
static ga_status combine_steps(ga_converge *s, ga_report *report)
{
    typedef double table[GA_COMPONENT_COUNT][GA_WINDOWS];
    double *a = s->runs[0], *b = s->runs[1], *c = s->runs[2];
    const size_t size = (size_t)(s->samples * s->value_count) * sizeof *c;
    table plain;
    compare_runs(s, b, c, 1.0 / 3, plain);
    double *finest = GA_NEW(double, s->samples * s->value_count);
    if (!finest) return ga_fail(report, GA_ERR_MEMORY, "no memory for a reference");
    memcpy(finest, c, size);
    extrapolate(s, a, b, 1.0 / 3); /* a: P */
    extrapolate(s, b, c, 1.0 / 3); /* b: Q */
    extrapolate(s, a, b, 1.0 / 7); /* a: R */
    compare_runs(s, a, b, 7, s->ladder.reference);
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        s->result.extrapolated[i] = most(s->ladder.reference[i]) <= most(plain[i]);
        if (s->result.extrapolated[i]) continue;
        memcpy(s->ladder.reference[i], plain[i], sizeof plain[i]);
        copy_component(s, (ga_component)i, finest, a);
    }
    ga_free(finest);
    s->reference = a;
    return GA_OK;
}

static void measure_scale(ga_converge *s)
{
    for (long k = 0; k < s->samples; ++k)
        for (int i = 0; i < s->quantity_count; ++i) {
            const quantity *q = s->quantities + i;
            const double size =
                q->quaternion ? 1 : length(q->count, s->reference + k * s->value_count + q->at);
            double *scale = &s->ladder.scale[q->component];
            *scale = fmax(*scale, size);
        }
}

static ga_status find_reference(ga_converge *s, ga_report *report)
{
    const ga_formulation studied = s->def.sim.integrator.formulation;
    const ga_formulation other = studied == GA_INDEX2 ? GA_SOI2 : GA_INDEX2;
    GA_TRY(choose_grid(s, report));
    const double done = s->done;
    ga_status status = make_references(s, other, report);
    if (status != GA_OK && status != GA_ERR_STATE && status != GA_ERR_MEMORY) {
        s->done = done;
        status = make_references(s, other == GA_SOI2 ? GA_INDEX2 : GA_SOI2, report);
    }
    if (status != GA_OK) return status;
    const double finest = s->sizes[s->size_count - 1];
    if (s->def.tolerances) {
        s->result.reference_tolerance = reference_sizes[1][1] * finest;
        compare_runs(s, s->runs[0], s->runs[1], 1.0 / 9, s->ladder.reference);
        s->reference = s->runs[1];
    } else {
        s->result.reference_step = reference_sizes[0][2] * finest;
        GA_TRY(combine_steps(s, report));
    }
    measure_scale(s);
    return GA_OK;
}

/* --- the levels --------------------------------------------------------------------------- */

/* The reference at a time: one of its samples, or a polynomial through some of them; null where
 * there is none. */
static const double *reference_at(const ga_converge *s, double t)
{
    const double x = (t - s->def.sim.t_start) / s->every;
    const long nearest = lround(x);
    if (nearest < s->samples && fabs(x - (double)nearest) < 1e-6)
        return s->reference + nearest * s->value_count;
    if (s->exact_only || s->samples < STENCIL) return NULL;
    long first = (long)floor(x) - STENCIL / 2 + 1;
    if (first > s->samples - STENCIL) first = s->samples - STENCIL;
    if (first < 0) first = 0;
    memset(s->interpolated, 0, (size_t)s->value_count * sizeof *s->interpolated);
    for (int k = 0; k < STENCIL; ++k) {
        double weight = 1;
        for (int j = 0; j < STENCIL; ++j)
            if (j != k) weight *= (x - (double)(first + j)) / (k - j);
        const double *y = s->reference + (first + k) * s->value_count;
        for (int i = 0; i < s->value_count; ++i) s->interpolated[i] += weight * y[i];
    }
    return s->interpolated;
}

static void compare_sample(one_run *run, double t, const double *values)
{
    const ga_converge *s = run->study;
    if (!(t > s->def.sim.t_start)) return;
    const double *reference = reference_at(s, t);
    if (!reference) return;
    const double reach = REACH * s->every + 2 * run->rung->h;
    const bool close = s->events.count && is_close_to_event(&s->events, t, reach);
    const int w = window_of(s, t);
    for (int i = 0; i < s->quantity_count; ++i) {
        const quantity *q = s->quantities + i;
        double *error =
            close ? &run->rung->near[q->component] : &run->rung->window[q->component][w];
        const double d = difference(q, values, reference);
        /* what is not finite must not vanish in a maximum */
        *error = isfinite(d) ? fmax(*error, d) : INFINITY;
    }
}

static ga_rung empty_rung(double h)
{
    ga_rung rung = {.h = h};
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        rung.near[i] = NAN;
        for (int w = 0; w < GA_WINDOWS; ++w) rung.window[i][w] = NAN;
    }
    return rung;
}

/* A run that fails leaves its level out, unless it is the last hope. */
static ga_status make_level(ga_converge *s, int k, ga_report *report)
{
    ga_converge_level *level = s->levels + k;
    ga_rung *rung = s->rungs + s->ladder.count;
    const double size = s->sizes[k];
    *rung = empty_rung(s->def.tolerances ? s->duration / 100 : size); /* a guess, for now */
    one_run run = {.study = s, .weight = 1 / size, .sample = compare_sample, .rung = rung};
    ga_sim_def def = s->def.sim;
    set_size(s, &def, size);
    def.output_every = 0;
    def.multipliers = s->def.hat ? GA_MULTIPLIERS_HAT : GA_MULTIPLIERS_SCHEME;
    const ga_status status = make_run(&run, &def, report);
    level->steps = run.summary.control.accepted;
    level->step = s->def.tolerances ? s->duration / fmax(1, (double)level->steps) : size;
    level->tolerance = s->def.tolerances ? size : 0;
    level->failed = status != GA_OK;
    if (status == GA_OK) {
        rung->h = level->step;
        s->rung_level[s->ladder.count++] = k;
    }
    const bool hopeless = s->ladder.count + s->size_count - 1 - k < 2;
    if (status == GA_ERR_STATE || status == GA_ERR_MEMORY || hopeless) return status;
    return GA_OK;
}

/* --- the study ---------------------------------------------------------------------------- */

static void sum_up(ga_converge *s)
{
    ga_converge_result *r = &s->result;
    s->ladder.rungs = s->rungs;
    s->ladder.t_start = s->def.sim.t_start;
    s->ladder.t_end = s->def.sim.t_end;
    s->ladder.events = s->events.count;
    s->ladder.first_event = s->events.kept ? s->events.t[0] : NAN;
    ga_ladder_judge(&s->ladder, &s->judgement);
    const ga_judgement *j = &s->judgement;
    for (int k = 0; k < s->size_count; ++k)
        for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
            s->levels[k].error[i] = s->levels[k].order[i] = NAN;
    for (int k = 0; k < s->ladder.count; ++k) {
        ga_converge_level *level = s->levels + s->rung_level[k];
        memcpy(level->error, j->error[k], sizeof level->error);
        memcpy(level->order, j->pair[k], sizeof level->order);
        memcpy(level->used, j->used[k], sizeof level->used);
    }
    r->level_count = s->size_count;
    r->levels = s->levels;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        const bool present = s->ladder.present[i];
        r->order[i] = j->order[i];
        r->zero[i] = j->zero[i];
        r->scale[i] = present ? s->ladder.scale[i] : NAN;
        r->reference_error[i] = present ? most(s->ladder.reference[i]) : NAN;
    }
    r->redundant = s->ladder.redundant;
    r->events = s->events.count;
    r->verdict = j->verdict;
    r->at = j->at;
    r->reason = j->reason;
}

/* The work ahead, in steps. */
static void foresee(ga_converge *s)
{
    const double finest = s->sizes[s->size_count - 1];
    s->done = s->cost = 0;
    for (int k = 0; k < s->size_count; ++k) s->cost += 1 / s->sizes[k];
    for (int k = 0; k < REFERENCES; ++k) {
        const double size = reference_sizes[s->def.tolerances][k] * finest;
        s->cost += size > 0 ? 1 / size : 0;
    }
}

static void forget(ga_converge *s)
{
    for (int k = 0; k < REFERENCES; ++k) {
        ga_free(s->runs[k]);
        s->runs[k] = NULL;
    }
    s->ladder.count = 0;
    memset(s->ladder.scale, 0, sizeof s->ladder.scale);
}

static ga_status climb(ga_converge *s, double finer, ga_report *report)
{
    forget(s);
    GA_TRY(choose_sizes(s, finer, report));
    foresee(s);
    GA_TRY(find_reference(s, report));
    for (int k = 0; k < s->size_count; ++k) GA_TRY(make_level(s, k, report));
    sum_up(s);
    return GA_OK;
}

/* Steps of our own choice that turn out too large are made smaller. */
static bool may_be_finer(const ga_converge *s)
{
    const double most_work = 4e5; /* numbers computed by the finest run */
    return !s->def.size_count && s->result.verdict == GA_VERDICT_NOT_ASYMPTOTIC &&
           (double)s->levels[s->size_count - 1].steps * s->value_count <= most_work;
}

static ga_status study(ga_converge *s, ga_report *report)
{
    GA_TRY(ga_sim_settings_check(&s->def.sim, report));
    s->duration = s->def.sim.t_end - s->def.sim.t_start;
    GA_TRY(choose_channels(s, report));
    GA_TRY(climb(s, 1, report));
    if (may_be_finer(s)) GA_TRY(climb(s, s->def.tolerances ? 16 : 4, report));
    return ga_fail(report, GA_OK, "%s", "");
}

ga_converge_def ga_converge_def_of(const ga_model *model)
{
    return (ga_converge_def){
        .struct_size = sizeof(ga_converge_def), .sim = ga_sim_def_of(model), .levels = 5};
}

ga_status ga_converge_run(const ga_model *model, const ga_converge_def *def,
                          ga_converge **result, ga_messages *messages, ga_report *report)
{
    *result = NULL;
    if (def) GA_TRY(ga_check_size("ga_converge_def", def->struct_size, sizeof *def, report));
    ga_converge *s = *result = GA_NEW(ga_converge, 1);
    if (!s) return ga_fail(report, GA_ERR_MEMORY, "no memory for a convergence study");
    s->model = model;
    s->def = def ? *def : ga_converge_def_of(model);
    s->messages = messages;
    const ga_status status = study(s, report);
    if (status != GA_OK) {
        ga_converge_destroy(s);
        *result = NULL;
    }
    return status;
}

const ga_converge_result *ga_converge_get(const ga_converge *s) { return &s->result; }

void ga_converge_destroy(ga_converge *s)
{
    if (!s) return;
    forget(s);
    ga_free(s->quantities);
    ga_free(s->interpolated);
    ga_free(s);
}
