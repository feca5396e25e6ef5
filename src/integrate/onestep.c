/* The methods by name, and what can be said of any of them. */
#include "integrate/onestep.h"

#include "base/report.h"

#include <string.h>

#define GA_ONESTEP(object) extern const ga_onestep_type object;
#include "integrate/method.def"
#undef GA_ONESTEP

const ga_onestep_type *ga_onestep_find(const char *name)
{
    static const ga_onestep_type *const methods[] = {
#define GA_ONESTEP(object) &object,
#include "integrate/method.def"
#undef GA_ONESTEP
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k)
        if (!strcmp(methods[k]->name, name)) return methods[k];
    return NULL;
}

bool ga_step_may_retry(ga_status status)
{
    return status != GA_ERR_CALLBACK && status != GA_ERR_MEMORY;
}

void ga_onestep_explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const double t = m->now.t;
    const bool told = m->type->explain && m->type->explain(m, status, h, report);
    if (told) {
    } else if (status == GA_ERR_STEP_SIZE)
        ga_fail(
            report, status,
            "at t = %.9g the error control needs a step of %.3g, below the smallest allowed", t,
            h);
    else if (status == GA_ERR_MEMORY)
        ga_fail(report, status, "out of memory in the step from t = %.9g", t);
    else if (status == m->dae->fault.status)
        ga_dae_explain(m->dae, t, report);
    else
        ga_fail(report, status, "%s, at t = %.9g", ga_status_text(status), t);
    if (!report) return;
    report->time = t;
    report->step = h;
}
