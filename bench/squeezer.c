/* Angles of bodies a = (q0, q0 + q1, q2, q3 + q4, q4, q5 + q6, q6); with the vectors p_k of
 * problems/andrews.c the loops are p_0 + p_1 minus each of p_2, p_3 + p_4, p_5 + p_6 (signs in
 * the vectors). dp/da is p turned by pi/2. */
#include "bench/squeezer.h"
#include "bench/ida.h"
#include "bench/loop.h"

#include <string.h>

static const double mu = 0.00365 * 0.0115 * 0.007; /* m2 da rr */
static const double nu = 0.00706 * 0.04 * 0.00579; /* m4 zt (e - ea), m6 u (zf - fa) */
static const double start[7] = {-0.0617138900142764496, 0,
                                0.455279819163070380,   0.222668390165885885,
                                0.487364979543842550,   -0.222668390165885885,
                                1.23054744454982119};
/* extrapolation of order 14 in 80 bits, self-difference 1.1e-13 */
static const double end[7] = {1.58107711951536971e+01, -1.57563710584118282e+01,
                              4.08222401196458488e-02, -5.34730116342079632e-01,
                              5.24409965879954088e-01, 5.34730116342079495e-01,
                              1.04808074104193790e+00};

double squeezer_error(const double *q) { return bench_distance(7, q, end); }

double squeezer_turned_error(const double *turned)
{
    double q[7];
    for (int i = 0; i < 7; ++i) q[i] = start[i] + turned[i];
    return squeezer_error(q);
}

/* Everything that needs sines, once. */
typedef struct place {
    double x[7], y[7];             /* p_k */
    double cT, sT, cP, sP, cO, sO; /* mu, nu times cos, sin of Theta, Phi, Omega */
    double arm_x, arm_y;           /* D - B */
} place;

static void place_at(const double *q, place *at)
{
    const double a[7] = {q[0], q[0] + q[1], q[2], q[3] + q[4], q[4], q[5] + q[6], q[6]};
    double c[7], s[7];
    for (int k = 0; k < 7; ++k) {
        c[k] = cos(a[k]);
        s[k] = sin(a[k]);
    }
    at->x[0] = 0.007 * c[0], at->y[0] = 0.007 * s[0];
    at->x[1] = -0.028 * c[1], at->y[1] = -0.028 * s[1];
    at->x[2] = -0.035 * s[2], at->y[2] = 0.035 * c[2];
    at->x[3] = -0.02 * s[3], at->y[3] = 0.02 * c[3];
    at->x[4] = -0.04 * c[4], at->y[4] = -0.04 * s[4];
    at->x[5] = -0.02 * c[5], at->y[5] = -0.02 * s[5];
    at->x[6] = -0.04 * s[6], at->y[6] = 0.04 * c[6];
    at->cT = mu * (c[1] * c[0] + s[1] * s[0]);
    at->sT = mu * (s[1] * c[0] - c[1] * s[0]);
    at->cP = nu * (c[3] * c[4] + s[3] * s[4]);
    at->sP = nu * (s[3] * c[4] - c[3] * s[4]);
    at->cO = nu * (c[5] * c[6] + s[5] * s[6]);
    at->sO = nu * (s[5] * c[6] - c[5] * s[6]);
    at->arm_x = 0.02 * c[2] + 0.018 * s[2];
    at->arm_y = 0.02 * s[2] - 0.018 * c[2];
}

/* Constant parts of M. */
#define M_THETA (0.00365 * 0.0115 * 0.0115 + 4.41e-7)
#define M_BETA (0.04325 * 0.00092 * 0.00092 + 2.194e-6 + 0.00365 * 0.007 * 0.007 + M_THETA)
#define M_GAMMA (0.02373 * (0.01874 * 0.01874 + 0.01043 * 0.01043) + 5.255e-6)
#define M_PHI (0.00706 * 0.00579 * 0.00579 + 5.667e-7)
#define M_DELTA                                                                                \
    (M_PHI + 0.00706 * 0.04 * 0.04 + 0.0705 * (0.02308 * 0.02308 + 0.00916 * 0.00916) +        \
     1.169e-5)
#define M_EPSILON                                                                              \
    (M_PHI + 0.00706 * 0.04 * 0.04 + 0.05498 * (0.01228 * 0.01228 + 0.00449 * 0.00449) +       \
     1.912e-5)

