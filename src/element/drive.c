/* What acts along one coordinate s of a joint, with gradient g: the force Q g^T on its bodies.
 *
 *     spring, damper      Q = -k (s - rest) - c s'
 *     buffer beyond max   Q = -max(0, k p + c p' w(p/depth)),  p = s - max;  mirrored at min;
 *                         w rises smoothly from 0 to 1: continuous, never pulling
 *     friction            Q = -r mu(s') (N + preload)
 *
 * r is the radius of a rotation, 1 of a translation. N is the force that presses, from the
 * joint's own reaction F on the second body: its part across the first marker's axis a_z, its
 * part along it, or the sum of the two sizes, as the joint says. Sizes have a kink at zero,
 * where their derivative is taken as 0: rounding it off would take a force to compare with, and
 * any fixed one is wrong for some model. Torques of the reaction do not count. The law of
 * regularised friction, with x = s'/transition:
 *
 *     mu(s') = (mu_slide + (mu_static - mu_slide) exp(-x^2/9)) tanh(3 x)
 *
 * Sticking and stops are states of a lock, a holonomic row
 *
 *     s - held = 0
 *
 * that is there or not (then Phi = 0 with zero gradient). A start with the lock puts s exactly
 * where it is held, and there it stays, whatever the steps. With P = -lambda, what the lock
 * exerts along s, and H = r mu_static (N + preload), or 0 without friction:
 *
 *     slipping +-   Q = -+ r mu_slide (N + preload); until s' comes back to zero, then sticking
 *     sticking      while |P| <= H; then slipping in the direction P resisted. Friction has no
 *                   impulses, so an impact, of any contact, releases what sticks; behind it a
 *                   joint sticks if it is at rest, or slips in the direction of s'
 *     resting       at max while P <= H, at min while -P <= H; then free or slipping inward
 *     free          no friction of this kind; at a stop an impact: s' to -restitution s', or
 *                   to rest
 *
 * Where others determine s', as a motion of this joint does, or one elsewhere in its loop,
 * there is nothing to lock: the row would contradict theirs. Such a joint follows. It slips in
 * the direction of s', which may be reversed; coming to rest it keeps the friction it had,
 * which is one of many possible then, and before it has moved it has none.
 *
 * With gap = max - s, or s - min, an impact is where both the gap and its rate have become
 * negative, the zero of
 *
 *     max(gap + tolerance, min(gap', gap + 4 tolerance))
 *
 * Behind a rebound this is positive whatever round-off has made of the gap, so the next impact
 * cannot be missed however small the rebound is; but no rate, interpolated over a large step,
 * excuses a gap that is clearly negative. The tolerance is round-off of the gap: a body
 * that is released from rest, where the gap is zero up to that and its rate is zero, is inside.
 *
 * With restitution e < 1 rebounds may shrink geometrically, infinitely many of them in a finite
 * time. They end in rest when the next one could not be told from rest: its height, at most
 * e |s'| times its duration, is below the tolerance, or that duration is below round-off of t;
 * it is e times the duration of the last flight. Both are relative to the size of the problem,
 * not to a unit. Where round-off of the gap is larger than that, as on a short arm far from the
 * origin, it keeps small rebounds going: they end in rest when they no longer shrink. A rebound
 * slower than `slowest` ends in rest, too, if the user gives such a limit. Without restitution
 * contacts may still open each other in turn, by smaller and smaller rates; a contact at rest
 * stays closed where it could not be told from that.
 */
#include "element/joint.h"

#include <float.h>
#include <string.h>

typedef enum mode {
    SLIPPING_BACK = -1,
    FREE = 0,
    SLIPPING = 1,
    STICKING = 2,
    RESTING_MAX = 3,
    RESTING_MIN = 4,
    LANDING_MAX = 5, /* about to rest: struck, but not held yet while the impact is computed */
    LANDING_MIN = 6,
    TOUCHING = 7, /* held while the position at an impact is made consistent */
    YIELDING = 8  /* was sticking before an impact: sticks again if that leaves it at rest */
} mode;

/* Memory: the mode; where s is held; how far the gaps may be negative before there is an
 * impact; the largest coordinate met, and what its round-off is relative to; the largest terms
 * of a rate met, which round-off of s' is relative to; when s left a stop, NaN: has not yet;
 * twice the height of the rebound then, at most; the mode after TOUCHING; whether s follows
 * others; the longest step. */
