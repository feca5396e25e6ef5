/* The stages between a file and its document, in the order they run. Each adds what is wrong
 * to the reader and goes on where it can; they fail with GA_ERR_MEMORY only, unless they say
 * otherwise.
 */
#ifndef GA_DATA_LOAD_H
#define GA_DATA_LOAD_H

#include "data/yaml.h"

typedef struct ga_loader {
    ga_document *document;
    const ga_document_options *options;
    ga_reader reader; /* of this document */
    long max_values, budget;
    bool is_file;            /* rather than a text in memory */
    bool is_incomplete;      /* a file is missing: what refers to its content would be blamed */
    const char *root_folder; /* resolved; includes stay below. Null: not yet known */
    ga_names included;       /* resolved names of the files read so far */
} ga_loader;

/* include.c: parses a text and what it includes. GA_ERR_INPUT: there is no tree. */
ga_status ga_load_tree(ga_loader *loader, const ga_yaml_source *source, ga_value *root);
/* set.c: one PATH=VALUE. */
ga_status ga_load_set(ga_loader *loader, const char *argument);
extern const ga_place ga_place_of_set; /* of keys and values from there */
bool ga_is_set(ga_place place);
/* parameters.c */
ga_status ga_load_parameters(ga_loader *loader);
/* repeat.c */
ga_status ga_load_repeats(ga_loader *loader);

/* The k-th key of a map, null past the last: candidates for ga_suggest; `map` is const. */
const char *ga_map_key(void *map, int k);
/* Words that mean something in every expression, so no parameter or index may be called so;
 * null-terminated. */
extern const char *const ga_reserved_names[];
/* Letters, digits and _, no digit first, and nothing reserved; adds an error otherwise. */
bool ga_check_name(ga_reader *reader, ga_place place, const char *what, const char *name);

#endif
