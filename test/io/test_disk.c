/* Full disks and killed processes: what was written stays readable. */
#define _POSIX_C_SOURCE 200809L

#include "test/io/files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Runs `work` in a child, whose files may not grow beyond `limit` bytes. Like a full disk, but
 * needs no disk of its own. */
static void in_child(rlim_t limit, void (*work)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const struct rlimit most = {limit, limit};
        if (limit) setrlimit(RLIMIT_FSIZE, &most);
        work();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
}

/* Exits with a number instead of asserting, which would go on in the child. */
static void fill_file(ga_result_format format)
{
    ga_report report = {0};
    ga_result *result = create(format);
    if (write_rows(result, 0, 100000, &report) != GA_ERR_FILE) _exit(1);
    if (!strstr(report.message, "File too large")) _exit(2);
    if (!strstr(report.message, names[format])) _exit(3);
    if (ga_result_close(result, NULL, &report) != GA_ERR_FILE) _exit(4);
    H5close(); /* has nothing left to complain about */
}

static void fill_csv(void) { fill_file(GA_RESULT_CSV); }
static void fill_hdf5(void) { fill_file(GA_RESULT_HDF5); }

static void test_full_disk(void **state)
{
    (void)state;
    for (rlim_t limit = 200000; limit <= 1000000; limit += 77777) {
        in_child(limit, fill_csv);
        struct stat about;
        const char *path = in_folder("result.csv.part");
        assert_int_equal(stat(path, &about), 0);
        assert_true(about.st_size <= (off_t)limit && about.st_size > (off_t)limit - 70000);
        FILE *file = fopen(path, "r");
        fseek(file, -1, SEEK_END);
        assert_int_equal(fgetc(file), '\n'); /* the last row is whole */
        fclose(file);

        in_child(limit, fill_hdf5);
        /* a row is 64 bytes; the last block may be missing, and the one that did not fit */
        const int fit = (int)limit / 64;
        assert_true(check_hdf5(in_folder("result.h5.part"), 1) > fit - 2 * 512 - fit / 10);
        assert_int_equal(empty_folder(), 2);
    }
}

static void die(void)
{
    ga_result *result = create(GA_RESULT_HDF5);
    write_rows(result, 0, 1, NULL);
    nanosleep(&(struct timespec){1, 50000000}, NULL); /* the next row is due for a flush */
    write_rows(result, 1, 2000, NULL);
    kill(getpid(), SIGKILL);
}

/* What a killed process leaves is readable, up to the last flush. */
static void test_killed(void **state)
{
    (void)state;
    in_child(0, die);
    const int rows = check_hdf5(in_folder("result.h5.part"), 2);
    assert_true(rows < 2000);
    assert_int_equal(empty_folder(), 1);
}

/* Rows of a step come at once, and the next step takes longer than a row may wait. Ticks say
 * so: one after each step, or one before its last row, too. */
static void write_steps(int ticks)
{
    ga_result *result = create(GA_RESULT_HDF5);
    write_rows(result, 0, 1, NULL);
    for (int step = 0; step < 2; ++step) {
        nanosleep(&(struct timespec){1, 50000000}, NULL);
        write_rows(result, 1 + 10 * step, 10 + 10 * step, NULL);
        if (ticks == 2) ga_result_tick(result, NULL);
        write_rows(result, 10 + 10 * step, 11 + 10 * step, NULL);
        ga_result_tick(result, NULL);
    }
    kill(getpid(), SIGKILL);
}

static void one_tick(void) { write_steps(1); }
static void two_ticks(void) { write_steps(2); }

static void test_killed_in_a_long_step(void **state)
{
    (void)state;
    in_child(0, one_tick);
    assert_int_equal(check_hdf5(in_folder("result.h5.part"), 21), 21);
    assert_int_equal(empty_folder(), 1);
    in_child(0, two_ticks);
    assert_int_equal(check_hdf5(in_folder("result.h5.part"), 21), 21);
    assert_int_equal(empty_folder(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_in_a_long_step),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
