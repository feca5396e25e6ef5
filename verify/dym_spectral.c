/* Spectral radius, period elongation and damping of the oscillator, [DYM] figures 1 to 3. */
#include "verify/ladder.h"

#include <galpha/spectrum.h>
#include <math.h>

/* Eigenvalues of the same 3 x 3 matrix by another program. The error of an eigenvalue is a few
 * units of round-off, but period and damping divide by the angle 2 pi h/T. */
#define WHY "eigenvalues in double precision; 10 digits, or round-off of 1 - |z|"

enum { METHODS = 6, CURVE = 241 };

static const double rho[METHODS] = {0, 0.2, 0.4, 0.6, 0.8, 1};
static const char *const label[METHODS] = {"0", "0.2", "0.4", "0.6", "0.8", "1"};

static const struct {
    const char *radius_name, *elongation_name, *damping_name;
    double rho, ratio, radius, elongation, damping;
} table[] = {
#define ROW(r, x, radius, elongation, damping)                                                 \
    {                                                                                          \
        "spectral radius, rho_inf " #r ", h/T = " #x,                                          \
            "period elongation, rho_inf " #r ", h/T = " #x,                                    \
            "damping ratio, rho_inf " #r ", h/T = " #x, r, x, radius, elongation, damping      \
    }
    ROW(0, 0.01, 0.9999923282740115, 0.0017962665793243016, 0.00012231910342347908),
    ROW(0, 0.1, 0.96970816650844, 0.12320571956758353, 0.05498792740953825),
    ROW(0, 0.3, 0.7278795933801373, 0.6034545152632422, 0.2701860166281103),
    ROW(0, 1, 0.33922581261646334, 2.6909939498744846, 0.6350750128510767),
    ROW(0.2, 0.01, 0.9999977083825075, 0.00098415020590914, 3.65081611407232e-05),
    ROW(0.2, 0.1, 0.9869730298502616, 0.08090957737523707, 0.022557821750605934),
    ROW(0.2, 0.3, 0.8278339461823447, 0.4471640473793088, 0.1450596890297443),
    ROW(0.2, 1, 0.4908111613801021, 2.029515439721577, 0.3431529368364129),
    ROW(0.4, 0.01, 0.9999993888441242, 0.000600298620602846, 9.732689850709162e-06),
    ROW(0.4, 0.1, 0.9955697112952439, 0.0551585995208852, 0.007456477443446475),
    ROW(0.4, 0.3, 0.9117284788227799, 0.35682305411734094, 0.06652048592142391),
    ROW(0.4, 1, 0.6641301408729384, 1.7836828015263415, 0.1813248722316437),
    ROW(0.6, 0.01, 0.9999998784711074, 0.0004213475229430941, 1.935007483587269e-06),
    ROW(0.6, 0.1, 0.9989833905196154, 0.040604881690825545, 0.001684538702776303),
    ROW(0.6, 0.3, 0.9693849318138092, 0.2970160503682693, 0.021395075887249627),
    ROW(0.6, 1, 0.8277946387424675, 1.6486493411282201, 0.07966798386544394),
    ROW(0.8, 0.01, 0.9999999893228789, 0.0003471693617518312, 1.6999065569956316e-07),
    ROW(0.8, 0.1, 0.999904421368317, 0.03382840596763326, 0.00015727154629464706),
    ROW(0.8, 0.3, 0.9960020770260782, 0.25945339003542434, 0.0026766093254270698),
    ROW(0.8, 1, 0.9562792602360255, 1.5486193787828362, 0.018133602073415394),
    ROW(1, 0.01, 1, 0.0003289002722453027, 0),
    ROW(1, 0.1, 1, 0.032074910622597264, 0),
    ROW(1, 0.3, 1, 0.2470035167336928, 0),
    ROW(1, 1, 1, 1.4881394247271862, 0),
#undef ROW
};

static bool point_at(vf_run *run, double rho_inf, double ratio, ga_spectrum_point *point)
{
    ga_coefficients method;
    ga_report report = {0};
    return vf_ok(run, ga_coefficients_generalized_alpha(rho_inf, &method, &report), &report) &&
           vf_ok(run, ga_spectrum_at(&method, 0, ratio, point, &report), &report);
}

static void check_table(vf_run *run)
{
    for (size_t k = 0; k < sizeof table / sizeof *table; ++k) {
        ga_spectrum_point point;
        if (!point_at(run, table[k].rho, table[k].ratio, &point)) return;
        double angle = 6.28 * table[k].ratio;
        vf_check(run, table[k].radius_name, table[k].radius, point.spectral_radius, 1e-13, WHY);
        vf_check(run, table[k].elongation_name, table[k].elongation, point.period_elongation,
                 1e-10 * table[k].elongation + 1e-13 / angle, WHY);
        vf_check(run, table[k].damping_name, table[k].damping, point.damping_ratio,
                 1e-10 * table[k].damping + 1e-14 / angle, WHY);
    }
}

