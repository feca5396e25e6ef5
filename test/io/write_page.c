/* Writes a page for tests in other languages, around a page that shows nothing:
 * write_page PAGE.html MAX_BYTES RESULT... */
#include <galpha/page.h>
#include <stdio.h>
#include <stdlib.h>

static const char empty_page[] =
    "<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>galpha</title></head>\n"
    "<body>\n<!-- galpha:data -->\n</body></html>\n";

int main(int argc, char **argv)
{
    enum { MOST = 8 };
    ga_result_reader *results[MOST] = {NULL};
    ga_page_shown shown[MOST];
    ga_report report;
    if (argc < 4 || argc > 3 + MOST) return 2;
    ga_status status = GA_OK;
    for (int k = 3; k < argc && status == GA_OK; ++k)
        status = ga_result_open(argv[k], results + k - 3, &report);
    ga_page_def def = ga_page_def_default();
    def.max_bytes = (size_t)atol(argv[2]);
    def.page = empty_page;
    if (status == GA_OK)
        status = ga_page_write(argv[1], argc - 3, results, &def, shown, &report);
    for (int k = 3; k < argc && status == GA_OK; ++k)
        printf("%zu %zu %zu\n", shown[k - 3].frames, shown[k - 3].frames_in_file,
               shown[k - 3].every);
    for (int k = 3; k < argc; ++k) ga_result_reader_close(results[k - 3]);
    if (status != GA_OK) puts(report.message);
    return status == GA_OK ? 0 : status == GA_ERR_FILE ? 3 : 1;
}