enum {
    MODE,
    HELD_AT,
    SLACK_MAX,
    SLACK_MIN,
    SIZE,
    COARSE,
    RATE_SIZE,
    LEFT_AT,
    HEIGHT,
    NEXT_MODE,
    FOLLOWS,
    LONGEST_STEP,
    MEMORY_COUNT
};
enum { EVENT_LOCK, EVENT_MAX, EVENT_MIN, EVENT_COUNT };

/* Round-off of a coordinate, of a rate and of the time, in units of its size: sums of a dozen
 * products, with room for what a projection onto the constraints leaves. */
static const double round_off = 64 * DBL_EPSILON;

static bool slipping(mode m) { return m == SLIPPING || m == SLIPPING_BACK; }

typedef struct ga_drive_element {
    ga_element element;
    const ga_joint *joint;
    const ga_attachment *a;
    const ga_coordinate_type *coordinate;
    int k;
    bool rubs, sticks; /* regularised friction, stiction */
    bool buffers, stops;
    double arm, mu, mu_static;
    bool coupled[4][4];
} drive;

/* --- laws ----------------------------------------------------------------------------------
 */

static double static_coefficient(const ga_friction *f)
{
    return isnan(f->static_coefficient) ? f->coefficient : f->static_coefficient;
}

void ga_friction_law(const ga_friction *friction, double v, double out[2])
{
    const double x = v / friction->transition, h = tanh(3 * x);
    const double stribeck =
        (static_coefficient(friction) - friction->coefficient) * exp(-x * x / 9);
    const double mu = friction->coefficient + stribeck;
    out[0] = mu * h;
    out[1] = (mu * 3 * (1 - h * h) - 2 * x / 9 * stribeck * h) / friction->transition;
}

void ga_friction_press(double x2, double out[2])
{
    const double n = sqrt(x2);
    out[0] = n;
    out[1] = n > 0 ? 1 / n : 0;
}

/* Q and its derivatives by s, s' and N; energy stored; power lost. */
typedef struct effort {
    double Q, Q_s, Q_v, Q_N;
    double potential, dissipation;
} effort;

/* Penetration p at rate v, force against it. */
static void add_buffer(const ga_limits *l, double p, double v, double sign, effort *e)
{
    if (!(p > 0)) return; /* also where there is no such limit */
    const double x = fmin(p / l->depth, 1);
    const double w = x * x * (3 - 2 * x), w_p = 6 * x * (1 - x) / l->depth;
    const double push = l->stiffness * p + l->damping * v * w;
    e->potential += 0.5 * l->stiffness * p * p;
    e->dissipation += (fmax(push, 0) - l->stiffness * p) * v;
    if (!(push > 0)) return;
    e->Q -= sign * push;
    e->Q_s -= l->stiffness + l->damping * v * w_p;
    e->Q_v -= l->damping * w;
}

static effort exert(const drive *d, mode m, double s, double v, double N)
{
    const ga_attachment *a = d->a;
    const double x = s - a->rest, pressed = N + a->friction.preload;
    effort e = {.Q = -a->stiffness * x - a->damping * v,
                .Q_s = -a->stiffness,
                .Q_v = -a->damping,
                .potential = 0.5 * a->stiffness * x * x,
                .dissipation = a->damping * v * v};
    if (d->buffers) {
        add_buffer(&a->limits, s - a->limits.max, v, 1, &e);
        add_buffer(&a->limits, a->limits.min - s, -v, -1, &e);
    }
    double law[2] = {0};
    if (d->rubs) ga_friction_law(&a->friction, v, law);
    if (slipping(m)) law[0] = (int)m * d->mu;
    e.Q -= d->arm * law[0] * pressed;
    e.Q_v -= d->arm * law[1] * pressed;
    e.Q_N = -d->arm * law[0];
    e.dissipation += d->arm * law[0] * pressed * v;
    return e;
}

/* The normal force N from the joint's multipliers; derivatives by them, and by the frames
 * (world axes), where asked for. With F = -sum lambda_k g_k (translation of the second body)
 * and c = dN/dF: D F = -(sum lambda_k S_k) - F~ delta_theta_b, as S lets F turn with its body.
 */
