/* Lines for people: errors on stderr, with nothing in them that would disturb a terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <galpha/integrate.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* "galpha: ..." on stderr. */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Text, or a line of it, with control characters made visible. */
void cli_print_text(FILE *out, const char *text);
void cli_print_line(FILE *out, const char *prefix, const char *text);
int cli_out_of_memory(void); /* says so; the exit code */
/* Prints a text of the library on stdout, ends its last line, frees it; null: memory is out. */
int cli_print_owned(char *text);

/* The shortest decimal number that reads back as x, in C's notation. */
enum { CLI_NUMBER_SIZE = 32 };
const char *cli_number(double x, char text[CLI_NUMBER_SIZE]);

/* Whether all that was printed on stdout so far arrived; the first error is kept in errno. A
 * closed pipe is no error: its reader has seen enough. */
bool cli_flush(void);

/* Whether two paths are the same, or lead to the same file. Devices are never the same. */
bool cli_same_file(const char *a, const char *b);

double cli_degrees(double rad);
/* "0.524 rad (30 deg)", with three digits. */
enum { CLI_ANGLE_SIZE = 48 };
const char *cli_angle(double rad, char text[CLI_ANGLE_SIZE]);

/* 0 where x is no more than round-off of numbers as large as `scale`. */
double cli_without_round_off(double x, double scale);

const char *cli_formulation(ga_formulation formulation); /* as in a model file */
const char *cli_method_name(ga_method method);           /* likewise */

double cli_clock(void); /* s, since some time in the past */

#endif
