/* Data as a user writes them, before they mean anything: scalars, lists and maps, each knowing
 * its place in a file. Model files and C programs both arrive in this form, so that there is
 * one reader, one set of checks and one set of messages for both.
 *
 * Values live in their document and are constant once it is made.
 */
#ifndef GA_DATA_VALUE_H
#define GA_DATA_VALUE_H

#include "base/arena.h"

#include <galpha/messages.h>
#include <stdbool.h>

typedef struct ga_place {
    const char *file; /* null: no file */
    int line, column; /* from 1 */
} ga_place;

typedef enum ga_value_kind {
    GA_VALUE_NULL, /* nothing, or the plain words null and ~ */
    GA_VALUE_SCALAR,
    GA_VALUE_LIST,
    GA_VALUE_MAP
} ga_value_kind;

typedef struct ga_entry ga_entry;

/* Loop variables of `repeat` around a value, the innermost first. */
typedef struct ga_scope {
    const char *name;
    double value;
    const struct ga_scope *outer;
} ga_scope;

typedef struct ga_value {
    ga_value_kind kind;
    bool quoted;       /* a scalar that was written in quotes */
    bool verbatim;     /* a scalar that stands in the file letter by letter, on one line, so
                          that columns inside it can be told */
    int count;         /* of entries */
    ga_entry *entries; /* of a list or map, in order */
    const char *text;  /* of a scalar, null-terminated; it holds no NUL itself */
    ga_place place;
    const ga_scope *scope; /* null: none */
} ga_value;

struct ga_entry {
    const char *key; /* null in a list */
    ga_place place;  /* of the key */
    ga_value value;
};

/* The entry of a map, or null. Linear: for maps with a fixed set of keys. */
const ga_value *ga_value_get(const ga_value *map, const char *key);
/* The place of a byte of a scalar's text, as far as it can be told; else that of the scalar. */
ga_place ga_value_place(const ga_value *value, size_t offset);

#endif
