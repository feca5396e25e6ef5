#include "base/memory.h"

#include <stdlib.h>

void *ga_alloc(size_t count, size_t size) { return calloc(count ? count : 1, size ? size : 1); }

void ga_free(void *memory) { free(memory); }
