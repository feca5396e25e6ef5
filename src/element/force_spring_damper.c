/* Spring and damper between two points, along the line that joins them.
 *
 *     d = x_B - x_A,  l = |d|,  n = d/l,  rate l' = n . d'
 *     tension   T = preload + k (l - l_0) + c l' + force(t, l, l', channels)
 *
 * B is pulled by -T n, A by +T n. Where l = 0 the line has no direction and T counts as zero.
 *
 * Rest length l_0 = 0 needs no direction: the pull is k d + c d_A', with d_A' = d' - w_A x d
 * the relative velocity as A sees it, and the opposite acts on A at the place of B. It is
 * smooth through l = 0, damps in all directions, and keeps the balance of moments.
 *
 * Slack: with tension_only the stretch e = l - l_0 + preload/k is replaced by
 *
 *     e_+ = 0 (x <= 0),  w (x^3 - x^4/2) (0 < x < 1),  e - w/2 (x >= 1),   x = e/w
 *
 * and the tension by S + D for D >= 0, S^2/(S - D) for D < 0, where S = k e_+, D = c e_+' l'.
 * It has continuous derivatives and is never negative, nor is what it dissipates, (T - S) l'.
 *
 * Energy: the linear part has the potential (l_0 = 0: k d.d/2). What the function does counts
 * as work from outside, unless it is a function of l and l' alone: then its value at l' = 0
 * has the potential of its integral over l, and the rest is dissipation.
 */
#include <math.h>

#include "element/integral.h"
#include "element/observe.h"

typedef struct spring {
    ga_element element;
    ga_observation observation;
    ga_anchor between[2];
    double stiffness, damping, length, preload;
    ga_function *force;
    bool tension_only;
    double transition;
    /* derived */
    bool central;      /* l_0 = 0 and nothing that needs a direction */
    bool conservative; /* the function has a potential */
} spring;

enum { own_length, own_rate, own_count };
static const char *const own_variables[] = {"length", "rate", NULL};

static const ga_field fields[] = {
    GA_FIELD(spring, PAIR, between, "the two points", .required = true),
    GA_FIELD(spring, NUMBER, stiffness, "stiffness", .unit = "N/m"),
    GA_FIELD(spring, NUMBER, damping, "damping", .unit = "N s/m", .range = GA_NOT_NEGATIVE),
    GA_FIELD(spring, NUMBER, length,
             "free length of the spring; with 0, damping acts in all directions", .unit = "m",
             .fallback = {NAN},
             .absent = "the distance in the position given in the model file"),
    GA_FIELD(spring, NUMBER, preload, "tension at the free length", .unit = "N"),
    GA_FIELD(spring, FUNCTION, force,
             "additional tension, a function of time, `length`, `rate` and channels",
             .unit = "N", .fallback = {NAN}, .absent = "none"),
    GA_FIELD(spring, BOOLEAN, tension_only, "a cable: it pulls but does not push"),
    GA_FIELD(spring, NUMBER, transition, "extension over which a cable becomes taut",
             .unit = "m", .range = GA_POSITIVE, .fallback = {NAN},
             .absent = "a thousandth of the length"),
    {0},
};

/* --- preparation ---------------------------------------------------------------------------
 */

static bool error(const ga_setup *setup, const spring *s, const char *field, const char *text)
{
    return ga_element_error(setup, s, field, text);
}

static bool prepare_cable(spring *s, const ga_setup *setup, double distance)
{
    if (s->force)
        return error(setup, s, "force",
                     "cannot be combined with `tension_only`; use max(0, ...)");
    if (!(s->stiffness > 0))
        return error(setup, s, "stiffness", "must be positive with `tension_only`");
    if (isnan(s->transition)) s->transition = 1e-3 * fmax(s->length, distance);
    if (!(s->transition > 0))
        return error(setup, s, "length", "is zero; a cable of zero length is always taut");
    return true;
}

/* True if variables besides length and rate occur: time, or channels. */
static bool sees_more(const spring *s)
{
    for (int k = 0; k < s->observation.count; ++k)
        if (s->observation.items[k].quantity != GA_OBSERVE_OWN) return true;
    return false;
}

