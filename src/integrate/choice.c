/* The choice between the explicit method (order 8, 12 factorisations in a step), radau (order
 * 5, for stiff motions; a step costs 1 to 2.5 explicit ones) and generalized-alpha (which works
 * for everything).
 *
 * Frequencies alone do not tell whether a motion is stiff: undamped vibrations that have to be
 * followed are done best by the explicit method, others by radau. So where stability may limit
 * the explicit steps, radau is tried, and kept if its steps are long enough. Trials are as rare
 * as to cost little: each one waits three times as long as the one before. */
#include "integrate/choice.h"

/* Above this tolerance a high order does not make steps longer. */
static const double LOOSE = 3e-3;

/* Radau is not tried if stability (h omega < 4.5, h rho < 6.7) asks for fewer explicit steps
 * than this over the whole time, or if fewer are left: a trial would not pay for itself. */
static const double MANY_STEPS = 300;

/* Fewer steps left are worth a trial if their average is at the limit of stability. */
static const double SOME_STEPS = 100, LIMIT_OMEGA = 4, LIMIT_RHO = 6;

/* With so many left the explicit method has given up because of stability. */
static const double TOO_MANY = 1e5;

/* Radau is kept if its step size is GAIN times the explicit one; a trial goes on while steps
 * grow by GROWTH between looks. (Step sizes of radau by explicit ones: 0.1 to 0.5 for rigid
 * mechanisms, 0.2 to 1.4 for undamped beams, 3 to 41 for damped beams and springs.) */
static const double GAIN = 2.5, GROWTH = 1.2;

/* In a trial, after so many steps: the first look (from here on, steps that are shorter than
 * the explicit ones and do not grow end the trial), and the verdict. */
enum { FIRST_LOOK = 10, VERDICT = 20 };

/* Below these the explicit method is stable with the steps of radau. */
static const double RESOLVED_OMEGA = 2, RESOLVED_RHO = 3;

/* Steps between looks. */
enum { WAIT_EXPLICIT = 100, WAIT_RADAU = 50, WAIT_ALPHA = 30, LONGER = 3, MOST_LONGER = 12 };

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

static ga_choice rescue(const ga_standing *p)
{
    const ga_method alpha = GA_METHOD_GENERALIZED_ALPHA;
    if (p->method == alpha) return stay(p);
    if (p->trial) return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_NO_GAIN};
    if (p->method == GA_METHOD_EXPLICIT && p->failure == GA_ERR_STEP_SIZE &&
        p->steps_to_end > TOO_MANY)
        return (ga_choice){GA_METHOD_RADAU, false, GA_REASON_TOO_STIFF};
    return (ga_choice){alpha, false, GA_REASON_STUCK};
}

static ga_choice judge_trial(const ga_standing *p)
{
    const ga_choice back = {GA_METHOD_EXPLICIT, false, GA_REASON_NO_GAIN};
    const bool grows = p->growth >= GROWTH;
    if (p->steps < VERDICT) return p->gain < 1 && !grows ? back : stay(p);
    if (p->gain >= GAIN) return (ga_choice){GA_METHOD_RADAU, false, GA_REASON_STIFF};
    return grows ? stay(p) : back;
}

static bool is_limited(const ga_standing *p)
{
    return p->h_omega > LIMIT_OMEGA || p->h_rho > LIMIT_RHO;
}

ga_choice ga_choose_next(const ga_standing *p)
{
    if (p->failure != GA_OK) return rescue(p);
    if (p->trial) return judge_trial(p);
    switch (p->method) {
    case GA_METHOD_EXPLICIT:
        if (p->steps_for_stability < MANY_STEPS) return stay(p);
        if (p->steps_to_end < (is_limited(p) ? SOME_STEPS : MANY_STEPS)) return stay(p);
        return (ga_choice){GA_METHOD_RADAU, true, GA_REASON_TRY};
    case GA_METHOD_RADAU:
        if (!(p->h_omega < RESOLVED_OMEGA && p->h_rho < RESOLVED_RHO)) return stay(p);
        return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_RESOLVED};
    default:
        return (ga_choice){GA_METHOD_EXPLICIT, false, GA_REASON_PASSED};
    }
}

long ga_choice_wait(ga_method method, bool trial, int count)
{
    if (method == GA_METHOD_RADAU) return trial ? FIRST_LOOK : WAIT_RADAU;
    long wait = method == GA_METHOD_EXPLICIT ? WAIT_EXPLICIT : WAIT_ALPHA;
    for (int k = 0; k < count && k < MOST_LONGER; ++k) wait *= LONGER;
    return wait;
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
        [GA_REASON_RESOLVED] = "the steps resolve the fastest vibrations",
        [GA_REASON_TOO_STIFF] = "the motion is too stiff for the explicit method",
        [GA_REASON_STUCK] =
            "the previous method could not continue, for example near a singular position",
        [GA_REASON_PASSED] = "the obstacle has been passed",
    };
    return texts[reason];
}
