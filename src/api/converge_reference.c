/* The reference of a convergence study, and differences from it.
 *
 * The reference has accelerations and reactions of the acceleration level, on a grid of times
 * that contains the ends of all steps of the ladder (or nearly: between its times it is
 * interpolated by a polynomial through six of them). Unless a method of higher order is asked
 * for, it is of another formulation than the one studied. With fixed steps it then comes from
 * runs A, B, C of step sizes 2h, h, h/2, h being the finest of the ladder. Their errors are c2
 * h^2 + c3 h^3 + ..., so that
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
 * The method radau or explicit makes two runs, with a tight tolerance and with ten times that.
 * The first is the reference. Their difference, which is about the error of the second, is the
 * estimate of its error.
 *
 * Where the integration starts anew (events, breakpoints), steps are no longer on the grid and
 * values jump. The polynomial uses samples on one side of it only, and times between the events
 * of two runs are left out. Errors close to events are kept apart.
 */
#include "api/converge_study.h"
#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_VALUES = 8000000, /* of one run that are kept */
    MOST_SAMPLES = 40000,  /* of a reference with error control */
    /* Steps of methods of higher order are about as long as the motion has time constants;
     * at a fortieth of that the polynomial is right to 1e-12. */
    SAMPLES_PER_LONG_STEP = 40,
};

/* --- differences -------------------------------------------------------------------------- */

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