/* r = M vd - f */
static void dynamics(const place *p, const double *v, const double *vd, double *r)
{
    const double dx = -0.03635 + p->arm_x - 0.014, dy = 0.03273 + p->arm_y - 0.072;
    const double tension = 4530 * (1 - 0.07785 / sqrt(dx * dx + dy * dy));
    const double bt = M_THETA - p->cT, pd = M_PHI + p->sP, oe = M_PHI - p->sO;
    r[0] = (M_BETA - 2 * p->cT) * vd[0] + bt * vd[1] - 0.033 + p->sT * v[1] * (v[1] + 2 * v[0]);
    r[1] = bt * vd[0] + M_THETA * vd[1] - p->sT * v[0] * v[0];
    r[2] = M_GAMMA * vd[2] + tension * (dy * p->arm_x - dx * p->arm_y);
    r[3] = M_PHI * vd[3] + pd * vd[4] - p->cP * v[4] * v[4];
    r[4] = pd * vd[3] + (M_DELTA + 2 * p->sP) * vd[4] + p->cP * v[3] * (v[3] + 2 * v[4]);
    r[5] = M_PHI * vd[5] + oe * vd[6] + p->cO * v[6] * v[6];
    r[6] = oe * vd[5] + (M_EPSILON - 2 * p->sO) * vd[6] - p->cO * v[5] * (v[5] + 2 * v[6]);
}

/* r += B^T l */
static void add_reactions(const place *p, const double *l, double *r)
{
    const double x = l[0] + l[2] + l[4], y = l[1] + l[3] + l[5];
    const double w1 = p->x[1] * y - p->y[1] * x, w3 = p->x[3] * l[3] - p->y[3] * l[2];
    const double w5 = p->x[5] * l[5] - p->y[5] * l[4];
    r[0] += p->x[0] * y - p->y[0] * x + w1;
    r[1] += w1;
    r[2] += p->x[2] * l[1] - p->y[2] * l[0];
    r[3] += w3;
    r[4] += w3 + p->x[4] * l[3] - p->y[4] * l[2];
    r[5] += w5;
    r[6] += w5 + p->x[6] * l[5] - p->y[6] * l[4];
}

static void loops(const place *p, double *Phi)
{
    const double x = p->x[0] + p->x[1], y = p->y[0] + p->y[1];
    Phi[0] = x + p->x[2] + 0.03635;
    Phi[1] = y + p->y[2] - 0.03273;
    Phi[2] = x + p->x[3] + p->x[4] + 0.06934;
    Phi[3] = y + p->y[3] + p->y[4] + 0.00227;
    Phi[4] = x + p->x[5] + p->x[6] + 0.06934;
    Phi[5] = y + p->y[5] + p->y[6] + 0.00227;
}

/* The 6 x 7 matrix with columns of loops from columns (gx, gy) by body angles, into a row-major
 * matrix of width ld, times factor; transposed if asked. */
static void put_loops(const double *gx, const double *gy, double factor, double *A, int ld,
                      bool transposed)
{
    const double column[7][2] = {{gx[0] + gx[1], gy[0] + gy[1]},
                                 {gx[1], gy[1]},
                                 {gx[2], gy[2]},
                                 {gx[3], gy[3]},
                                 {gx[3] + gx[4], gy[3] + gy[4]},
                                 {gx[5], gy[5]},
                                 {gx[5] + gx[6], gy[5] + gy[6]}};
    static const int loop_of[7] = {-1, -1, 0, 2, 2, 4, 4};
    for (int j = 0; j < 7; ++j)
        for (int row = 0; row < 6; row += 2) {
            if (loop_of[j] >= 0 && loop_of[j] != row) continue;
            for (int i = 0; i < 2; ++i)
                A[transposed ? j * ld + row + i : (row + i) * ld + j] += factor * column[j][i];
        }
}

static void put_gradient(const place *p, double factor, double *A, int ld, bool transposed)
{
    double gx[7], gy[7];
    for (int k = 0; k < 7; ++k) gx[k] = -p->y[k], gy[k] = p->x[k];
    put_loops(gx, gy, factor, A, ld, transposed);
}

