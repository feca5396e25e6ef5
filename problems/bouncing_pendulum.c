/* The pendulum of pendulum.c between impacts on the wall x = 0.2, which it meets at the angle
 * theta_w with the rate r_0 = sqrt(1 - 2 g (1 - cos theta_w)).
 *
 * The impulse along M^-1 of the wall's normal, projected so that B v stays: with M = I and
 * B = q^T the velocity changes along n_t = n - q (q.n)/(q.q), and by so much that n.v turns
 * into -e n.v. On the circle this is v -> -e v, so the impacts have the rates r_i = e^i r_0.
 *
 * After the i-th impact, with w = sqrt(g),
 *
 *     k_i^2 = sin^2(theta_w/2) + (r_i/(2 w))^2,  sin(theta/2) = k_i sn(u)
 *
 * The pendulum arrives at the wall at u = u_w = F(phi_w), sin phi_w = sin(theta_w/2)/k_i, cos
 * phi_w = r_i/(2 w k_i); it leaves at 2 K - u_w and is back at 4 K + u_w.
 */
#include "problems/create.h"
#include "problems/elliptic.h"
#include <math.h>

static const double g = 9.81, wall = 0.2;

/* Motion after i impacts (0: from the start). */
typedef struct swing {
    pb_elliptic elliptic;
    double begin, end; /* u where it begins and where it meets the wall */
} swing;

static swing swing_after(double restitution, int impacts)
{
    const double w = sqrt(g), half = sin(0.5 * asin(wall));
    const double rate = pow(restitution, impacts) * sqrt(1 - 4 * g * half * half);
    const double k = hypot(half, 0.5 * rate / w);
    swing s;
    pb_elliptic_set(&s.elliptic, k);
    const double at_wall = pb_elliptic_integral(&s.elliptic, atan2(half, 0.5 * rate / w));
    const double quarter = pb_elliptic_integral(&s.elliptic, 0.5 * PB_PI);
    s.begin = impacts > 0 ? 2 * quarter - at_wall : 0;
    s.end = impacts > 0 ? 4 * quarter + at_wall : at_wall;
    return s;
}

static double duration(const swing *s) { return (s->end - s->begin) / sqrt(g); }

void pb_bouncing_pendulum_times(const pb_problem *problem, double restitution, int count,
                                double *times)
{
    (void)problem;
    double t = 0;
    for (int i = 0; i < count; ++i) {
        const swing s = swing_after(restitution, i);
        times[i] = t += duration(&s);
    }
}

void pb_bouncing_pendulum_exact(const pb_problem *problem, double restitution, double t,
                                double *q, double *v, double *vd, double *lambda)
{
    (void)problem;
    double begin = 0;
    swing s = swing_after(restitution, 0);
    for (int i = 1; t >= begin + duration(&s); ++i) {
        begin += duration(&s);
        s = swing_after(restitution, i);
    }
    const double w = sqrt(g), k = s.elliptic.k;
    const double phi = pb_elliptic_amplitude(&s.elliptic, s.begin + w * (t - begin));
    const double theta = 2 * asin(k * sin(phi)), rate = 2 * k * w * cos(phi);
    const double x = sin(theta), y = -cos(theta), l = rate * rate - g * y;
    if (q) q[0] = x, q[1] = y;
    if (v) v[0] = -y * rate, v[1] = x * rate;
    if (vd) vd[0] = -l * x, vd[1] = -g - l * y;
    if (lambda) lambda[0] = l;
}

double pb_bouncing_pendulum_gap(const double *q) { return wall - q[0]; }

void pb_bouncing_pendulum_impact(const pb_problem *problem, const double *q, double *v,
                                 double restitution)
{
    (void)problem;
    if (!(v[0] > 0)) return;
    const double along = q[0] / (q[0] * q[0] + q[1] * q[1]);
    const double tangent[2] = {1 - q[0] * along, -q[1] * along}; /* n_t, n = (1, 0) */
    const double change = -(1 + restitution) * v[0] / tangent[0];
    v[0] += change * tangent[0];
    v[1] += change * tangent[1];
}

ga_status pb_bouncing_pendulum_create(pb_problem **out)
{
    const ga_status status = pb_pendulum_create(0, out);
    if (status) return status;
    pb_problem *problem = *out;
    problem->name = "bouncing pendulum";
    problem->t_end = 4;
    problem->exact = NULL; /* knows no wall, and so do the references */
    problem->references = NULL;
    problem->reference_count = 0;
    return GA_OK;
}