static bool prepare(void *element, ga_setup *setup)
{
    spring *s = element;
    if (!ga_element_between(setup, s, s->between) ||
        !ga_element_check_spring(setup, s, s->stiffness, s->damping))
        return false;
    for (int k = 0; k < 2; ++k)
        if (s->between[k].whole && s->between[k].node == GA_GROUND)
            return error(
                setup, s, "between",
                "`ground` alone is not a point; expected coordinates or a point of ground");
    double a[3], b[3];
    ga_setup_place(setup, &s->between[0], a);
    ga_setup_place(setup, &s->between[1], b);
    ga_vec3 d = ga_vec3_sub(ga_vec3_load(b), ga_vec3_load(a));
    double distance = sqrt(ga_vec3_dot(d, d));
    if (isnan(s->length)) s->length = distance;
    if (s->length < 0) return error(setup, s, "length", "is negative, expected zero or more");
    if (!s->tension_only && !isnan(s->transition))
        return error(setup, s, "transition", "is that of a cable: add `tension_only: true`");
    if (s->tension_only && !prepare_cable(s, setup, distance)) return false;
    s->central = s->length == 0 && s->preload == 0 && !s->force && !s->tension_only;
    s->conservative = s->force && !sees_more(s) && !ga_function_uses(s->force, 0);
    if (distance == 0 && !s->central)
        return error(setup, s, "between",
                     "the two points coincide: the line between them has no direction");
    return ga_observation_prepare(&s->observation, setup, s);
}

/* --- tension -------------------------------------------------------------------------------
 */

/* Length and rate; at length 0 both stand still. */
static void line(const spring *s, const ga_loads *loads, ga_dual3 *direction, ga_dual *length,
                 ga_dual *rate)
{
    int n = loads->columns;
    ga_dual3 dd;
    ga_loads_difference(loads, s->between, direction, &dd);
    ga_dual3_dot(n, direction, direction, length);
    double l = sqrt(length->value);
    ga_dual_chain(n, l, l > 0 ? 0.5 / l : 0, length, length);
    ga_dual inverse;
    ga_dual_chain(n, l > 0 ? 1 / l : 0, l > 0 ? -1 / (l * l) : 0, length, &inverse);
    ga_dual3_scale(n, &inverse, direction, direction);
    ga_dual3_dot(n, direction, &dd, rate);
}

/* e_+ with two derivatives, and its integral. */
typedef struct slack {
    double e, d, dd, integral;
} slack;

static slack take_up(const spring *s, double e)
{
    double w = s->transition, x = e / w;
    if (x <= 0) return (slack){0, 0, 0, 0};
    if (x >= 1) return (slack){e - w / 2, 1, 0, w * w * (x * (x - 1) / 2 + 0.15)};
    return (slack){w * x * x * x * (1 - x / 2), x * x * (3 - 2 * x), 6 * x * (1 - x) / w,
                   w * w * x * x * x * x * (0.25 - 0.1 * x)};
}

static double stretch(const spring *s, double length)
{
    return length - s->length + s->preload / s->stiffness;
}

static void cable_tension(const spring *s, int n, const ga_dual *length, const ga_dual *rate,
                          ga_dual *T)
{
    slack taut = take_up(s, stretch(s, length->value));
    ga_dual S, D;
    ga_dual_chain(n, s->damping * taut.d, s->damping * taut.dd, length, &D);
    ga_dual_product(n, &D, rate, &D);
    ga_dual_chain(n, s->stiffness * taut.e, s->stiffness * taut.d, length, &S);
    ga_dual_axpy(n, &S, 1, &D, T);
    if (D.value >= 0) return;
    /* S^2/(S - D) by r = S/(S - D): derivative 2 r - r^2 by S, r^2 by D */
    double r = S.value / (S.value - D.value);
    for (int j = 0; j < n; ++j) T->d[j] = (2 * r - r * r) * S.d[j] + r * r * D.d[j];
    T->value = r * S.value;
}

