#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include "cli/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const double redraw_interval = 0.1; /* s */
static const double line_interval = 60;    /* s: at least one line in this time */
static const double quiet_time = 1;        /* s: a run that is over by then needs no progress */

cli_progress cli_progress_begin(bool shown, double t_start, double t_end)
{
    const char *kind = getenv("TERM");
    return (cli_progress){
        .shown = shown && t_end > t_start,
        .terminal = isatty(STDERR_FILENO) && kind && strcmp(kind, "dumb") != 0,
        .t_start = t_start,
        .t_end = t_end,
        .began = cli_clock(),
    };
}

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

/* 1:02:03 */
static void format_duration(char text[16], double seconds)
{
    if (!(seconds < 100 * 3600.0)) {
        strcpy(text, "> 99 h");
        return;
    }
    const int s = (int)(seconds + 0.5), hours = s / 3600;
    if (hours)
        snprintf(text, 16, "%d:%02d:%02d", hours % 100, s / 60 % 60, s % 60);
    else
        snprintf(text, 16, "%d:%02d", s / 60 % 60, s % 60);
}

/* `[####------]  42 %  t = 4.2 of 10 s  step 1e-3  0:12 left`: the bar takes what the text
 * leaves of the line, the text is cut where there is not enough. */
static void draw(cli_progress *p, double fraction, double t, double step, double left)
{
    enum { LONGEST_BAR = 40, SHORTEST_BAR = 5 };
    char text[128], duration[16], line[256] = "";
    format_duration(duration, left);
    char where[64] = "";
    if (step > 0)
        snprintf(where, sizeof where, "t = %.4g of %.4g s  step %.2e  ", t, p->t_end, step);
    snprintf(text, sizeof text, "%3.0f %%  %s%s left", 100 * fraction, where, duration);
    const int width = terminal_width() - 1; /* the last column would wrap */
    int bar = width - (int)strlen(text) - 4;
    if (bar > LONGEST_BAR) bar = LONGEST_BAR;
    if (bar >= SHORTEST_BAR) {
        const int full = (int)(fraction * bar);
        line[0] = '[';
        memset(line + 1, '#', (size_t)full);
        memset(line + 1 + full, '-', (size_t)(bar - full));
        strcpy(line + 1 + bar, "] ");
    }
    strcat(line, text);
    fprintf(stderr, "\r%.*s\033[K", width > 0 ? width : 1, line);
    fflush(stderr);
    p->dirty = true;
}

void cli_progress_update(cli_progress *p, double t, double step)
{
    if (!p->shown) return;
    double fraction = (t - p->t_start) / (p->t_end - p->t_start);
    if (!(fraction > 0)) return;
    if (fraction > 1) fraction = 1;
    const int tenths = (int)(10 * fraction + 1e-9);
    const double now = cli_clock(), elapsed = now - p->began;
    if (elapsed < quiet_time) return;
    if (!p->terminal && tenths <= p->tenths && now - fmax(p->drawn, p->began) < line_interval)
        return;
    const double left = elapsed * (1 - fraction) / fraction;
    if (!p->terminal) {
        p->tenths = tenths;
        p->drawn = now;
        char duration[16];
        format_duration(duration, left);
        fprintf(stderr, "galpha: %3.0f %%  t = %.6g of %.6g s  step %.2e  %.1f s, %s left\n",
                floor(100 * fraction + 1e-7), t, p->t_end, step, elapsed, duration);
    } else if (now - p->drawn >= redraw_interval) {
        p->drawn = now;
        draw(p, fraction, t, step, left);
    }
}

void cli_progress_clear(cli_progress *p)
{
    if (p->dirty) fputs("\r\033[K", stderr);
    p->dirty = false;
}

void cli_progress_end(cli_progress *p)
{
    cli_progress_clear(p);
    p->shown = false;
}
