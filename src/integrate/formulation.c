#include "integrate/stepper.h"

#define GA_FORMULATION(name, object) extern const ga_formulation_type object;
#include "integrate/formulation.def"
#undef GA_FORMULATION

const ga_formulation_type *ga_formulation_get(ga_formulation formulation)
{
    static const ga_formulation_type *const table[GA_FORMULATION_COUNT] = {
#define GA_FORMULATION(name, object) [name] = &object,
#include "integrate/formulation.def"
#undef GA_FORMULATION
    };
    return (unsigned)formulation < GA_FORMULATION_COUNT ? table[formulation] : NULL;
}
