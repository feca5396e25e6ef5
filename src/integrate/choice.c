/* The choice between the explicit method (order 8), radau (order 5, for stiff motions) and
 * generalized-alpha (order 2 to 3, which works for everything).
 *
 * Frequencies alone do not tell whether a motion is stiff: undamped vibrations that have to be
 * followed are done best by the explicit method, others by radau. So where stability may limit
 * the explicit steps, radau is tried, and kept if its steps are long enough. With a loose
 * tolerance generalized-alpha is tried after that in the same way: its steps are short, but
 * cost least. Trials are as rare as to cost little: each one waits three times as long as the
 * one before. */
#include "integrate/choice.h"

/* What a step costs, by one of generalized-alpha; measured with fourteen model files, from top
 * to chain of 100 rods: explicit 2.7 to 5, radau 3.3 to 7.8. A gain has to be as large as to
 * pay with some certainty. */
static const double COST[] = {
    [GA_METHOD_GENERALIZED_ALPHA] = 1, [GA_METHOD_EXPLICIT] = 3.5, [GA_METHOD_RADAU] = 5.5};
static const double CERTAINTY = 1.25;

/* Above this tolerance a high order does not make steps longer. */
static const double LOOSE = 3e-3;

/* Below this one a low order does not come near radau: it takes ten times as many steps. */
static const double COARSE = 3e-5;

/* Radau is not tried if stability (h omega < 4.5, h rho < 6.7) asks for fewer explicit steps
 * than this over the whole time, or if fewer are left: a trial would not pay for itself. */
static const double MANY_STEPS = 300;

/* In the first steps of a run, which are short, so many. */
static const double VERY_MANY_STEPS = 1000;
enum { FIRST_STEPS = 20 };

/* Fewer steps left are worth a trial if their average is at the limit of stability. */
static const double SOME_STEPS = 100, LIMIT_OMEGA = 4, LIMIT_RHO = 6;

/* Fewer steps of radau left are not worth a trial of generalized-alpha. */
static const double STEPS_TO_COMPARE = 200;

/* With so many left the explicit method has given up because of stability. */
static const double TOO_MANY = 1e5;

/* Of h omega and h rho: stability has no part in the choice of steps. */
static const double SMALL = 0.01, TIGHT = 1e-7;

/* A trial goes on while steps grow by this between looks. (Step sizes of radau by explicit
 * ones: 0.1 to 0.5 for rigid mechanisms, 0.2 to 1.4 for undamped flexible ones, 3 to 41
 * for damped ones and for springs.) */
static const double GROWTH = 1.2;

/* In a trial, after so many steps: the first look (from here on, steps of radau that are far
 * too short and do not grow end the trial), and the verdict. Generalized-alpha starts with
 * short steps. */
enum { FIRST_LOOK = 10, VERDICT = 20, FIRST_LOOK_ALPHA = 20, VERDICT_ALPHA = 40 };

/* Generalized-alpha has won a trial and then its steps become so short, by those of the method
 * before: radau is tried at once. (Steps of 1e-3 s on a spring of 1e10 N/m became 2e-6 s.) */
static const double COLLAPSED = 0.1;

/* Below these the explicit method is stable with the steps of radau. */
static const double RESOLVED_OMEGA = 2, RESOLVED_RHO = 3;

/* Steps between looks, and before a trial that was lost is repeated: the first one soon, since
 * the first steps of a run tell little about the others. */
enum { EARLY = 5, WAIT_EXPLICIT = 100, WAIT_RADAU = 50, WAIT_ALPHA = 30, LONGER = 3 };
enum { WAIT_LOST = 30 };
enum { MOST_LONGER = 12, AGAIN = 200 };

/* Steps towards a singular position get shorter and shorter, with values that get worse and
 * worse; generalized-alpha passes it if it begins well before. */
static const double CLOSE = 5;

ga_choice ga_choose_first(const ga_task *task)
{
    const ga_method alpha = GA_METHOD_GENERALIZED_ALPHA;
    if (!task->adaptive) return (ga_choice){alpha, false, GA_REASON_FIXED};
    if (task->friction) return (ga_choice){alpha, false, GA_REASON_FRICTION};
    if (task->tolerance > LOOSE) return (ga_choice){alpha, false, GA_REASON_LOOSE};
    return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_SMOOTH};
}

