/* Deliberate mistakes, for a program that only the tests build: it shows that the checks of the
 * method notice them. Everywhere else GA_FAULT is the constant 0 and leaves no code behind. */
#ifndef GA_BASE_FAULT_H
#define GA_BASE_FAULT_H

#ifdef GALPHA_FAULTS
#include <stdbool.h>

/* Is this the mistake asked for? Defined by the test program. */
bool ga_fault_is(const char *name);
#define GA_FAULT(name) ga_fault_is(#name)
#else
#define GA_FAULT(name) 0
#endif

#endif
