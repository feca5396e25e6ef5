/* What acts along coordinates of joints, motions and gears: derivatives, energy, balance; and
 * the modes of sticking and stops, stepped through by hand. */
#include "test/element/rig.h"

/* A joint in general position. */
static ga_joint *bare(rig *r, const char *name, int first, int second)
{
    ga_joint *joint = rig_new(ga_element_type_find("joints", name));
    rig_join(joint, first, second);
    for (const ga_field *f = joint->element.type->fields; f->name; ++f) {
        if (strcmp(f->name, "at") == 0) joint->at[0] = joint->at[1] = joint->at[2] = 0.2;
        if (r->setup.dimension == 2) joint->at[2] = 0;
        if (strcmp(f->name, "axis") == 0 && r->setup.dimension == 3)
            rig_set3(joint, "axis", 0.5, 0.7, -0.4);
        if (strcmp(f->name, "pitch") == 0) rig_set(joint, "pitch", 0.3);
    }
    return joint;
}

static void shake(rig *r, double size)
{
    for (int b = 1; b <= RIG_NODES; ++b) rig_frame(r, &r->store[b], size);
}

static void rub(ga_attachment *a, int model)
{
    a->friction = (ga_friction){.head = {true},
                                .coefficient = 0.3,
                                .static_coefficient = 0.5,
                                .radius = 0.4,
                                .preload = 0.7,
                                .transition = 3,
                                .model = model};
}

static void limit(ga_attachment *a, int model)
{
    ga_limits *l = &a->limits;
    *l = (ga_limits){.head = {true}, .min = -0.05, .max = 0.02, .model = model, .depth = 2};
    if (model == GA_LIMITS_STOP) {
        l->restitution = 0.5;
        l->slowest = 1e-3;
    } else {
        l->stiffness = 20;
        l->damping = 3;
    }
}

enum { SPRING, BUFFER, RUB, STICK, VARIANTS };

static void attach(ga_attachment *a, int variant)
{
    a->stiffness = 3;
    a->damping = 0.7;
    a->rest = 0.1;
    if (variant == BUFFER) limit(a, GA_LIMITS_BUFFER);
    if (variant == RUB) rub(a, GA_FRICTION_REGULARISED);
    if (variant == STICK) rub(a, GA_FRICTION_STICTION);
}

static const struct {
    const char *name;
    bool planar;
} jointed[] = {{"revolute", true},     {"prismatic", true}, {"cylindrical", false},
               {"universal", false},   {"planar", false},   {"screw", false},
               {"point-on-line", true}};
enum { JOINTED = sizeof jointed / sizeof *jointed };

static bool near_limit(const ga_joint *joint, int k, const ga_element_state *state)
{
    ga_scalar s;
    ga_joint_coordinate(joint, k, state, GA_ORDER_VALUE, &s);
    return fabs(s.value - 0.02) < 0.03 || fabs(s.value + 0.05) < 0.03;
}

static void check_drive(const char *name, int dimension, int variant, unsigned seed)
{
    rig r;
    rig_init(&r, dimension, seed);
    ga_joint *joint = bare(&r, name, seed % 2 ? 0 : GA_GROUND, 1);
    for (int k = 0; k < GA_JOINT_MAX_COORDINATES; ++k) attach(&joint->attachment[k], variant);
    rig_add(&r, joint);
    for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
        ga_element *drive = rig_add_drive(&r, joint, k);
        rig saved = r;
        for (int state = 0; state < 2; ++state) {
            do { /* not where the buffer begins, force has a kink there */
                shake(&r, 0.3);
                if (state == 0) rig_project(&r, &joint->element);
            } while (near_limit(joint, k, &r.state));
            if (variant == STICK) /* slipping, sticking */
                r.memory[drive->memory] =
                    state == 0 ? (ga_joint_rate(joint, k, &r.state) > 0 ? 1 : -1) : 2;
            rig_check(&r, drive);
            rig_check_balance(&r, drive, rig_force, state == 0 ? 1e-12 : 1);
        }
        memcpy(r.store, saved.store, sizeof r.store);
    }
    rig_free(&r);
}

