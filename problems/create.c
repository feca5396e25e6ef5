#include "problems/create.h"
#include <stdlib.h>

pb_problem *pb_new(const char *name, size_t data_size)
{
    pb_problem *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->data = calloc(1, data_size);
    if (!p->data) {
        free(p);
        return NULL;
    }
    p->name = name;
    p->system.user = p->data;
    return p;
}

void pb_destroy(pb_problem *problem)
{
    if (!problem) return;
    free(problem->data);
    free(problem);
}
