/* Text as figures need it: sub- and superscripts, and how wide it will be. */
#ifndef GA_PLOT_TEXT_H
#define GA_PLOT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Of DejaVu Sans, in ems. */
#define GA_TEXT_CAPITAL 0.73 /* height of capitals and digits */
#define GA_TEXT_DESCENT 0.21

/* Scripts are smaller and moved up or down by these, in ems of the text around them. */
#define GA_TEXT_SCRIPT_SIZE 0.72
#define GA_TEXT_RAISE 0.38
#define GA_TEXT_LOWER 0.18

typedef enum ga_text_level { GA_TEXT_BASE, GA_TEXT_SUPER, GA_TEXT_SUB } ga_text_level;

/* A reader of marked-up text. Start with `{.next = text}`. */
typedef struct ga_text_reader {
    const char *next;
    ga_text_level level;
} ga_text_reader;

/* The next character as UTF-8 in `bytes` (null-terminated) with its level; false at the end.
 * Control characters become blanks, broken UTF-8 the replacement character. */
bool ga_text_read(ga_text_reader *reader, char bytes[5], ga_text_level *level);

/* In points, for a font of this size. */
double ga_text_width(const char *text, double size);

#endif
