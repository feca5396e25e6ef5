/* Every allocation of the reader fails once: GA_ERR_MEMORY, nothing leaks. Those of libfyaml
 * are left out: it does not survive them.
 */
#include "base/report.h"
#include "test/document/reading.h"
#include "test/support/allocations.h"

static const char model[] =
    "galpha: 1\n"
    "parameters: {a: b+1, b: 2, c: 3, d: 4, e1: 5, f: 6, g: 7, h: a, k: h}\n"
    "base: &b {mass: 1}\n"
    "other: {<<: *b, x: *b}\n"
    "repeat: {count: 20, bodies: {\"link{i}\": {mass: i+1, next: \"l{i}{mod(i, 2)}\"}}}\n";

static ga_status load(ga_messages *messages)
{
    static const char *const set[] = {"parameters.a=2*b", "other.new=3", "other.x.mass=9"};
    static const ga_document_options options = {.set_count = 3, .set = set};
    ga_document *document = NULL, *file = NULL;
    ga_status status =
        ga_document_parse("m.yaml", model, sizeof model - 1, &options, &document, messages);
    ga_document_destroy(document);
    GA_TRY(status);
    status = ga_document_read(DATA "car.yaml", NULL, &file, messages);
    if (status == GA_OK) {
        ga_reader reader = {.document = file, .messages = messages, .dimension = 3};
        double x;
        const ga_value *bodies = ga_value_get(&file->root, "bodies");
        const ga_value *mass = ga_value_get(ga_value_get(bodies, "wheel"), "mass");
        if (!ga_read_number(&reader, mass, &x))
            status = reader.out_of_memory ? GA_ERR_MEMORY : GA_ERR_INPUT;
    }
    ga_document_destroy(file);
    return status;
}

static void fail_all(bool after)
{
    if (!in_front()) skip();
    start_counting(0, false);
    watch.own_only = true;
    ga_messages *messages = ga_messages_create();
    assert_int_equal(load(messages), GA_OK);
    ga_messages_destroy(messages);
    stop_counting();
    assert_int_equal(watch.live, 0);
    const long total = watch.taken;
    assert_true(total > 20);
    for (long k = 1; k <= total; ++k) {
        start_counting(k, after);
        watch.own_only = true;
        messages = ga_messages_create();
        const ga_status status = load(messages);
        ga_messages_destroy(messages);
        stop_counting();
        if (watch.live)
            fail_msg("allocation %ld of %ld: %ld blocks leaked", k, total, watch.live);
        /* the first is ga_messages: without them the reading goes on */
        if (status != GA_ERR_MEMORY && !(status == GA_OK && k == 1))
            fail_msg("allocation %ld of %ld: %s", k, total, ga_status_name(status));
    }
}

static void test_one_allocation_fails(void **state)
{
    (void)state;
    fail_all(false);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    fail_all(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_allocation_fails),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