static double press(const ga_pair *pair, const ga_coordinate_type *c, const double *lambda,
                    double *by_lambda, double *by_frames)
{
    const int rows = pair->joint->element.rows;
    ga_scalar s;
    ga_vec3 F = {0, 0, 0}, row[GA_JOINT_MAX_ROWS];
    for (int k = 0; k < rows; ++k) {
        ga_pair_row(pair, k, GA_ORDER_GRADIENT, &s);
        row[k] = ga_vec3_load(s.g + GA_TWIST);
        F = ga_vec3_axpy(F, -lambda[k], row[k]);
    }
    const ga_vec3 z = pair->axis[0][2];
    const double along = ga_vec3_dot(F, z);
    const ga_vec3 across = ga_vec3_axpy(F, -along, z);
    double transverse[2] = {0}, axial[2] = {0};
    if (c->transverse) ga_friction_press(ga_vec3_dot(across, across), transverse);
    if (c->axial) ga_friction_press(along * along, axial);

    const ga_vec3 by_F =
        ga_vec3_axpy(ga_vec3_scale(transverse[1], across), axial[1] * along, z);
    const ga_vec3 by_z = ga_vec3_scale((axial[1] - transverse[1]) * along, F);
    if (by_lambda)
        for (int k = 0; k < rows; ++k) by_lambda[k] = -ga_vec3_dot(by_F, row[k]);
    if (by_frames) {
        double W[GA_PAIR * GA_PAIR] = {0};
        ga_pair_add_geometric(pair, lambda, W);
        const double *w = W + GA_TWIST * GA_PAIR;
        for (int j = 0; j < GA_PAIR; ++j)
            by_frames[j] =
                -(by_F.x * w[j] + by_F.y * w[GA_PAIR + j] + by_F.z * w[2 * GA_PAIR + j]);
        const ga_vec3 first = ga_vec3_cross(z, by_z), second = ga_vec3_cross(F, by_F);
        ga_vec3_store(ga_vec3_add(ga_vec3_load(by_frames + 3), first), by_frames + 3);
        ga_vec3_store(ga_vec3_add(ga_vec3_load(by_frames + 9), second), by_frames + 9);
    }
    return transverse[0] + axial[0];
}

/* --- the coordinate at a state -------------------------------------------------------------
 */

typedef struct look {
    ga_pair pair;
    ga_scalar s; /* world axes */
    double rate;
    double rate_size; /* sum of the sizes of its terms */
} look;

static void look_at(const drive *d, const ga_element_state *state, ga_derivative_order order,
                    look *l)
{
    ga_pair_locate(d->joint, state, &l->pair);
    ga_pair_twists(&l->pair, l->pair.nu);
    ga_pair_coordinate(&l->pair, d->k, order, &l->s);
    l->rate = l->rate_size = 0;
    for (int i = 0; i < GA_PAIR; ++i) {
        l->rate += l->s.g[i] * l->pair.nu[i];
        l->rate_size += fabs(l->s.g[i] * l->pair.nu[i]);
    }
}

static mode mode_in(const double *memory) { return (mode)(int)memory[MODE]; }

static mode mode_of(const drive *d, const ga_element_state *state)
{
    if (d->element.memory_count == 0 || !state->memory) return FREE;
    return mode_in(state->memory + d->element.memory);
}

static bool locked(mode m)
{
    return m == STICKING || m == RESTING_MAX || m == RESTING_MIN || m == TOUCHING;
}

static double normal(const drive *d, const look *l)
{
    if (!d->element.host) return 0;
    const double *lambda = l->pair.state->lambda + d->joint->element.row;
    return press(&l->pair, d->coordinate, lambda, NULL, NULL);
}

static effort exert_at(const drive *d, const ga_element_state *state, ga_derivative_order order,
                       look *l)
{
    look_at(d, state, order, l);
    return exert(d, mode_of(d, state), l->s.value, l->rate, normal(d, l));
}

/* --- force ---------------------------------------------------------------------------------
 */

static void force(const void *element, const ga_element_state *state, double *f)
{
    look l;
    double g[GA_PAIR];
    const effort e = exert_at(element, state, GA_ORDER_GRADIENT, &l);
    ga_pair_to_body(&l.pair, l.s.g, g);
    for (int i = 0; i < GA_PAIR; ++i) f[i] += e.Q * g[i];
}

/* K = -g (D Q)^T - Q S with D Q = Q_s g + Q_v (nu^T S) + Q_N D N,  C = -Q_v g g^T */
static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    const drive *d = element;
    look l;
    const effort e = exert_at(d, state, GA_ORDER_SECOND, &l);
    double DQ[GA_PAIR], DN[GA_PAIR] = {0}, g[GA_PAIR];
    ga_scalar_swept(&l.s, l.pair.nu, DQ);
    if (d->element.host && e.Q_N != 0)
        press(&l.pair, d->coordinate, state->lambda + d->joint->element.row, NULL, DN);
    for (int i = 0; i < GA_PAIR; ++i) DQ[i] = e.Q_s * l.s.g[i] + e.Q_v * DQ[i] + e.Q_N * DN[i];
    ga_pair_add_to_body(&l.pair, -e.Q, l.s.S, K);
    ga_pair_to_body(&l.pair, l.s.g, g);
    ga_pair_to_body(&l.pair, DQ, DQ);
    for (int i = 0; i < GA_PAIR; ++i)
        for (int j = 0; j < GA_PAIR; ++j) {
            K[GA_PAIR * i + j] -= g[i] * DQ[j];
            C[GA_PAIR * i + j] -= e.Q_v * g[i] * g[j];
        }
}