static void derivatives(void **unused)
{
    (void)unused;
    for (int i = 0; i < JOINTED; ++i)
        for (int dimension = jointed[i].planar ? 2 : 3; dimension <= 3; ++dimension)
            for (int variant = 0; variant < VARIANTS; ++variant)
                for (unsigned seed = 1; seed <= 2; ++seed)
                    check_drive(jointed[i].name, dimension, variant, seed);
}

static void ball(void **unused)
{
    (void)unused;
    for (unsigned seed = 1; seed <= 3; ++seed)
        for (int variant = 0; variant < 2; ++variant) {
            rig r;
            rig_init(&r, 3, seed);
            ga_joint *joint = bare(&r, "spherical", seed == 2 ? GA_GROUND : 0, 1);
            attach(&joint->attachment[0], variant ? RUB : SPRING);
            rig_add(&r, joint);
            shake(&r, 0.5);
            rig_check(&r, &joint->element);
            rig_check_balance(&r, &joint->element, rig_force, 1e-13);
            rig_free(&r);
        }
}

/* --- motions and gears ---------------------------------------------------------------------
 */

static void motions(void **unused)
{
    (void)unused;
    for (int i = 0; i < JOINTED; ++i)
        for (int rated = 0; rated < 2; ++rated) {
            rig r;
            rig_init(&r, 3, 4);
            ga_joint *joint = rig_add(&r, bare(&r, jointed[i].name, 0, 1));
            ga_element *motion = rig_new(ga_element_type_find("motions", "motion"));
            *(const ga_joint **)rig_field(motion, "joint") = joint;
            *(const char **)rig_field(motion, "coordinate") = joint->kind->coordinate[0].name;
            *(ga_function **)rig_field(motion, rated ? "velocity" : "value") =
                rig_time_function(&r, "0.1 + 0.4*sin(3*t)");
            rig_add(&r, motion);
            assert_int_equal(motion->rows, !rated);
            assert_int_equal(motion->speed_rows, rated);
            r.state.t = 0.2;
            shake(&r, 0.3);
            rig_check(&r, motion);
            double effort = 0, power = 0, rate = 0;
            for (const ga_channel_type *c = motion->type->channels; c->name; ++c) {
                if (c->there && !c->there(motion)) continue;
                if (strcmp(c->name, "effort") == 0) c->value(motion, &r.state, &effort);
                if (strcmp(c->name, "power") == 0) c->value(motion, &r.state, &power);
                if (strcmp(c->name, "rate") == 0) c->value(motion, &r.state, &rate);
            }
            assert_true(effort ==
                        -(rated ? r.psi : r.lambda)[rated ? motion->speed_row : motion->row]);
            assert_true(fabs(power - effort * rate) < 1e-14);
            rig_free(&r);
        }
}

static void gears(void **unused)
{
    (void)unused;
    rig r;
    rig_init(&r, 3, 9);
    ga_joint *wheel = rig_add(&r, bare(&r, "revolute", 0, 1));
    ga_joint *sleeve = rig_add(&r, bare(&r, "cylindrical", 2, 3));
    ga_element *gear = rig_new(ga_element_type_find("joints", "gear"));
    const ga_joint **joints = rig_field(gear, "joints");
    joints[0] = wheel;
    joints[1] = sleeve;
    rig_set(gear, "ratio", -2.5);
    *(const char **)rig_field(gear, "coordinate2") = "angle";
    rig_add(&r, gear);
    ga_element *rack = rig_new(ga_element_type_find("joints", "rack"));
    joints = rig_field(rack, "joints");
    joints[0] = wheel;
    joints[1] = sleeve;
    rig_set(rack, "radius", 0.3);
    *(const char **)rig_field(rack, "coordinate2") = "displacement";
    rig_add(&r, rack);
    assert_int_equal(gear->node_count, 4);
    assert_int_equal(gear->rows, 1);
    shake(&r, 0.3);
    rig_check(&r, gear);
    rig_check(&r, rack);

    *(const char **)rig_field(rack, "coordinate2") = "angle";
    assert_false(rack->type->prepare(rack, &r.setup));
    assert_non_null(strstr(rig_message(&r), "joints: expected the pinion's joint"));
    *(const char **)rig_field(rack, "coordinate2") = NULL;
    assert_false(rack->type->prepare(rack, &r.setup));
    assert_non_null(strstr(rig_message(&r),
                           "coordinate2: the joint has several coordinates, expected "
                           "one of `angle` or `displacement`"));
    rig_free(&r);
}

