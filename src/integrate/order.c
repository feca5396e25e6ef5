/* Second or third order, whichever allows larger steps.
 *
 * The estimate e of the local error (alpha.h) has the right leading term, h^3. A step from
 * which it is taken away is of third order, and its own error shows in how e changes:
 *
 *     e_n - r^3 e_{n-1} = O(h^4),   r = h_n/h_{n-1},
 *
 * since e is h^3 times a smooth function of time. Three times that is controlled per unit of
 * time, like e itself. That three will do is an observation (docs/error_control.md), not a
 * theorem.
 *
 * e is the step's response to defects of q and v. Their changes are taken first, and the
 * response to these then, because the two do not scale alike where the step changes. Defects
 * of q are a constant times h^3 v''; those of v are C_n h^3 v''' with a memory of the steps
 * before, if Delta = alpha_m - alpha_f is not 0. Let theta_n be the factor of v''' in
 * a_n - v'_n - Delta h v''_n, and theta*_n that after [JN08] eq. (14a):
 *
 *     theta*_n    = theta_n + Delta (r - 1) ((Delta - 1/2) h_{n-1}^2 + theta_n - theta*_{n-1})
 *     theta_{n+1} = (Delta (alpha_m - 1/2) h^2 - alpha_m theta*_n) / (1 - alpha_m)
 *     C_n         = 1/6 - (1 - gamma) theta*_n/h^2 - gamma (1/2 + Delta + theta_{n+1}/h^2)
 *
 * so old defects of v count r^3 C_n/C_{n-1} times.
 *
 * Taking the error away costs unconditional stability: undamped oscillations grow by about
 * (w h)^4/16 a step. Their e turns by w h from step to step, a change of 2 sin(w h/2) |e|.
 * Where e changes by more than half of itself, w h > 1/2, the step is left as it is, of second
 * order and stable; slower ones grow by what the tolerance allows. What is taken away is
 * without stiff modes (ga_estimate_smooth), or else these would grow by half in each step.
 * Systems whose steps show this again and again are left to the second order for longer and
 * longer.
 */
#include "integrate/alpha.h"

#include "base/arrays.h"
#include "base/extremes.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

/* What is left is taken for this many times the change of e. */
static const double CAUTION = 3;

/* More than this much of e changed: it is no smooth function of time. */
static const double SMOOTH = 0.5;

/* Once in a while e is small, or turns; so many times in a row it is not smooth. */
enum { MOST_FAILURES = 3 };

/* Larger steps have to pay for new tangents in each, and for the way back to the constraints.
 */
static const double WORTH = 1.2;

/* The change of e passes through zero, where it tells nothing of the next step: half of what
 * the last one showed is to be expected. */
static const double EXPECTED = 0.5;

/* Steps of second order before the third is tried again; twice as many where it did not last.
 */
enum { PAUSE = 5, LONGEST_PAUSE = 1000 };

/* Largest growth of a step. One that was rejected was too large by half; steps that pass make
 * good for that. */
static const double GROWTH = 2, RECOVERY = 1.03;

/* Newton's method goes on to this much of what a step may contribute, or of the tolerance. */
static const double NEWTON_PART = 0.1, NEWTON_MOST = 1e-3;

ga_status ga_order_create(ga_alpha *a, ga_error_mode mode)
{
    ga_order_choice *order = &a->order;
    *order = (ga_order_choice){.chosen = mode == GA_ERROR_AUTO && a->s.form->has_eta &&
                                         a->s.properties.second_order};
    if (!order->chosen) return GA_OK;
    order->memory = GA_NEW(double, 6 * a->s.nv);
    if (!order->memory) return GA_ERR_MEMORY;
    const ga_arrays list = {a->s.nv,
                            {&order->q, &order->v, &order->old_q, &order->old_v,
                             &order->change_q, &order->change_v}};
    ga_arrays_place(1, &list, order->memory);
    return GA_OK;
}

void ga_order_destroy(ga_order_choice *order) { ga_free(order->memory); }

void ga_order_start(ga_order_choice *order)
{
    order->third = false;
    order->pause = order->lasted = order->failures = 0;
    order->next_pause = PAUSE;
    order->old_h = order->old_error = order->expected = 0;
    order->growth = GROWTH;
    order->error[0] = order->error[1] = INFINITY;
}

void ga_order_prepare(ga_alpha *a, double h)
{
    ga_stepper *s = &a->s;
    const ga_order_choice *order = &a->order;
    const ga_tolerance *tol = a->base.tolerance;
    if (!order->chosen) return;
    s->mode.projects = order->third;
    if (!order->third) {
        ga_alpha_set_newton(a);
        return;
    }
    const double part = ga_smaller(NEWTON_MOST, NEWTON_PART * h / tol->duration);
    const double enough = part * tol->def.relative;
    if (!(s->mode.enough > 0.5 * enough && s->mode.enough < 2 * enough))
        ga_newton_set(s, enough, ga_larger(100 * enough, NEWTON_MOST * tol->def.relative));
    s->policy.age = s->policy.lifetime; /* new tangents: the response must be accurate */
}

