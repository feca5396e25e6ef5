/* YAML 1.2 text to values. */
#ifndef GA_DATA_YAML_H
#define GA_DATA_YAML_H

#include "data/read.h"

enum {
    GA_YAML_MAX_DEPTH = 48 /* of lists and maps in each other */
};

typedef struct ga_yaml_source {
    const char *file; /* stands in every place; borrowed */
    const char *text; /* null-terminated at `length` */
    size_t length;
    bool is_line; /* part of a command line: places are without line and column */
} ga_yaml_source;

/* One document; a null value if there is none. Memory comes from the reader's document. Each
 * value, those of aliases included, takes one from `budget`.
 * GA_OK; GA_ERR_INPUT if there is no tree, or GA_ERR_MEMORY. Smaller mistakes (a key given
 * twice) are added to the reader's errors only, and the tree is there. */
ga_status ga_yaml_parse(ga_reader *reader, const ga_yaml_source *source, long *budget,
                        ga_value *root);

/* Looks a text over before it is parsed. */
typedef struct ga_yaml_survey {
    const char *problem; /* null: none */
    size_t at;           /* where in the text */
    size_t tokens;       /* about so many */
} ga_yaml_survey;

/* The encoding: UTF-8 without NUL, ... */
ga_yaml_survey ga_yaml_check_text(const char *text, size_t length);
/* ... and what would take the parser too long. */
ga_yaml_survey ga_yaml_check_shape(const char *text, size_t length);

#endif