/* --- modes ---------------------------------------------------------------------------------
 */

/* A slider on ground along x, mass 1 kg: what holds it is friction, and stops at its ends. */
typedef struct slider {
    rig r;
    ga_joint *joint;
    ga_element *drive;
    double *memory;
} slider;

static void slider_make(slider *s, bool sticks, bool stops)
{
    rig_init(&s->r, 3, 1);
    s->r.store[1] = (ga_frame){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    s->joint = rig_new(ga_element_type_find("joints", "prismatic"));
    rig_join(s->joint, GA_GROUND, 0);
    rig_set3(s->joint, "axis", 1, 0, 0);
    if (sticks) rub(&s->joint->attachment[0], GA_FRICTION_STICTION);
    if (stops) limit(&s->joint->attachment[0], GA_LIMITS_STOP);
    s->joint->attachment[0].friction.preload = 0;
    s->joint->attachment[0].friction.transition = 1e-3;
    rig_add(&s->r, s->joint);
    s->drive = rig_add_drive(&s->r, s->joint, 0);
    s->memory = s->r.memory + s->drive->memory;
    memset(s->r.lambda, 0, sizeof s->r.lambda);
    s->r.lambda[0] = 6; /* with lambda[1] = 8 the slider is pressed with 10 N */
    s->r.lambda[1] = 8;
}

static double event(slider *s, int k)
{
    double g[3];
    s->drive->type->events(s->drive, &s->r.state, g);
    return g[k];
}

static ga_switch happen(slider *s, int k, ga_impact *impact)
{
    return s->drive->type->happen(s->drive, k, &s->r.state, s->memory, impact);
}

static bool settle(slider *s)
{
    return s->drive->type->settle(s->drive, &s->r.state, s->memory);
}

static double row(slider *s)
{
    double N[12], sum = 0;
    s->drive->type->gradient(s->drive, &s->r.state, N);
    for (int i = 0; i < 12; ++i) sum += fabs(N[i]);
    return sum;
}

static void sticking(void **unused)
{
    (void)unused;
    slider s;
    ga_impact impact = {0};
    double f[12];
    slider_make(&s, true, false);
    ga_frame *body = &s.r.store[1];
    double *lambda = &s.r.lambda[s.drive->row];
    assert_true(row(&s) > 0); /* at rest: sticks, if it can */
    *lambda = 4.9;            /* static 0.5 x 10 N; blunting takes 1e-6 N */
    assert_false(settle(&s));
    assert_true(fabs(event(&s, 0) - 0.1) < 1e-5);
    *lambda = -5.1; /* pushed back with 5.1: the lock holds with +5.1 on the slider */
    assert_true(event(&s, 0) < 0);
    assert_true(settle(&s));
    assert_true(s.memory[0] == -1 && row(&s) == 0);
    body->u[0] = -0.3;
    rig_force(&s.r, s.drive, f);
    assert_true(fabs(f[6] - 3) < 1e-5 && fabs(f[0] + 3) < 1e-5); /* sliding 0.3 x 10 N */
    assert_true(event(&s, 0) > 0);
    body->u[0] = 1e-5; /* turns round */
    assert_true(event(&s, 0) < 0);
    assert_int_equal(happen(&s, 0, &impact), GA_SWITCH_MODE);
    assert_true(s.memory[0] == 2 && row(&s) > 0);
    *lambda = 5.1; /* pushed forward */
    assert_int_equal(happen(&s, 0, &impact), GA_SWITCH_MODE);
    assert_true(s.memory[0] == 1);
    rig_free(&s.r);
}

static void stops(void **unused)
{
    (void)unused;
    slider s;
    ga_impact impact = {0};
    slider_make(&s, false, true);
    ga_frame *body = &s.r.store[1];
    double *lambda = &s.r.lambda[s.drive->row];
    assert_true(s.memory[0] == 0 && row(&s) == 0);
    assert_true(fabs(event(&s, 1) - 0.02) < 1e-15 && fabs(event(&s, 2) - 0.05) < 1e-15);

    body->x[0] = 0.02; /* fast: bounces */
    body->u[0] = 0.8;
    assert_int_equal(happen(&s, 1, &impact), GA_SWITCH_IMPACT);
    assert_true(impact.restitution == 0.5 && s.memory[0] == 0);
    double gradient[12];
    assert_true(s.drive->type->touch(s.drive, &s.r.state, s.memory, NULL));
    assert_true(row(&s) > 0); /* while the position is made consistent */
    s.drive->type->loosen(s.drive, &s.r.state, s.memory, gradient);
    assert_true(s.memory[0] == 0 && row(&s) == 0);
    assert_true(fabs(gradient[6] + 1) < 1e-15 && fabs(gradient[0] - 1) < 1e-15);
    assert_true(event(&s, 1) > 0); /* behind it, ready to be seen again */
    body->u[0] = -0.4;
    assert_int_equal(happen(&s, 1, &impact), GA_SWITCH_NOTHING);

    body->u[0] = 1.5e-3; /* slow: comes to rest */
    assert_int_equal(happen(&s, 1, &impact), GA_SWITCH_IMPACT);
    assert_true(impact.restitution == 0 && row(&s) == 0); /* the impact comes first */
    body->u[0] = 0;
    assert_true(settle(&s));
    assert_true(s.memory[0] == 3 && row(&s) > 0);
    *lambda = 2; /* the stop pushes back with 2 */
    assert_false(settle(&s));
    assert_true(fabs(ga_drive_effort((const void *)s.drive, &s.r.state) + 2) < 1e-15);
    *lambda = -1e-3; /* it would have to pull */
    assert_true(event(&s, 0) < 0);
    assert_true(settle(&s));
    assert_true(s.memory[0] == 0 && row(&s) == 0);

    body->x[0] = -0.05;
    body->u[0] = -1;
    assert_int_equal(happen(&s, 2, &impact), GA_SWITCH_IMPACT);
    body->x[0] = 0.01;
    s.drive->type->commit(s.drive, &s.r.state, s.memory);
    assert_true(fabs(event(&s, 2) - 0.06) < 1e-15);
    rig_free(&s.r);
}

/* Friction helps to hold at a stop, and turns over in a rebound. */
static void both(void **unused)
{
    (void)unused;
    slider s;
    ga_impact impact = {0};
    slider_make(&s, true, true);
    ga_frame *body = &s.r.store[1];
    double *lambda = &s.r.lambda[s.drive->row];
    s.memory[0] = 1;
    body->x[0] = 0.02;
    body->u[0] = 0.8;
    assert_int_equal(happen(&s, 1, &impact), GA_SWITCH_IMPACT);
    assert_true(s.memory[0] == -1);
    s.memory[0] = 1;
    body->u[0] = 1e-4;
    assert_int_equal(happen(&s, 1, &impact), GA_SWITCH_IMPACT);
    body->u[0] = 0;
    assert_true(settle(&s));
    assert_true(s.memory[0] == 3);
    *lambda = 100;
    assert_false(settle(&s)); /* the stop bears any load */
    *lambda = -4;
    assert_false(settle(&s)); /* friction holds against 4 */
    *lambda = -6;
    assert_true(settle(&s));
    assert_true(s.memory[0] == -1);
    rig_free(&s.r);
}

/* What acts along the coordinate is part of what the joint exerts on the second body. */
static void reaction(void **unused)
{
    (void)unused;
    slider s;
    double F[3], T[3];
    slider_make(&s, true, false);
    s.r.lambda[s.drive->row] = 4;
    ga_joint_reaction(s.joint, &s.r.state, F, T);
    assert_true(fabs(F[0] + 4) < 1e-14);
    assert_true(fabs(hypot(F[1], F[2]) - 10) < 1e-13);
    rig_free(&s.r);
}

/* A buffer pushes, never pulls, and begins softly. */
static void buffer(void **unused)
{
    (void)unused;
    slider s;
    double f[12];
    slider_make(&s, false, true);
    limit(&s.joint->attachment[0], GA_LIMITS_BUFFER);
    assert_true(s.drive->type->prepare(s.drive, &s.r.setup));
    assert_int_equal(s.drive->speed_rows, 0);
    s.drive->memory_count = 0;
    for (int side = -1; side <= 1; side += 2)
        for (int i = 0; i < 200; ++i)
            for (int j = -20; j <= 20; ++j) {
                const double p = 1e-12 + 0.01 * i;
                s.r.store[1].x[0] = side > 0 ? 0.02 + p : -0.05 - p;
                s.r.store[1].u[0] = j;
                rig_force(&s.r, s.drive, f);
                assert_true(side * f[6] <= 0);
                if (i == 0) assert_true(fabs(f[6]) < 1e-10);
                if (j == 0) assert_true(fabs(side * f[6] + 20 * p) < 1e-12);
            }
    rig_free(&s.r);
}

/* --- motion with events, by hand ------------------------------------------------------------
 * One coordinate, mass 1, applied force F(t, x): between events the force is constant enough
 * for steps of 1e-4 of the explicit midpoint rule; events are found by bisection, then happen
 * and settle as an integrator would call them. */

typedef struct path {
    slider s;
    double (*applied)(double t, double x);
    double t;
    int events;
} path;

static double *coordinate_of(path *p) { return &p->s.r.store[1].x[0]; }

static double *rate_of(path *p) { return &p->s.r.store[1].u[0]; }

/* What moves the slider without the lock; the lock's lambda cancels it. */
static double total(path *p, double t)
{
    double f[12];
    rig_force(&p->s.r, p->s.drive, f);
    const double F = p->applied(t, *coordinate_of(p)) + f[6];
    const bool locked = p->s.memory[0] >= 2;
    p->s.r.lambda[p->s.drive->row] = locked ? F : 0;
    return locked ? 0 : F;
}

static void advance(path *p, double h)
{
    double *x = coordinate_of(p), *v = rate_of(p);
    const double x0 = *x, v0 = *v, a0 = total(p, p->t);
    *x = x0 + 0.5 * h * v0;
    *v = v0 + 0.5 * h * a0;
    const double a = total(p, p->t + 0.5 * h), middle = *v;
    *x = x0 + h * middle;
    *v = v0 + h * a;
    p->t += h;
    total(p, p->t);
}

static bool crossed(path *p, const double *before, int *which)
{
    for (int k = 0; k < 3; ++k)
        if (before[k] > 0 && event(&p->s, k) < 0) {
            *which = k;
            return true;
        }
    return false;
}

static void react(path *p, int which)
{
    ga_impact impact = {0};
    ++p->events;
    p->s.r.state.t = p->t;
    if (happen(&p->s, which, &impact) == GA_SWITCH_IMPACT) *rate_of(p) *= -impact.restitution;
    for (int n = 0; n < 10; ++n) {
        if (p->s.memory[0] >= 2) *rate_of(p) = 0;
        total(p, p->t);
        if (!settle(&p->s)) return;
    }
    fail_msg("does not settle");
}

static void step(path *p, double h)
{
    double before[3];
    int which = 0;
    for (int k = 0; k < 3; ++k) before[k] = event(&p->s, k);
    path start = *p;
    advance(p, h);
    if (!crossed(p, before, &which)) return;
    double low = 0, high = h;
    for (int n = 0; n < 50; ++n) {
        const double middle = 0.5 * (low + high);
        *p = start;
        advance(p, middle);
        if (crossed(p, before, &which))
            high = middle;
        else
            low = middle;
    }
    *p = start;
    advance(p, high);
    if (!crossed(p, before, &which)) fail_msg("lost an event");
    react(p, which);
}

/* Copies of a path refer to the first one: it must not move. */
static void path_start(path *p, bool sticks, bool limited, double (*applied)(double, double))
{
    memset(p, 0, sizeof *p);
    slider_make(&p->s, sticks, limited);
    p->applied = applied;
    total(p, 0);
    settle(&p->s);
}

static double weight(double t, double x)
{
    (void)t, (void)x;
    return 10;
}

/* Falls by 0.02 onto the stop, e = 1/2: all bounces together take sqrt(2 h/g) (1 + e)/(1 - e);
 * those left out, slower than 1e-3 m/s, would last 4e-4 s together. */
static void bouncing_ends(void **unused)
{
    (void)unused;
    path p;
    path_start(&p, false, true, weight);
    double rest = 0;
    for (int n = 0; n < 4000; ++n) {
        step(&p, 1e-4);
        if (p.s.memory[0] == 3 && rest == 0) rest = p.t;
    }
    const double expected = sqrt(2 * 0.02 / 10) * 3;
    assert_true(fabs(rest - expected) < 5e-4);
    assert_true(p.events > 5 && p.events < 20);
    assert_true(p.s.memory[0] == 3 && *rate_of(&p) == 0);
    assert_true(fabs(*coordinate_of(&p) - 0.02) < 1e-10);
    rig_free(&p.s.r);
}

/* A spring, 50 N/m, is pulled with 0.1 m/s; sticking holds up to 5 N, sliding takes 3 N. */
static double pulled(double t, double x) { return 50 * (0.1 * t - x); }

static void stick_slip(void **unused)
{
    (void)unused;
    path p;
    path_start(&p, true, false, pulled);
    assert_true(p.s.memory[0] == 2);
    double slip[3] = {0}, stick[3] = {0};
    int slips = 0, sticks = 0;
    for (int n = 0; n < 60000 && sticks < 3; ++n) {
        const double before = p.s.memory[0];
        step(&p, 1e-4);
        if (before == 2 && p.s.memory[0] == 1) slip[slips++] = p.t;
        if (before == 1 && p.s.memory[0] == 2) stick[sticks++] = p.t;
    }
    /* z = 0.1 t - x - 3/50 swings freely, z = A cos(w t - phi), from z = 2/50, z' = 0.1 on,
     * until z' = 0.1 again: at w t = pi + 2 phi, z = -2/50 */
    const double w = sqrt(50), phi = atan2(0.1 / w, 2.0 / 50);
    const double lasts = (3.14159265358979323846 + 2 * phi) / w;
    assert_int_equal(slips, 3);
    assert_true(fabs(slip[0] - 1) < 1e-6);
    assert_true(fabs(stick[0] - slip[0] - lasts) < 1e-6);
    /* then the spring loads again from 1 N to 5 N */
    assert_true(fabs(slip[1] - stick[0] - 4.0 / 50 / 0.1) < 1e-6);
    assert_true(fabs(stick[2] - slip[2] - lasts) < 1e-6);
    rig_free(&p.s.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives),   cmocka_unit_test(ball),
        cmocka_unit_test(motions),       cmocka_unit_test(gears),
        cmocka_unit_test(sticking),      cmocka_unit_test(stops),
        cmocka_unit_test(both),          cmocka_unit_test(buffer),
        cmocka_unit_test(bouncing_ends), cmocka_unit_test(stick_slip),
        cmocka_unit_test(reaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