double ga_study_difference(const ga_study_quantity *q, const double *x, const double *y)
{
    x += q->at;
    y += q->at;
    if (q->quaternion) return angle_between(x, y);
    double sum = 0;
    for (int k = 0; k < q->count; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(sum);
}

int ga_study_window(const ga_converge *s, double t)
{
    const int w = (int)((t - s->def.sim.t_start) / s->duration * GA_WINDOWS);
    return w < 0 ? 0 : w < GA_WINDOWS ? w : GA_WINDOWS - 1;
}

bool ga_study_is_close_to_event(const ga_study_events *events, double t, double reach)
{
    if (events->full) return true; /* they are everywhere */
    for (int k = 0; k < events->kept; ++k)
        if (fabs(t - events->t[k]) <= reach) return true;
    return false;
}

const ga_study_events *ga_study_reference_events(const ga_converge *s)
{
    return s->events + s->run_count - 1;
}

static int events_before(const ga_study_events *events, double t)
{
    int k = 0;
    while (k < events->kept && events->t[k] < t) ++k;
    return k;
}

bool ga_study_is_within_event(const ga_converge *s, const ga_study_events *level, double t)
{
    const double sliver = 1e-9 * s->duration;
    const ga_study_events *finest = ga_study_reference_events(s);
    const int count = events_before(finest, t);
    if (ga_study_is_close_to_event(finest, t, sliver)) return true;
    for (int k = 0; k < s->run_count; ++k)
        if (events_before(s->events + k, t) != count) return true;
    if (!level) return false;
    return events_before(level, t) != count || ga_study_is_close_to_event(level, t, sliver);
}

/* --- the reference ------------------------------------------------------------------------ */

static long larger(long a, long b) { return a > b ? a : b; }
static long smaller(long a, long b) { return a < b ? a : b; }

static ga_status choose_grid(ga_converge *s, ga_report *report)
{
    const double finest = s->sizes[s->size_count - 1];
    s->every = finest;
    if (s->def.tolerances) {
        ga_control_statistics statistics;
        GA_TRY(ga_study_pilot(s, finest, &statistics, report));
        const bool second_order = s->def.sim.integrator.method == GA_METHOD_GENERALIZED_ALPHA;
        const double samples =
            (second_order ? 2 : SAMPLES_PER_LONG_STEP) * (double)statistics.accepted;
        s->every = s->duration / fmax(64, fmin(samples, MOST_SAMPLES));
    }
    const double room = floor((double)MOST_VALUES / fmax(1, s->value_count));
    const double wanted = s->duration / s->every;
    s->exact_only = wanted > room && !s->def.tolerances;
    if (wanted > room) s->every *= ceil(wanted / fmax(room, 1));
    s->samples = (long)floor(s->duration / s->every * (1 + 1e-9)) + 1;
    for (int k = 0; k < GA_STUDY_REFERENCES; ++k)
        if (!(s->runs[k] = GA_NEW(double, s->samples * s->value_count)))
            return ga_fail(report, GA_ERR_MEMORY, "no memory for a reference");
    return GA_OK;
}

/* At events there are several values for one time: the last one is kept. */
static void keep_sample(ga_study_run *run, double t, const double *values)
{
    const ga_converge *s = run->study;
    const double x = (t - s->def.sim.t_start) / s->every;
    const long k = lround(x);
    if (k < 0 || k >= s->samples || fabs(x - (double)k) > 1e-6) return;
    memcpy(run->keep + k * s->value_count, values, (size_t)s->value_count * sizeof *values);
}

/* Simulates with a definition that says how, and keeps the samples. */
static ga_status make_reference(ga_converge *s, int k, double weight, ga_sim_def *def,
                                ga_report *report)
{
    const ga_integrator_def usual = ga_integrator_def_default();
    s->events[k] = (ga_study_events){0};
    s->run_count = k + 1;
    ga_study_run run = {.study = s,
                        .weight = weight,
                        .sample = keep_sample,
                        .keep = s->runs[k],
                        .events = s->events + k};
    def->integrator.coefficients = usual.coefficients;
    def->integrator.start = usual.start;
    def->integrator.penalty = usual.penalty;
    def->control.mode = GA_ERROR_FULL;
    def->output_every = s->every;
    def->multipliers = GA_MULTIPLIERS_HAT;
    return ga_study_make_run(&run, def, report);
}

/* Sizes of the runs of a reference, relative to the finest of the ladder. */
static const double reference_sizes[2][GA_STUDY_REFERENCES] = {{2, 1, 0.5}, {0.1, 0.01, 0}};

static ga_status make_references(ga_converge *s, ga_formulation formulation, ga_report *report)
{
    const double *sizes = reference_sizes[s->def.tolerances];
    const double finest = s->sizes[s->size_count - 1];
    const ga_method studied = s->def.sim.integrator.method;
    const ga_method method = studied == GA_METHOD_AUTO ? GA_METHOD_GENERALIZED_ALPHA
                                                       : studied; /* has formulations */
    for (int k = 0; k < GA_STUDY_REFERENCES && sizes[k] > 0; ++k) {
        const double size = fmin(sizes[k] * finest, s->duration);
        ga_sim_def def = s->def.sim;
        ga_study_set_size(s, &def, size);
        def.integrator.method = method;
        def.integrator.formulation = formulation;
        GA_TRY(make_reference(s, k, 1 / size, &def, report));
    }
    s->result.reference_method = method;
    s->result.reference_formulation = formulation;
    return GA_OK;
}

/* Ten times the smallest tolerance that the method can meet in double precision. */
static const double tight[GA_METHOD_COUNT] = {
    [GA_METHOD_EXPLICIT] = 1e-11, [GA_METHOD_RADAU] = 1e-10};
static const char *const method_names[GA_METHOD_COUNT] = {
    [GA_METHOD_EXPLICIT] = "explicit", [GA_METHOD_RADAU] = "radau"};

/* A guess: each run as much work as the finest of the ladder. */
static double weight_of_method(const ga_converge *s) { return 1 / s->sizes[s->size_count - 1]; }

double ga_study_reference_cost(const ga_converge *s)
{
    double cost = 0;
    if (s->def.reference != GA_METHOD_GENERALIZED_ALPHA) return 2 * weight_of_method(s);
    for (int k = 0; k < GA_STUDY_REFERENCES; ++k) {
        const double size = reference_sizes[s->def.tolerances][k];
        cost += size > 0 ? 1 / (size * s->sizes[s->size_count - 1]) : 0;
    }
    return cost;
}

/* Says that it is the reference that has failed, not the method studied. */
static ga_status blame_reference(const ga_converge *s, ga_status status, ga_report *report)
{
    if (!report || status == GA_ERR_STATE || status == GA_ERR_MEMORY) return status;
    char message[GA_MESSAGE_SIZE] = "";
    ga_message_add(message, "the reference by %s failed: %s", method_names[s->def.reference],
                   report->message[0] ? report->message : ga_status_text(status));
    memcpy(report->message, message, sizeof message);
    return status;
}

/* Error control does not see driven motions, nor what is interpolated between steps. So that
 * the difference of the two runs does, the second one may take steps half as long at most. */
static void limit_steps(const ga_converge *s, int k, ga_control *control)
{
    enum { FEWEST_STEPS = 500 };
    double most = s->duration / FEWEST_STEPS;
    if (control->max_step > 0) most = fmin(most, control->max_step);
    control->max_step = k == 0 ? most : most / 2;
    control->first_step = control->min_step = 0;
}

/* The runs of a method of higher order, with a tolerance and with ten times that. */
static ga_status make_references_by_method(ga_converge *s, ga_report *report)
{
    const ga_method method = s->def.reference;
    const double tolerances[2] = {10 * tight[method], tight[method]};
    for (int k = 0; k < 2; ++k) {
        ga_sim_def def = s->def.sim;
        ga_study_set_tolerance(s, &def, tolerances[k]);
        limit_steps(s, k, &def.control);
        def.integrator.method = method;
        const ga_status status = make_reference(s, k, weight_of_method(s), &def, report);
        if (status != GA_OK) return blame_reference(s, status, report);
    }
    s->result.reference_method = method;
    s->result.reference_tolerance = tolerances[1];
    return GA_OK;
}

/* Errors of the reference in each part of the time: the largest difference of two runs by a
 * factor, but for times between events that are the same in both. */
static void compare_runs(const ga_converge *s, const double *a, const double *b, double factor,
                         double error[GA_COMPONENT_COUNT][GA_WINDOWS])
{
    memset(error, 0, sizeof(double[GA_COMPONENT_COUNT][GA_WINDOWS]));
    const double reach = GA_STUDY_REACH * s->every;
    for (long k = 0; k < s->samples; ++k) {
        const double t = s->def.sim.t_start + (double)k * s->every;
        if (ga_study_is_close_to_event(ga_study_reference_events(s), t, reach) &&
            ga_study_is_within_event(s, NULL, t))
            continue;
        const int w = ga_study_window(s, t);
        for (int i = 0; i < s->quantity_count; ++i) {
            const ga_study_quantity *q = s->quantities + i;
            const double d =
                factor * ga_study_difference(q, a + k * s->value_count, b + k * s->value_count);
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
            const ga_study_quantity *q = s->quantities + i;
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
            const ga_study_quantity *q = s->quantities + i;
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
            const ga_study_quantity *q = s->quantities + i;
            const double size =
                q->quaternion ? 1 : length(q->count, s->reference + k * s->value_count + q->at);
            double *scale = &s->ladder.scale[q->component];
            *scale = fmax(*scale, size);
        }
}

/* By the method studied, in another formulation; if that fails, in its own. */
static ga_status find_by_formulation(ga_converge *s, ga_report *report)
{
    const ga_formulation studied = s->def.sim.integrator.formulation;
    const ga_formulation other = studied == GA_INDEX2 ? GA_SOI2 : GA_INDEX2;
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
        return GA_OK;
    }
    s->result.reference_step = reference_sizes[0][2] * finest;
    return combine_steps(s, report);
}

static ga_status find_by_method(ga_converge *s, ga_report *report)
{
    GA_TRY(make_references_by_method(s, report));
    compare_runs(s, s->runs[0], s->runs[1], 1, s->ladder.reference);
    s->reference = s->runs[1];
    return GA_OK;
}

ga_status ga_study_find_reference(ga_converge *s, ga_report *report)
{
    GA_TRY(choose_grid(s, report));
    GA_TRY(s->def.reference == GA_METHOD_GENERALIZED_ALPHA ? find_by_formulation(s, report)
                                                           : find_by_method(s, report));
    measure_scale(s);
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        s->result.reference_error[i] =
            s->ladder.present[i] ? most(s->ladder.reference[i]) : NAN;
    return GA_OK;
}

/* The samples between the event before t and the next one, in all runs of the reference. */
static void find_smooth(const ga_converge *s, double t, long *low, long *high)
{
    const double start = s->def.sim.t_start, sliver = 1e-6;
    *low = 0;
    *high = s->samples - 1;
    for (int k = 0; k < s->run_count; ++k) {
        const ga_study_events *e = s->events + k;
        const int n = events_before(e, t);
        if (e->full) *high = *low - 1;
        if (n > 0) *low = larger(*low, (long)ceil((e->t[n - 1] - start) / s->every + sliver));
        if (n < e->kept)
            *high = smaller(*high, (long)floor((e->t[n] - start) / s->every - sliver));
    }
}

const double *ga_study_reference_at(const ga_converge *s, double t)
{
    const double x = (t - s->def.sim.t_start) / s->every;
    const long nearest = lround(x);
    if (nearest < s->samples && fabs(x - (double)nearest) < 1e-6)
        return s->reference + nearest * s->value_count;
    if (s->exact_only || s->samples < GA_STUDY_STENCIL) return NULL;
    long low, high;
    find_smooth(s, t, &low, &high);
    if (high - low + 1 < GA_STUDY_STENCIL) return NULL;
    long first = (long)floor(x) - GA_STUDY_STENCIL / 2 + 1;
    if (first > high + 1 - GA_STUDY_STENCIL) first = high + 1 - GA_STUDY_STENCIL;
    if (first < low) first = low;
    memset(s->interpolated, 0, (size_t)s->value_count * sizeof *s->interpolated);
    for (int k = 0; k < GA_STUDY_STENCIL; ++k) {
        double weight = 1;
        for (int j = 0; j < GA_STUDY_STENCIL; ++j)
            if (j != k) weight *= (x - (double)(first + j)) / (k - j);
        const double *y = s->reference + (first + k) * s->value_count;
        for (int i = 0; i < s->value_count; ++i) s->interpolated[i] += weight * y[i];
    }
    return s->interpolated;
}
