/* Sizes of long vectors.
 *
 * Many at a time: the largest of each place of a group, and at the end the largest of these.
 * Comparisons leave NaN out, so numbers are also added up: where the sum is not finite, there
 * may be one among them, and they are looked at one by one.
 */
#include "system/dae.h"

#include "system/norms_few.h"

#include <math.h>

/* Kinds of coordinates of planar and of spatial bodies, of points in both, repeat after this
 * many. */
enum { GROUP = GA_NORM_PERIOD };

/* Largest of each place in groups of numbers from x on; how many numbers were looked at, or 0
 * if they may not be finite. */
static int largest_by_place(int n, const double *x, double largest[GROUP])
{
    enum { QUADS = GROUP / 4 };
    quad most[QUADS], sum[QUADS], number;
    double sums[GROUP], total = 0;
    int i = 0;
    for (int k = 0; k < QUADS; ++k) set_zero(&most[k]), set_zero(&sum[k]);
    for (; i + GROUP <= n; i += GROUP)
        for (int k = 0; k < QUADS; ++k) {
            load(&number, x + i + 4 * k);
            raise_by(&most[k], &number);
            add(&sum[k], &number, 1);
        }
    for (int k = 0; k < QUADS; ++k) {
        store(largest + 4 * k, &most[k]);
        store(sums + 4 * k, &sum[k]);
    }
    for (int j = 0; j < GROUP; ++j) total += sums[j];
    return isfinite(total) ? i : 0;
}

/* Of numbers from i on, and largest. */
static double raise_max(int i, int n, const double *x, double largest)
{
    double zero = 0; /* or NaN */
    for (int k = i; k < n; ++k) {
        largest = greater(fabs(x[k]), largest);
        zero += 0 * x[k];
    }
    for (; zero != 0 && i < n; ++i)
        if (isnan(x[i])) return x[i];
    return largest;
}

static double max_of_many(int n, const double *x)
{
    double most[GROUP], largest = 0;
    const int i = largest_by_place(n, x, most);
    for (int j = 0; i && j < GROUP; ++j) largest = greater(most[j], largest);
    return raise_max(i, n, x, largest);
}

/* 4 to GROUP numbers: fours, which may have some in common. */
static double max_of_some(int n, const double *x)
{
    quad most, zero, number;
    double zeros[4];
    set_zero(&most), set_zero(&zero);
    for (int i = 0; i < n; i += 4) {
        load(&number, x + (i + 4 <= n ? i : n - 4));
        raise_by(&most, &number);
        add(&zero, &number, 0);
    }
    store(zeros, &zero);
    if (zeros[0] + zeros[1] + (zeros[2] + zeros[3]) != 0) return raise_max(0, n, x, 0);
    return largest_of(&most);
}

double ga_norm_max(int n, const double *x)
{
    if (n < 4) return raise_max(0, n, x, 0);
    return n < GROUP ? max_of_some(n, x) : max_of_many(n, x);
}

/* Largest of each kind in fours from i and from k on: two vectors that do not wait for each
 * other. */
KERNEL void raise_pair(int i, int k, const double *x, const int *kind, quad sizes[2][2],
                       quad zeros[2])
{
    raise_one(sizes[0], x + i, kind + i);
    raise_one(sizes[1], x + k, kind + k);
    add_at(&zeros[0], x + i, 0);
    add_at(&zeros[1], x + k, 0);
}

/* Largest of each kind of four numbers and more; the last fours may have some in common with
 * those before. False if 0 x shows that there may be a NaN. */
static bool raise_by_kind(int n, const double *x, const int *kind, double largest[2])
{
    quad sizes[2][2], zeros[2];
    double at[4];
    for (int k = 0; k < 2; ++k)
        set_zero(&sizes[k][0]), set_zero(&sizes[k][1]), set_zero(&zeros[k]);
    for (int i = 0; i + 8 <= n; i += 8) raise_pair(i, i + 4, x, kind, sizes, zeros);
    if (n % 8 > 0) raise_pair(n < 8 ? 0 : n - 8, n - 4, x, kind, sizes, zeros);
    add(&zeros[0], &zeros[1], 1);
    store(at, &zeros[0]);
    for (int k = 0; k < 2; ++k) raise_by(&sizes[0][k], &sizes[1][k]);
    largest_of_both(sizes[0], largest);
    return at[0] + at[1] + (at[2] + at[3]) == 0;
}