static ga_choice stay(const ga_standing *p)
{
    return (ga_choice){p->method, p->trial, GA_REASON_NONE};
}

/* Generalized-alpha was to be the only method, with error control. */
static bool was_to_stay(ga_reason reason)
{
    return reason == GA_REASON_LOOSE || reason == GA_REASON_FRICTION;
}

static ga_choice rescue(const ga_standing *p)
{
    const ga_method alpha = GA_METHOD_GENERALIZED_ALPHA;
    if (p->trial) return (ga_choice){p->before, false, GA_REASON_NO_GAIN};
    /* where a function is not finite no method goes on */
    if (p->failure == GA_ERR_NOT_FINITE || p->reason == GA_REASON_COLLAPSED) return stay(p);
    if (p->failure == GA_ERR_STEP_SIZE && was_to_stay(p->reason))
        return (ga_choice){GA_METHOD_RADAU, false, GA_REASON_COLLAPSED};
    if (p->method == alpha) return stay(p);
    if (p->method == GA_METHOD_EXPLICIT && p->failure == GA_ERR_STEP_SIZE &&
        p->steps_to_end > TOO_MANY)
        return (ga_choice){GA_METHOD_RADAU, false, GA_REASON_TOO_STIFF};
    return (ga_choice){alpha, false, GA_REASON_STUCK};
}

static double needed_gain(const ga_standing *p)
{
    return CERTAINTY * COST[p->method] / COST[p->before];
}

static ga_choice judge_trial(const ga_standing *p)
{
    const ga_method alpha = GA_METHOD_GENERALIZED_ALPHA;
    const bool grows = p->growth >= GROWTH, radau = p->method == GA_METHOD_RADAU;
    const double need = needed_gain(p);
    const ga_choice back = {p->before, false,
                            p->reason == GA_REASON_NOISE      ? GA_REASON_SMOOTH
                            : p->before == GA_METHOD_EXPLICIT ? GA_REASON_NO_GAIN
                            : p->before == GA_METHOD_RADAU    ? GA_REASON_STIFF
                                                              : GA_REASON_COARSE};
    if (p->steps < (radau ? VERDICT : VERDICT_ALPHA))
        return radau && p->gain < 0.5 * need && !grows ? back : stay(p);
    if (p->gain < need) return grows ? stay(p) : back;
    if (p->reason == GA_REASON_NOISE) return (ga_choice){alpha, false, GA_REASON_NOISE};
    if (!radau) return (ga_choice){alpha, false, GA_REASON_COARSE};
    if (p->before == GA_METHOD_EXPLICIT && p->tolerance >= COARSE &&
        p->steps_to_end >= STEPS_TO_COMPARE)
        return (ga_choice){alpha, true, GA_REASON_COMPARE};
    return (ga_choice){GA_METHOD_RADAU, false, GA_REASON_STIFF};
}

static bool is_limited(const ga_standing *p)
{
    return p->h_omega > LIMIT_OMEGA || p->h_rho > LIMIT_RHO;
}

/* May radau pay? Next to a singular position, which it cannot pass, motions look stiff. */
static bool may_be_stiff(const ga_standing *p)
{
    if (p->singular || p->steps_for_stability < MANY_STEPS) return false;
    if (is_limited(p)) return p->steps_to_end >= SOME_STEPS;
    const double many = p->steps < FIRST_STEPS ? VERY_MANY_STEPS : MANY_STEPS;
    return p->steps_for_stability >= many && p->steps_to_end >= many;
}

/* Very many steps, far below the limit of stability: is it round-off that a high order tries to
 * resolve? */
static bool is_noisy(const ga_standing *p)
{
    return p->tolerance < TIGHT && p->steps >= FIRST_STEPS && p->steps_to_end > TOO_MANY &&
           p->h_omega < SMALL && p->h_rho < SMALL;
}

static double times_longer(double wait, int count)
{
    for (int k = 0; k < count && k < MOST_LONGER; ++k) wait *= LONGER;
    return wait;
}

/* After a trial that was lost. */
static bool may_try_again(const ga_standing *p)
{
    const double wait = times_longer(AGAIN, p->lost);
    return (double)p->steps >= wait && p->steps_to_end >= MANY_STEPS;
}