static void function_tension(const spring *s, const ga_loads *loads, const ga_dual *length,
                             const ga_dual *rate, ga_dual *T)
{
    const ga_dual own[own_count] = {*length, *rate};
    ga_observation_evaluate(&s->observation, loads, &s->force, 1, own, T);
}

static void tension(const spring *s, const ga_loads *loads, const ga_dual *length,
                    const ga_dual *rate, ga_dual *T)
{
    int n = loads->columns;
    if (s->tension_only) {
        cable_tension(s, n, length, rate, T);
        return;
    }
    ga_dual_constant(n, s->preload - s->stiffness * s->length, T);
    ga_dual_axpy(n, T, s->stiffness, length, T);
    ga_dual_axpy(n, T, s->damping, rate, T);
    if (s->force) {
        ga_dual more;
        function_tension(s, loads, length, rate, &more);
        ga_dual_axpy(n, T, 1, &more, T);
    }
}

/* k d + c d_A', and d. */
static void central_pull(const spring *s, const ga_loads *loads, ga_dual3 *pull, ga_dual3 *d,
                         ga_dual3 *relative)
{
    int n = loads->columns;
    ga_dual3 omega, turning;
    ga_loads_difference(loads, s->between, d, relative);
    ga_loads_angular_velocity(loads, 0, &omega);
    ga_dual3_cross(n, &omega, d, &turning);
    ga_dual3_axpy(n, relative, -1, &turning, relative);
    ga_dual3_constant(n, (ga_vec3){0, 0, 0}, pull);
    ga_dual3_axpy(n, pull, s->stiffness, d, pull);
    ga_dual3_axpy(n, pull, s->damping, relative, pull);
}

static void act(const spring *s, ga_loads *loads)
{
    ga_dual3 pull, d, relative, end;
    if (s->central)
        central_pull(s, loads, &pull, &d, &relative);
    else {
        ga_dual length, rate, T;
        line(s, loads, &pull, &length, &rate);
        tension(s, loads, &length, &rate, &T);
        ga_dual3_scale(loads->columns, &T, &pull, &pull);
    }
    ga_loads_position(loads, 1, s->between[1].p, &end);
    ga_loads_add_force(loads, 0, 1, &pull, &end);
    ga_loads_add_force(loads, 1, -1, &pull, &end);
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    ga_loads loads = ga_loads_force(element, state, f);
    act(element, &loads);
}

static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    ga_loads loads = ga_loads_tangent(element, state, K, C);
    act(element, &loads);
}

/* --- energy --------------------------------------------------------------------------------
 */

typedef struct reading {
    double length, rate, tension, function;
} reading;

static reading read(const spring *s, const ga_element_state *state)
{
    ga_loads loads = ga_loads_value(s, state);
    ga_dual3 direction;
    ga_dual length, rate, T;
    line(s, &loads, &direction, &length, &rate);
    tension(s, &loads, &length, &rate, &T);
    reading r = {length.value, rate.value, T.value, 0};
    if (s->force) {
        function_tension(s, &loads, &length, &rate, &T);
        r.function = T.value;
    }
    return r;
}

/* The function of a spring at rest. */
static double at_rest(const void *element, double length)
{
    const spring *s = element;
    double x[GA_EXPRESSION_MAX_VARIABLES] = {0};
    for (int k = 0; k < s->observation.count; ++k)
        if (s->observation.items[k].component == own_length) x[k + 1] = length;
    return ga_function_value(s->force, x);
}

static double potential(const void *element, const ga_element_state *state)
{
    const spring *s = element;
    reading r = read(s, state);
    if (s->tension_only) return s->stiffness * take_up(s, stretch(s, r.length)).integral;
    double e = r.length - s->length;
    double energy = s->stiffness * e * e / 2 + s->preload * e;
    if (s->conservative) energy += ga_integrate(at_rest, s, s->length, r.length);
    return energy;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    const spring *s = element;
    if (s->central) {
        ga_loads loads = ga_loads_value(s, state);
        ga_dual3 pull, d, relative;
        central_pull(s, &loads, &pull, &d, &relative);
        return s->damping * ga_vec3_dot(relative.value, relative.value);
    }
    reading r = read(s, state);
    if (s->tension_only)
        return (r.tension - s->stiffness * take_up(s, stretch(s, r.length)).e) * r.rate;
    double loss = s->damping * r.rate * r.rate;
    if (s->conservative) loss += (r.function - at_rest(s, r.length)) * r.rate;
    return loss;
}

