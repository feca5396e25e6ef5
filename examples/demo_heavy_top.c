/* The heavy top of [ABC14] section 5 in three variants: index 3 with plain start values, index
 * 3 with perturbed start values, stabilised index 2. Prints the largest errors of the
 * multipliers and plots lambda_3(t).
 *
 *     demo_heavy_top [picture.svg]
 */
#include "problems/problems.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 200, RUNS = 3, FINE = 16 };

static const double h = 1e-3;

typedef struct run {
    const char *name, *color;
    ga_formulation formulation;
    ga_start start;
    double lambda[STEPS + 1][3];
} run;

/* lambda at every step of size h, computed with steps h/refine. */
static int integrate(const pb_problem *top, ga_formulation formulation, ga_start start,
                     int refine, double lambda[][3])
{
    ga_integrator_def def = ga_integrator_def_default(); /* rho_inf = 0.9 */
    def.formulation = formulation;
    def.start = start;
    ga_integrator *integrator = NULL;
    ga_report report;
    ga_status status = ga_integrator_create(&top->system, &def, &integrator, &report);
    if (!status)
        status =
            ga_integrator_start(integrator, top->t0, top->q0, top->v0, h / refine, &report);
    for (int n = 0; n <= STEPS * refine && !status; ++n) {
        if (n > 0) status = ga_integrator_step(integrator, &report);
        if (n % refine) continue;
        for (int i = 0; i < 3; ++i) lambda[n / refine][i] = ga_integrator_lambda(integrator)[i];
    }
    if (status) fprintf(stderr, "%s\n", report.message);
    ga_integrator_destroy(integrator);
    return status != GA_OK;
}

/* Index 2 with h/16 and h/32, extrapolated: better than 1e-6 of the differences shown. */
static int reference(const pb_problem *top, double lambda[][3])
{
    static double coarse[STEPS + 1][3];
    if (integrate(top, GA_INDEX2, GA_START_AUTO, FINE, coarse)) return 1;
    if (integrate(top, GA_INDEX2, GA_START_AUTO, 2 * FINE, lambda)) return 1;
    for (int n = 0; n <= STEPS; ++n)
        for (int i = 0; i < 3; ++i) lambda[n][i] += (lambda[n][i] - coarse[n][i]) / 3;
    return 0;
}

static void print_table(const run *runs, double exact[][3])
{
    printf("Heavy top on R3xSO(3), generalized-alpha with rho_inf = 0.9, h = %g\n", h);
    printf("largest error of the multipliers in the first %d steps, and after step 150:\n\n",
           STEPS);
    printf("  %-28s %12s %6s %14s\n", "", "|e_lambda_3|", "step", "from step 150");
    for (int k = 0; k < RUNS; ++k) {
        double largest = 0, late = 0;
        int where = 0;
        for (int n = 1; n <= STEPS; ++n) {
            double e = fabs(runs[k].lambda[n][2] - exact[n][2]);
            if (e > largest) {
                largest = e;
                where = n;
            }
            if (n >= 150) late = fmax(late, e);
        }
        printf("  %-28s %12.4f %6d %14.4f\n", runs[k].name, largest, where, late);
    }
}

/* --- the picture: lambda_3 over the first 0.1 s ------------------------------------------- */

enum { SHOWN = 100, WIDTH = 760, HEIGHT = 430, LEFT = 70, RIGHT = 20, TOP = 62, BOTTOM = 50 };

static const double low = -450, high = -200;

static double place_x(int n) { return LEFT + (double)(WIDTH - LEFT - RIGHT) * n / SHOWN; }

static double place_y(double value)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low);
}

static void draw_axes(FILE *svg)
{
    for (double value = low; value <= high; value += 50)
        fprintf(svg,
                "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/>"
                "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n",
                LEFT, place_y(value), WIDTH - RIGHT, place_y(value), LEFT - 8,
                place_y(value) + 4, value);
    for (int n = 0; n <= SHOWN; n += 20)
        fprintf(svg,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#999'/>"
                "<text x='%.1f' y='%d' text-anchor='middle'>%.2f</text>\n",
                place_x(n), HEIGHT - BOTTOM, place_x(n), HEIGHT - BOTTOM + 5, place_x(n),
                HEIGHT - BOTTOM + 20, n * h);
    fprintf(svg, "<rect x='%d' y='%d' width='%d' height='%d' fill='none' stroke='#999'/>\n",
            LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    fprintf(svg, "<text x='%d' y='%d' text-anchor='middle'>time in s</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    fprintf(svg,
            "<text transform='translate(18 %d) rotate(-90)' text-anchor='middle'>"
            "&#955;<tspan dy='3' font-size='10'>3</tspan><tspan dy='-3'> in N</tspan></text>\n",
            (TOP + HEIGHT - BOTTOM) / 2);
}

static void draw_run(FILE *svg, const run *r, int k)
{
    fprintf(svg, "<polyline fill='none' stroke='%s' stroke-width='%s' points='", r->color,
            k ? "2.5" : "1.5");
    for (int n = 0; n <= SHOWN; ++n)
        fprintf(svg, "%.2f,%.2f ", place_x(n), place_y(r->lambda[n][2]));
    double x = LEFT + 10 + 222.0 * k;
    fprintf(
        svg,
        "'%s/>\n<line x1='%.0f' y1='46' x2='%.0f' y2='46' stroke='%s' stroke-width='2.5'%s/>"
        "<text x='%.0f' y='50'>%s</text>\n",
        k == 2 ? " stroke-dasharray='7 6'" : "", x, x + 24, r->color,
        k == 2 ? " stroke-dasharray='7 6'" : "", x + 30, r->name);
}

static int draw(const char *path, const run *runs)
{
    FILE *svg = fopen(path, "w");
    if (!svg) {
        perror(path);
        return 1;
    }
    fprintf(
        svg,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' "
        "font-family='sans-serif' font-size='12.5' fill='#222'>\n"
        "<rect width='100%%' height='100%%' fill='white'/>\n"
        "<text x='%d' y='24' font-size='15'>Heavy top: the vertical constraint force at the "
        "start, h = 0.001 s</text>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    draw_axes(svg);
    for (int k = 0; k < RUNS; ++k) draw_run(svg, &runs[k], k);
    fprintf(svg, "</svg>\n");
    int failed = ferror(svg);
    failed |= fclose(svg);
    if (failed) {
        perror(path);
        return 1;
    }
    printf("\nlambda_3(t) of the three: %s\n", path);
    return 0;
}

int main(int argc, char **argv)
{
    static double exact[STEPS + 1][3];
    static run runs[RUNS] = {
        {"index 3, plain start", "#d1495b", GA_INDEX3, GA_START_PLAIN, {{0}}},
        {"index 3, perturbed start", "#2e86ab", GA_INDEX3, GA_START_PERTURBED, {{0}}},
        {"stabilised index 2", "#1b1b1b", GA_INDEX2, GA_START_AUTO, {{0}}},
    };
    pb_problem *top = NULL;
    if (pb_heavy_top_create(GA_GROUP_R3SO3, &top)) return EXIT_FAILURE;
    int failed = reference(top, exact);
    for (int k = 0; k < RUNS && !failed; ++k)
        failed = integrate(top, runs[k].formulation, runs[k].start, 1, runs[k].lambda);
    pb_destroy(top);
    if (failed) return EXIT_FAILURE;
    print_table(runs, exact);
    return draw(argc > 1 ? argv[1] : "heavy_top.svg", runs) ? EXIT_FAILURE : EXIT_SUCCESS;
}
