/* PNG and PDF: the same bytes every time, clear failures, an answer when memory runs out. Not
 * under valgrind: font libraries keep what they have read until the program ends. */
#define _POSIX_C_SOURCE 200809L

#include "test/plot/sample.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/galpha-plot-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[2][128];
    static int next;
    next = !next;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, size, file);
    fclose(file);
    remove(path);
    return n;
}

static void same_bytes(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    char *a = malloc(ROOM), *b = malloc(ROOM);
    const char *endings[] = {"a.png", "a.PDF"};
    for (int k = 0; k < 2; ++k) {
        size_t n[2];
        for (int run = 0; run < 2; ++run) {
            ga_figure *f = make_sample();
            const char *path = path_of(endings[k]);
            assert_int_equal(ga_figure_write(f, path, NULL), GA_OK);
            ga_figure_destroy(f);
            n[run] = read_file(path, run ? b : a, ROOM);
        }
        assert_true(n[0] > 1000 && n[0] == n[1] && memcmp(a, b, n[0]) == 0);
        assert_memory_equal(a, k ? "%PDF" : "\x89PNG", 4);
    }
    free(a), free(b);
}

static void full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    ga_figure *f = make_sample();
    ga_report report;
    const char *path = path_of("full.png");
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_int_equal(ga_figure_write(f, path, &report), GA_ERR_FILE);
    assert_non_null(strstr(report.message, "full.png: No space"));
    remove(path);
    ga_figure_destroy(f);
}

/* Only allocations of our own fail; font libraries are not made for that. */
static void every_allocation_fails(void **state)
{
    (void)state;
    if (!in_front()) skip();
    const char *endings[] = {"m.png", "m.pdf"};
    for (int kind = 0; kind < 2; ++kind) {
        const char *path = path_of(endings[kind]);
        bool done = false;
        for (long k = 1; !done; ++k) {
            start_counting(k, false);
            watch.own_only = true;
            ga_figure *f = make_sample();
            const ga_status status = ga_figure_write(f, path, NULL);
            ga_figure_destroy(f);
            stop_counting();
            done = watch.failed == 0;
            assert_int_equal(status, done ? GA_OK : GA_ERR_MEMORY);
        }
        remove(path);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
