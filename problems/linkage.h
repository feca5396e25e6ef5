/* What the linkages share. */
#ifndef PROBLEMS_LINKAGE_H
#define PROBLEMS_LINKAGE_H

#include "problems/problems.h"

#define GA_TRY_PB(call)                                                                        \
    do {                                                                                       \
        ga_status status_ = (call);                                                            \
        if (status_ != GA_OK) return status_;                                                  \
    } while (0)

#endif