/* C_n, and what the next step needs to know for its own. */
static void find_factor(ga_alpha *a)
{
    ga_order_choice *order = &a->order;
    const ga_coefficients *p = &a->s.def.coefficients;
    const double h = a->s.step.h, D = a->s.properties.shift, h2 = h * h,
                 steady = D * (p->alpha_m - 0.5) * h2;
    double theta = steady; /* as the start makes it */
    if (order->old_h > 0) {
        const double change =
            (D - 0.5) * order->old_h * order->old_h + order->old_theta[1] - order->old_theta[0];
        theta = order->old_theta[1] + D * (h / order->old_h - 1) * change;
    }
    order->theta[0] = theta;
    order->theta[1] = (steady - p->alpha_m * theta) / (1 - p->alpha_m);
    order->factor =
        1.0 / 6 - (1 - p->gamma) * theta / h2 - p->gamma * (0.5 + D + order->theta[1] / h2);
}

/* Weighted size of the change of e since the last step. */
static double measure_change(ga_alpha *a)
{
    const ga_order_choice *order = &a->order;
    double *q = order->change_q, *v = order->change_v;
    const double r = a->s.step.h / order->old_h, r3 = r * r * r;
    const bool known = fabs(order->old_factor) > 1e-3; /* else e_v has no leading term */
    const double of_v = known ? r3 * order->factor / order->old_factor : r3;
    for (int i = 0; i < a->s.nv; ++i) {
        q[i] = order->q[i] - r3 * order->old_q[i];
        v[i] = order->v[i] - of_v * order->old_v[i];
    }
    ga_estimate_respond(&a->s, q, v);
    return CAUTION * ga_alpha_weigh(a, q, v);
}

void ga_order_see(ga_alpha *a, const ga_error *e)
{
    ga_order_choice *order = &a->order;
    if (!order->chosen) return;
    memcpy(order->q, e->q, (size_t)a->s.nv * sizeof *order->old_q);
    memcpy(order->v, e->v, (size_t)a->s.nv * sizeof *order->old_v);
}

bool ga_order_is_third(const ga_order_choice *order)
{
    return order->third && order->error[1] < CAUTION * SMOOTH * order->error[0];
}

void ga_order_judge(ga_alpha *a, ga_error *e)
{
    ga_order_choice *order = &a->order;
    if (!order->chosen) return;
    find_factor(a);
    order->error[0] = e->local;
    const bool matters = order->pause <= 1 && order->old_h > 0;
    order->error[1] = matters ? measure_change(a) : INFINITY;
    if (ga_order_is_third(order)) e->local = ga_smaller(order->error[0], order->error[1]);
}

/* Back to second order. */
static void fall_back(ga_order_choice *order)
{
    const bool in_vain = order->lasted < order->next_pause;
    order->next_pause = in_vain ? 2 * order->next_pause : PAUSE;
    if (order->next_pause > LONGEST_PAUSE) order->next_pause = LONGEST_PAUSE;
    order->pause = order->next_pause;
    order->lasted = order->failures = 0;
    order->third = false;
}

void ga_order_reject(ga_alpha *a)
{
    ga_order_choice *order = &a->order;
    if (!order->third) return;
    const double r = a->s.step.h / order->old_h;
    if (r > 1.02) order->growth = ga_smaller(order->growth, 0.5 * (1 + r));
    if (!ga_order_is_third(order) && ++order->failures == MOST_FAILURES) fall_back(order);
}

double ga_order_give_up(ga_order_choice *order, double aim)
{
    fall_back(order);
    const double factor = sqrt(aim / order->error[0]);
    return ga_smaller(ga_larger(factor, 0.2), 1);
}

void ga_order_accept(ga_alpha *a)
{
    ga_order_choice *order = &a->order;
    const double h = a->s.step.h;
    if (!order->chosen) return;
    memcpy(order->old_q, order->q, (size_t)a->s.nv * sizeof *order->old_q);
    memcpy(order->old_v, order->v, (size_t)a->s.nv * sizeof *order->old_v);
    memcpy(order->old_theta, order->theta, sizeof order->old_theta);
    const double r = order->old_h > 0 ? h / order->old_h : 1;
    order->expected = order->old_error * (r * r) * (r * r);
    order->old_error = order->error[1] < INFINITY ? order->error[1] : 0;
    order->old_factor = order->factor;
    order->old_h = h;
}

double ga_order_wish(ga_alpha *a, double aim, double allowed)
{
    ga_order_choice *order = &a->order;
    const double left = ga_larger(order->error[1], EXPECTED * order->expected);
    const double second = sqrt(aim * allowed / ga_larger(order->error[0], 1e-8 * allowed));
    const double third = cbrt(aim * allowed / ga_larger(left, 1e-8 * allowed));
    const bool smooth = order->error[1] < order->error[0];
    if (order->third) {
        order->growth = ga_smaller(GROWTH, RECOVERY * order->growth);
        ++order->lasted;
        order->failures = smooth && third >= second ? 0 : order->failures + 1;
        if (order->failures < MOST_FAILURES) return ga_larger(third, second);
        fall_back(order);
    } else {
        if (order->pause > 0) --order->pause;
        order->third = order->pause == 0 && smooth && third >= WORTH * second;
    }
    return order->third ? third : second;
}
