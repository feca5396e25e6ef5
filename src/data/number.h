/* Decimal numbers in text, whatever the locale. */
#ifndef GA_DATA_NUMBER_H
#define GA_DATA_NUMBER_H

#include <stddef.h>

/* The length of the number at the start of a text: 3, -1.5, .5, 2., 1e-3; 0: none. Neither hex
 * nor words such as inf. Overflow gives infinity. */
size_t ga_number_scan(const char *text, double *x);

#endif