static void force_multipliers(const void *element, const ga_element_state *state, double *L)
{
    const drive *d = element;
    if (!d->element.host) return;
    const int rows = d->joint->element.rows, columns = rows + d->joint->element.speed_rows;
    look l;
    double by_lambda[GA_JOINT_MAX_ROWS], g[GA_PAIR];
    const effort e = exert_at(d, state, GA_ORDER_GRADIENT, &l);
    press(&l.pair, d->coordinate, state->lambda + d->joint->element.row, by_lambda, NULL);
    ga_pair_to_body(&l.pair, l.s.g, g);
    for (int i = 0; i < GA_PAIR; ++i)
        for (int k = 0; k < rows; ++k) L[columns * i + k] += g[i] * e.Q_N * by_lambda[k];
}

static double potential(const void *element, const ga_element_state *state)
{
    look l;
    return exert_at(element, state, GA_ORDER_GRADIENT, &l).potential;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    look l;
    return exert_at(element, state, GA_ORDER_GRADIENT, &l).dissipation;
}

/* --- lock ----------------------------------------------------------------------------------
 */

static void constraint(const void *element, const ga_element_state *state, double *Phi)
{
    const drive *d = element;
    look l;
    *Phi = 0;
    if (!locked(mode_of(d, state))) return;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    *Phi = l.s.value - state->memory[d->element.memory + HELD_AT];
}

static void gradient(const void *element, const ga_element_state *state, double *B)
{
    const drive *d = element;
    look l;
    memset(B, 0, GA_PAIR * sizeof *B);
    if (!locked(mode_of(d, state))) return;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    ga_pair_to_body(&l.pair, l.s.g, B);
}

static void speed_stiffness(const void *element, const ga_element_state *state, double *Z)
{
    const drive *d = element;
    look l;
    memset(Z, 0, GA_PAIR * sizeof *Z);
    if (!locked(mode_of(d, state))) return;
    look_at(d, state, GA_ORDER_SWEPT, &l);
    ga_pair_to_body(&l.pair, l.s.swept, Z);
}

static void geometric(const void *element, const ga_element_state *state, const double *lambda,
                      double *K)
{
    const drive *d = element;
    look l;
    if (!locked(mode_of(d, state))) return;
    look_at(d, state, GA_ORDER_SECOND, &l);
    ga_pair_add_to_body(&l.pair, lambda[0], l.s.S, K);
}

static const char *row_name(const void *element, int k)
{
    (void)k;
    const drive *d = element;
    return d->sticks ? "sticking" : "resting at a stop";
}

static double lock_effort(const drive *d, const ga_element_state *state)
{
    return -state->lambda[d->element.row];
}

double ga_drive_effort(const struct ga_drive_element *d, const ga_element_state *state)
{
    look l;
    const double Q = exert_at(d, state, GA_ORDER_GRADIENT, &l).Q;
    return locked(mode_of(d, state)) ? Q + lock_effort(d, state) : Q;
}

double ga_drive_limit(const struct ga_drive_element *d, const ga_element_state *state,
                      const char **unit)
{
    const ga_limits *limits = &d->a->limits;
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    *unit = d->coordinate->angular ? "rad" : "m";
    const bool is_max =
        !isfinite(limits->min) || fabs(l.s.value - limits->max) < fabs(l.s.value - limits->min);
    return is_max ? limits->max : limits->min;
}

/* --- switching -----------------------------------------------------------------------------
 */

/* H, what friction can hold */
static double hold(const drive *d, const look *l)
{
    if (!d->sticks) return 0;
    return d->arm * d->mu_static * (normal(d, l) + d->a->friction.preload);
}

/* Positive while the lock holds. */
static double margin(const drive *d, mode m, const ga_element_state *state, const look *l)
{
    const double P = lock_effort(d, state), H = hold(d, l);
    switch (m) {
    case STICKING:
        return H - fabs(P);
    case RESTING_MAX:
        return H - P;
    case RESTING_MIN:
        return H + P;
    default:
        return 1;
    }
}

