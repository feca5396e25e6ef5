/* Result files: what is in them, when they appear, and what happens when things go wrong. */
#define _POSIX_C_SOURCE 200809L

#include "test/io/files.h"
#include "test/support/allocations.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* --- contents ----------------------------------------------------------------------------- */

static void test_header(void **state)
{
    (void)state;
    ga_result *result = create(GA_RESULT_CSV);
    assert_int_equal(write_rows(result, 0, 1, NULL), GA_OK);
    assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
    FILE *file = fopen(in_folder("result.csv"), "r");
    char line[400];
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(
        line, "time,energy.total,top.position.x,top.position.y,top.position.z,"
              "hinge.multipliers.0,hinge.multipliers.1,\"odd/\"\"50%\"\", \xc3\xbc\"\n");
    fclose(file);
    assert_int_equal(empty_folder(), 1);
}

static uint64_t bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* Bit for bit, over the whole range, and also where the decimal point is a comma. */
static void check_round_trip(void)
{
    static const ga_channel one = {sizeof one, "x", "", "", 1, NULL};
    static const double corners[] = {0.0,          -0.0, 1.0 / 3, DBL_MAX, -DBL_MAX, DBL_MIN,
                                     DBL_TRUE_MIN, 0.1,  1e22,    1e23,    INFINITY, -INFINITY};
    enum { CORNERS = sizeof corners / sizeof *corners, COUNT = 2000 };
    static double x[COUNT];
    uint64_t random = 88172645463325252u;
    for (int k = 0; k < COUNT; ++k) {
        do {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            memcpy(&x[k], &random, sizeof x[k]);
        } while (!isfinite(x[k]));
        if (k < CORNERS) x[k] = corners[k];
    }
    ga_result *result = NULL;
    assert_int_equal(
        ga_result_create(in_folder("result.csv"), GA_RESULT_CSV, 1, &one, "", &result, NULL),
        GA_OK);
    for (int k = 0; k < COUNT; ++k)
        assert_int_equal(ga_result_write(result, k, &x[k], NULL), GA_OK);
    assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);

    char *before = setlocale(LC_NUMERIC, NULL), saved[64];
    snprintf(saved, sizeof saved, "%s", before);
    setlocale(LC_NUMERIC, "C"); /* for strtod */
    FILE *file = fopen(in_folder("result.csv"), "r");
    char line[200];
    assert_non_null(fgets(line, sizeof line, file));
    for (int k = 0; k < COUNT; ++k) {
        assert_non_null(fgets(line, sizeof line, file));
        char *comma;
        assert_true(strtod(line, &comma) == k);
        assert_int_equal(*comma, ',');
        assert_int_equal(bits(strtod(comma + 1, NULL)), bits(x[k]));
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    setlocale(LC_NUMERIC, saved);
    assert_int_equal(empty_folder(), 1);
}

static void test_round_trip(void **state)
{
    (void)state;
    check_round_trip();
    /* whichever the machine has */
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (int k = 0; k < 4; ++k)
        if (setlocale(LC_NUMERIC, commas[k])) {
            check_round_trip();
            break;
        }
    setlocale(LC_NUMERIC, "C");
}

/* More rows than fit in memory at once, and a number that is no multiple of that. */
static void test_hdf5_rows(void **state)
{
    (void)state;
    ga_result *result = create(GA_RESULT_HDF5);
    assert_int_equal(write_rows(result, 0, 1300, NULL), GA_OK);
    assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
    assert_int_equal(check_hdf5(in_folder("result.h5"), 1300), 1300);
    assert_int_equal(empty_folder(), 1);
}

/* --- when files appear -------------------------------------------------------------------- */