ga_choice ga_choose_next(const ga_standing *p)
{
    if (p->failure != GA_OK) return rescue(p);
    if (p->singular && ga_choice_is_close(p->steps_to_singular))
        return (ga_choice){GA_METHOD_GENERALIZED_ALPHA, false, GA_REASON_SINGULAR};
    if (p->trial) return judge_trial(p);
    switch (p->method) {
    case GA_METHOD_EXPLICIT:
        if (is_noisy(p)) return (ga_choice){GA_METHOD_GENERALIZED_ALPHA, true, GA_REASON_NOISE};
        if (!may_be_stiff(p)) return stay(p);
        return (ga_choice){GA_METHOD_RADAU, true, GA_REASON_TRY};
    case GA_METHOD_RADAU:
        if (p->h_omega < RESOLVED_OMEGA && p->h_rho < RESOLVED_RHO)
            return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_RESOLVED};
        if (!(p->tolerance >= COARSE && may_try_again(p))) return stay(p);
        return (ga_choice){GA_METHOD_GENERALIZED_ALPHA, true, GA_REASON_COMPARE};
    default:
        if (p->reason == GA_REASON_STUCK || p->reason == GA_REASON_SINGULAR)
            return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_PASSED};
        if (p->gain > 0 && p->gain < COLLAPSED)
            return (ga_choice){GA_METHOD_RADAU, true, GA_REASON_TRY};
        return may_try_again(p) ? (ga_choice){GA_METHOD_RADAU, true, GA_REASON_TRY} : stay(p);
    }
}

bool ga_choice_is_close(double steps_to_singular) { return steps_to_singular < CLOSE; }

long ga_choice_first_look(void) { return EARLY; }

long ga_choice_next_look(ga_method method, bool trial, long since)
{
    if (method == GA_METHOD_EXPLICIT)
        return since + (since < WAIT_EXPLICIT ? since : WAIT_EXPLICIT);
    return since + ga_choice_wait(method, trial, 0);
}

long ga_choice_wait(ga_method method, bool trial, int count)
{
    if (method == GA_METHOD_RADAU) return trial ? FIRST_LOOK : WAIT_RADAU;
    if (method == GA_METHOD_GENERALIZED_ALPHA && trial) return FIRST_LOOK_ALPHA;
    return (long)times_longer(method == GA_METHOD_EXPLICIT ? WAIT_LOST : WAIT_ALPHA, count);
}

bool ga_choice_is_final(ga_choice choice)
{
    return choice.reason == GA_REASON_FIXED || choice.reason == GA_REASON_COLLAPSED ||
           was_to_stay(choice.reason);
}

const char *ga_reason_text(ga_reason reason)
{
    static const char *const texts[GA_REASON_COUNT] = {
        [GA_REASON_NONE] = "",
        [GA_REASON_FIXED] = "the step size is fixed",
        [GA_REASON_LOOSE] = "the tolerance is loose",
        [GA_REASON_FRICTION] = "friction depends on reactions",
        [GA_REASON_SMOOTH] = "the motion is smooth and does not seem stiff",
        [GA_REASON_TRY] = "the motion may be stiff; radau is being tried",
        [GA_REASON_STIFF] = "the motion is stiff; steps of radau are much longer",
        [GA_REASON_NO_GAIN] = "radau was tried, but its steps are not long enough",
        [GA_REASON_COMPARE] =
            "the motion is stiff; generalized-alpha, whose steps cost less, is being tried",
        [GA_REASON_COARSE] = "the motion is stiff, and the tolerance is not tight",
        [GA_REASON_NOISE] =
            "steps of the explicit method were very short, though the motion is not stiff",
        [GA_REASON_RESOLVED] = "the steps resolve the fastest vibrations",
        [GA_REASON_TOO_STIFF] = "the motion is too stiff for the explicit method",
        [GA_REASON_COLLAPSED] = "steps of generalized-alpha became too short",
        [GA_REASON_STUCK] =
            "the previous method could not continue, for example near a singular position",
        [GA_REASON_SINGULAR] = "a singular position is ahead",
        [GA_REASON_PASSED] = "the obstacle has been passed",
    };
    return texts[reason];
}
