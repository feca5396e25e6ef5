/* What `galpha plot` draws: curves with their numbers, and how the user wants them. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "cli/command.h"
#include "cli/fft.h"

#include <galpha/plot.h>
#include <galpha/result.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    CLI_PLOT_CURVES = 64,  /* at most, per file */
    CLI_PLOT_RESULTS = 16, /* files */
    CLI_PLOT_UNIT = 64,
    CLI_PLOT_NAME = 256,
};

/* One quantity of one file over another. */
typedef struct cli_curve {
    char name[CLI_PLOT_NAME]; /* top.position.x, or the text of an expression */
    char unit[CLI_PLOT_UNIT];
    const char *label; /* the user's; null: none */
    int operand;       /* which of the words asked for it */
    bool expression;
    double travel; /* of what is drawn unasked: highest less lowest value */
    int apart;     /* curves of one unit with another number have another panel */
    size_t count[CLI_PLOT_RESULTS];
    double *y[CLI_PLOT_RESULTS];
} cli_curve;

typedef struct cli_plot_range {
    bool given;
    double low, high;
} cli_plot_range;

typedef struct cli_picture {
    const char *path; /* of the picture */
    int result_count;
    const char *files[CLI_PLOT_RESULTS];
    ga_result_reader *results[CLI_PLOT_RESULTS];
    size_t first[CLI_PLOT_RESULTS]; /* frame drawn */
    int curve_count;
    cli_curve curves[CLI_PLOT_CURVES];
    cli_curve x; /* name "time": over time */
    bool phase;  /* over something else */
    bool fft;    /* amplitudes over frequencies, which then are x */
    cli_window window;
    bool panels;   /* one for each word of the command line */
    bool one_axis; /* of all curves, whatever their units */
    bool stacked;  /* one for each unit */
    bool log_x, log_y;
    bool degrees;                          /* angles in degrees */
    const char *title, *x_label, *y_label; /* null: by what is drawn */
    double width, height;                  /* 0: as needed */
    cli_plot_range time, x_range, y_range;
} cli_picture;

ga_status cli_plot_draw(const cli_picture *plot, ga_report *report);

/* The numbers of a curve, of the first so many results. The exit code. */
int cli_plot_read(cli_picture *plot, int results, cli_curve *curve);
void cli_plot_free_numbers(cli_curve *curve);
/* The curves that are drawn if none is named. The exit code. */
int cli_plot_usual(cli_picture *plot);

/* Replaces curves over time by their amplitude spectra. The exit code. */
int cli_plot_transform(cli_picture *plot);

/* --- what tables share with pictures ------------------------------------------------------ */

/* RESULT and all of --compare, into `files`; 0 after saying that there are too many. */
int cli_plot_files(const cli_arguments *arguments, const char *files[CLI_PLOT_RESULTS]);
/* An option LOW:HIGH. */
int cli_plot_range_of(const cli_arguments *arguments, const char *option,
                      cli_plot_range *range);
/* Whether a text with `*` is an expression, where it might be a pattern. */
bool cli_plot_is_product(ga_result_reader *result, const char *text);
/* An expression of channels; says what is wrong with it. */
int cli_plot_compile(ga_result_reader *result, const char *file, const char *text,
                     ga_result_expression **expression);

#endif
