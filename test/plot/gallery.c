/* Typical figures, made to be looked at:
 *
 *     gallery DIRECTORY ENDING      writes DIRECTORY/01-convergence.ENDING and so on
 *
 * Exits 1 with a message if one cannot be written.
 */
#include <galpha/plot.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 120000, SOME = 400 };

static double xs[MANY], ys[8][MANY];
static const double PI = 3.14159265358979323846;

static double noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

static void fill(int n, double from, double to)
{
    for (int k = 0; k < n; ++k) xs[k] = from + (to - from) * k / (n - 1);
}

static ga_figure *convergence(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                                                     .title = "Heavy top: error at t = 1 s"});
    int p = ga_figure_panel(
        f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                            .x = {.label = "step size h", .unit = "s", .scale = GA_SCALE_LOG},
                            .y = {.label = "relative error", .scale = GA_SCALE_LOG}});
    static const char *names[] = {"position q", "velocity v",
                                  "multiplier \xce\xbb, perturbed start",
                                  "multiplier \xce\xbb, plain start"};
    static const ga_plot_marker markers[] = {GA_MARKER_CIRCLE, GA_MARKER_SQUARE,
                                             GA_MARKER_TRIANGLE, GA_MARKER_RING};
    const double scale[] = {0.02, 0.4, 9, 3}, order[] = {2, 2, 2, 1};
    enum { N = 8 };
    unsigned seed = 1;
    for (int k = 0; k < N; ++k) xs[k] = 4e-3 * pow(2, -k);
    for (int s = 0; s < 4; ++s) {
        for (int k = 0; k < N; ++k)
            ys[s][k] = scale[s] * pow(xs[k] * 10, order[s]) * (1 + 0.1 * noise(&seed));
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = names[s],
                                           .count = N,
                                           .x = xs,
                                           .y = ys[s],
                                           .marker = markers[s]});
    }
    ga_figure_slope(f, p, &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
    return f;
}

static ga_figure *transient(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int p = ga_figure_panel(
        f, &(ga_plot_panel){
               .struct_size = sizeof(ga_plot_panel),
               .title = "Multiplier error after a plain start",
               .x = {.label = "time", .unit = "s"},
               .y = {.label = "error of \xce\xbb_{1}", .unit = "N", .scale = GA_SCALE_LOG},
               .legend_title = "\xcf\x81_{\xe2\x88\x9e}"});
    fill(SOME, 0, 0.2);
    const double rho[] = {0.9, 0.6};
    static const char *names[] = {"0.9", "0.6"};
    for (int s = 0; s < 2; ++s) {
        for (int k = 0; k < SOME; ++k) {
            double decay = pow(rho[s], 0.6 * k);
            ys[s][k] = 30 * decay * (1 + k * 0.3) + 3e-4 * (1 + 0.3 * sin(40 * xs[k]));
        }
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = names[s],
                                           .count = SOME,
                                           .x = xs,
                                           .y = ys[s]});
    }
    ga_figure_span(f, p,
                   &(ga_plot_span){.struct_size = sizeof(ga_plot_span),
                                   .direction = GA_ALONG_X,
                                   .low = 0,
                                   .high = 0.04,
                                   .label = "transient"});
    ga_figure_rule(f, p,
                   &(ga_plot_rule){.struct_size = sizeof(ga_plot_rule),
                                   .direction = GA_ALONG_X,
                                   .at = 1e-3,
                                   .line = GA_LINE_DASHED,
                                   .label = "tolerance"});
    ga_figure_note(f, p,
                   &(ga_plot_note){.struct_size = sizeof(ga_plot_note),
                                   .x = xs[25],
                                   .y = ys[0][25],
                                   .text = "hump",
                                   .right = 30,
                                   .up = 12});
    return f;
}

static ga_figure *phase(void)
{
    ga_figure *f = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 380, .height = 330});
    int p = ga_figure_panel(
        f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                            .title = "Damped pendulum",
                            .x = {.label = "angle", .unit = "rad"},
                            .y = {.label = "angular velocity", .unit = "rad/s"}});
    double angle = 2.6, rate = 0, h = 1e-3;
    for (int k = 0; k < MANY; ++k) {
        xs[k] = angle;
        ys[0][k] = rate;
        rate += h * (-9.81 * sin(angle) - 0.12 * rate);
        angle += h * rate;
    }
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .count = MANY,
                                       .x = xs,
                                       .y = ys[0],
                                       .width = 1});
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "start",
                                       .count = 1,
                                       .x = xs,
                                       .y = ys[0],
                                       .line = GA_LINE_NONE,
                                       .marker = GA_MARKER_CIRCLE,
                                       .color = GA_COLOR_RED,
                                       .marker_size = 7});
    return f;
}