/* The stop at max or at min. */
typedef struct stop {
    mode resting, landing, rebounding;
    int slack; /* in memory */
} stop;

static const stop stop_max = {RESTING_MAX, LANDING_MAX, SLIPPING_BACK, SLACK_MAX};
static const stop stop_min = {RESTING_MIN, LANDING_MIN, SLIPPING, SLACK_MIN};

static bool exists(const drive *d, const stop *at)
{
    return d->stops && !isnan(at == &stop_max ? d->a->limits.max : d->a->limits.min);
}

static double gap(const drive *d, const stop *at, const look *l)
{
    return at == &stop_max ? d->a->limits.max - l->s.value : l->s.value - d->a->limits.min;
}

static double gap_rate(const stop *at, const look *l)
{
    return at == &stop_max ? -l->rate : l->rate;
}

/* What round-off of an angle is relative to: the constraints that hold a body by its arm turn
 * round-off of its position into that of its angle. An arm that is much shorter still belongs
 * to a body held in its centre of mass. */
static double coarse(const drive *d, const look *l, double size)
{
    static const double shortest = 1e-6, most = 1e4;
    for (int b = 0; b < 2; ++b) {
        const double *x = l->pair.frame[b]->x, *p = d->joint->marker[b].p;
        const double far = fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2]));
        const double arm = fmax(fmax(fabs(p[0]), fabs(p[1])), fabs(p[2]));
        if (arm > shortest * far) size = fmax(size, fmin(far / arm, most));
    }
    return size;
}

/* Positions in the world have the round-off of s, for angles that of one radian. At the origin,
 * where both are zero, there still is that of what s moves in a step. */
static void meet(const drive *d, const look *l, double *memory)
{
    double size = fmax(fabs(l->s.value), l->rate_size * l->pair.state->interval);
    if (d->coordinate->angular) size = fmax(size, 1);
    for (int b = 0; b < 2 && !d->coordinate->angular; ++b)
        for (int i = 0; i < 3; ++i) {
            const double *p = d->joint->marker[b].p;
            size = fmax(size, fmax(fabs(l->pair.frame[b]->x[i]), fabs(p[i])));
        }
    memory[SIZE] = fmax(memory[SIZE], size);
    memory[COARSE] = fmax(memory[COARSE], d->coordinate->angular ? coarse(d, l, size) : size);
    memory[RATE_SIZE] = fmax(memory[RATE_SIZE], l->rate_size);
    memory[LONGEST_STEP] = fmax(memory[LONGEST_STEP], l->pair.state->interval);
}

static double tolerance(const double *memory) { return round_off * memory[COARSE]; }

/* Rates below this count as zero. Those that others prescribe do not come to rest by an event,
 * but may be round-off for any time: then also those that move s by round-off in a step. */
static double still(const double *memory)
{
    const double least = round_off * memory[RATE_SIZE];
    if (memory[FOLLOWS] == 0 || !(memory[LONGEST_STEP] > 0)) return least;
    return fmax(least, tolerance(memory) / memory[LONGEST_STEP]);
}

double ga_drive_beyond(const struct ga_drive_element *d, const ga_element_state *state,
                       const double *memory, double *relative)
{
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    double least = INFINITY;
    if (exists(d, &stop_max)) least = fmin(least, gap(d, &stop_max, &l));
    if (exists(d, &stop_min)) least = fmin(least, gap(d, &stop_min, &l));
    *relative = memory[SIZE] > 0 ? -least / memory[SIZE] : 0;
    return -least;
}

/* From here on an impact is where the gap gets below what it is now, if it is negative. */
static void open_gap(const drive *d, const stop *at, const look *l, double *memory)
{
    if (exists(d, at)) memory[at->slack] = tolerance(memory) - fmin(gap(d, at, l), 0);
}

/* Into a mode at s. */
static void change(const drive *d, mode m, double s, double *memory)
{
    memory[MODE] = m;
    memory[HELD_AT] = m == RESTING_MAX   ? d->a->limits.max
                      : m == RESTING_MIN ? d->a->limits.min
                                         : s;
}

static bool rests_at(const drive *d, const stop *at, const look *l, const double *memory)
{
    return exists(d, at) && gap(d, at, l) <= tolerance(memory) &&
           fabs(l->rate) <= round_off * l->rate_size;
}

