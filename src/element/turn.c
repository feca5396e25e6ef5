#include "element/turn.h"

#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

double ga_turn_unwrap(const double memory[GA_TURN_MEMORY], double t, double wrapped,
                      double rate)
{
    const double expected = memory[0] + 0.5 * (memory[1] + rate) * (t - memory[2]);
    const double turns = round((expected - wrapped) / two_pi);
    /* a trial state of Newton's method may have any rate */
    return isfinite(turns) ? wrapped + two_pi * turns : wrapped;
}

void ga_turn_commit(double memory[GA_TURN_MEMORY], double t, double angle, double rate)
{
    memory[0] = angle;
    memory[1] = rate;
    memory[2] = t;
}