static void test_nothing_before_the_first_row(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        const char *path = in_folder(names[format]);
        ga_result *result = create((ga_result_format)format);
        assert_false(exists(path));
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        assert_int_equal(empty_folder(), 0);

        result = create((ga_result_format)format);
        ga_result_discard(result);
        assert_int_equal(empty_folder(), 0);

        result = create((ga_result_format)format);
        assert_int_equal(write_rows(result, 0, 1, NULL), GA_OK);
        assert_false(exists(path));
        assert_true(exists(ga_result_path(result)));
        ga_result_discard(result);
        assert_int_equal(empty_folder(), 0);
    }
    assert_int_equal(ga_result_close(NULL, NULL, NULL), GA_OK);
    ga_result_discard(NULL);
}

/* A run that does not finish leaves PATH.part, which others may read, and nothing else. */
static void test_part(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        char part[160];
        const char *path = in_folder(names[format]);
        snprintf(part, sizeof part, "%s.part", path);
        ga_result *result = create((ga_result_format)format);
        assert_string_equal(ga_result_path(result), part);
        assert_int_equal(write_rows(result, 0, 700, NULL), GA_OK);
        assert_int_equal(ga_result_close_part(result, NULL, NULL), GA_OK);
        assert_false(exists(in_folder(names[format])));
        ga_result_reader *reader = NULL;
        assert_int_equal(ga_result_open(part, &reader, NULL), GA_OK);
        assert_int_equal(ga_result_reader_frames(reader), 700);
        assert_int_equal(ga_result_reader_format(reader), format);
        ga_result_reader_close(reader);

        result = create((ga_result_format)format); /* replaces the part of one who is gone */
        assert_int_equal(write_rows(result, 0, 2, NULL), GA_OK);
        ga_result *second = NULL; /* but not of one who is at work */
        ga_report report;
        assert_int_equal(ga_result_create(in_folder(names[format]), (ga_result_format)format,
                                          SAMPLE_CHANNELS, sample_channels, "", &second,
                                          &report),
                         GA_ERR_FILE);
        assert_non_null(strstr(report.message, "another run"));
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        assert_true(exists(in_folder(names[format])));
        assert_int_equal(empty_folder(), 1);
    }
}

/* An old result survives a run that never starts; then it is replaced, behind links too. */
static void test_replaces(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        char target[128];
        snprintf(target, sizeof target, "%s", in_folder("target"));
        FILE *file = fopen(target, "w");
        fputs("old", file);
        fclose(file);
        assert_int_equal(symlink("target", in_folder(names[format])), 0);
        struct stat about;
        ga_result *result = create((ga_result_format)format);
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        assert_int_equal(stat(target, &about), 0);
        assert_int_equal(about.st_size, 3);
        result = create((ga_result_format)format);
        assert_int_equal(write_rows(result, 0, 1, NULL), GA_OK);
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        assert_int_equal(lstat(in_folder(names[format]), &about), 0);
        assert_true(S_ISLNK(about.st_mode));
        assert_int_equal(stat(target, &about), 0);
        assert_true(about.st_size > 100);
        assert_int_equal(empty_folder(), 2);
    }
}

/* --- failures ----------------------------------------------------------------------------- */

static void expect_no_file(const char *path, ga_result_format format, const char *reason)
{
    ga_result *result = NULL;
    ga_report report;
    assert_int_equal(
        ga_result_create(path, format, SAMPLE_CHANNELS, sample_channels, "", &result, &report),
        GA_ERR_FILE);
    assert_null(result);
    assert_int_equal(report.status, GA_ERR_FILE);
    if (!strstr(report.message, reason)) fail_msg("'%s' has no '%s'", report.message, reason);
    assert_non_null(strstr(report.message, strrchr(path, '/')));
}

static void test_cannot_create(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        expect_no_file(in_folder("none/file"), (ga_result_format)format, "No such file");
        expect_no_file(folder, (ga_result_format)format, "Is a directory");
        expect_no_file("/proc/galpha.csv", (ga_result_format)format, "No such file");
    }
    expect_no_file("/dev/full", GA_RESULT_HDF5, "seek");
    char long_path[2000];
    memset(long_path, 'x', sizeof long_path);
    memcpy(long_path, "/tmp/", 5);
    memcpy(long_path + sizeof long_path - 6, "/last", 6);
    expect_no_file(long_path, GA_RESULT_CSV, "name too long");
    assert_int_equal(empty_folder(), 0);
}