/* At rest at a stop, or without motion and friction: held, settle() will see. */
static void remember(const void *element, const ga_element_state *state, double *memory)
{
    const drive *d = element;
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    memory[SIZE] = memory[COARSE] = memory[RATE_SIZE] = memory[LONGEST_STEP] = memory[FOLLOWS] =
        0;
    memory[LEFT_AT] = memory[HEIGHT] = NAN;
    meet(d, &l, memory);
    open_gap(d, &stop_max, &l, memory);
    open_gap(d, &stop_min, &l, memory);
    const bool sticks = d->sticks && fabs(l.rate) <= still(memory);
    mode m = FREE;
    if (d->sticks) m = sticks ? STICKING : l.rate > 0 ? SLIPPING : SLIPPING_BACK;
    if (rests_at(d, &stop_max, &l, memory)) m = RESTING_MAX;
    if (rests_at(d, &stop_min, &l, memory)) m = RESTING_MIN;
    change(d, m, l.s.value, memory);
}

static void commit(const void *element, const ga_element_state *state, double *memory)
{
    const drive *d = element;
    look l;
    if (locked(mode_in(memory))) return;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    meet(d, &l, memory);
    if (!d->stops) return;
    if (gap(d, &stop_max, &l) > 0) open_gap(d, &stop_max, &l, memory);
    if (gap(d, &stop_min, &l) > 0) open_gap(d, &stop_min, &l, memory);
}

static double impact_function(const drive *d, const stop *at, const look *l,
                              const double *memory)
{
    if (!exists(d, at)) return 1;
    const double x = gap(d, at, l), slack = memory[at->slack];
    return fmax(x + slack, fmin(gap_rate(at, l), x + 4 * slack));
}

static void events(const void *element, const ga_element_state *state, double *g)
{
    const drive *d = element;
    const double *memory = state->memory + d->element.memory;
    const mode m = mode_in(memory);
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    g[EVENT_LOCK] = g[EVENT_MAX] = g[EVENT_MIN] = 1;
    if (locked(m)) {
        g[EVENT_LOCK] = margin(d, m, state, &l);
        return;
    }
    if (slipping(m)) g[EVENT_LOCK] = (int)m * l.rate + still(memory);
    if (m == FREE && d->sticks) g[EVENT_LOCK] = still(memory) - fabs(l.rate);
    g[EVENT_MAX] = impact_function(d, &stop_max, &l, memory);
    g[EVENT_MIN] = impact_function(d, &stop_min, &l, memory);
}

/* The lock gives way to what it resisted. One that was stuck within the tolerance of a stop
 * keeps its slack: if every bounce had a new one, they would creep through the stop. */
static void release(const drive *d, mode m, const ga_element_state *state, const look *l,
                    double *memory)
{
    const bool back = m == RESTING_MAX || (m == STICKING && lock_effort(d, state) > 0);
    change(d, !d->sticks ? FREE : back ? SLIPPING_BACK : SLIPPING, l->s.value, memory);
    memory[LEFT_AT] = state->t;
    memory[HEIGHT] = NAN;
    if (m == RESTING_MAX) open_gap(d, &stop_max, l, memory);
    if (m == RESTING_MIN) open_gap(d, &stop_min, l, memory);
}

/* Can a rebound at this rate, which takes at most as long as the given flight, not be told from
 * rest? The flight is NaN before the first impact. */
static bool is_rest(const drive *d, double rebound, double flight, double t,
                    const double *memory)
{
    return rebound == 0 || rebound < d->a->limits.slowest ||
           rebound * flight <= tolerance(memory) || flight <= round_off * fabs(t);
}

/* In units of the tolerance: rebounds that are less high should shrink by e^2 each time. */
static const double LOW = 1000;

static bool lands(const drive *d, double rebound, double flight, double t, const double *memory)
{
    const double height = rebound * flight;
    return is_rest(d, rebound, flight, t, memory) ||
           (height >= memory[HEIGHT] && height <= LOW * tolerance(memory));
}

static ga_switch strike(const drive *d, const stop *at, const look *l, double t, double *memory,
                        ga_impact *impact)
{
    if (gap_rate(at, l) >= 0 && gap(d, at, l) > -2 * memory[at->slack])
        return GA_SWITCH_NOTHING;
    /* one that is leaving is only put back to where its slack ends */
    const double e = d->a->limits.restitution, rebound = e * fabs(l->rate),
                 flight = e * (t - memory[LEFT_AT]);
    const bool rest = gap_rate(at, l) <= 0 && lands(d, rebound, flight, t, memory);
    change(d, rest ? at->landing : d->sticks ? at->rebounding : FREE, l->s.value, memory);
    if (!rest) { /* else the impulses of others may still open it */
        memory[LEFT_AT] = t;
        memory[HEIGHT] = rebound * flight;
    }
    impact->restitution = rest ? 0 : d->a->limits.restitution;
    return GA_SWITCH_IMPACT;
}

