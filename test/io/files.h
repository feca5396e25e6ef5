/* A scratch folder, sample results in it, and their check. */
#ifndef GA_TEST_IO_FILES_H
#define GA_TEST_IO_FILES_H

#include "test/io/sample.h"
#include "test/support/unit.h"

#include <glob.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/galpha-result-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* How many files the folder has; all are removed. */
static inline int empty_folder(void)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    glob_t found;
    int count = 0;
    if (glob(pattern, 0, NULL, &found) == 0) {
        count = (int)found.gl_pathc;
        for (size_t k = 0; k < found.gl_pathc; ++k) remove(found.gl_pathv[k]);
        globfree(&found);
    }
    return count;
}

static inline int remove_folder(void **state)
{
    (void)state;
    empty_folder();
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *const names[] = {
    [GA_RESULT_CSV] = "result.csv", [GA_RESULT_HDF5] = "result.h5"};
enum { FORMATS = 2 };

static inline ga_result *create(ga_result_format format)
{
    ga_result *result = NULL;
    ga_report report;
    if (ga_result_create(in_folder(names[format]), format, SAMPLE_CHANNELS, sample_channels,
                         sample_model, &result, &report))
        fail_msg("%s", report.message);
    return result;
}

static inline ga_status write_rows(ga_result *result, int begin, int end, ga_report *report)
{
    ga_status status = GA_OK;
    for (int n = begin; n < end && status == GA_OK; ++n) {
        double t, values[SAMPLE_VALUES];
        sample_row(n, &t, values);
        status = ga_result_write(result, t, values, report);
    }
    return status;
}

static inline bool exists(const char *path) { return access(path, F_OK) == 0; }

/* Reads a dataset through HDF5 itself; how many numbers. */
static inline int read_numbers(const char *path, const char *name, double *out, int room)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return -1;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    const int count = (int)H5Sget_simple_extent_npoints(space);
    assert_true(count <= room);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return count;
}

/* /time and positions of rows 0 .. n-1, for n at least `least`; returns n. */
static inline int check_hdf5(const char *path, int least)
{
    enum { ROOM = 1 << 21 };
    static double times[ROOM], positions[3 * ROOM];
    const int n = read_numbers(path, "time", times, ROOM);
    assert_true(n >= least);
    assert_int_equal(read_numbers(path, "channels/top.position", positions, 3 * ROOM), 3 * n);
    for (int k = 0; k < n; ++k) {
        double t, values[SAMPLE_VALUES];
        sample_row(k, &t, values);
        assert_true(times[k] == t);
        assert_memory_equal(&positions[3 * k], &values[1], 3 * sizeof *values);
    }
    return n;
}

#endif
