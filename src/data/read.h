/* Reading values: from text to numbers, vectors, choices; every mistake becomes a message with
 * place and path, and reading goes on, so that all mistakes of a file are found at once.
 *
 * All ga_read_... return false after adding an error; the output is then untouched.
 */
#ifndef GA_DATA_READ_H
#define GA_DATA_READ_H

#include "data/document.h"

enum { GA_PATH_SIZE = 256 };

typedef struct ga_reader {
    ga_document *document;
    ga_messages *messages;
    int dimension;           /* 2 or 3 */
    char path[GA_PATH_SIZE]; /* of the value being read, such as joints.hinge.axis */
    int errors;              /* found, whether or not `messages` is null */
    bool out_of_memory;      /* if so, that is what is wrong, whatever the messages say */
} ga_reader;

/* Goes down to a child and back up: size_t here = ga_reader_enter(r, "axis"); ...;
 * ga_reader_leave(r, here). Paths too long are cut. ga_reader_enter_item: axis[2]. */
size_t ga_reader_enter(ga_reader *reader, const char *key);
size_t ga_reader_enter_item(ga_reader *reader, int index);
void ga_reader_leave(ga_reader *reader, size_t mark);

/* Adds an error or a warning at a place, with the reader's path; returns false. */
bool ga_reader_error(ga_reader *reader, ga_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ga_reader_warning(ga_reader *reader, ga_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "a map", "a list of 3", "`abc`": for messages. The buffer is returned. */
const char *ga_value_describe(const ga_value *value, char *buffer, size_t size);
/* The candidate that may have been meant by a word: a synonym (hinge: revolute), or the nearest
 * by edit distance, if it is near enough; null otherwise. `candidate` gives the k-th, null past
 * the last. */
const char *ga_suggest(const char *word, void *user,
                       const char *(*candidate)(void *user, int k));
/* A parameter that --set gives a value, though no expression uses it, is a slip of the pen: an
 * error. For the end of reading, when all expressions are known. */
void ga_check_set_parameters(ga_reader *reader);
/* The synonym alone. */
const char *ga_synonym(const char *word, void *user,
                       const char *(*candidate)(void *user, int k));

/* A finite number: 3, 1e-3, 30 deg, "2*m*L"; expressions see parameters, constants, loop
 * variables. Numbers with other suffixes (30 mm) are errors that say so. */
bool ga_read_number(ga_reader *reader, const ga_value *value, double *x);
bool ga_read_integer(ga_reader *reader, const ga_value *value,
                     long *x); /* also by expression */
bool ga_read_boolean(ga_reader *reader, const ga_value *value, bool *x); /* true, false */
/* The text of a scalar; borrowed from the document. */
bool ga_read_text(ga_reader *reader, const ga_value *value, const char **text);
/* A list of exactly n numbers. */
bool ga_read_numbers(ga_reader *reader, const ga_value *value, int n, double *x);
/* A vector: dimension numbers; the third is 0 in planar models. */
bool ga_read_vector(ga_reader *reader, const ga_value *value, double x[3]);
/* One of the null-terminated list of words: its index. */
bool ga_read_choice(ga_reader *reader, const ga_value *value, const char *const *choices,
                    int *index);
/* Like ga_read_number for a text given directly, with more symbols (may be null). */
bool ga_read_expression(ga_reader *reader, const ga_value *value, const ga_symbols *symbols,
                        ga_expression **expression);
/* Frees what is remembered of expressions in repeat blocks; before their scopes are. */
void ga_read_forget(ga_document *document);

#endif
