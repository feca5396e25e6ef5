/* What `galpha spectrum` is asked for, and the methods it looks at. */
#ifndef CLI_SPECTRUM_H
#define CLI_SPECTRUM_H

#include "cli/command.h"

#include <galpha/spectrum.h>

enum { CLI_METHODS = 20, CLI_LIST = 200 };

typedef struct cli_numbers {
    int count;
    double x[CLI_LIST];
} cli_numbers;

typedef struct cli_method {
    char name[64];  /* "generalized-alpha, rho_inf = 0.9" */
    char label[64]; /* in figures; may be empty */
    ga_coefficients method;
} cli_method;

typedef struct cli_study {
    char title[96]; /* of figures: the family */
    int count;
    cli_method methods[CLI_METHODS];
    double damping;
    cli_numbers ratios, steps;
    bool ratios_given;
} cli_study;

/* The methods from --method, --rho-inf and the other parameters. EXIT_DONE, or EXIT_INPUT with
 * the mistake in `message`. */
enum { CLI_MISTAKE_SIZE = 400 };
int cli_study_methods(cli_study *study, const cli_arguments *arguments,
                      char message[CLI_MISTAKE_SIZE]);
/* "0.1,0.2" after an option; nothing is changed if the option was not given. */
int cli_study_numbers(const cli_arguments *arguments, const char *option, int most,
                      cli_numbers *numbers, char message[CLI_MISTAKE_SIZE]);

/* Writes the figures. EXIT_DONE, or the exit code with the mistake in `message`. */
int cli_study_plot(const cli_study *study, const char *path, char message[CLI_MISTAKE_SIZE]);

#endif