static void put_mass(const place *p, double factor, double *A, int ld)
{
    const double bt = M_THETA - p->cT, pd = M_PHI + p->sP, oe = M_PHI - p->sO;
    A[0] += factor * (M_BETA - 2 * p->cT);
    A[1] += factor * bt;
    A[ld] += factor * bt;
    A[ld + 1] += factor * M_THETA;
    A[2 * ld + 2] += factor * M_GAMMA;
    A[3 * ld + 3] += factor * M_PHI;
    A[3 * ld + 4] += factor * pd;
    A[4 * ld + 3] += factor * pd;
    A[4 * ld + 4] += factor * (M_DELTA + 2 * p->sP);
    A[5 * ld + 5] += factor * M_PHI;
    A[5 * ld + 6] += factor * oe;
    A[6 * ld + 5] += factor * oe;
    A[6 * ld + 6] += factor * (M_EPSILON - 2 * p->sO);
}

/* D_q (B^T l) */
static void put_reaction_stiffness(const place *p, const double *l, double factor, double *A,
                                   int ld)
{
    const double x = l[0] + l[2] + l[4], y = l[1] + l[3] + l[5];
    const double w0 = -p->x[0] * x - p->y[0] * y, w1 = -p->x[1] * x - p->y[1] * y;
    const double w2 = -p->x[2] * l[0] - p->y[2] * l[1];
    const double w3 = -p->x[3] * l[2] - p->y[3] * l[3], w4 = -p->x[4] * l[2] - p->y[4] * l[3];
    const double w5 = -p->x[5] * l[4] - p->y[5] * l[5], w6 = -p->x[6] * l[4] - p->y[6] * l[5];
    A[0] += factor * (w0 + w1);
    A[1] += factor * w1;
    A[ld] += factor * w1;
    A[ld + 1] += factor * w1;
    A[2 * ld + 2] += factor * w2;
    A[3 * ld + 3] += factor * w3;
    A[3 * ld + 4] += factor * w3;
    A[4 * ld + 3] += factor * w3;
    A[4 * ld + 4] += factor * (w3 + w4);
    A[5 * ld + 5] += factor * w5;
    A[5 * ld + 6] += factor * w5;
    A[6 * ld + 5] += factor * w5;
    A[6 * ld + 6] += factor * (w5 + w6);
}

/* D_q (M vd - f) */
static void put_stiffness(const place *p, const double *v, const double *vd, double factor,
                          double *A, int ld)
{
    A[1] += factor * (p->sT * (2 * vd[0] + vd[1]) + p->cT * v[1] * (v[1] + 2 * v[0]));
    A[ld + 1] += factor * (p->sT * vd[0] - p->cT * v[0] * v[0]);
    A[3 * ld + 3] += factor * (p->cP * vd[4] + p->sP * v[4] * v[4]);
    A[4 * ld + 3] += factor * (p->cP * (vd[3] + 2 * vd[4]) - p->sP * v[3] * (v[3] + 2 * v[4]));
    A[5 * ld + 5] += factor * (-p->cO * vd[6] - p->sO * v[6] * v[6]);
    A[6 * ld + 5] += factor * (-p->cO * (vd[5] + 2 * vd[6]) + p->sO * v[5] * (v[5] + 2 * v[6]));
    const double x = p->arm_x, y = p->arm_y, dx = -0.05035 + x, dy = -0.03927 + y;
    const double length2 = dx * dx + dy * dy, tension = 4530 * (1 - 0.07785 / sqrt(length2));
    const double across = dy * x - dx * y; /* d.turned arm */
    A[2 * ld + 2] += factor * (tension * (x * x + y * y - dx * x - dy * y) +
                               (4530 - tension) / length2 * across * across);
}

/* d(M vd - f)/dv */
static void put_damping(const place *p, const double *v, double factor, double *A, int ld)
{
    const double s = 2 * factor;
    A[0] += s * p->sT * v[1];
    A[1] += s * p->sT * (v[1] + v[0]);
    A[ld] -= s * p->sT * v[0];
    A[3 * ld + 4] -= s * p->cP * v[4];
    A[4 * ld + 3] += s * p->cP * (v[3] + v[4]);
    A[4 * ld + 4] += s * p->cP * v[3];
    A[5 * ld + 6] += s * p->cO * v[6];
    A[6 * ld + 5] -= s * p->cO * (v[5] + v[6]);
    A[6 * ld + 6] -= s * p->cO * v[5];
}

/* --- callbacks ---------------------------------------------------------------------------- */

/* What the callbacks at one configuration share. */
static struct {
    bool known;
    double q[7];
    place at;
} memory;

