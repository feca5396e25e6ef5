/* How much errors of the start are amplified before they are damped: powers of T+^-1 T0. */
#include "verify/ladder.h"

#include <galpha/spectrum.h>
#include <math.h>
#include <string.h>

enum { STEPS = 200, DAMPINGS = 4 };
static const double rho[DAMPINGS] = {0.3, 0.6, 0.9, 0.99};

#define WHY_DIGITS "digits of the reference, from matrix powers in 80 bits"

static void multiply(const double a[9], const double b[9], double c[9])
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            c[3 * i + j] = 0;
            for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * k + j];
        }
}

/* Square root of the largest eigenvalue of A^T A, by Cardano's trigonometric form. */
static double norm2(const double a[9])
{
    double s[9], transposed[9];
    for (int i = 0; i < 9; ++i) transposed[i] = a[3 * (i % 3) + i / 3];
    multiply(transposed, a, s);
    const double mean = (s[0] + s[4] + s[8]) / 3;
    double off = 0, b[9];
    memcpy(b, s, sizeof b);
    for (int i = 0; i < 3; ++i) b[4 * i] -= mean;
    for (int i = 0; i < 9; ++i) off += b[i] * b[i];
    const double radius = sqrt(off / 6);
    if (radius == 0) return sqrt(mean);
    const double determinant = b[0] * (b[4] * b[8] - b[5] * b[7]) -
                               b[1] * (b[3] * b[8] - b[5] * b[6]) +
                               b[2] * (b[3] * b[7] - b[4] * b[6]);
    const double cosine = fmin(1, fmax(-1, determinant / (2 * radius * radius * radius)));
    return sqrt(mean + 2 * radius * cos(acos(cosine) / 3));
}

/* --- powers ------------------------------------------------------------------------------- */

typedef struct powers {
    double norm[STEPS + 1];          /* ||(T+^-1 T0)^n||_2 */
    double lambda_row[3][STEPS + 1]; /* second row, |entries| */
} powers;