/* Slips in the direction that others give. True if that is another. */
static bool follow_rate(const drive *d, const look *l, double *memory)
{
    const mode m = mode_in(memory), now = l->rate > 0 ? SLIPPING : SLIPPING_BACK;
    if (!d->sticks || m == now) return false;
    change(d, now, l->s.value, memory);
    return true;
}

static bool unlock(const void *element, const ga_element_state *state, double *memory,
                   double *gradient)
{
    const drive *d = element;
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    ga_pair_to_body(&l.pair, l.s.g, gradient);
    const bool was = locked(mode_in(memory));
    if (was) memory[MODE] = FREE;
    return was;
}

static void follow(const void *element, double *memory)
{
    (void)element;
    if (locked(mode_in(memory))) memory[MODE] = FREE;
    memory[FOLLOWS] = 1;
}

static ga_switch happen(const void *element, int event, const ga_element_state *state,
                        double *memory, ga_impact *impact)
{
    const drive *d = element;
    const mode m = mode_in(memory);
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    meet(d, &l, memory);
    if (event != EVENT_LOCK && locked(m)) return GA_SWITCH_NOTHING;
    if (event == EVENT_MAX) return strike(d, &stop_max, &l, state->t, memory, impact);
    if (event == EVENT_MIN) return strike(d, &stop_min, &l, state->t, memory, impact);
    if (locked(m))
        release(d, m, state, &l, memory);
    else if (m == FREE || memory[FOLLOWS] != 0 || impact->determined)
        return follow_rate(d, &l, memory) ? GA_SWITCH_MODE : GA_SWITCH_NOTHING;
    else
        change(d, STICKING, l.s.value, memory);
    return GA_SWITCH_MODE;
}

/* The stop s is at, or null. */
static const stop *stop_at(const drive *d, const look *l, const double *memory)
{
    const mode m = mode_in(memory);
    const stop *const stops[2] = {&stop_max, &stop_min};
    for (int k = 0; k < 2; ++k) {
        const stop *at = stops[k];
        if (!exists(d, at) || m == STICKING) continue;
        if (m == at->resting || m == at->landing) return at;
        if (!locked(m) && gap(d, at, l) <= 2 * tolerance(memory)) return at;
    }
    return NULL;
}

/* A rebound begins where the impact function is zero, so that it also ends there: a height
 * gained at each impact would keep small bounces going. One that comes to rest is at its stop,
 * where the start that follows will hold it. */
static bool touch(const void *element, const ga_element_state *state, double *memory,
                  ga_impact *impact)
{
    const drive *d = element;
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    meet(d, &l, memory);
    const stop *at = stop_at(d, &l, memory);
    if (mode_in(memory) == STICKING) memory[MODE] = YIELDING;
    if (!at) return false;
    const bool closes = gap_rate(at, &l) < -round_off * l.rate_size;
    if (impact && closes && !locked(mode_in(memory)))
        strike(d, at, &l, state->t, memory, impact);
    const mode m = mode_in(memory);
    const mode next = m == at->resting ? at->landing : m;
    memory[NEXT_MODE] = next;
    memory[MODE] = TOUCHING;
    memory[at->slack] = fmax(memory[at->slack], tolerance(memory)); /* which may have grown */
    const double beyond = next == at->landing ? 0 : memory[at->slack];
    memory[HELD_AT] = at == &stop_max ? d->a->limits.max + beyond : d->a->limits.min - beyond;
    return true;
}

static void loosen(const void *element, const ga_element_state *state, double *memory,
                   double *gradient)
{
    const drive *d = element;
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    memory[MODE] = memory[NEXT_MODE];
    const stop *at = stop_at(d, &l, memory);
    ga_pair_to_body(&l.pair, l.s.g, gradient);
    for (int i = 0; at == &stop_max && i < GA_PAIR; ++i) gradient[i] = -gradient[i];
}

static void part(const void *element, const ga_element_state *state, bool stays, double *memory)
{
    const drive *d = element;
    const mode m = mode_in(memory);
    look l;
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    const stop *at = stop_at(d, &l, memory);
    if (!at || stays == (m == at->landing)) return;
    /* Contacts that open each other in turn accumulate like rebounds, and end like them. */
    if (!stays && is_rest(d, fabs(l.rate), state->t - memory[LEFT_AT], state->t, memory))
        return;
    change(d, stays ? at->landing : d->sticks ? at->rebounding : FREE, l.s.value, memory);
    memory[LEFT_AT] = state->t;
    /* where its position could not be held */
    if (!stays && gap(d, at, &l) < -2 * memory[at->slack]) open_gap(d, at, &l, memory);
}

