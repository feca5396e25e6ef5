/* Reading result files: bit for bit what was written, and a sentence for every file that is not
 * what it should be. Files are damaged in three ways: by hand, through HDF5 itself, and by
 * changing bytes at random. */
#define _POSIX_C_SOURCE 200809L

#include "test/io/files.h"
#include "test/support/allocations.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROWS = 1300 }; /* several chunks, the last of them in part */

static const ga_attribute facts[] = {GA_ATTRIBUTE_TEXT("formulation", "index2"),
                                     GA_ATTRIBUTE("rho_inf", 0.9),
                                     GA_ATTRIBUTE("steps", 1200),
                                     GA_ATTRIBUTE_TEXT("version", "0.4.0"),
                                     {0}};

static void write_file(ga_result_format format, int rows)
{
    ga_result *result = create(format);
    assert_int_equal(write_rows(result, 0, rows, NULL), GA_OK);
    assert_int_equal(ga_result_close(result, facts, NULL), GA_OK);
}

static ga_result_reader *open_result(const char *path)
{
    ga_result_reader *reader = NULL;
    ga_report report;
    if (ga_result_open(path, &reader, &report) != GA_OK) fail_msg("%s", report.message);
    return reader;
}

/* --- what was written --------------------------------------------------------------------- */

/* Columns `first + stride k` of the sample's channel, by the formula they were written from. */
static void check_channel(ga_result_reader *reader, int sample, size_t first, size_t stride,
                          size_t count)
{
    const ga_channel *expected = &sample_channels[sample];
    const int k = ga_result_reader_find(reader, expected->name);
    assert_in_range(k, 0, SAMPLE_CHANNELS - 1);
    const ga_channel *channel = &ga_result_reader_channels(reader)[k];
    assert_string_equal(channel->name, expected->name);
    assert_int_equal(channel->count, expected->count);
    const size_t parts = (size_t)channel->count;
    double *values = calloc(count * parts, sizeof *values);
    assert_int_equal(ga_result_reader_read(reader, k, first, stride, count, values, NULL),
                     GA_OK);
    int offset = 0;
    for (int i = 0; i < sample; ++i) offset += sample_channels[i].count;
    for (size_t n = 0; n < count; ++n) {
        double t, row[SAMPLE_VALUES];
        sample_row((int)(first + n * stride), &t, row);
        assert_memory_equal(values + n * parts, row + offset, parts * sizeof *row);
    }
    free(values);
}

static void check_contents(ga_result_reader *reader, size_t rows)
{
    assert_int_equal(ga_result_reader_frames(reader), rows);
    assert_int_equal(ga_result_reader_channel_count(reader), SAMPLE_CHANNELS);
    for (size_t n = 0; n < rows; ++n) {
        double t, row[SAMPLE_VALUES];
        sample_row((int)n, &t, row);
        assert_memory_equal(&ga_result_reader_times(reader)[n], &t, sizeof t);
    }
    for (int k = 0; k < SAMPLE_CHANNELS; ++k) {
        check_channel(reader, k, 0, 1, rows);
        check_channel(reader, k, 3, 7, (rows - 3 + 6) / 7);
        check_channel(reader, k, rows - 1, 5, 1);
        check_channel(reader, k, 2, 3, 0);
    }
    assert_int_equal(ga_result_reader_find(reader, "nothing"), -1);
}

