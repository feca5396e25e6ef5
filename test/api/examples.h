/* Models of examples/ for tests. */
#ifndef GA_TEST_API_EXAMPLES_H
#define GA_TEST_API_EXAMPLES_H

#include "test/support/unit.h"

#include <galpha/sim.h>
#include <stdio.h>

static ga_model *read_example(const char *name, int set_count, const char *const *set)
{
    char path[500];
    snprintf(path, sizeof path, GALPHA_SOURCE_DIR "/examples/%s.yaml", name);
    ga_model_options options = ga_model_options_default();
    options.set_count = set_count;
    options.set = set;
    ga_model *model = NULL;
    if (ga_model_read(path, &options, &model, NULL)) fail_msg("%s: cannot be read", name);
    return model;
}

#endif