static bool settle(const void *element, const ga_element_state *state, double *memory)
{
    const drive *d = element;
    const mode m = mode_in(memory);
    look l;
    if (m == LANDING_MAX || m == LANDING_MIN) {
        change(d, m == LANDING_MAX ? RESTING_MAX : RESTING_MIN, 0, memory);
        return true;
    }
    if (memory[FOLLOWS] != 0) {
        look_at(d, state, GA_ORDER_GRADIENT, &l);
        const bool moves = fabs(l.rate) > still(memory);
        return moves && follow_rate(d, &l, memory);
    }
    look_at(d, state, GA_ORDER_GRADIENT, &l);
    if (m == YIELDING && fabs(l.rate) <= still(memory)) {
        memory[MODE] = STICKING;
        return true;
    }
    if (m == YIELDING || (slipping(m) && (int)m * l.rate < -still(memory)))
        return follow_rate(d, &l, memory);
    if (!locked(m) || margin(d, m, state, &l) >= 0) return false;
    release(d, m, state, &l, memory);
    return true;
}

/* --- preparation ---------------------------------------------------------------------------
 */

void ga_drive_init(void *element, const ga_joint *joint, int k)
{
    drive *d = element;
    memset(d, 0, sizeof *d);
    d->element.type = &ga_drive;
    d->element.name = joint->element.name;
    d->element.place = joint->element.place;
    d->joint = joint;
    d->k = k;
    joint->drives[k] = d;
}

static bool prepare(void *element, ga_setup *setup)
{
    (void)setup;
    drive *d = element;
    ga_element *e = &d->element;
    const ga_attachment *a = &d->joint->attachment[d->k];
    const ga_friction *f = &a->friction;
    d->a = a;
    d->coordinate = ga_joint_coordinate_type(d->joint, d->k);
    d->rubs = f->head.given && f->model == GA_FRICTION_REGULARISED;
    d->sticks = f->head.given && f->model == GA_FRICTION_STICTION;
    d->buffers = a->limits.head.given && a->limits.model == GA_LIMITS_BUFFER;
    d->stops = a->limits.head.given && a->limits.model == GA_LIMITS_STOP;
    d->arm = d->coordinate->angular ? f->radius : 1;
    d->mu = f->coefficient;
    d->mu_static = static_coefficient(f);

    e->node_count = 2;
    memcpy(e->nodes, d->joint->element.nodes, 2 * sizeof *e->nodes);
    const bool switches = d->sticks || d->stops;
    e->rows = switches ? 1 : 0;
    e->memory_count = switches ? MEMORY_COUNT : 0;
    e->event_count = switches ? EVENT_COUNT : 0;
    e->host = d->rubs || d->sticks ? &d->joint->element : NULL;

    const ga_blocks b = ga_joint_coordinate_blocks(d->joint, d->k);
    for (int j = 0; j < 4; ++j) {
        bool moves = b.g[j] || e->host; /* D Q has a block j */
        for (int i = 0; i < 4; ++i) moves = moves || b.S[i][j];
        for (int i = 0; i < 4; ++i) d->coupled[i][j] = b.S[i][j] || (b.g[i] && moves);
    }
    return true;
}

static const char *kind(const void *element)
{
    const drive *d = element;
    if (d->stops && d->sticks) return "stiction and stop";
    return d->stops ? "stop" : d->sticks ? "stiction" : ga_drive.name;
}

static bool coupled(const void *element, int i, int j)
{
    const drive *d = element;
    return d->coupled[i][j];
}

const ga_element_type ga_drive = {
    .name = "spring, damper, friction or buffer",
    .kind = kind,
    .help = "What acts along a coordinate of a joint.",
    .size = sizeof(drive),
    .prepare = prepare,
    .row_name = row_name,
    .constraint = constraint,
    .gradient = gradient,
    .geometric = geometric,
    .speed_stiffness = speed_stiffness,
    .coupled = coupled,
    .force = force,
    .tangent = tangent,
    .force_multipliers = force_multipliers,
    .potential = potential,
    .dissipation = dissipation,
    .remember = remember,
    .unlock = unlock,
    .follow = follow,
    .commit = commit,
    .events = events,
    .first_gap = EVENT_MAX,
    .happen = happen,
    .touch = touch,
    .loosen = loosen,
    .part = part,
    .settle = settle,
};