static void test_hdf5_round_trip(void **state)
{
    (void)state;
    write_file(GA_RESULT_HDF5, ROWS);
    ga_result_reader *reader = open_result(in_folder("result.h5"));
    assert_int_equal(ga_result_reader_format(reader), GA_RESULT_HDF5);
    check_contents(reader, ROWS);
    for (int k = 0; k < SAMPLE_CHANNELS; ++k) {
        const ga_channel *expected = &sample_channels[k];
        const ga_channel *channel =
            &ga_result_reader_channels(reader)[ga_result_reader_find(reader, expected->name)];
        assert_string_equal(channel->unit, expected->unit);
        assert_string_equal(channel->description,
                            expected->description ? expected->description : "");
        assert_int_equal(channel->parts != NULL, expected->parts != NULL);
        for (int i = 0; i < channel->count && channel->parts; ++i)
            assert_string_equal(channel->parts[i], expected->parts[i]);
    }
    assert_string_equal(ga_result_reader_model(reader), sample_model);
    assert_null(ga_result_reader_scene(reader));
    const ga_attribute *a = ga_result_reader_attributes(reader);
    for (int k = 0; facts[k].name; ++k) {
        assert_string_equal(a[k].name, facts[k].name);
        assert_int_equal(a[k].text != NULL, facts[k].text != NULL);
        if (a[k].text)
            assert_string_equal(a[k].text, facts[k].text);
        else
            assert_true(a[k].number == facts[k].number);
    }
    assert_null(a[4].name);
    ga_result_reader_close(reader);
    ga_result_reader_close(NULL);
    empty_folder();
}

static void test_csv_round_trip(void **state)
{
    (void)state;
    write_file(GA_RESULT_CSV, ROWS);
    ga_result_reader *reader = open_result(in_folder("result.csv"));
    assert_int_equal(ga_result_reader_format(reader), GA_RESULT_CSV);
    check_contents(reader, ROWS);
    assert_string_equal(ga_result_reader_model(reader), "");
    assert_null(ga_result_reader_scene(reader));
    assert_null(ga_result_reader_attributes(reader)->name);
    assert_string_equal(ga_result_reader_channels(reader)[1].parts[2], "z");
    assert_string_equal(ga_result_reader_path(reader), in_folder("result.csv"));
    ga_result_reader_close(reader);
    empty_folder();
}

static void test_not_finite(void **state)
{
    (void)state;
    static const ga_channel one = {sizeof one, "x", "m", "", 1, NULL};
    const double x[] = {NAN, INFINITY, -INFINITY, -0.0};
    for (int format = 0; format < FORMATS; ++format) {
        ga_result *result = NULL;
        assert_int_equal(ga_result_create(in_folder(names[format]), (ga_result_format)format, 1,
                                          &one, "", &result, NULL),
                         GA_OK);
        for (int k = 0; k < 4; ++k)
            assert_int_equal(ga_result_write(result, k, &x[k], NULL), GA_OK);
        assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
        ga_result_reader *reader = open_result(in_folder(names[format]));
        double y[4];
        assert_int_equal(ga_result_reader_read(reader, 0, 0, 1, 4, y, NULL), GA_OK);
        assert_true(isnan(y[0]) && y[1] == INFINITY && y[2] == -INFINITY);
        assert_true(y[3] == 0 && signbit(y[3]));
        ga_result_reader_close(reader);
    }
    empty_folder();
}

/* --- files that are not what they should be ----------------------------------------------- */

static void expect_failure(const char *path, ga_status expected, const char *reason)
{
    ga_result_reader *reader = NULL;
    ga_report report = {0};
    const ga_status status = ga_result_open(path, &reader, &report);
    assert_null(reader);
    if (status != expected || !strstr(report.message, reason))
        fail_msg("status %d, '%s' has no '%s'", status, report.message, reason);
    assert_non_null(strstr(report.message, strrchr(path, '/')));
    assert_null(strchr(report.message, '\n'));
}

static void test_no_file(void **state)
{
    (void)state;
    expect_failure(in_folder("none.h5"), GA_ERR_FILE, "No such file");
    expect_failure(folder, GA_ERR_FILE, "Is a directory");
    expect_failure("/dev/null", GA_ERR_FILE, "not a regular file");
}