/* rho of the largest steps is rho_inf; the elongation at small steps is of order h^2. */
static void check_limits(vf_run *run)
{
    static const char *const far[METHODS] = {"spectral radius at h/T = 1e6, rho_inf 0",
                                             "spectral radius at h/T = 1e6, rho_inf 0.2",
                                             "spectral radius at h/T = 1e6, rho_inf 0.4",
                                             "spectral radius at h/T = 1e6, rho_inf 0.6",
                                             "spectral radius at h/T = 1e6, rho_inf 0.8",
                                             "spectral radius at h/T = 1e6, rho_inf 1"};
    static const char *const order[METHODS] = {
        "order of the period, rho_inf 0",   "order of the period, rho_inf 0.2",
        "order of the period, rho_inf 0.4", "order of the period, rho_inf 0.6",
        "order of the period, rho_inf 0.8", "order of the period, rho_inf 1"};
    for (int k = 0; k < METHODS; ++k) {
        ga_spectrum_point end, coarse, fine;
        if (!point_at(run, rho[k], 1e6, &end) || !point_at(run, rho[k], 2e-3, &coarse) ||
            !point_at(run, rho[k], 1e-3, &fine))
            return;
        vf_check(run, far[k], rho[k], end.spectral_radius, 1e-4,
                 "a triple eigenvalue: round-off enters with its cube root");
        vf_between(run, order[k], 1.999, 2.001,
                   log2(coarse.period_elongation / fine.period_elongation), "second order");
    }
}

typedef double get_value(const ga_spectrum_point *point);

static double radius_of(const ga_spectrum_point *point) { return point->spectral_radius; }
static double elongation_of(const ga_spectrum_point *point) { return point->period_elongation; }
static double damping_of(const ga_spectrum_point *point) { return point->damping_ratio; }

static const unsigned colors[METHODS] = {GA_COLOR_BLUE,   GA_COLOR_RED,    GA_COLOR_GREEN,
                                         GA_COLOR_PURPLE, GA_COLOR_ORANGE, GA_COLOR_BLACK};

/* All methods from h/T = low to high, by equal ratios on a log axis. */
static void plot(vf_run *run, const ga_plot_panel *panel, get_value *value, const char *caption)
{
    static const ga_plot_marker markers[METHODS] = {GA_MARKER_CIRCLE,   GA_MARKER_SQUARE,
                                                    GA_MARKER_TRIANGLE, GA_MARKER_DIAMOND,
                                                    GA_MARKER_RING,     GA_MARKER_CROSS};
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int at = ga_figure_panel(figure, panel);
    const bool log_axis = panel->x.scale == GA_SCALE_LOG;
    const double low = log_axis ? panel->x.low : 1e-3, high = panel->x.high;
    for (int k = 0; k < METHODS; ++k) {
        double x[CURVE], y[CURVE];
        for (int i = 0; i < CURVE; ++i) {
            const double part = i / (CURVE - 1.0);
            ga_spectrum_point point;
            x[i] = log_axis ? low * pow(high / low, part) : low + (high - low) * part;
            if (!point_at(run, rho[k], x[i], &point)) break;
            y[i] = value(&point);
        }
        ga_figure_series(figure, at,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = label[k],
                                           .count = CURVE,
                                           .x = x,
                                           .y = y,
                                           .color = colors[k],
                                           .marker = markers[k],
                                           .marker_every = 30,
                                           .marker_size = 4.5});
    }
    vf_figure(run, figure, caption);
}

static void run_spectral(vf_run *run)
{
    check_table(run);
    check_limits(run);
    const ga_plot_axis ratio = {.label = "h/T", .low = 0, .high = 0.4};
    plot(
        run,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = "h/T", .scale = GA_SCALE_LOG, .low = 0.01, .high = 1e3},
                         .y = {.label = "spectral radius", .low = 0, .high = 1.05},
                         .legend_title = "ρ_{∞}"},
        radius_of,
        "[DYM] figure 1. Spectral radius of the amplification matrix against h/T: one for "
        "small steps, falling to the chosen spectral radius at infinity. With 0 an unresolved "
        "oscillation decays within a few steps, with 1 it persists.");
    plot(run,
         &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                          .x = ratio,
                          .y = {.label = "period elongation"},
                          .legend_title = "ρ_{∞}"},
         elongation_of,
         "[DYM] figure 2. Period elongation: of second order for every method, and less for "
         "larger spectral radius at infinity.");
    plot(run,
         &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                          .x = ratio,
                          .y = {.label = "algorithmic damping"},
                          .legend_title = "ρ_{∞}"},
         damping_of,
         "[DYM] figure 3. Damping ratio of the undamped oscillator: zero for 1; the price of "
         "damping at infinity is some damping of resolved oscillations.");
}

const vf_problem vf_dym_spectral = {
    .name = "dym-spectral",
    .title = "Spectral radius, period and damping",
    .source = "[DYM] figures 1 to 3, equations (5), (6)",
    .statement =
        "An undamped oscillator of period T is integrated with steps of size h. The "
        "amplification matrix maps (q, h v, h^2 a) over one step. Its spectral radius "
        "determines stability and the damping of unresolved oscillations; the argument and "
        "modulus of its complex eigenvalues determine period elongation and numerical "
        "damping.\n"
        "\n"
        "The manual shows six methods of the family, from rho_inf = 0, which annihilates fast "
        "oscillations, to 1, which has no numerical damping. All of them are of second order.",
    .parameters = "generalized-alpha, rho_inf 0, 0.2, 0.4, 0.6, 0.8, 1\n"
                  "h/T = 0.01, 0.1, 0.3, 1 in the table; 0.001 to 1000 in the figures",
    .quick = true,
    .run = run_spectral,
};
