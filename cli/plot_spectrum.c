/* Curves over time become amplitude spectra, for `plot --fft`. */
#include "cli/input.h"
#include "cli/plot.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_ROWS = 8 };

/* What a channel's rate of change may be called. */
static const struct {
    const char *quantity, *rates[2];
} derivatives[] = {
    {"position", {"velocity"}},
    {"velocity", {"acceleration"}},
    {"angular_velocity", {"angular_acceleration"}},
    {"angle", {"angle_rate", "rate"}},
    {"displacement", {"displacement_rate", "rate"}},
    {"length", {"rate"}},
};

/* Units say whether it is the rate: rad and rad/s, m/s and m/s^2. */
static bool is_rate_unit(const char *unit, const char *rate)
{
    char expected[CLI_PLOT_UNIT + 8];
    const size_t n = strlen(unit);
    const bool speed = n > 2 && strcmp(unit + n - 2, "/s") == 0;
    snprintf(expected, sizeof expected, "%s%s", unit, speed ? "^2" : "/s");
    return *unit && strcmp(rate, expected) == 0;
}

static bool read_column(ga_result_reader *result, const char *name, const char *unit,
                        size_t first, size_t n, double *out)
{
    ga_result_column *column = NULL;
    int count = 0;
    ga_report report;
    bool done = false;
    if (ga_result_select(result, name, &column, &count, &report) != GA_OK) return false;
    if (count == 1) {
        const ga_channel *channel = ga_result_reader_channels(result) + column->channel;
        const size_t parts = (size_t)channel->count;
        double *values = malloc(n * parts * sizeof *values);
        done = values && is_rate_unit(unit, channel->unit) &&
               ga_result_reader_read(result, column->channel, first, 1, n, values, &report) ==
                   GA_OK;
        for (size_t k = 0; done && k < n; ++k) {
            out[k] = values[k * parts + (size_t)column->part];
            done = isfinite(out[k]);
        }
        free(values);
    }
    ga_result_columns_free(column);
    return done;
}

/* The rate of top.position.x is top.velocity.x, if the result has it. */
static bool read_slope(const cli_picture *plot, int r, const cli_curve *curve, double *out)
{
    for (size_t d = 0; d < sizeof derivatives / sizeof *derivatives && !curve->expression;
         ++d) {
        char word[64], name[2 * CLI_PLOT_NAME];
        snprintf(word, sizeof word, ".%s", derivatives[d].quantity);
        const char *found = strstr(curve->name, word);
        const size_t length = strlen(word);
        if (!found || (found[length] && found[length] != '.')) continue;
        for (int k = 0; k < 2 && derivatives[d].rates[k]; ++k) {
            snprintf(name, sizeof name, "%.*s.%s%s", (int)(found - curve->name), curve->name,
                     derivatives[d].rates[k], found + length);
            if (read_column(plot->results[r], name, curve->unit, plot->first[r],
                            curve->count[r], out))
                return true;
        }
    }
    return false;
}

static int transform(const cli_picture *plot, int r, const cli_fft_grid *grid, cli_curve *curve)
{
    const size_t n = curve->count[r], frequencies = cli_fft_count(grid);
    const double *t = ga_result_reader_times(plot->results[r]) + plot->first[r];
    for (size_t k = 0; k < n; ++k)
        if (!isfinite(curve->y[r][k])) {
            cli_error("--fft: %s: %s is not finite at t = %g s; exclude that time with --range",
                      plot->files[r], curve->name, t[k]);
            return EXIT_INPUT;
        }
    double *slope = malloc(n * sizeof *slope), *out = malloc(frequencies * sizeof *out);
    double *samples = malloc(grid->count * sizeof *samples);
    bool done = slope && samples && out;
    if (done) {
        const bool known = !grid->uniform && read_slope(plot, r, curve, slope);
        done = cli_fft_resample(n, t, curve->y[r], known ? slope : NULL, grid, samples) &&
               cli_fft_amplitudes(grid, plot->window, samples, out);
    }
    free(slope);
    free(samples);
    if (!done) {
        free(out);
        return cli_out_of_memory();
    }
    free(curve->y[r]);
    curve->y[r] = out;
    curve->count[r] = frequencies;
    return EXIT_DONE;
}

static bool are_different(size_t n, const double *t)
{
    size_t different = 1;
    for (size_t k = 1; k < n; ++k) different += t[k] > t[k - 1];
    return different >= FEWEST_ROWS;
}

/* The grid of a result, and its frequencies as x. */
static int choose_grid(cli_picture *plot, int r, cli_fft_grid *grid)
{
    const double *t = ga_result_reader_times(plot->results[r]) + plot->first[r];
    const size_t n = plot->curves[0].count[r];
    if (!are_different(n, t)) {
        cli_error("--fft: %s: %zu rows are too few, expected %d or more", plot->files[r], n,
                  FEWEST_ROWS);
        return EXIT_INPUT;
    }
    *grid = cli_fft_choose_grid(n, t);
    plot->x.count[r] = cli_fft_count(grid);
    plot->x.y[r] = malloc(plot->x.count[r] * sizeof *plot->x.y[r]);
    if (!plot->x.y[r]) return cli_out_of_memory();
    for (size_t k = 0; k < plot->x.count[r]; ++k) plot->x.y[r][k] = cli_fft_frequency(grid, k);
    return EXIT_DONE;
}

/* The frequency from which on all amplitudes are below a thousandth of the largest. */
static double highest_frequency(const cli_picture *plot)
{
    static const double small = 1e-3;
    double highest = 0;
    for (int r = 0; r < plot->result_count; ++r)
        for (int k = 0; k < plot->curve_count; ++k) {
            const double *y = plot->curves[k].y[r];
            size_t last = plot->curves[k].count[r];
            double most = 0;
            for (size_t i = 0; i < last; ++i) most = fmax(most, y[i]);
            while (last > 1 && y[last - 1] <= small * most) --last;
            highest = fmax(highest, plot->x.y[r][last - 1]);
        }
    return highest;
}

/* Rows at every step reach frequencies far beyond all that moves. */
static void cut_axis(cli_picture *plot)
{
    double end = 0;
    for (int r = 0; r < plot->result_count; ++r)
        end = fmax(end, plot->x.y[r][plot->x.count[r] - 1]);
    const double highest = 1.1 * highest_frequency(plot);
    if (plot->x_range.given || plot->log_x || plot->log_y || highest <= 0 || highest > end / 2)
        return;
    plot->x_range = (cli_plot_range){.given = true, .low = 0, .high = highest};
}

int cli_plot_transform(cli_picture *plot)
{
    for (int r = 0; r < plot->result_count; ++r) {
        cli_fft_grid grid;
        int code = choose_grid(plot, r, &grid);
        for (int k = 0; k < plot->curve_count && code == EXIT_DONE; ++k)
            code = transform(plot, r, &grid, &plot->curves[k]);
        if (code != EXIT_DONE) return code;
    }
    strcpy(plot->x.name, "frequency");
    strcpy(plot->x.unit, "Hz");
    plot->phase = true;
    cut_axis(plot);
    return EXIT_DONE;
}