static void write_text(const char *name, const char *text, size_t length)
{
    /* a new file: one that is truncated goes to the disk at once, 5 ms each time */
    unlink(in_folder(name));
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static void test_broken_csv(void **state)
{
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "empty"},
        {"x,y\n0,1\n", ":1:1: neither HDF5 nor a CSV file"},
        {"times,x\n0,1\n", ":1:1: neither"},
        {"galpha: 1\n", ":1:1: neither"},
        {"time", "no frames"},
        {"time,x\n", "no frames"},
        {"time,x,\n0,1,2\n", ":1:8: a column has no name"},
        {"time,\"x\n0,1\n", ":1:6: a quote is not closed"},
        {"time,\"x\"y\n0,1\n", ":1:9: expected a comma"},
        /* once counted as four columns and read as two, past the end of the text */
        {"time,a\"\n\"x,y,z\"", ":1:7: a quote inside an unquoted name"},
        {"time,a\"b\n0,1\n", ":1:7: a quote inside"},
        {"time,\"a\"\"", ":1:6: a quote is not closed"},
        {"time,\"", ":1:6: a quote is not closed"},
        {"time,\"\"\n0,1\n", ":1:6: a column has no name"},
        {"time,\"a\"\r", ":1:9: expected a comma"},
        {"time,x,x\n0,1,2\n", "two channels have the name 'x'"},
        {"time,x\n0,1\n1\n", ":3:2: 1 numbers, but the header has 2 names"},
        {"time,x\n0,1\n1,2,3\n", ":3:4: more numbers than the 2 names"},
        {"time,x\n0,1\n1,\n", ":3:3: expected a number"},
        {"time,x\n0,1\n1;2\n", ":3:2: expected a comma"},
        {"time,x\n0,1\n1,2 \n", ":3:4: expected a comma"},
        {"time,x\n0,one\n", ":2:3: expected a number"},
        {"time,x\n0,1\n\n1,2\n", ":3:1: an empty line"},
        {"time,\"a\nb\"\n0,x\n", ":3:3: expected a number"},
        {"time,x\n0,1\n0.5", ":3:4: 1 numbers"},
        {"time,x\nnan,1\n", "time of frame 0 is not finite"},
        {"time,x\n0,1\ninf,1\n", "time of frame 1 is not finite"},
        {"time,x\n1,1\n0.5,1\n", "time decreases from 1 to 0.5 at frame 1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        write_text("broken.csv", cases[k].text, strlen(cases[k].text));
        expect_failure(in_folder("broken.csv"), GA_ERR_INPUT, cases[k].reason);
    }
    write_text("broken.csv", "time,x\n0,\0001\n", 12);
    expect_failure(in_folder("broken.csv"), GA_ERR_INPUT, ":2:3: expected a number");
    write_text("broken.csv", "time,x\0y\n0,1\n", 13);
    expect_failure(in_folder("broken.csv"), GA_ERR_INPUT, ":1:7: a NUL byte in a name");
    empty_folder();
}

/* As spreadsheets save it; and columns that only look as if they belonged together. */
static void test_unusual_csv(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbftime,a.x,a.y,b.x,\"c\",d.0,d.1,e.w,e.x,e.y,e.z,"
                               "f.0,g.y,h.x,h.y,h.z,\xff.n\r\n"
                               "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\r\n"
                               "1,.5,+2e0,3.,4,5,6,7,8,9,10,11,12,13,14,15,16";
    write_text("unusual.csv", text, sizeof text - 1);
    ga_result_reader *reader = open_result(in_folder("unusual.csv"));
    static const struct {
        const char *name;
        int count;
    } expected[] = {{"a", 2},   {"b.x", 1}, {"c", 1},
                    {"d", 2},   {"e", 4},   {"f.0", 1},
                    {"g.y", 1}, {"h", 3},   {"\xef\xbf\xbd.n", 1}};
    assert_int_equal(ga_result_reader_channel_count(reader), 9);
    double first = 1;
    for (int k = 0; k < 9; ++k) {
        const ga_channel *channel = &ga_result_reader_channels(reader)[k];
        assert_string_equal(channel->name, expected[k].name);
        assert_int_equal(channel->count, expected[k].count);
        double x[8];
        assert_int_equal(ga_result_reader_read(reader, k, 0, 1, 2, x, NULL), GA_OK);
        assert_true(x[0] == first && x[channel->count - 1] == first + channel->count - 1);
        first += channel->count;
    }
    assert_int_equal(ga_result_reader_frames(reader), 2);
    ga_result_reader_close(reader);
    empty_folder();
}