static const place *recall(const double *q)
{
    if (!memory.known || memcmp(q, memory.q, sizeof memory.q) != 0) {
        place_at(q, &memory.at);
        memcpy(memory.q, q, sizeof memory.q);
        memory.known = true;
    }
    return &memory.at;
}

static ga_eval all(void *user, const ga_point *at, const ga_wanted *wanted)
{
    (void)user;
    static const double rest[7] = {0};
    const place *p = recall(at->q);
    if (wanted->mass) {
        memset(wanted->mass, 0, 49 * sizeof(double));
        put_mass(p, 1, wanted->mass, 7);
    }
    if (wanted->gradient) {
        memset(wanted->gradient, 0, 42 * sizeof(double));
        put_gradient(p, 1, wanted->gradient, 6, true);
    }
    if (wanted->constraint) loops(p, wanted->constraint);
    if (wanted->force) {
        dynamics(p, at->v, rest, wanted->force);
        for (int i = 0; i < 7; ++i) wanted->force[i] = -wanted->force[i];
    }
    return GA_EVAL_OK;
}

/* w^2 times the arms: loops of them, without the constants. */
static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    const place *p = recall(at->q);
    const double *v = at->v;
    const double w[7] = {v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]};
    double x[7], y[7];
    for (int k = 0; k < 7; ++k) {
        x[k] = w[k] * w[k] * p->x[k];
        y[k] = w[k] * w[k] * p->y[k];
    }
    for (int k = 0; k < 3; ++k) {
        const int a = 2 * k + 1; /* bodies of the second half of a loop */
        c[2 * k] = x[0] + x[1] + (k == 0 ? x[2] : x[a] + x[a + 1]);
        c[2 * k + 1] = y[0] + y[1] + (k == 0 ? y[2] : y[a] + y[a + 1]);
    }
    return GA_EVAL_OK;
}

/* A is row-major. */
static ga_eval give(const double *A, double *out)
{
    for (int j = 0; j < 7; ++j)
        for (int i = 0; i < 7; ++i) out[i + 7 * j] = A[7 * i + j];
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const place *p = recall(at->q);
    double A[49] = {0};
    put_stiffness(p, at->v, at->vd, 1, A, 7);
    put_reaction_stiffness(p, at->lambda, 1, A, 7);
    return give(A, K);
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    double A[49] = {0};
    put_damping(recall(at->q), at->v, 1, A, 7);
    return give(A, C);
}

/* Z = d(B v)/dq */
static void put_velocity_stiffness(const place *p, const double *v, double factor, double *A,
                                   int ld, bool transposed)
{
    double gx[7] = {v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]}, gy[7];
    for (int k = 0; k < 7; ++k) {
        gy[k] = -gx[k] * p->y[k];
        gx[k] = -gx[k] * p->x[k];
    }
    put_loops(gx, gy, factor, A, ld, transposed);
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    memset(Z, 0, 42 * sizeof *Z);
    put_velocity_stiffness(recall(at->q), at->v, 1, Z, 6, true);
    return GA_EVAL_OK;
}

ga_status squeezer_create(pb_problem **problem)
{
    ga_status status = pb_andrews_relative_create(problem);
    if (status != GA_OK) return status;
    ga_system *system = &(*problem)->system;
    system->all = all;
    system->acceleration_rhs = acceleration_rhs;
    system->stiffness = stiffness;
    system->damping = damping;
    system->velocity_stiffness = velocity_stiffness;
    return GA_OK;
}

/* --- the loop ----------------------------------------------------------------------------- */

enum { N = 13 };

/* At rest c = 0: [M B^T; B 0] (vd, l) = (f, 0). */
static void start_values(double *vd, double *l)
{
    double A[N * N] = {0}, x[N] = {0}, zero[7] = {0};
    int pivot[N];
    place p;
    place_at(start, &p);
    dynamics(&p, zero, zero, x);
    for (int i = 0; i < 7; ++i) x[i] = -x[i];
    put_mass(&p, 1, A, N);
    put_gradient(&p, 1, A + 7, N, true);
    put_gradient(&p, 1, A + 7 * N, N, false);
    loop_lu(N, A, pivot);
    loop_lu_solve(N, A, pivot, x);
    memcpy(vd, x, 7 * sizeof *vd);
    memcpy(l, x + 7, 6 * sizeof *l);
}