static ga_figure *spectral(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int p = ga_figure_panel(
        f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                            .title = "Spectral radius of the generalized-\xce\xb1 method",
                            .x = {.label = "h / T", .scale = GA_SCALE_LOG},
                            .y = {.label = "spectral radius \xcf\x81"},
                            .legend_title = "\xcf\x81_{\xe2\x88\x9e}"});
    for (int k = 0; k < SOME; ++k) xs[k] = pow(10, -2 + 5.0 * k / (SOME - 1));
    for (int s = 0; s < 6; ++s) {
        const double rho = 1 - 0.2 * s;
        char name[16];
        snprintf(name, sizeof name, "%.1f", rho);
        for (int k = 0; k < SOME; ++k) {
            const double w = 2 * PI * xs[k], z = w * w * w / (30 + w * w * w);
            ys[0][k] = 1 - (1 - rho) * z;
        }
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = name,
                                           .count = SOME,
                                           .x = xs,
                                           .y = ys[0]});
    }
    return f;
}

static ga_figure *time_series(void)
{
    ga_figure *f =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                                          .title = "Slider-crank, crank at 100 rad/s",
                                          .share_x = true});
    fill(SOME, 0, 0.15);
    const char *labels[] = {"slider", "crank pin force", "energy drift"};
    const char *units[] = {"m", "N", "J"};
    for (int row = 0; row < 3; ++row) {
        int p = ga_figure_panel(
            f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                .x = {.label = "time", .unit = "s"},
                                .y = {.label = labels[row], .unit = units[row]}});
        const int curves = row == 1 ? 2 : 1;
        for (int s = 0; s < curves; ++s) {
            for (int k = 0; k < SOME; ++k) {
                const double a = 100 * xs[k];
                ys[s][k] = row == 0   ? 0.3 + 0.15 * cos(a) + 0.02 * cos(2 * a)
                           : row == 1 ? 8200 * cos(a + 1.3 * s) + 1500 * sin(3 * a)
                                      : 1e-7 * (a + sin(2 * a));
                if (row == 1 && k > 150 && k < 170) ys[s][k] = NAN;
            }
            ga_figure_series(
                f, p,
                &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                  .label = row == 1 ? (s ? "F_{y}" : "F_{x}") : NULL,
                                  .count = SOME,
                                  .x = xs,
                                  .y = ys[s]});
        }
    }
    return f;
}

static ga_figure *snapshots(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                                                     .title = "Four-bar linkage",
                                                     .columns = 3,
                                                     .height = 250,
                                                     .share_y = true});
    for (int n = 0; n < 3; ++n) {
        char title[32];
        snprintf(title, sizeof title, "t = %.1f s", 0.5 * n);
        int p = ga_figure_panel(
            f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                .title = title,
                                .equal_aspect = true,
                                .x = {.label = "x", .unit = "m", .low = -0.6, .high = 1.6},
                                .y = {.label = "y", .unit = "m", .low = -0.7, .high = 1.3}});
        for (int k = 0; k < SOME; ++k) {
            const double a = 2 * PI * k / (SOME - 1);
            xs[k] = 0.4 * cos(a), ys[0][k] = 0.4 * sin(a);
        }
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .count = SOME,
                                           .x = xs,
                                           .y = ys[0],
                                           .color = GA_COLOR_LIGHT,
                                           .line = GA_LINE_DASHED,
                                           .width = 0.8});
        const double a = 0.5 + 1.1 * n, ax = 0.4 * cos(a), ay = 0.4 * sin(a);
        const double dx = 1 - ax, d = sqrt(dx * dx + ay * ay), l = 1, r = 0.8;
        const double along = (l * l - r * r + d * d) / (2 * d),
                     up = sqrt(l * l - along * along);
        const double bx = ax + along * dx / d + up * ay / d,
                     by = ay - along * ay / d + up * dx / d;
        const double x[] = {0, ax, bx, 1}, y[] = {0, ay, by, 0};
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .count = 4,
                                           .x = x,
                                           .y = y,
                                           .width = 2.5,
                                           .marker = GA_MARKER_RING,
                                           .marker_size = 6,
                                           .color = GA_COLOR_BLUE});
    }
    return f;
}

static ga_figure *dense(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int p =
        ga_figure_panel(f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                            .title = "120,000 points with one spike",
                                            .x = {.label = "time", .unit = "s"},
                                            .y = {.label = "acceleration", .unit = "m/s^{2}"}});
    unsigned seed = 7;
    fill(MANY, 0, 600);
    for (int k = 0; k < MANY; ++k)
        ys[0][k] = exp(-xs[k] / 200) * sin(3 * xs[k]) + 0.3 * noise(&seed);
    ys[0][77777] = 3;
    for (int k = 0; k < MANY; ++k) ys[1][k] = 1.2 * exp(-xs[k] / 200);
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "measured",
                                       .count = MANY,
                                       .x = xs,
                                       .y = ys[0],
                                       .width = 0.6});
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "envelope",
                                       .count = MANY,
                                       .x = xs,
                                       .y = ys[1]});
    return f;
}