/* --- damaged through HDF5 ----------------------------------------------------------------- */

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *extent)
{
    const hid_t space = rank ? H5Screate_simple(rank, extent, NULL) : H5Screate(H5S_SCALAR);
    const hid_t dataset =
        H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    if (H5Tget_class(type) != H5T_STRING && rank) {
        double zeros[64] = {0};
        assert_true(
            H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    }
    H5Dclose(dataset);
    H5Sclose(space);
}

static hid_t begin_file(void)
{
    return H5Fcreate(in_folder("other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static void end_file(hid_t file, const char *reason)
{
    H5Fclose(file);
    expect_failure(in_folder("other.h5"), GA_ERR_INPUT, reason);
}

/* A result of three frames, up to what the case adds. */
static hid_t begin_result(void)
{
    const hid_t file = begin_file();
    put(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){3});
    H5Gclose(H5Gcreate2(file, "channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return file;
}

static void put_virtual(hid_t file)
{
    const hsize_t n = 3;
    const hid_t space = H5Screate_simple(1, &n, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_virtual(creation, space, "/etc/passwd.h5", "x", space) >= 0);
    const hid_t dataset = H5Dcreate2(file, "channels/x", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                     creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
}

static void put_external(hid_t file)
{
    const hsize_t n = 3;
    const hid_t space = H5Screate_simple(1, &n, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_external(creation, "/etc/passwd", 0, 24) >= 0);
    const hid_t dataset = H5Dcreate2(file, "channels/x", H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                     creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
}

/* An extent that no memory could hold: the chunks of it that exist take a few bytes. */
static void put_huge(hid_t file, const char *name, hsize_t rows, bool compressed)
{
    const hsize_t chunk = rows < 512 ? rows : 512;
    const hid_t space = H5Screate_simple(1, &rows, NULL);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 1, &chunk);
    if (compressed) H5Pset_deflate(creation, 6);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(creation);
    H5Sclose(space);
}

static void test_foreign_hdf5(void **state)
{
    (void)state;
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 5);
    hid_t file = begin_file();
    end_file(file, "not a galpha result: there is no dataset /time");
    file = begin_file();
    H5Gclose(H5Gcreate2(file, "time", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    end_file(file, "there is no dataset /time");
    file = begin_file();
    put(file, "time", text, 0, NULL);
    end_file(file, "no numbers in /time");
    file = begin_file();
    put(file, "time", H5T_IEEE_F64LE, 0, NULL);
    end_file(file, "not one or two dimensions: /time");
    file = begin_file();
    put(file, "time", H5T_IEEE_F64LE, 2, (const hsize_t[]){2, 2});
    end_file(file, "more than one dimension: /time");
    file = begin_file();
    put(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){3});
    end_file(file, "not a galpha result: there is no group /channels");
    file = begin_file();
    put(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){0});
    H5Gclose(H5Gcreate2(file, "channels", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    end_file(file, "it contains no frames");
    for (int compressed = 0; compressed < 2; ++compressed) {
        file = begin_file();
        put_huge(file, "time", (hsize_t)1 << 50, compressed);
        end_file(file, "more numbers than the file can hold: /time");
    }
    H5Tclose(text);
    empty_folder();
}

static void test_wrong_channels(void **state)
{
    (void)state;
    hid_t file = begin_result();
    put(file, "channels/x", H5T_IEEE_F64LE, 1, (const hsize_t[]){4});
    end_file(file, "channel 'x' has 4 rows, but /time has 3");
    file = begin_result();
    put(file, "channels/x\ny", H5T_IEEE_F64LE, 3, (const hsize_t[]){3, 2, 2});
    end_file(file, "not one or two dimensions: x y");
    file = begin_result();
    put(file, "channels/x", H5T_IEEE_F64LE, 2, (const hsize_t[]){3, 0});
    end_file(file, "not one or two dimensions: x");
    file = begin_result();
    H5Gclose(H5Gcreate2(file, "channels/x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    end_file(file, "there is no dataset x");
    file = begin_result();
    put_huge(file, "channels/x", (hsize_t)1 << 40, false);
    end_file(file, "more numbers than the file can hold: x");
    file = begin_result();
    put_virtual(file);
    end_file(file, "unsupported storage layout: x");
    file = begin_result();
    put_external(file);
    end_file(file, "unsupported storage layout: x");
    file = begin_result();
    put(file, "channels/x", H5T_IEEE_F64LE, 1, (const hsize_t[]){3});
    H5Lcreate_hard(file, "channels/x", file, "channels/%78", H5P_DEFAULT, H5P_DEFAULT);
    end_file(file, "two channels have the name 'x'");
    file = begin_result();
    put(file, "model", H5T_IEEE_F64LE, 0, NULL);
    end_file(file, "no text in /model");
    file = begin_result();
    H5Lcreate_external("/etc/passwd.h5", "/x", file, "model", H5P_DEFAULT, H5P_DEFAULT);
    end_file(file, "no text in /model");
    empty_folder();
}

/* A reader may come between two updates: datasets have different numbers of rows then. */
static void test_unfinished(void **state)
{
    (void)state;
    static const hsize_t later = 4, sooner = 2;
    hid_t file = begin_result();
    H5Gclose(H5Gcreate2(file, "solver", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put(file, "channels/x", H5T_IEEE_F64LE, 1, &later);
    put(file, "channels/y", H5T_IEEE_F64LE, 1, &sooner);
    H5Fclose(file);
    ga_result_reader *reader = open_result(in_folder("other.h5"));
    assert_int_equal(ga_result_reader_channel_count(reader), 2);
    assert_int_equal(ga_result_reader_frames(reader), 2);
    for (int k = 0; k < 2; ++k) {
        double x[2] = {1, 1};
        assert_int_equal(ga_result_reader_read(reader, k, 0, 1, 2, x, NULL), GA_OK);
        assert_true(x[0] == 0 && x[1] == 0);
    }
    ga_result_reader_close(reader);
    empty_folder();
}

/* Written by others, but with all that matters: fixed text, integers, single precision,
 * compression, no attributes; links that lead elsewhere are passed over. */
static void test_rewritten_hdf5(void **state)
{
    (void)state;
    hid_t file = begin_result();
    const hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
    H5Tset_size(text, 9);
    H5Tset_strpad(text, H5T_STR_SPACEPAD);
    const hid_t scene =
        H5Dcreate2(file, "scene", text, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(scene, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, "{\"a\":1}  ");
    H5Dclose(scene);
    put(file, "channels/a%2Fb", H5T_STD_I32BE, 1, (const hsize_t[]){3});
    put(file, "channels/c", H5T_IEEE_F32LE, 2, (const hsize_t[]){3, 2});
    put_huge(file, "channels/d", 3, true);
    const hid_t d = H5Dopen2(file, "channels/d", H5P_DEFAULT);
    H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, (const double[]){1, 2, 3});
    const hid_t unit = H5Acreate2(d, "unit", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(unit, text, "m/s      ");
    H5Aclose(unit);
    H5Dclose(d);
    H5Lcreate_soft("/channels/d", file, "channels/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd.h5", "/x", file, "channels/far", H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(scalar);
    H5Tclose(text);
    H5Fclose(file);
    ga_result_reader *reader = open_result(in_folder("other.h5"));
    assert_int_equal(ga_result_reader_channel_count(reader), 3);
    assert_int_equal(ga_result_reader_find(reader, "a/b"), 0);
    assert_int_equal(ga_result_reader_channels(reader)[1].count, 2);
    assert_null(ga_result_reader_channels(reader)[1].parts);
    assert_string_equal(ga_result_reader_channels(reader)[2].unit, "m/s");
    assert_string_equal(ga_result_reader_scene(reader), "{\"a\":1}");
    assert_string_equal(ga_result_reader_model(reader), "");
    double x[3];
    assert_int_equal(ga_result_reader_read(reader, 2, 0, 2, 2, x, NULL), GA_OK);
    assert_true(x[0] == 1 && x[1] == 3);
    ga_result_reader_close(reader);
    empty_folder();
}

/* --- damaged at random -------------------------------------------------------------------- */

static char *load_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

/* Opens and reads all of it: either it works, or there is a sentence. */
static void try_file(const char *path)
{
    ga_result_reader *reader = NULL;
    ga_report report = {0};
    const ga_status status = ga_result_open(path, &reader, &report);
    if (status != GA_OK) {
        assert_null(reader);
        assert_true(status == GA_ERR_INPUT || status == GA_ERR_MEMORY);
        assert_true(report.message[0] && !strchr(report.message, '\n'));
        return;
    }
    const size_t frames = ga_result_reader_frames(reader);
    for (int k = 0; k < ga_result_reader_channel_count(reader); ++k) {
        const size_t count = (size_t)ga_result_reader_channels(reader)[k].count;
        assert_true(count * frames < 1 << 24);
        double *values = malloc(count * frames * sizeof *values);
        (void)ga_result_reader_read(reader, k, 0, 1, frames, values, &report);
        free(values);
    }
    ga_result_reader_close(reader);
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Sizes, offsets and addresses of HDF5 stand at multiples of 4 and 8: such values reach code
 * that single bytes do not. */
static void put_extreme(char *bytes, size_t length, uint32_t *seed)
{
    static const uint64_t extremes[] = {0,          1,           UINT64_MAX, INT64_MAX,
                                        UINT32_MAX, 1ull << 31,  1ull << 32, 1ull << 62,
                                        0x7fff,     0x80000000u, 1ull << 63, 255};
    const uint64_t x = extremes[next_random(seed) % (sizeof extremes / sizeof *extremes)];
    const size_t width = (size_t)1 << next_random(seed) % 4;
    const size_t at = next_random(seed) % (length / 8) * 8 + next_random(seed) % 2 * 4;
    if (at + width <= length) memcpy(bytes + at, &x, width);
}

/* GALPHA_FUZZ in the environment: so many times as many, for longer runs, from the seed
 * GALPHA_FUZZ_SEED. */
static uint32_t from_environment(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static void mutate(ga_result_format format, int cases)
{
    cases *= (int)from_environment("GALPHA_FUZZ", 1);
    write_file(format, 40);
    size_t length;
    char *bytes = load_file(in_folder(names[format]), &length);
    char *copy = malloc(length);
    uint32_t seed = from_environment("GALPHA_FUZZ_SEED", 12345);
    for (int k = 0; k < cases; ++k) {
        memcpy(copy, bytes, length);
        size_t end = length;
        const uint32_t changes = 1 + next_random(&seed) % 4;
        for (uint32_t i = 0; i < changes; ++i) {
            const size_t at = next_random(&seed) % length;
            const uint32_t kind = next_random(&seed) % 4;
            copy[at] = (char)(kind == 0   ? 0
                              : kind == 1 ? 0xff
                              : kind == 2 ? copy[at] ^ (1 << next_random(&seed) % 8)
                                          : (int)next_random(&seed));
        }
        if (k % 3 == 0) put_extreme(copy, length, &seed);
        if (k % 8 == 0) end = next_random(&seed) % length;
        write_text("mutated", copy, end);
        try_file(in_folder("mutated"));
    }
    free(copy);
    free(bytes);
    empty_folder();
}

/* Files made of the words of the format in any order: where names, quotes, line ends and
 * numbers meet in every way, which changed bytes seldom do. */
static void test_random_csv(void **state)
{
    (void)state;
    static const char *const words[] = {
        ",",    ",",   "\"",  "\"",   "\"\"",         "\n",  "\n",    "\r\n",
        "\r",   "a",   "b.x", "b.y",  "d.0",          "d.1", "1",     "2.5e-3",
        "-inf", "nan", "+",   "\xff", "\xef\xbb\xbf", " ",   "x,y,z", "time"};
    enum { WORDS = sizeof words / sizeof *words, LONGEST = 40, CASES = 20000 };
    uint32_t seed = from_environment("GALPHA_FUZZ_SEED", 2024);
    const int cases = CASES * (int)from_environment("GALPHA_FUZZ", 1);
    for (int k = 0; k < cases; ++k) {
        char text[8 * LONGEST] = "time";
        size_t length = 4;
        const uint32_t count = next_random(&seed) % LONGEST;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t word = next_random(&seed) % (WORDS + 1);
            const char *more = word < WORDS ? words[word] : "";
            const size_t n = word < WORDS ? strlen(more) : 1; /* the last one is a NUL */
            memcpy(text + length, more, n);
            length += n;
        }
        write_text("random.csv", text, length);
        try_file(in_folder("random.csv"));
    }
    empty_folder();
}

static void test_mutated_csv(void **state)
{
    (void)state;
    mutate(GA_RESULT_CSV, 2000);
}

static void test_mutated_hdf5(void **state)
{
    (void)state;
    mutate(GA_RESULT_HDF5, 1000);
}

/* --- damaged where HDF5 1.10 would follow ------------------------------------------------- */

/* Places found by fuzzing. Whatever the file says there, HDF5 believes it, and reads or frees
 * what is not its own; so every one has to be found before HDF5 sees it. At each occurrence of
 * `find`, `length` bytes, what stands `ahead` of it is replaced. */
static const struct {
    const char *what, *find;
    size_t length, ahead;
    const char *put;
    size_t put_length;
} places[] = {
    {"size of a chunk", "TREE\1\0", 6, 24, "\x10\0\0\0", 4},
    {"size of a chunk, too large", "TREE\1\0", 6, 24, "\0\0\0\x7f", 4},
    {"number of chunks", "TREE\1\0", 6, 6, "\xff\xff", 2},
    {"level of a tree", "TREE\1\0", 6, 5, "\3", 1},
    {"name of a link", "SNOD\1", 5, 8, "\0\0\0\1", 4},
    {"name of a link, at the end", "SNOD\1", 5, 8, "\x57\0\0\0", 4},
    {"kind of a link", "SNOD\1", 5, 24, "\2\0\0\0", 4},
    {"number of links", "SNOD\1", 5, 6, "\xff\xff", 2},
    {"key of a group", "TREE\0\0", 6, 24, "\xff\xff\xff", 3},
    {"size of names", "HEAP\0", 5, 8, "\xff\xff", 2},
    {"address of names", "HEAP\0", 5, 24, "\xff\xff\xff", 3},
    {"type of a text: members of an enumeration", "\x19\1\1\0\x10\0\0\0", 8, 0, "\x18", 1},
    {"type of a text: members of a structure", "\x19\1\1\0\x10\0\0\0", 8, 0, "\x16", 1},
    {"type of a text: array", "\x19\1\1\0\x10\0\0\0", 8, 0, "\x1a", 1},
    {"type of numbers", "\x11\x20\x3f\0\10\0\0\0", 8, 0, "\x18", 1},
    {"size of numbers", "\x11\x20\x3f\0\10\0\0\0", 8, 4, "\x7f", 1},
    {"layout: in the header", "\3\2\2", 3, 1, "\0", 1},
    {"layout: in one piece", "\3\2\2", 3, 1, "\1", 1},
    {"layout: size of numbers", "\0\2\0\0\10\0\0\0", 8, 4, "\1", 1},
    {"layout: no rows", "\0\2\0\0\10\0\0\0", 8, 0, "\0\0", 2},
    {"an attribute that is elsewhere", "\14\0\x40\0\0", 5, 4, "\2", 1},
    {"numbers of a type that is elsewhere", "\3\0\x18\0\1", 5, 4, "\3", 1},
};
enum { PLACES = sizeof places / sizeof *places };

/* All of them in a file; counts where they were. */
static void damage_places(const char *path, int *found)
{
    size_t length;
    char *bytes = load_file(path, &length), *copy = malloc(length);
    for (size_t k = 0; k < PLACES; ++k)
        for (size_t at = 0; at + 64 < length; ++at) {
            if (memcmp(bytes + at, places[k].find, places[k].length) != 0) continue;
            ++found[k];
            memcpy(copy, bytes, length);
            memcpy(copy + at + places[k].ahead, places[k].put, places[k].put_length);
            write_text("damaged", copy, length);
            try_file(in_folder("damaged"));
        }
    free(copy);
    free(bytes);
}

static void test_damaged_places(void **state)
{
    (void)state;
    int found[PLACES] = {0};
    write_file(GA_RESULT_HDF5, 40);
    damage_places(in_folder("result.h5"), found);
    /* links as others write them */
    const hid_t file = begin_result();
    put(file, "channels/x", H5T_IEEE_F64LE, 1, (const hsize_t[]){3});
    put(file, "channels/y", H5T_IEEE_F64LE, 1, (const hsize_t[]){3});
    H5Lcreate_soft("/channels/x", file, "channels/soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    damage_places(in_folder("other.h5"), found);
    for (size_t k = 0; k < PLACES; ++k)
        if (!found[k]) fail_msg("no place: %s", places[k].what);
    empty_folder();
}

/* A chunk that unpacks to less than it should. */
static void test_short_chunk(void **state)
{
    (void)state;
    hid_t file = begin_result();
    put_huge(file, "channels/x", 3, true);
    const hid_t dataset = H5Dopen2(file, "channels/x", H5P_DEFAULT);
    static const unsigned char packed[] = {0x78, 0x9c, 0x03, 0, 0, 0, 0, 1}; /* of nothing */
    const hsize_t at[1] = {0};
    assert_true(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, sizeof packed, packed) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    ga_result_reader *reader = open_result(in_folder("other.h5"));
    double x[3];
    ga_report report;
    assert_int_equal(ga_result_reader_read(reader, 0, 0, 1, 3, x, &report), GA_ERR_INPUT);
    ga_result_reader_close(reader);
    empty_folder();
}

/* Cut at every length that is a multiple of something odd. */
static void test_truncated(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        write_file((ga_result_format)format, 40);
        size_t length;
        char *bytes = load_file(in_folder(names[format]), &length);
        for (size_t end = 0; end < length; end += 97) {
            write_text("cut", bytes, end);
            try_file(in_folder("cut"));
        }
        free(bytes);
        empty_folder();
    }
}

/* --- memory ------------------------------------------------------------------------------- */

static ga_status read_whole(ga_result_format format)
{
    ga_result_reader *reader = NULL;
    ga_report report;
    const ga_status status = ga_result_open(in_folder(names[format]), &reader, &report);
    ga_result_reader_close(reader);
    return status;
}

/* As h5py writes them, by reference to another place of the file. */
static void add_long_text(const char *path)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate_by_name(file, "solver", "remark", type, space,
                                              H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const char *text = "measured on a rainy day";
    assert_true(H5Awrite(attribute, type, &text) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
}

/* Of HDF5 only what this library takes itself. */
static void test_allocation_fails(void **state)
{
    (void)state;
    if (!in_front()) skip();
    for (int format = 0; format < FORMATS; ++format) {
        write_file((ga_result_format)format, 3);
        if (format == GA_RESULT_HDF5) add_long_text(in_folder(names[format]));
        assert_int_equal(read_whole((ga_result_format)format), GA_OK);
        for (long k = 1; k < 1000; ++k) {
            start_counting(k, false);
            watch.own_only = true;
            const ga_status status = read_whole((ga_result_format)format);
            stop_counting();
            if (watch.failed == 0) break;
            if (status == GA_OK) fail_msg("allocation %ld failed unnoticed", k);
        }
        assert_int_equal(watch.failed, 0);
        empty_folder();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hdf5_round_trip), cmocka_unit_test(test_csv_round_trip),
        cmocka_unit_test(test_not_finite),      cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_broken_csv),      cmocka_unit_test(test_unusual_csv),
        cmocka_unit_test(test_foreign_hdf5),    cmocka_unit_test(test_wrong_channels),
        cmocka_unit_test(test_rewritten_hdf5),  cmocka_unit_test(test_mutated_csv),
        cmocka_unit_test(test_mutated_hdf5),    cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_random_csv),      cmocka_unit_test(test_allocation_fails),
        cmocka_unit_test(test_damaged_places),  cmocka_unit_test(test_short_chunk),
        cmocka_unit_test(test_unfinished),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
