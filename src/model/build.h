/* From a document to a model: reading fields by their tables, resolving names. */
#ifndef GA_MODEL_BUILD_H
#define GA_MODEL_BUILD_H

#include "data/read.h"
#include "model/model.h"

typedef struct ga_builder {
    ga_reader reader; /* first, so that what takes a reader takes this */
    ga_model *model;
    /* the element whose fields are being read, null for bodies and settings */
    void *element;
    const ga_element_type *type;
} ga_builder;

/* Takes the document, also on failure. */
ga_status ga_model_build(ga_document *document, ga_model **model, ga_messages *messages);
/* Loads plug-ins, once nothing else is wrong with the model: until then no foreign code runs.
 * GA_OK, GA_ERR_INPUT or GA_ERR_MEMORY. */
ga_status ga_model_load(ga_model *model, ga_messages *messages);

extern const ga_field ga_head_fields[];
/* No body or element may be called so; ends with null. */
extern const char *const ga_model_reserved_names[];

/* Reads a map into a struct: defaults first, then what is there; unknown and missing keys are
 * errors. Keys in `also` (null-terminated, may be null) are somebody else's. */
bool ga_build_fields(ga_builder *builder, const ga_value *map, const ga_field *fields,
                     const char *const *also, void *out);
/* Defaults alone. */
bool ga_build_defaults(ga_builder *builder, const ga_field *fields, void *out);

/* Makes functions of the fields in a struct and gives back what they hold. */
void ga_build_release(const ga_field *fields, void *out);

/* One kind of field: how it is read, and what the reference and the schema say about it. */
typedef struct ga_kind_type {
    bool (*read)(ga_builder *builder, const ga_value *value, const ga_field *field, void *out);
    void (*fallback)(const ga_field *field, void *out);
    const char *text[2];   /* in the reference: spatial, planar */
    const char *schema[2]; /* JSON Schema: spatial, planar; null: made from the field */
} ga_kind_type;

const ga_kind_type *ga_kind_get(ga_kind kind);

/* True if models of this dimension have the field. */
static inline bool ga_field_is_in(const ga_field *field, int dimension)
{
    return field->where == GA_ANYWHERE || (field->where == GA_PLANAR) == (dimension == 2);
}

/* A name as variable of an element's functions, see element/observe.h. */
ga_symbol ga_build_observe(ga_builder *builder, const char *name, size_t length);
/* Why a channel cannot be used in an expression, as a clause; null: there is no such channel.
 */
/* The k-th name without a dot that expressions know besides t; null past the last. */
const char *ga_build_variable(const ga_builder *b, int k);
const char *ga_build_reason(const ga_builder *b, const char *name, size_t length);

/* `body`, `body.point`, `ground`: false without a message if it is none of them. */
bool ga_build_anchor(const ga_builder *builder, const char *text, ga_anchor *anchor);

#endif