bool squeezer_loop(bench *b, const bench_case *c, bench_outcome *outcome)
{
    (void)b;
    const long steps = lround(0.03 / c->value);
    const loop_coefficients co = loop_coefficients_of(0.9, 0.03 / (double)steps);
    double q[7], v[7] = {0}, vd[7], a[7], l[6], q0[7], v0[7], a1[7], A[N * N], x[N];
    double vd_old[2][7] = {0}, l_old[2][6] = {0}, iterations = 0.5, factorizations = 1;
    int pivot[N];
    place p;
    const double begin = bench_clock(), rest = 1 / (1 - co.alpha_m);
    memcpy(q, start, sizeof q);
    start_values(vd, l);
    memcpy(a, vd, sizeof a);
    for (long step = 0; step < steps; ++step) {
        for (int i = 0; i < 7; ++i) {
            a1[i] = (co.alpha_f * vd[i] - co.alpha_m * a[i]) * rest;
            v0[i] = v[i] + co.h * ((1 - co.gamma) * a[i] + co.gamma * a1[i]);
            q0[i] =
                q[i] + co.h * v[i] + co.h * co.h * ((0.5 - co.beta) * a[i] + co.beta * a1[i]);
        }
        loop_extrapolate(7, vd, vd_old[0], vd_old[1], step);
        loop_extrapolate(6, l, l_old[0], l_old[1], step);
        for (iterations += c->iterations; iterations >= 1; --iterations) {
            for (int i = 0; i < 7; ++i) {
                q[i] = q0[i] + co.c_q * vd[i];
                v[i] = v0[i] + co.c_v * vd[i];
            }
            place_at(q, &p);
            dynamics(&p, v, vd, x);
            add_reactions(&p, l, x);
            loops(&p, x + 7);
            for (int i = 7; i < N; ++i) x[i] /= co.c_q;
            if (factorizations >= 1) {
                memset(A, 0, sizeof A);
                put_mass(&p, 1, A, N);
                put_damping(&p, v, co.c_v, A, N);
                put_stiffness(&p, v, vd, co.c_q, A, N);
                put_reaction_stiffness(&p, l, co.c_q, A, N);
                put_gradient(&p, 1, A + 7, N, true);
                put_gradient(&p, 1, A + 7 * N, N, false);
                loop_lu(N, A, pivot);
                --factorizations;
                ++outcome->factorizations;
            }
            loop_lu_solve(N, A, pivot, x);
            for (int i = 0; i < 7; ++i) vd[i] -= x[i];
            for (int i = 0; i < 6; ++i) l[i] -= x[7 + i];
            ++outcome->iterations;
        }
        factorizations += c->factorizations;
        for (int i = 0; i < 7; ++i) {
            q[i] = q0[i] + co.c_q * vd[i];
            v[i] = v0[i] + co.c_v * vd[i];
            a[i] = a1[i] + co.share * vd[i];
        }
    }
    outcome->seconds = bench_clock() - begin;
    outcome->steps = steps;
    outcome->error = squeezer_error(q);
    return true;
}

/* Index 2, [ABC14] eq. (58): v' = u + B_n^T x, q = q0 + c_q u, v = v0 + c_v v', and the matrix
 *
 *     [ M + c_v C + c_q K    B^T  M B_n^T ]
 *     [ B + c_q/c_v Z        0    B B_n^T ]
 *     [ B                    0    0       ]
 */
enum { N2 = 19 };

static void fill_index2(const place *p, const double *v, const double *vd, const double *l,
                        const double *B, const double *Bn, const loop_coefficients *co,
                        double *A)
{
    double M[49] = {0};
    memset(A, 0, N2 * N2 * sizeof *A);
    put_mass(p, 1, M, 7);
    for (int i = 0; i < 7; ++i) memcpy(A + i * N2, M + 7 * i, 7 * sizeof *A);
    put_damping(p, v, co->c_v, A, N2);
    put_stiffness(p, v, vd, co->c_q, A, N2);
    put_reaction_stiffness(p, l, co->c_q, A, N2);
    put_gradient(p, 1, A + 7, N2, true);
    put_gradient(p, 1, A + 7 * N2, N2, false);
    put_velocity_stiffness(p, v, co->c_q / co->c_v, A + 7 * N2, N2, false);
    put_gradient(p, 1, A + 13 * N2, N2, false);
    for (int j = 0; j < 6; ++j) {
        for (int i = 0; i < 7; ++i)
            for (int k = 0; k < 7; ++k) A[i * N2 + 13 + j] += M[7 * i + k] * Bn[7 * j + k];
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 7; ++k)
                A[(7 + i) * N2 + 13 + j] += B[7 * i + k] * Bn[7 * j + k];
    }
}

