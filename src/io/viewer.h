/* The page as it was built from viewer/, without data; CMake makes the file that defines it. */
#ifndef GA_IO_VIEWER_H
#define GA_IO_VIEWER_H

#include <stddef.h>

extern const unsigned char ga_viewer_page[]; /* null-terminated */
extern const size_t ga_viewer_length;        /* 0: built without the viewer */
extern const char ga_viewer_generator[];     /* galpha 0.1.0 */

#endif
