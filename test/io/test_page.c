/* Pages: what can go wrong around them; test/io/check_page looks at what is in them. */
#define _POSIX_C_SOURCE 200809L

#include "test/io/files.h"
#include "test/support/allocations.h"

#include <galpha/page.h>
#include <sys/stat.h>

static const char empty_page[] = "<html><head><title>galpha</title></head>"
                                 "<body><!-- galpha:data --></body></html>";

static ga_result_reader *sample(int rows)
{
    char path[128];
    strcpy(path, in_folder("result.csv"));
    ga_result *result = create(GA_RESULT_CSV);
    ga_report report;
    for (int n = 0; n < rows; ++n) {
        double t, values[SAMPLE_VALUES];
        sample_row(n, &t, values);
        assert_int_equal(ga_result_write(result, t, values, &report), GA_OK);
    }
    assert_int_equal(ga_result_close(result, NULL, &report), GA_OK);
    ga_result_reader *reader = NULL;
    assert_int_equal(ga_result_open(path, &reader, &report), GA_OK);
    return reader;
}

static char *read_page(const char *name)
{
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    char *text = calloc(1, 100000);
    assert_non_null(text);
    assert_in_range(fread(text, 1, 99999, file), 1, 99998);
    fclose(file);
    return text;
}

static void title_and_labels(void **unused)
{
    (void)unused;
    ga_result_reader *readers[2] = {sample(3)};
    readers[1] = readers[0];
    ga_report report;
    ga_page_shown shown[2];
    static const char *const labels[] = {"<one>", "two"};
    ga_page_def def = ga_page_def_default();
    def.title = "A & </title>\"\n\xff";
    def.labels = labels;
    def.page = empty_page;
    assert_int_equal(ga_page_write(in_folder("p.html"), 2, readers, &def, shown, &report),
                     GA_OK);
    char *page = read_page("p.html");
    assert_non_null(strstr(page, "<title>A &#38; &#60;/title&#62;&#34;\xef\xbf\xbd\xef\xbf\xbd"
                                 "</title>"));
    assert_non_null(strstr(page, "\"label\":\"\\u003cone\\u003e\""));
    assert_non_null(strstr(page, "\"label\":\"two\""));
    assert_non_null(strstr(page, "</script></body></html>"));
    assert_null(strstr(page, "galpha:data"));
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(shown[k].frames, 3);
        assert_int_equal(shown[k].frames_in_file, 3);
        assert_int_equal(shown[k].every, 1);
        assert_false(shown[k].scene_damaged);
    }
    free(page);
    ga_result_reader_close(readers[0]);
    assert_int_equal(empty_folder(), 2);
}

static void pages_that_are_none(void **unused)
{
    (void)unused;
    static const char *const pages[] = {
        "", "<html></html>", "<!-- galpha:data --> <!-- galpha:data -->", "<!--galpha:data-->"};
    ga_result_reader *reader = sample(2);
    for (size_t k = 0; k < sizeof pages / sizeof *pages; ++k) {
        ga_report report = {0};
        ga_page_def def = ga_page_def_default();
        def.page = pages[k];
        assert_int_equal(ga_page_write(in_folder("p.html"), 1, &reader, &def, NULL, &report),
                         GA_ERR_INPUT);
        assert_true(report.message[0]);
    }
    ga_result_reader_close(reader);
    assert_int_equal(empty_folder(), 1);
}

/* The page that was built in is there and takes data; or it says why it is not. */
static void the_viewer(void **unused)
{
    (void)unused;
    ga_result_reader *reader = sample(2);
    ga_report report = {0};
    const ga_status status =
        ga_page_write(in_folder("p.html"), 1, &reader, NULL, NULL, &report);
    assert_int_equal(status, ga_page_is_built_in() ? GA_OK : GA_ERR_INPUT);
    if (status != GA_OK) assert_non_null(strstr(report.message, "without the viewer"));
    ga_result_reader_close(reader);
    assert_int_equal(empty_folder(), 1 + ga_page_is_built_in());
}

static void files_that_cannot_be_written(void **unused)
{
    (void)unused;
    ga_result_reader *reader = sample(2);
    static const char *const paths[] = {"/no/such/folder/p.html", "/tmp", "/dev/full"};
    ga_page_def def = ga_page_def_default();
    def.page = empty_page;
    for (size_t k = 0; k < sizeof paths / sizeof *paths; ++k) {
        ga_report report = {0};
        assert_int_equal(ga_page_write(paths[k], 1, &reader, &def, NULL, &report), GA_ERR_FILE);
        assert_non_null(strstr(report.message, paths[k]));
    }
    ga_result_reader_close(reader);
    assert_int_equal(empty_folder(), 1);
}

/* A page that is there stays until the new one is whole; links are followed. */
static void a_page_is_replaced(void **unused)
{
    (void)unused;
    ga_result_reader *reader = sample(2);
    ga_page_def def = ga_page_def_default();
    def.page = empty_page;
    char real[128];
    ga_report report;
    strcpy(real, in_folder("real.html"));
    FILE *file = fopen(real, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(symlink(real, in_folder("p.html")), 0);
    assert_int_equal(ga_page_write(in_folder("p.html"), 1, &reader, &def, NULL, &report),
                     GA_OK);
    struct stat about;
    assert_int_equal(lstat(in_folder("p.html"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(real, &about), 0);
    assert_true(about.st_size > 500);
    ga_result_reader_close(reader);
    assert_int_equal(empty_folder(), 3);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    if (!in_front()) skip();
    ga_result_reader *reader = sample(50);
    ga_page_def def = ga_page_def_default();
    def.page = empty_page;
    long k = 1;
    for (;; ++k) {
        ga_report report = {0};
        start_counting(k, false);
        watch.own_only = true;
        const ga_status status =
            ga_page_write(in_folder("p.html"), 1, &reader, &def, NULL, &report);
        stop_counting();
        const bool failed = watch.failed > 0;
        assert_int_equal(status, failed ? GA_ERR_MEMORY : GA_OK);
        assert_int_equal(watch.live, 0);
        if (!failed) break;
        assert_int_equal(access(in_folder("p.html"), F_OK), -1);
    }
    assert_true(k > 10);
    ga_result_reader_close(reader);
    empty_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(title_and_labels),   cmocka_unit_test(pages_that_are_none),
        cmocka_unit_test(the_viewer),         cmocka_unit_test(files_that_cannot_be_written),
        cmocka_unit_test(a_page_is_replaced), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
