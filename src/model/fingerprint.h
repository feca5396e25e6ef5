#ifndef GA_MODEL_FINGERPRINT_H
#define GA_MODEL_FINGERPRINT_H

#include "data/value.h"

#include <stdint.h>

/* Of the tree of a document, before repeats are dropped. */
uint64_t ga_fingerprint(const ga_value *root);

#endif
