/* Lobatto's quadrature with five points; an interval is halved until that changes nothing. The
 * ends are among the points: a kink next to an end would otherwise go unseen. */
#include "element/integral.h"

#include <math.h>

typedef struct integral {
    double (*f)(const void *user, double x);
    const void *user;
    double tolerance;
} integral;

enum { points = 5, max_depth = 40 };

/* sqrt(3/7) */
static const double node[points] = {-1, -0.65465367070797714380, 0, 0.65465367070797714380, 1};
static const double weight[points] = {1 / 10.0, 49 / 90.0, 32 / 45.0, 49 / 90.0, 1 / 10.0};

/* The rule for f, and for |f|. */
static double rule(const integral *it, double a, double b, double *size)
{
    double half = (b - a) / 2, middle = a + half, sum = 0;
    *size = 0;
    for (int k = 0; k < points; ++k) {
        double y = it->f(it->user, middle + half * node[k]);
        sum += weight[k] * y;
        *size += weight[k] * fabs(y);
    }
    *size *= fabs(half);
    return half * sum;
}

static double refine(const integral *it, double a, double b, double whole, int depth)
{
    double middle = a + (b - a) / 2, size;
    double left = rule(it, a, middle, &size), right = rule(it, middle, b, &size);
    /* Values that are not finite compare false: there the recursion ends as well. */
    if (depth == max_depth || !(fabs(left + right - whole) > it->tolerance))
        return left + right;
    return refine(it, a, middle, left, depth + 1) + refine(it, middle, b, right, depth + 1);
}

double ga_integrate(double (*f)(const void *user, double x), const void *user, double a,
                    double b)
{
    integral it = {f, user, 0};
    double size, whole = rule(&it, a, b, &size);
    it.tolerance = 1e-14 * size;
    return refine(&it, a, b, whole, 0);
}
