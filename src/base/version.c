#include <galpha/version.h>

const char *ga_version(void) { return GA_VERSION; }
