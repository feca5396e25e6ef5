/* Angles that count full turns. atan2 gives an angle up to a multiple of 2 pi; which one it is
 * follows from the last accepted state, kept in memory as (angle, rate, time). Over the time
 * since then the angle has changed by about the mean of the two rates times that time: the
 * multiple is right while this trapezoidal rule is off by less than half a turn, however many
 * turns there are in a step. Memory must be renewed in every accepted state, also behind an
 * event: rates jump there. */
#ifndef GA_ELEMENT_TURN_H
#define GA_ELEMENT_TURN_H

enum { GA_TURN_MEMORY = 3 };

/* The angle at time t, with its turns; wrapped: up to a multiple of 2 pi. */
double ga_turn_unwrap(const double memory[GA_TURN_MEMORY], double t, double wrapped,
                      double rate);
/* The accepted state, as ga_turn_unwrap has it; or that of a start, as it is. */
void ga_turn_commit(double memory[GA_TURN_MEMORY], double t, double angle, double rate);

#endif
