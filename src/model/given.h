/* The functions of time a model is given: fields of its elements. */
#ifndef GA_MODEL_GIVEN_H
#define GA_MODEL_GIVEN_H

#include "data/function.h"
#include "model/model.h"

/* What a function prescribes. */
typedef enum ga_given_level {
    GA_GIVEN_POSITION, /* a coordinate, a length */
    GA_GIVEN_VELOCITY, /* the rate of a coordinate */
    GA_GIVEN_FORCE
} ga_given_level;

typedef struct ga_given {
    const ga_element *element;
    const ga_field *field;
    int component; /* of a vector; -1: it is a number */
    ga_given_level level;
    const ga_function *function;
} ga_given;

/* The functions of an element that are not constant, k-th; function null past the last. */
ga_given ga_given_of(const ga_element *element, int k);
ga_given ga_given_at_all(const ga_element *element, int k); /* constants, too */

#endif
