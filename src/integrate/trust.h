/* May a small increment of Newton's method be taken for a small error?
 *
 * The increment solves J u = r with J = M + S + ..., S = c_q K T + c_v C. The stiffness of a
 * spring has a part k (stretch/length) across it. Tangents made at the prediction, where the
 * stretch is that of a step along a straight line, may have a million times the stiffness of
 * the solution there. The residual in that direction is then divided by a million: increments
 * shrink, and nothing is solved. The same happens where friction or a damper is much softer at
 * the solution than where the tangents were made.
 *
 * An increment u underestimates the error by at most M^-1 S u. Where that is below the
 * tolerance, or small against u itself, S does not matter, and u tells the error. Elsewhere
 * tangents S' are made at the end of the increment: M^-1 (S' - S) u is what is still unsolved.
 */
#ifndef GA_INTEGRATE_TRUST_H
#define GA_INTEGRATE_TRUST_H

#include <stdbool.h>

/* M^-1 S u relative to u up to which mass outweighs stiffness, so that contraction rates are
 * those of the error. */
static const double GA_TRUST_SOFT = 0.3;

/* norm: largest component of the increment; withheld: that of M^-1 S u, both in units of the
 * tolerances. */
static inline bool ga_trust_is_soft(double norm, double withheld)
{
    return withheld <= 1 || withheld <= GA_TRUST_SOFT * norm;
}

/* undone: largest component of M^-1 (S' - S) u, in the same units. Infinite or NaN: no. */
static inline bool ga_trust_is_solved(double undone) { return undone <= 1; }

#endif
