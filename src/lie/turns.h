/* Cosines and sines of many angles. */
#ifndef GA_LIE_TURNS_H
#define GA_LIE_TURNS_H

/* c[k], s[k] of x[k]; errors below 1e-16 and one unit in the last place. */
void ga_turns(int n, const double *x, double *c, double *s);

#endif
