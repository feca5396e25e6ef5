/* Pages of results, for `view` and `run --view`. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdbool.h>

typedef struct cli_page {
    const char *path;
    int count;
    const char *const *results; /* files */
    const char *const *labels;  /* null: their names */
    const char *title;          /* null: of the first model */
    bool quiet;                 /* say nothing but errors */
} cli_page;

/* Writes the page and says what it left out. The exit code. */
int cli_page_write(const cli_page *page);
/* EXIT_DONE, or EXIT_INPUT after saying that this build has no viewer. */
int cli_page_check(void);
/* Whether a page may have this name, not that of a picture or video; otherwise says so. */
bool cli_page_is_name(const char *path);

#endif
