/* Ctrl-C and kill: the first asks to stop, the second stops at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

void cli_interrupt_watch(void);
/* The signal that asked to stop; 0: none. */
int cli_interrupt_caught(void);

#endif