bool squeezer_loop_index2(bench *b, const bench_case *c, bench_outcome *outcome)
{
    (void)b;
    const long steps = lround(0.03 / c->value);
    const loop_coefficients co = loop_coefficients_of(0.9, 0.03 / (double)steps);
    double q[7], v[7] = {0}, u[7], vd[7], a[7], l[6], y[6] = {0}, q0[7], v0[7], a1[7];
    double B[42], Bn[42] = {0}, A[N2 * N2], x[N2];
    double vd_old[2][7] = {0}, l_old[2][6] = {0}, iterations = 0.5, factorizations = 1;
    int pivot[N2];
    place p;
    const double begin = bench_clock(), rest = 1 / (1 - co.alpha_m);
    memcpy(q, start, sizeof q);
    start_values(vd, l);
    memcpy(a, vd, sizeof a);
    place_at(q, &p);
    put_gradient(&p, 1, Bn, 7, false);
    for (long step = 0; step < steps; ++step) {
        for (int i = 0; i < 7; ++i) {
            a1[i] = (co.alpha_f * vd[i] - co.alpha_m * a[i]) * rest;
            v0[i] = v[i] + co.h * ((1 - co.gamma) * a[i] + co.gamma * a1[i]);
            q0[i] =
                q[i] + co.h * v[i] + co.h * co.h * ((0.5 - co.beta) * a[i] + co.beta * a1[i]);
        }
        loop_extrapolate(7, vd, vd_old[0], vd_old[1], step);
        loop_extrapolate(6, l, l_old[0], l_old[1], step);
        for (int i = 0; i < 7; ++i) {
            u[i] = vd[i];
            for (int j = 0; j < 6; ++j) u[i] -= Bn[7 * j + i] * y[j];
        }
        for (iterations += c->iterations; iterations >= 1; --iterations) {
            for (int i = 0; i < 7; ++i) {
                q[i] = q0[i] + co.c_q * u[i];
                v[i] = v0[i] + co.c_v * vd[i];
            }
            place_at(q, &p);
            dynamics(&p, v, vd, x);
            add_reactions(&p, l, x);
            loops(&p, x + 13);
            memset(B, 0, sizeof B);
            put_gradient(&p, 1, B, 7, false);
            for (int i = 0; i < 6; ++i) {
                double w = 0;
                for (int j = 0; j < 7; ++j) w += B[7 * i + j] * v[j];
                x[7 + i] = w / co.c_v;
                x[13 + i] /= co.c_q;
            }
            if (factorizations >= 1) {
                fill_index2(&p, v, vd, l, B, Bn, &co, A);
                loop_lu(N2, A, pivot);
                --factorizations;
                ++outcome->factorizations;
            }
            loop_lu_solve(N2, A, pivot, x);
            for (int i = 0; i < 6; ++i) {
                l[i] -= x[7 + i];
                y[i] -= x[13 + i];
            }
            for (int i = 0; i < 7; ++i) {
                u[i] -= x[i];
                vd[i] = u[i];
                for (int j = 0; j < 6; ++j) vd[i] += Bn[7 * j + i] * y[j];
            }
            ++outcome->iterations;
        }
        factorizations += c->factorizations;
        for (int i = 0; i < 7; ++i) {
            q[i] = q0[i] + co.c_q * u[i];
            v[i] = v0[i] + co.c_v * vd[i];
            a[i] = a1[i] + co.share * vd[i];
        }
        memset(Bn, 0, sizeof Bn);
        place_at(q, &p);
        put_gradient(&p, 1, Bn, 7, false);
    }
    outcome->seconds = bench_clock() - begin;
    outcome->steps = steps;
    outcome->error = squeezer_error(q);
    return true;
}

/* --- IDA ---------------------------------------------------------------------------------- */

/* y = (q, v, l) in index 1: q' = v, M v' - f + B^T l = 0, B v' = c; and mu in stabilised index
 * 2: q' = v - B^T mu, ..., B v = 0, Phi = 0. */
enum { GGL, INDEX1 };

static const int forms[] = {GGL, INDEX1};

