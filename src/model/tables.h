/* What the schema and the reference take from the tables of fields and elements. */
#ifndef GA_MODEL_TABLES_H
#define GA_MODEL_TABLES_H

#include "base/buffer.h"
#include "model/build.h"

/* joints, motions, forces; ends with null. */
extern const char *const ga_element_sections[];

/* Types of a section in models of this dimension (0: of any), in order: k-th, null past the
 * last. */
const ga_element_type *ga_section_type(const char *section, int dimension, int k);

/* What stands where the field is not given, as in a file: 0, [0, 0, 1], true, a word. False,
 * and nothing is written, where there is no such value. */
bool ga_field_write_default(ga_buffer *out, const ga_field *field, int dimension);

#endif
