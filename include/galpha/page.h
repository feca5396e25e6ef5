/* Interactive HTML pages (3-D animation and plots) of results: self-contained, without a server
 * or network.
 *
 *     ga_result_reader *result = NULL;
 *     if (ga_result_open("top.h5", &result, &report) ||
 *         ga_page_write("top.html", 1, &result, NULL, NULL, &report)) puts(report.message);
 *
 * Numbers are quantised below what is visible: positions to 1e-5 of the model's size, rotations
 * to 5e-6, other channels to 8e-6 of their range; small results are stored exactly. If a page
 * would still be too large, frames are left out evenly, but never the first and the last.
 */
#ifndef GALPHA_PAGE_H
#define GALPHA_PAGE_H

#include <galpha/result.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_page_def {
    size_t struct_size;        /* set by the function that gives defaults */
    const char *title;         /* null: the name of the first model, or of its file */
    const char *const *labels; /* of the results; null: the names of their files */
    size_t max_bytes; /* largest size of the page, reached by leaving out frames; 0: 14 MB */
    /* A page instead of the built-in one: HTML with one <!-- galpha:data --> in its body. */
    const char *page;
} ga_page_def;

GA_API void ga_page_def_fill(ga_page_def *def, size_t size);
static inline ga_page_def ga_page_def_default(void)
{
    ga_page_def def;
    ga_page_def_fill(&def, sizeof def);
    return def;
}

/* What the page shows of a result. */
typedef struct ga_page_shown {
    size_t frames, frames_in_file;
    size_t every;       /* n: every n-th frame, and the last */
    bool scene_damaged; /* the scene is not valid JSON and was left out */
} ga_page_shown;

/* False if the library was built without the viewer: then def->page is required. */
GA_API bool ga_page_is_built_in(void);

/* Replaces an existing file atomically. `def` and `shown`, an array, may be null. GA_ERR_INPUT:
 * a result is damaged, def->page has no place for the data, or this build has no viewer;
 * GA_ERR_FILE: the page cannot be written. */
GA_API ga_status ga_page_write(const char *path, int count, ga_result_reader *const *results,
                               const ga_page_def *def, ga_page_shown *shown, ga_report *report);

#ifdef __cplusplus
}
#endif
#endif