static double power(const void *element, const ga_element_state *state)
{
    const spring *s = element;
    if (!s->force || s->conservative) return 0;
    reading r = read(s, state);
    return -r.function * r.rate;
}

/* --- the rest ------------------------------------------------------------------------------
 */

static void remember(const void *element, const ga_element_state *state, double *memory)
{
    ga_observation_remember(&((const spring *)element)->observation, element, state, memory);
}

static void commit(const void *element, const ga_element_state *state, double *memory)
{
    ga_observation_commit(&((const spring *)element)->observation, element, state, memory);
}

static double regularity(const void *element, const ga_element_state *state)
{
    const spring *s = element;
    if (s->central || !(s->length > 0)) return 1;
    ga_vec3 end[2];
    for (int k = 0; k < 2; ++k) {
        const ga_frame *frame = &state->frames[s->element.nodes[k]];
        end[k] = ga_vec3_add(ga_vec3_load(frame->x),
                             ga_mat3_apply(frame->R, ga_vec3_load(s->between[k].p)));
    }
    const ga_vec3 d = ga_vec3_sub(end[1], end[0]);
    return sqrt(ga_vec3_dot(d, d)) / s->length;
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    const spring *s = element;
    if (s->central) {
        ga_loads loads = ga_loads_value(s, state);
        ga_dual3 pull, d, relative;
        central_pull(s, &loads, &pull, &d, &relative);
        *out = sqrt(ga_vec3_dot(pull.value, pull.value));
        return;
    }
    *out = read(s, state).tension;
}

static void length_channel(const void *element, const ga_element_state *state, double *out)
{
    *out = read(element, state).length;
}

static void rate_channel(const void *element, const ga_element_state *state, double *out)
{
    *out = read(element, state).rate;
}

static void length_measure(const void *element, const ga_loads *loads, ga_dual *out)
{
    ga_dual3 direction;
    ga_dual rate;
    line(element, loads, &direction, out, &rate);
}

static void rate_measure(const void *element, const ga_loads *loads, ga_dual *out)
{
    ga_dual3 direction;
    ga_dual length;
    line(element, loads, &direction, &length, out);
}

static const ga_measure measures[] = {
    {"length", offsetof(spring, between), length_measure},
    {"rate", offsetof(spring, between), rate_measure},
    {0},
};

static const ga_channel_type channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "tension, positive when it pulls; with `length: 0`, the magnitude of the force",
     .count = 1,
     .value = force_channel},
    {.name = "length",
     .unit = "m",
     .help = "distance between the two points",
     .count = 1,
     .value = length_channel},
    {.name = "rate",
     .unit = "m/s",
     .help = "rate of the length",
     .count = 1,
     .value = rate_channel},
    {0},
};

const ga_element_type ga_force_spring_damper = {
    .name = "spring-damper",
    .section = "forces",
    .help = "Spring and damper between two points, along the line that joins them; linear, "
            "nonlinear by an expression in `force`, or a cable that only pulls.",
    .size = sizeof(spring),
    .fields = fields,
    .example =
        "{type: spring-damper, between: [a.p, b.p], stiffness: 50, damping: 2, length: 1}",
    .prepare = prepare,
    .force = force,
    .tangent = tangent,
    .potential = potential,
    .dissipation = dissipation,
    .power = power,
    .remember = remember,
    .commit = commit,
    .regularity = regularity,
    .singular = "its two ends coincide, so the direction of its force is undefined",
    .remedy = "`length: 0` (a spring that acts in all directions), or end points that pass "
              "each other at a distance",
    .channels = channels,
    .observation_at = offsetof(spring, observation),
    .own_variables = own_variables,
    .measures = measures,
};
