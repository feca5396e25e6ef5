/* Experiment: open chains against MuJoCo, which has no constraints for them: joint coordinates
 * and recursive algorithms. It factors the mass matrix of joint coordinates, in which every
 * joint of a chain touches every joint before it: cost per step grows faster than n. Its reader
 * takes at most 100 elements inside each other, hence no longer chains. With RK4 it also is the
 * check of our references for the spatial chains. */
#include "bench/galpha.h"
#include "bench/precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_HAVE_MUJOCO

void bench_run_mujoco(bench *b)
{
    bench_note(b, "Built without MuJoCo: nothing to compare with. tools/install_deps bench");
}

#else

#include <mujoco/mujoco.h>

enum { SPHERICAL, REVOLUTE };
enum { EULER, RK4 };

static const int checked[] = {0, 1, 4, 24};

typedef struct chain {
    int n, joints;
    mjModel *model;
    mjData *data;
} chain;

/* The chains of bench/models, rods nested in each other. */
static char *write_xml(int n, int joints)
{
    const size_t room = 400 * (size_t)n + 1000;
    char *text = malloc(room);
    if (!text) return NULL;
    size_t at = (size_t)snprintf(
        text, room,
        "<mujoco><compiler angle='radian' inertiafromgeom='false'/>"
        "<option gravity='0 0 -9.81'><flag contact='disable' constraint='disable'/></option>"
        "<size nstack='2000000'/><worldbody>");
    for (int k = 0; k < n; ++k) {
        const double angle = k * 40 * 3.14159265358979324 / 180;
        at += (size_t)snprintf(text + at, room - at, "<body pos='%d 0 0'>", k ? 1 : 0);
        if (joints == SPHERICAL)
            at += (size_t)snprintf(text + at, room - at, "<joint type='ball'/>");
        else
            at += (size_t)snprintf(text + at, room - at,
                                   "<joint type='hinge' axis='0 %.17g %.17g'/>", cos(angle),
                                   sin(angle));
        at += (size_t)snprintf(text + at, room - at,
                               "<inertial pos='0.5 0 0' mass='1' diaginertia='%.17g %.17g "
                               "%.17g'/>",
                               1.0 / 1200, 1.0 / 12, 1.0 / 12);
    }
    for (int k = 0; k < n; ++k) at += (size_t)snprintf(text + at, room - at, "</body>");
    snprintf(text + at, room - at, "</worldbody></mujoco>");
    return text;
}

static bool load(bench *b, chain *c)
{
    char path[64], error[200] = "";
    char *text = write_xml(c->n, c->joints);
    snprintf(path, sizeof path, "/tmp/galpha_bench_%d_%d.xml", c->n, c->joints);
    FILE *file = text ? fopen(path, "w") : NULL;
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) written = false;
    free(text);
    if (!written) return bench_fail(b, "%s cannot be written", path);
    c->model = mj_loadXML(path, NULL, error, sizeof error);
    remove(path);
    if (!c->model) return bench_fail(b, "MuJoCo: %.200s", error);
    c->data = mj_makeData(c->model);
    return c->data || bench_fail(b, "MuJoCo: out of memory");
}

static void release(chain *c)
{
    if (c->data) mj_deleteData(c->data);
    if (c->model) mj_deleteModel(c->model);
    *c = (chain){0};
}

static double error_of(const chain *c)
{
    double most = 0;
    const double *reference = c->joints == SPHERICAL ? precision_spherical : precision_revolute;
    if (c->n != 90) return NAN;
    for (int k = 0; k < BENCH_COUNT(checked); ++k) {
        /* xipos: centres of mass; body 0 is the world */
        const mjtNum *x = c->data->xipos + 3 * (ptrdiff_t)(checked[k] + 1);
        most = fmax(most, bench_distance(3, x, reference + 3 * (ptrdiff_t)k));
    }
    return most;
}

/* mode: joints, and 2 for RK4; value: h; 1 s. */
static bool run(bench *b, const bench_case *c, bench_outcome *outcome)
{
    static chain kept;
    const int joints = c->mode & 1;
    if (!kept.data || kept.n != c->n || kept.joints != joints) {
        release(&kept);
        kept = (chain){.n = c->n, .joints = joints};
        if (!load(b, &kept)) {
            release(&kept);
            return false;
        }
    }
    mjModel *m = kept.model;
    mjData *d = kept.data;
    const long steps = lround(1 / c->value);
    mj_resetData(m, d);
    m->opt.integrator = c->mode & 2 ? mjINT_RK4 : mjINT_EULER;
    m->opt.timestep = 1.0 / (double)steps;
    /* the swing about the vertical of the chain with ball joints: only its first joint turns */
    if (joints == SPHERICAL) d->qvel[2] = 2.0 / c->n;
    const double begin = bench_clock();
    for (long k = 0; k < steps; ++k) mj_step(m, d);
    outcome->seconds = bench_clock() - begin;
    outcome->steps = steps;
    mj_forward(m, d);
    outcome->error = error_of(&kept);
    return true;
}

static const char *const rod_channels[] = {"rod0.position", "rod1.position", "rod4.position",
                                           "rod24.position"};

static double our_error(bench *b, const bench_case *c, int count, const double *values)
{
    const double *reference = (c->data && ((const galpha_file *)c->data)->name[6] == 's')
                                  ? precision_spherical
                                  : precision_revolute;
    (void)b;
    return c->n == 90 && count == 12 ? bench_distance(12, values, reference) : NAN;
}

static const galpha_file files[2] = {
    {.name = "chain_spherical.yaml",
     .parameter = "N",
     .channel_count = 4,
     .channels = rod_channels,
     .error = our_error},
    {.name = "chain_revolute.yaml",
     .parameter = "N",
     .channel_count = 4,
     .channels = rod_channels,
     .error = our_error},
};

static int make_cases(int n, int joints, bench_case *cases)
{
    static const char *const names[] = {"chain, spherical", "chain, revolute"};
    const bench_case base = {.problem = names[joints], .n = n, .setting = "h"};
    int count = 0;
    for (int k = 0; k < 2; ++k) {
        bench_case c = base;
        c.value = ldexp(2e-3, -k);
        c.who = BENCH_MUJOCO, c.run = run;
        c.mode = joints, c.variant = "Euler";
        cases[count++] = c;
        c.mode = joints | 2, c.variant = "RK4";
        cases[count++] = c;
        c.who = BENCH_GALPHA, c.run = galpha_run_file;
        c.mode = GALPHA_INDEX3, c.variant = "index 3";
        c.data = files + joints;
        cases[count++] = c;
    }
    return count;
}

void bench_run_mujoco(bench *b)
{
    static const int sizes[] = {25, 50, 90};
    for (int joints = SPHERICAL; joints <= REVOLUTE; ++joints)
        for (int k = 0; k < (b->quick ? 1 : 3); ++k) {
            bench_case cases[8];
            int count = make_cases(sizes[k], joints, cases);
            int first = bench_measure(b, "mujoco", cases, count);
            bench_print(b, first, count);
            const bench_row *theirs = b->rows + first, *ours = b->rows + first + 2;
            if (theirs->ok && ours->ok)
                bench_note(b,
                           "%s, n = %d: per step MuJoCo's Euler takes %.3g us, RK4 %.3g us, "
                           "galpha index 3 %.3g us",
                           cases[0].problem, sizes[k],
                           1e6 * bench_median(theirs) / (double)theirs->outcome.steps,
                           1e6 * bench_median(theirs + 1) / (double)theirs[1].outcome.steps,
                           1e6 * bench_median(ours) / (double)ours->outcome.steps);
        }
}

#endif
