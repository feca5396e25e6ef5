#define _POSIX_C_SOURCE 200809L

#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void note(int number) { caught = number; }

void cli_interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        struct sigaction now;
        /* What is ignored, as by nohup, stays so. */
        if (sigaction(numbers[k], NULL, &now) != 0 || now.sa_handler == SIG_IGN) continue;
        /* Writes go on after it; the second of its kind finds the default, and kills. */
        now =
            (struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
        sigaction(numbers[k], &now, NULL);
    }
}

int cli_interrupt_caught(void) { return caught; }
