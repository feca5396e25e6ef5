/* Sizes of vectors. Comparisons leave NaN out, so 0 x is summed beside them: it is zero, or NaN
 * where some x is not finite. */
#include "system/dae.h"

#include <math.h>

double ga_norm_max(int n, const double *x)
{
    double largest = 0, zero = 0;
    for (int i = 0; i < n; ++i) {
        const double size = fabs(x[i]);
        largest = size > largest ? size : largest;
        zero += 0 * x[i];
    }
    for (int i = 0; zero != 0 && i < n; ++i)
        if (isnan(x[i])) return x[i];
    return largest;
}

double ga_norm_raise(int n, const double *x, const int *kind, double factor, double size[2])
{
    double zero = 0;
    for (int i = 0; i < n; ++i) {
        const double value = factor * fabs(x[i]);
        double *largest = &size[kind[i]];
        *largest = value <= *largest ? *largest : value;
        zero += 0 * x[i];
    }
    return zero;
}

/* Translations of a node, which come first among its coordinates. */
static int translations(ga_node node)
{
    static const int counts[] = {[GA_GROUP_SO2] = 0, [GA_GROUP_SO3] = 0,   [GA_GROUP_R2SO2] = 2,
                                 [GA_GROUP_SE2] = 2, [GA_GROUP_R3SO3] = 3, [GA_GROUP_SE3] = 3};
    return node.group == GA_GROUP_RN ? node.n : counts[node.group];
}

double ga_dae_translation(const ga_dae *dae, const double *q)
{
    double largest = 0;
    for (int k = 0; k < dae->sys.node_count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int count = translations(node);
        for (int i = 0; i < count; ++i) largest = fabs(q[i]) > largest ? fabs(q[i]) : largest;
        q += ga_node_nq(node);
    }
    return largest;
}
