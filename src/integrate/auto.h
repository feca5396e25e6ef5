/* The choice between methods, as a method. */
#ifndef GA_INTEGRATE_AUTO_H
#define GA_INTEGRATE_AUTO_H

#include "integrate/onestep.h"

extern const ga_onestep_type ga_auto_type;

/* What it has chosen since it began. */
ga_method_use ga_auto_use(const ga_onestep *m);

#endif