static ga_figure *twin(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int p = ga_figure_panel(
        f,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = "time", .unit = "s"},
                         .y = {.label = "position of P", .unit = "mm"},
                         .right = {.label = "step size", .unit = "s", .scale = GA_SCALE_LOG}});
    fill(SOME, 0, 0.03);
    for (int k = 0; k < SOME; ++k) {
        ys[0][k] = 40 * sin(300 * xs[k]) * exp(-30 * xs[k]);
        ys[1][k] = 1e-5 * pow(10, 1.5 * sin(600 * xs[k]));
    }
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "x_{P}",
                                       .count = SOME,
                                       .x = xs,
                                       .y = ys[0]});
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "step size (right)",
                                       .count = SOME,
                                       .x = xs,
                                       .y = ys[1],
                                       .right = true,
                                       .line = GA_LINE_DASHED});
    return f;
}

static ga_figure *crowded(void)
{
    ga_figure *f = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int p = ga_figure_panel(f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                .title = "Ten curves, no free corner",
                                                .x = {.label = "x"},
                                                .y = {.label = "y"}});
    fill(SOME, 0, 10);
    for (int s = 0; s < 10; ++s) {
        char name[32];
        snprintf(name, sizeof name, "curve number %d", s + 1);
        for (int k = 0; k < SOME; ++k) ys[0][k] = sin(xs[k] * (1 + 0.1 * s) + s);
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = name,
                                           .count = SOME,
                                           .x = xs,
                                           .y = ys[0]});
    }
    return f;
}

static ga_figure *offsets(void)
{
    ga_figure *f =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .columns = 2});
    const double center[] = {101325, 0, 2.5e-7, 6.4e8};
    const double size[] = {0.02, 0, 1e-7, 2e8};
    const char *titles[] = {"large number, small change", "constant zero", "small", "large"};
    for (int n = 0; n < 4; ++n) {
        int p = ga_figure_panel(f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                    .title = titles[n],
                                                    .x = {.label = "time", .unit = "s"},
                                                    .y = {.label = "pressure", .unit = "Pa"}});
        fill(SOME, 0, n == 2 ? 2e-6 : 20);
        for (int k = 0; k < SOME; ++k) ys[0][k] = center[n] + size[n] * sin(0.03 * k);
        ga_figure_series(
            f, p,
            &(ga_plot_series){
                .struct_size = sizeof(ga_plot_series), .count = SOME, .x = xs, .y = ys[0]});
    }
    return f;
}

static ga_figure *styles(void)
{
    ga_figure *f =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .height = 340});
    int p = ga_figure_panel(f, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                .title = "Lines and markers",
                                                .x = {.label = "x", .low = 0, .high = 10},
                                                .y = {.label = "y"},
                                                .legend = GA_LEGEND_OUTSIDE});
    const char *names[] = {"circle", "square", "triangle", "diamond",
                           "ring",   "cross",  "plus",     "dot"};
    for (int s = 0; s < 8; ++s) {
        const double x[] = {0, 2, 4, 6, 8, 10},
                     y[] = {s, s + 0.5, s + 0.3, s + 0.6, s + 0.2, s + 0.5};
        ga_figure_series(f, p,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = names[s],
                                           .count = 6,
                                           .x = x,
                                           .y = y,
                                           .marker = (ga_plot_marker)(GA_MARKER_CIRCLE + s),
                                           .line = (ga_plot_line)(s % 5)});
    }
    return f;
}

static ga_figure *difficult(void)
{
    ga_figure *f = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                         .title = "A very long title that would not fit on the paper if it "
                                  "were not made smaller than others"});
    int p = ga_figure_panel(
        f, &(ga_plot_panel){
               .struct_size = sizeof(ga_plot_panel),
               .x = {.label = "<script>alert(1)</script> & more", .unit = "\xc2\xb0"},
               .y = {.label = "body_1.position.x", .unit = "m", .scale = GA_SCALE_LOG}});
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {1, 3, INFINITY, 2, -1, 0, 1.5, 1e-200};
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "gaps \"quoted\" \xff\x01",
                                       .count = 8,
                                       .x = x,
                                       .y = y,
                                       .marker = GA_MARKER_CIRCLE});
    const double huge[] = {1e-3, 1e300, 1e-300, 1e300, 1, 1, 1, 1};
    ga_figure_series(f, p,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "huge",
                                       .count = 8,
                                       .x = x,
                                       .y = huge});
    return f;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: gallery DIRECTORY ENDING\n");
        return 2;
    }
    static const struct {
        const char *name;
        ga_figure *(*make)(void);
    } all[] = {
        {"convergence", convergence},
        {"transient", transient},
        {"phase", phase},
        {"spectral", spectral},
        {"time", time_series},
        {"snapshots", snapshots},
        {"dense", dense},
        {"twin", twin},
        {"crowded", crowded},
        {"offsets", offsets},
        {"styles", styles},
        {"difficult", difficult},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%02d-%s.%s", argv[1], (int)k + 1, all[k].name, argv[2]);
        ga_report report = {0};
        ga_figure *figure = all[k].make();
        const ga_status status = ga_figure_write(figure, path, &report);
        ga_figure_destroy(figure);
        if (status) {
            fprintf(stderr, "%s\n", report.message);
            return 1;
        }
    }
    return 0;
}
