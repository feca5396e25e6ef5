/* Integrals of functions of one variable that may have kinks. */
#ifndef GA_ELEMENT_INTEGRAL_H
#define GA_ELEMENT_INTEGRAL_H

/* The integral from a to b, to about 1e-13 of the integral of |f|; at a kink, bisection goes
 * on until what is left is that small. */
double ga_integrate(double (*f)(const void *user, double x), const void *user, double a,
                    double b);

#endif