static bool compute_powers(vf_run *run, double rho_inf, ga_formulation formulation, powers *p)
{
    ga_coefficients method;
    ga_report report = {0};
    double T[9], power[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, next[9];
    if (!vf_ok(run, ga_coefficients_generalized_alpha(rho_inf, &method, &report), &report) ||
        !vf_ok(run, ga_error_matrix(&method, formulation, T, &report), &report))
        return false;
    for (int n = 0; n <= STEPS; ++n) {
        p->norm[n] = norm2(power);
        for (int i = 0; i < 3; ++i) p->lambda_row[i][n] = fabs(power[3 + i]);
        multiply(T, power, next);
        memcpy(power, next, sizeof power);
    }
    return true;
}

/* Number n >= first, a multiple of `stride` from there, where x is largest. */
static int largest_at(const double *x, int first, int stride)
{
    int at = first;
    for (int n = first; n <= STEPS; n += stride)
        if (x[n] > x[at]) at = n;
    return at;
}

/* max_n n (n - 1)/2 rho^(n-2), what the Jordan block alone does. */
static double jordan_bound(double rho_inf)
{
    double largest = 0;
    for (int n = 2; n < 2000; ++n)
        largest = fmax(largest, 0.5 * n * (n - 1) * pow(rho_inf, n - 2));
    return largest;
}

/* T+^-1 T0 = X J X^-1 with the matrices of the paper: largest entry of the difference of
 * (T+^-1 T0) X and X J. */
static double jordan_defect(vf_run *run, double rho_inf)
{
    ga_coefficients method;
    ga_report report = {0};
    double T[9], TX[9], XJ[9], defect = 0;
    const double mu = -rho_inf;
    const double J[9] = {mu, 1, 0, 0, mu, 1, 0, 0, mu};
    /* clang-format off */
    const double X[9] = {0,           0.5 * (1 + mu) / (1 - mu), -1 / ((1 - mu) * (1 - mu)),
                         1 - mu * mu, -(2 + mu),                 0,
                         0,           1,                         0};
    /* clang-format on */
    if (!vf_ok(run, ga_coefficients_generalized_alpha(rho_inf, &method, &report), &report) ||
        !vf_ok(run, ga_error_matrix(&method, GA_INDEX3, T, &report), &report))
        return NAN;
    multiply(T, X, TX);
    multiply(X, J, XJ);
    for (int i = 0; i < 9; ++i) defect = fmax(defect, fabs(TX[i] - XJ[i]));
    return defect;
}

/* --- numbers ------------------------------------------------------------------------------ */

static void check_norms(vf_run *run, const powers p[DAMPINGS])
{
    static const double norm[DAMPINGS] = {3.4566310775604294, 7.385791641242684,
                                          34.265298476509436, 358.72145352541054};
    static const int at[DAMPINGS] = {2, 3, 14, 151};
    static const char *const names[DAMPINGS][3] = {
        {"max_n ||(T+^-1 T0)^n||, rho_inf 0.3", "reached at n, rho_inf 0.3",
         "over 0.9/(1 - rho_inf^(1/4)), rho_inf 0.3"},
        {"max_n ||(T+^-1 T0)^n||, rho_inf 0.6", "reached at n, rho_inf 0.6",
         "over 0.9/(1 - rho_inf^(1/4)), rho_inf 0.6"},
        {"max_n ||(T+^-1 T0)^n||, rho_inf 0.9", "reached at n, rho_inf 0.9",
         "over 0.9/(1 - rho_inf^(1/4)), rho_inf 0.9"},
        {"max_n ||(T+^-1 T0)^n||, rho_inf 0.99", "reached at n, rho_inf 0.99",
         "over 0.9/(1 - rho_inf^(1/4)), rho_inf 0.99"},
    };
    for (int k = 0; k < DAMPINGS; ++k) {
        int n = largest_at(p[k].norm, 1, 1);
        vf_check_relative(run, names[k][0], norm[k], p[k].norm[n], 1e-9, WHY_DIGITS);
        vf_check(run, names[k][1], at[k], n, 0, "a number of steps");
        vf_between(run, names[k][2], 0.97, 1.03, p[k].norm[n] * (1 - pow(rho[k], 0.25)) / 0.9,
                   "the paper: relative error below 3 % for rho_inf in [0.3, 0.99]");
    }
    vf_paper(run, "paper: rho_inf 0.9", "34.3", p[2].norm[14]);
    vf_paper(run, "paper: rho_inf 0.6", "7.4", p[1].norm[3]);
}

/* The library finds the same by itself. */
static void check_growth(vf_run *run)
{
    ga_coefficients method;
    ga_error_growth growth;
    ga_report report = {0};
    if (!vf_ok(run, ga_coefficients_generalized_alpha(0.9, &method, &report), &report) ||
        !vf_ok(run, ga_error_growth_constant(&method, GA_INDEX3, &growth, &report), &report))
        return;
    vf_check_relative(run, "ga_error_growth_constant: max norm, rho_inf 0.9",
                      34.265298476509436, growth.max_norm, 1e-9, WHY_DIGITS);
    vf_check(run, "ga_error_growth_constant: step", 14, (double)growth.at_step, 0,
             "a number of steps");
    if (!vf_ok(run, ga_error_growth_constant(&method, GA_INDEX2, &growth, &report), &report))
        return;
    vf_check_relative(run, "stabilised index 2: max norm, rho_inf 0.9", 0.9199345038401713,
                      growth.max_norm, 1e-9, "no amplification at all; " WHY_DIGITS);
}

static void check_jordan(vf_run *run)
{
    vf_paper(run, "paper: c_inf, rho_inf 0.6", "2.2", jordan_bound(0.6));
    vf_paper(run, "paper: c_inf, rho_inf 0.9", "28.5", jordan_bound(0.9));
    vf_paper(run, "paper: c_inf, rho_inf 0.99", "2.7e3", jordan_bound(0.99));
    vf_check(run, "c_inf, rho_inf 0.6", 2.16, jordan_bound(0.6), 1e-12, "exact");
    vf_check(run, "c_inf, rho_inf 0.9", 28.517980706429846, jordan_bound(0.9), 1e-9,
             WHY_DIGITS);
    vf_check(run, "c_inf, rho_inf 0.99", 2720.3300986363006, jordan_bound(0.99), 1e-7,
             WHY_DIGITS);
    vf_check(run, "T+^-1 T0 X - X J, rho_inf 0.6", 0, jordan_defect(run, 0.6), 1e-14,
             "the paper's Jordan form holds to round-off");
    vf_check(run, "T+^-1 T0 X - X J, rho_inf 0.9", 0, jordan_defect(run, 0.9), 1e-14,
             "the paper's Jordan form holds to round-off");
}

/* The row of lambda: what r, lambda and a of the start do to it. */
static void check_rows(vf_run *run, const powers *p)
{
    static const char *const printed[3] = {"31.91", "0.81", "0.31"};
    static const double all[3] = {31.93295202813116, 0.9, 0.3094273271023626};
    static const int at[3] = {15, 1, 25};
    static const char *const names[3][3] = {
        {"row of lambda, entry of r: paper, even n", "row of lambda, entry of r: all n",
         "row of lambda, entry of r: reached at n"},
        {"row of lambda, entry of lambda: paper, even n",
         "row of lambda, entry of lambda: all n",
         "row of lambda, entry of lambda: reached at n"},
        {"row of lambda, entry of a: paper, even n", "row of lambda, entry of a: all n",
         "row of lambda, entry of a: reached at n"},
    };
    for (int i = 0; i < 3; ++i) {
        const double *x = p->lambda_row[i];
        int even = largest_at(x, 2, 2), n = largest_at(x, 1, 1);
        vf_paper(run, names[i][0], printed[i], x[even]);
        vf_check(run, names[i][1], all[i], x[n], 1e-9, WHY_DIGITS);
        vf_check(run, names[i][2], at[i], n, 0, "a number of steps");
    }
    vf_between(run, "effect of v_0 over effect of a_0", 100, 110,
               p->lambda_row[0][15] / p->lambda_row[2][25],
               "the paper: larger by a factor > 100");
}

/* --- figure ------------------------------------------------------------------------------- */

static void plot_norms(vf_run *run, const powers index3[DAMPINGS], const powers *index2)
{
    static const char *const labels[DAMPINGS] = {"ρ_{∞} = 0.3", "ρ_{∞} = 0.6", "ρ_{∞} = 0.9",
                                                 "ρ_{∞} = 0.99"};
    double n[STEPS + 1];
    for (int k = 0; k <= STEPS; ++k) n[k] = k;
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "step n"},
                                 .y = {.label = "||(T_{+}^{-1} T_{0})^{n}||_{2}",
                                       .scale = GA_SCALE_LOG,
                                       .low = 1e-2,
                                       .high = 1e3}});
    for (int k = 0; k < DAMPINGS; ++k)
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = labels[k],
                                           .count = STEPS + 1,
                                           .x = n,
                                           .y = index3[k].norm});
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .label = "index 2, ρ_{∞} = 0.9",
                                       .count = STEPS + 1,
                                       .x = n,
                                       .y = index2->norm,
                                       .color = GA_COLOR_BLACK,
                                       .line = GA_LINE_DASHED});
    vf_figure(run, figure,
              "Norms of the powers of the error amplification matrix, [ABC14] section 4.1. All "
              "of them tend to zero, but in index 3 they first grow, more and for longer the "
              "less damping there is: to 34.3 after 14 steps for rho_inf = 0.9. In the "
              "stabilised index-2 form they decrease from the first step on.");
}