static void residual(const void *data, const double *y, const double *yp, double *r)
{
    const bool ggl = *(const int *)data == GGL;
    const double *v = y + 7;
    const double *rate = ggl ? v : yp + 7;
    place p;
    place_at(y, &p);
    for (int i = 0; i < 7; ++i) r[i] = yp[i] - v[i];
    dynamics(&p, v, yp + 7, r + 7);
    add_reactions(&p, y + 14, r + 7);
    /* B rate, minus c in index 1 */
    const double w[7] = {rate[0], rate[0] + rate[1], rate[2], rate[3] + rate[4],
                         rate[4], rate[5] + rate[6], rate[6]};
    const double s[7] = {v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]};
    place turned = {0};
    for (int k = 0; k < 7; ++k) {
        const double s2 = ggl ? 0 : s[k] * s[k];
        turned.x[k] = -w[k] * p.y[k] - s2 * p.x[k];
        turned.y[k] = w[k] * p.x[k] - s2 * p.y[k];
    }
    loops(&turned, r + 14);
    static const double zero[6] = {0.03635, -0.03273, 0.06934, 0.00227, 0.06934, 0.00227};
    for (int i = 0; i < 6; ++i) r[14 + i] -= zero[i];
    if (!ggl) return;
    add_reactions(&p, y + 20, r);
    loops(&p, r + 20);
}

/* Row-major blocks, then turned round: IDA's matrices are column-major. */
static void jacobian(const void *data, double cj, const double *y, const double *yp, double *J)
{
    const bool ggl = *(const int *)data == GGL;
    const int n = ggl ? 26 : 20;
    const double *v = y + 7, *vd = yp + 7;
    double A[26 * 26] = {0}, gx[7], gy[7];
    place p;
    place_at(y, &p);
    for (int i = 0; i < 7; ++i) {
        A[i * n + i] = cj;
        A[i * n + 7 + i] = -1;
    }
    double *dynamic = A + 7 * n;
    put_stiffness(&p, v, vd, 1, dynamic, n);
    put_reaction_stiffness(&p, y + 14, 1, dynamic, n);
    put_damping(&p, v, 1, dynamic + 7, n);
    put_mass(&p, cj, dynamic + 7, n);
    put_gradient(&p, 1, dynamic + 14, n, true);
    double *rows = A + 14 * n;
    const double s[7] = {v[0], v[0] + v[1], v[2], v[3] + v[4], v[4], v[5] + v[6], v[6]};
    const double w[7] = {vd[0], vd[0] + vd[1], vd[2], vd[3] + vd[4],
                         vd[4], vd[5] + vd[6], vd[6]};
    put_gradient(&p, ggl ? 1 : cj, rows + 7, n, false);
    for (int k = 0; k < 7; ++k) {
        const double rate = ggl ? s[k] : w[k], s2 = ggl ? 0 : s[k] * s[k];
        gx[k] = -rate * p.x[k] + s2 * p.y[k];
        gy[k] = -rate * p.y[k] - s2 * p.x[k];
    }
    put_loops(gx, gy, 1, rows, n, false);
    if (ggl) {
        put_reaction_stiffness(&p, y + 20, 1, A, n);
        put_gradient(&p, 1, A + 20, n, true);
        put_gradient(&p, 1, A + 20 * n, n, false);
    } else {
        for (int k = 0; k < 7; ++k) gx[k] = -2 * s[k] * p.x[k], gy[k] = -2 * s[k] * p.y[k];
        put_loops(gx, gy, 1, rows + 7, n, false);
    }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) J[j * n + i] = A[i * n + j];
}

bool squeezer_ida(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const ida_options *options = c->data;
    const int n = options->form == GGL ? 26 : 20;
    double y[26] = {0}, yp[26] = {0}, id[26], scale[26];
    memcpy(y, start, sizeof start);
    start_values(yp + 7, y + 14);
    for (int i = 0; i < n; ++i) {
        id[i] = i < 14;
        scale[i] = i < 7 ? 1 : i < 14 ? 1e3 : 1e6;
    }
    ida_problem problem = {.n = n,
                           .data = forms + options->form,
                           .residual = residual,
                           .jacobian = jacobian,
                           .y = y,
                           .yp = yp,
                           .differential = id,
                           .scale = scale,
                           .t_end = 0.03,
                           .first_step = 1e-6}; /* its own is too small for tight ones */
    const double begin = bench_clock();
    bool ok = ida_solve(b, &problem, c->value, options, outcome);
    outcome->seconds = bench_clock() - begin;
    outcome->error = squeezer_error(y);
    return ok;
}