static void test_device(void **state)
{
    (void)state;
    ga_result *result = NULL;
    ga_report report;
    assert_int_equal(ga_result_create("/dev/full", GA_RESULT_CSV, SAMPLE_CHANNELS,
                                      sample_channels, "", &result, &report),
                     GA_OK);
    assert_int_equal(write_rows(result, 0, 1, &report), GA_ERR_FILE);
    assert_string_equal(report.message, "/dev/full: No space left on device");
    assert_int_equal(write_rows(result, 1, 2, &report), GA_ERR_FILE);
    assert_int_equal(ga_result_close(result, NULL, &report), GA_ERR_FILE);
    assert_true(exists("/dev/full"));
}

/* A duplicate name is HDF5's to refuse. */
static void test_duplicate_channel(void **state)
{
    (void)state;
    const ga_channel twice[] = {sample_channels[0], sample_channels[0]};
    ga_result *result = NULL;
    ga_report report;
    assert_int_equal(ga_result_create(in_folder("result.h5"), GA_RESULT_HDF5, 2, twice, "",
                                      &result, &report),
                     GA_ERR_FILE);
    assert_non_null(strstr(report.message, "energy.total"));
    assert_int_equal(empty_folder(), 0);
}

/* --- memory ------------------------------------------------------------------------------- */

static ga_status write_all(ga_result_format format)
{
    static const ga_attribute attributes[] = {
        GA_ATTRIBUTE_TEXT("version", "1"), GA_ATTRIBUTE("steps", 12), {0}};
    ga_result *result = NULL;
    ga_report report;
    ga_status status =
        ga_result_create(in_folder(names[format]), (ga_result_format)format, SAMPLE_CHANNELS,
                         sample_channels, sample_model, &result, &report);
    if (status != GA_OK) return status;
    status = write_rows(result, 0, 600, &report);
    if (status == GA_OK) return ga_result_close(result, attributes, &report);
    ga_result_discard(result);
    return status;
}

/* HDF5 itself does not survive every failure, so there only what we ask for before it. */
static void test_allocation_fails(void **state)
{
    (void)state;
    if (!in_front()) skip();
    assert_int_equal(write_all(GA_RESULT_HDF5), GA_OK); /* HDF5 sets itself up */
    for (int format = 0; format < FORMATS; ++format) {
        const long last = format == GA_RESULT_CSV ? 100 : 6;
        for (long k = 1; k <= last; ++k) {
            start_counting(k, false);
            const ga_status status = write_all((ga_result_format)format);
            stop_counting();
            if (watch.failed == 0) break;
            if (status == GA_OK) fail_msg("allocation %ld failed unnoticed", k);
            if (watch.live) fail_msg("allocation %ld fails, %ld blocks leak", k, watch.live);
        }
        empty_folder();
    }
}

/* Rows after the first take no memory of ours. */
static void test_rows_allocate_nothing(void **state)
{
    (void)state;
    if (!in_front()) skip();
    for (int format = 0; format < FORMATS; ++format) {
        ga_result *result = create((ga_result_format)format);
        assert_int_equal(write_rows(result, 0, 1, NULL), GA_OK);
        start_counting(0, false);
        const ga_status status = write_rows(result, 1, 400, NULL);
        stop_counting();
        assert_int_equal(status, GA_OK);
        assert_int_equal(watch.taken, 0);
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        empty_folder();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_hdf5_rows),
        cmocka_unit_test(test_nothing_before_the_first_row),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_replaces),
        cmocka_unit_test(test_cannot_create),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_duplicate_channel),
        cmocka_unit_test(test_allocation_fails),
        cmocka_unit_test(test_rows_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
