/* Experiment: error against time on mechanisms from model files, steps of fixed size and chosen
 * by the error.
 *
 * References, by who made them:
 *   slider-crank      its one degree of freedom as an ordinary differential equation,
 *                     extrapolated midpoint rule in 22 digits, 300 and 450 basic steps agree
 *   rolling disc      extrapolation of order 14 in 80-bit arithmetic, 12 digits
 *   N-four-bar        ((N+1)/3 + N) th'' = ((N+1)/2 + N) g sin th, as the slider-crank
 *   planar chain      rods.h
 *   spatial chains    galpha itself, `extrapolate` with tolerance 1e-9; from 1e-8 to 1e-9 they
 *                     move by 1e-9 or less (N = 100), so they are good to about 1e-10; MuJoCo's
 * RK4, which shares nothing with it, agrees (experiment mujoco) All errors are largest
 * differences of coordinates of points, in m. */
#include "bench/precision.h"
#include "bench/galpha.h"
#include "bench/rods.h"

#include <math.h>
#include <stddef.h>

static const char *const crank_channels[] = {"crank_bar.position", "piston.position"};
static const char *const disc_channels[] = {"disc.position"};
static const char *const bar_channels[] = {"crank0.tip.position"};
static const char *const rod_channels[] = {"rod0.position", "rod1.position", "rod4.position",
                                           "rod24.position", "rod89.position"};

static const double crank_end[] = {0.09562471898023105, -0.0292559928895233, 0.6878139831307679,
                                   0};
static const double disc_end[] = {2.77719890894, 3.23552939858, 0.69228187520};
static const double bar_end[] = {0.18051222668672838, 0.98357274058231158};

const double precision_spherical[15] = {
    0.43096085537353063,  0.010171566042548244, -0.25331656159824373, 1.297892244062425,
    0.030627680039708501, -0.75122241599992712, 3.9601187926019845,   0.093292690213638757,
    -2.1312458260964573,  23.497342195421044,   0.53418524680842716,  -4.9048609555211957,
    88.481293358120297,   1.9785107984872663,   -4.9049999999999212};
const double precision_revolute[15] = {0.43468046957757378,    0,
                                       -0.24708882890130807,   1.3082182917272838,
                                       -0.0072816877978518213, -0.73365876585957812,
                                       3.9609653435579371,     -0.019593609560975323,
                                       -2.1326918627868192,    23.507458148443682,
                                       -0.0038803401239365992, -4.8962622967357481,
                                       88.507424654947926,     -4.921839724816721e-11,
                                       -4.9049999998905216};

static double crank_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 4 ? bench_distance(4, values, crank_end) : NAN;
}

static double disc_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 3 ? bench_distance(3, values, disc_end) : NAN;
}

static double bar_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 2 ? bench_distance(2, values, bar_end) : NAN;
}

static double spherical_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 15 ? bench_distance(15, values, precision_spherical) : NAN;
}

static double revolute_error(bench *b, const bench_case *c, int count, const double *values)
{
    (void)b, (void)c;
    return count == 15 ? bench_distance(15, values, precision_revolute) : NAN;
}

static double planar_error(bench *b, const bench_case *c, int count, const double *values)
{
    static const int rods[] = {0, 1, 4, 24, 89};
    const double *reference = rods_reference(90);
    double most = 0;
    (void)b, (void)c;
    if (!reference || count != 10) return NAN;
    for (int k = 0; k < 5; ++k) {
        const double *q = reference + 3 * (ptrdiff_t)rods[k];
        most = fmax(most, bench_distance(2, values + 2 * (ptrdiff_t)k, q));
    }
    return most;
}

#define CHANNELS(list) .channel_count = BENCH_COUNT(list), .channels = list

static const galpha_file files[] = {
    {.name = "slider_crank.yaml",
     .example = true,
     CHANNELS(crank_channels),
     .error = crank_error},
    {.name = "rolling_disc.yaml",
     .example = true,
     .t_end = 1,
     CHANNELS(disc_channels),
     .error = disc_error},
    {.name = "n_four_bar.yaml",
     .example = true,
     .parameter = "N",
     CHANNELS(bar_channels),
     .error = bar_error},
    {.name = "chain_planar.yaml",
     .parameter = "N",
     CHANNELS(rod_channels),
     .error = planar_error},
    {.name = "chain_spherical.yaml",
     .parameter = "N",
     CHANNELS(rod_channels),
     .error = spherical_error},
    {.name = "chain_revolute.yaml",
     .parameter = "N",
     CHANNELS(rod_channels),
     .error = revolute_error},
};

static const struct {
    const char *name;
    int n;
    double step; /* the coarsest; each next is half of it */
} problems[] = {
    {"slider-crank", 0, 4e-3},  {"rolling disc", 0, 8e-3},      {"N-four-bar", 40, 1e-2},
    {"planar chain", 90, 8e-3}, {"chain, spherical", 90, 8e-3}, {"chain, revolute", 90, 8e-3},
};

static int make_cases(const bench *b, int k, bench_case *cases)
{
    const int levels = b->quick ? 2 : 4, tolerances = b->quick ? 2 : 5;
    int count = 0;
    for (int mode = GALPHA_INDEX3; mode < GALPHA_MODE_COUNT; ++mode) {
        if (mode == GALPHA_ADAPTIVE_INDEX3 || !galpha_has_mode(mode)) continue;
        const bool adaptive = galpha_mode_is_adaptive(mode);
        for (int i = 0; i < (adaptive ? tolerances : levels); ++i)
            cases[count++] =
                (bench_case){.problem = problems[k].name,
                             .n = problems[k].n,
                             .who = BENCH_GALPHA,
                             .variant = galpha_mode_name(mode),
                             .setting = adaptive ? "tol" : "h",
                             .value = adaptive ? pow(10, -2 - i) : ldexp(problems[k].step, -i),
                             .run = galpha_run_file,
                             .data = files + k,
                             .mode = mode};
    }
    return count;
}

void bench_run_precision(bench *b)
{
    bench_case cases[64];
    for (int k = 0; k < BENCH_COUNT(problems); ++k) {
        if (b->quick && problems[k].n == 40) continue; /* long */
        int count = make_cases(b, k, cases);
        int first = bench_measure(b, "precision", cases, count);
        bench_print(b, first, count);
        bench_figure_precision(b, first, count, problems[k].name);
    }
}
