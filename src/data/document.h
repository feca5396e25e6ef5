/* A model file with everything it includes, --set applied, parameters evaluated, repeats
 * written out: one tree of values.
 *
 *     include: parts/wheel.yaml          a file, or a list of them; relative to this one. Maps
 *                                        of the two are joined; the same key in both is an
 *                                        error unless both are maps
 *     repeat: {count: N, index: i, bodies: {...}, joints: {...}}   or a list of such blocks;
 *                                        blocks may hold repeat blocks. {i} and {i+1} in keys
 *                                        and scalars become numbers, i in expressions is a
 *                                        variable; i runs from 0 (or `from`) on
 *
 *                                        An entry (of bodies, joints, ...) with `when: "i > 0"`
 *                                        is left out where that is 0. {{ and }} are braces
 *
 * A file that is included a second time, by whichever way, is skipped.
 * After this, `include` and `repeat` are gone from the tree; `parameters` remains for show.
 */
#ifndef GA_DATA_DOCUMENT_H
#define GA_DATA_DOCUMENT_H

#include "base/names.h"
#include "data/expression.h"
#include "data/value.h"

typedef struct ga_parameter {
    const char *name;
    double value;
    ga_place place;
    bool used;  /* by an expression */
    bool set;   /* by --set */
    bool added; /* by --set: the file has no such parameter */
} ga_parameter;

typedef struct ga_document {
    ga_arena arena;
    ga_value root;                        /* a map */
    ga_value source;                      /* the same before parameters and repeats */
    const char *name;                     /* of the file, as given */
    const char *folder;                   /* of the file: where paths in it start */
    const char *text;                     /* of the main file */
    bool include_anywhere, allow_plugins; /* as in its options */
    int parameter_count;
    ga_parameter *parameters; /* in the order of the file */
    ga_names parameter_names; /* their indices */
    /* What repeat blocks have become, until it is dropped; not its texts, which stay. */
    ga_arena repeated;
    int section_count;
    ga_value **sections;          /* of the root that hold it */
    struct ga_programs *programs; /* its expressions, once they are read; see read.c */
} ga_document;

typedef struct ga_document_options {
    int set_count;
    const char *const *set; /* "simulate.step=1e-4", applied in order */
    bool include_anywhere;  /* else only at or below the folder of the model */
    bool allow_plugins;     /* else a model that names a plug-in is refused */
    long max_values; /* of the tree; 0: 10 million. Against alias bombs and huge counts */
} ga_document_options;

/* GA_OK, GA_ERR_INPUT (messages say what), GA_ERR_FILE (cannot be read) or GA_ERR_MEMORY.
 * `text` parses a string that says it is the file `name`; paths in it start at the current
 * folder.
 * After GA_ERR_INPUT the document is null if there is no tree at all, as after an error of
 * syntax. Else it is there, though not right, so that what is wrong in the rest of the model
 * can be reported in the same go. */
ga_status ga_document_read(const char *path, const ga_document_options *options,
                           ga_document **document, ga_messages *messages);
ga_status ga_document_parse(const char *name, const char *text, size_t length,
                            const ga_document_options *options, ga_document **document,
                            ga_messages *messages);
/* Keeps the tree as it is, before parameters are evaluated, for: */
ga_status ga_document_keep_source(ga_document *document);
/* The same document with other values, without reading a file. */
ga_status ga_document_with(const ga_document *from, int set_count, const char *const *set,
                           ga_document **document, ga_messages *messages);
void ga_document_destroy(ga_document *document);
/* Frees what repeat blocks have become: the model has been made from it. Their sections are
 * empty then. */
void ga_document_drop_repeats(ga_document *document);

/* Constants, parameters and the loop variables of a scope. */
ga_symbol ga_document_symbol(const ga_document *document, const ga_scope *scope,
                             const char *name, size_t length);

#endif