static void run_amplification(vf_run *run)
{
    powers index3[DAMPINGS], index2;
    for (int k = 0; k < DAMPINGS; ++k)
        if (!compute_powers(run, rho[k], GA_INDEX3, &index3[k])) return;
    if (!compute_powers(run, 0.9, GA_INDEX2, &index2)) return;
    check_norms(run, index3);
    check_growth(run);
    check_jordan(run);
    check_rows(run, &index3[2]);
    plot_norms(run, index3, &index2);
}

const vf_problem vf_abc14_start_amplification = {
    .name = "abc14-start-amplification",
    .title = "Amplification of start errors",
    .source = "[ABC14] sections 4.1 and 4.2, equations (44) to (46), (52), (59)",
    .statement = "In the direction of the constraints the errors E = (r, e_lambda, e_a) of one "
                 "step become those of the next through the matrix T+^-1 T0, which depends "
                 "only on the four coefficients of the method. With the parameters of Chung "
                 "and Hulbert it has the threefold eigenvalue -rho_inf with one Jordan block "
                 "of size three: errors eventually decay, but first grow like n^2 rho_inf^n.\n"
                 "\n"
                 "An exact start has r of first order in h, which is amplified in the "
                 "multipliers by up to 31.9 for rho_inf = 0.9; an error of the initial "
                 "acceleration is hardly amplified. The largest entries of the second row that "
                 "the paper prints are those over even n; over all n they are slightly larger.",
    .parameters = "generalized-alpha, rho_inf 0.3, 0.6, 0.9, 0.99\n"
                  "powers up to n = 200",
    .quick = true,
    .run = run_amplification,
};
