/* Amplitude spectra of sampled curves, for `plot --fft`. */
#ifndef CLI_FFT_H
#define CLI_FFT_H

#include <stdbool.h>
#include <stddef.h>

/* Times start, start + step, ...; `uniform` if the rows of the result are these. */
typedef struct cli_fft_grid {
    size_t count;
    double start, step;
    bool uniform;
} cli_fft_grid;

typedef enum cli_window { CLI_WINDOW_HANN, CLI_WINDOW_FLAT_TOP, CLI_WINDOW_NONE } cli_window;

/* By its name, "hann"; false if there is none. */
bool cli_window_find(const char *name, cli_window *window);
const char *cli_window_text(cli_window window); /* "Hann window" */

/* The grid for rows at times t, ascending, at least three of them different. */
cli_fft_grid cli_fft_choose_grid(size_t n, const double *t);
/* y on the grid. slope: dy/dt at the rows if it is known, else null. False: memory is out. */
bool cli_fft_resample(size_t n, const double *t, const double *y, const double *slope,
                      const cli_fft_grid *grid, double *out);

/* How many frequencies there are: k / (2 count step), k = 1 ... count, is what they are. */
size_t cli_fft_count(const cli_fft_grid *grid);
double cli_fft_frequency(const cli_fft_grid *grid, size_t k);
/* Amplitudes at these of samples on the grid: a sine of amplitude A has a peak of height A. The
 * mean is taken away first. False: memory is out. */
bool cli_fft_amplitudes(const cli_fft_grid *grid, cli_window window, const double *samples,
                        double *amplitudes);

#endif
