#define _POSIX_C_SOURCE 200809L

#include "cli/text.h"

#include "cli/command.h"

#include <errno.h>
#include <galpha/model.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void cli_print_text(FILE *out, const char *text)
{
    for (const char *c = text; *c; ++c) {
        const unsigned char byte = (unsigned char)*c;
        fputc(byte < 0x20 || byte == 0x7f ? '?' : *c, out);
    }
}

void cli_print_line(FILE *out, const char *prefix, const char *text)
{
    fputs(prefix, out);
    cli_print_text(out, text);
    fputc('\n', out);
}

void cli_error(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    cli_print_line(stderr, "galpha: ", line);
}

int cli_out_of_memory(void)
{
    cli_error("out of memory");
    return EXIT_NUMERICAL;
}

int cli_print_owned(char *text)
{
    if (!text) return cli_out_of_memory();
    const size_t length = strlen(text);
    fputs(text, stdout);
    if (length == 0 || text[length - 1] != '\n') fputc('\n', stdout);
    ga_text_free(text);
    return EXIT_DONE;
}

const char *cli_number(double x, char text[CLI_NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, CLI_NUMBER_SIZE, "%.*g", digits, x);
        if (!isfinite(x) || strtod(text, NULL) == x) break;
    }
    return text;
}

/* The reason of an error that printf met is lost by the time somebody asks for it. */
static bool is_pipe_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

bool cli_flush(void)
{
    static int first;
    errno = 0;
    const bool good = fflush(stdout) == 0 && !ferror(stdout);
    if (!good && !first) first = is_pipe_closed() ? EPIPE : errno;
    errno = first;
    return good || first == EPIPE;
}

bool cli_same_file(const char *a, const char *b)
{
    struct stat one, two;
    const bool there = stat(a, &one) == 0 && stat(b, &two) == 0;
    if (there && !S_ISREG(one.st_mode)) return false;
    return strcmp(a, b) == 0 || (there && one.st_dev == two.st_dev && one.st_ino == two.st_ino);
}

double cli_without_round_off(double x, double scale)
{
    return fabs(x) <= 1e-12 * scale ? 0 : x;
}

double cli_degrees(double rad) { return rad * 57.29577951308232; }

const char *cli_angle(double rad, char text[CLI_ANGLE_SIZE])
{
    snprintf(text, CLI_ANGLE_SIZE, "%.3g rad (%.3g deg)", rad, cli_degrees(rad));
    return text;
}

double cli_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

const char *cli_method_name(ga_method method)
{
    static const char *const names[] = {"generalized-alpha", "explicit", "radau", "auto"};
    return names[method];
}

const char *cli_formulation(ga_formulation formulation)
{
    static const char *const names[GA_FORMULATION_COUNT] = {[GA_INDEX3] = "index3",
                                                            [GA_INDEX2] = "index2",
                                                            [GA_SOI2] = "soi2",
                                                            [GA_HHT_I3] = "hht-i3"};
    return (size_t)formulation < GA_FORMULATION_COUNT ? names[formulation] : "";
}