static double raised(double size, double value) { return value <= size ? size : value; }

/* One by one; 0, or NaN. */
static double raise_few(int n, const double *x, const int *kind, double factor, double size[2])
{
    double zero = 0;
    for (int i = 0; i < n; ++i) {
        size[kind[i]] = raised(size[kind[i]], factor * fabs(x[i]));
        zero += 0 * x[i];
    }
    return zero;
}

double ga_norm_raise(int n, const double *x, const int *kind, double factor, double size[2])
{
    double largest[2];
    if (n < 4 || !raise_by_kind(n, x, kind, largest))
        return raise_few(n, x, kind, factor, size);
    for (int k = 0; k < 2; ++k) size[k] = raised(size[k], factor * largest[k]);
    return 0;
}

double ga_norm_raise_few(int n, const double *x, const double *second, double factor,
                         double size[2])
{
    double largest[2];
    const double zero = sizes_by_kind(n, x, second, largest);
    for (int k = 0; k < 2; ++k) size[k] = raised(size[k], factor * largest[k]);
    return zero;
}

static double raise_groups(int n, const double *x, const int *kind, double factor,
                           double size[2])
{
    double most[GROUP];
    const int done = largest_by_place(n, x, most);
    if (done) ga_norm_raise(GROUP, most, kind, factor, size);
    return ga_norm_raise(n - done, x + done, kind + done, factor, size);
}

double ga_norm_raise_repeating(int n, const double *x, const int *kind, double factor,
                               double size[2])
{
    if (n >= GROUP) return raise_groups(n, x, kind, factor, size);
    return ga_norm_raise(n, x, kind, factor, size);
}

/* Coordinates of a node, translations among them, which come first. */
typedef struct extent {
    int nq, translations;
} extent;

static extent extent_of(ga_node node)
{
    static const extent extents[] = {
        [GA_GROUP_SO2] = {1, 0}, [GA_GROUP_SO3] = {4, 0},   [GA_GROUP_R2SO2] = {3, 2},
        [GA_GROUP_SE2] = {3, 2}, [GA_GROUP_R3SO3] = {7, 3}, [GA_GROUP_SE3] = {7, 3}};
    return node.group == GA_GROUP_RN ? (extent){node.n, node.n} : extents[node.group];
}

/* Of nodes that have three translations and four numbers more. */
static double largest_of_frames(int count, const double *q)
{
    double most[3] = {0};
    for (int k = 0; k < count; ++k, q += 7)
        for (int i = 0; i < 3; ++i) most[i] = fabs(q[i]) > most[i] ? fabs(q[i]) : most[i];
    return ga_norm_max(3, most);
}

/* Of the first nodes, which are planar bodies all; how many were looked at. */
static int largest_of_planes(int count, const double *q, double *largest)
{
    double most[GROUP];
    const int done = largest_by_place(3 * count, q, most);
    for (int j = 0; done && j < GROUP; ++j)
        if (j % 3 < 2 && most[j] > *largest) *largest = most[j];
    return done / 3;
}

double ga_dae_translation(const ga_dae *dae, const double *q)
{
    const int count = dae->sys.node_count;
    const extent all = dae->alike ? extent_of(dae->sys.nodes[0]) : (extent){0, 0};
    double largest = 0;
    int k = 0;
    if (all.nq == 7 && all.translations == 3) return largest_of_frames(count, q);
    if (all.nq == 3 && all.translations == 2) k = largest_of_planes(count, q, &largest);
    for (q += 3 * k; k < count; ++k) {
        const extent node = extent_of(dae->sys.nodes[k]);
        for (int i = 0; i < node.translations; ++i)
            largest = fabs(q[i]) > largest ? fabs(q[i]) : largest;
        q += node.nq;
    }
    return largest;
}
