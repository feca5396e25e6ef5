/* Damaged files: bytes changed, pieces left out, doubled and moved. Whatever comes of it, there
 * is an answer, and a mistake has a message with a place. GALPHA_FUZZ in the environment: so
 * many times as many files, for longer runs, from the seed GALPHA_FUZZ_SEED.
 */
#include "test/document/reading.h"

#include <stdlib.h>

static const char *const seeds[] = {
    "galpha: 1\n"
    "name: heavy top # comment\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {m: 15, spin: \"10*m\", a: 30 deg}\n"
    "bodies:\n"
    "  top:\n"
    "    mass: m\n"
    "    inertia: [0.234375, 0.46875, 0.234375]\n"
    "    rotation: {axis: [0, 0, 1], angle: 0 deg}\n"
    "    points: {tip: [0, 0.5, 0]}\n"
    "joints:\n"
    "  pivot: {type: spherical, between: [ground, top], at: [0, 0, 0]}\n"
    "output:\n"
    "  channels:\n"
    "  - top.position\n"
    "  - 'energy.total'\n",
    "%YAML 1.2\n---\n"
    "parameters: {N: 4, L: N/2}\n"
    "base: &b {mass: 1, <<: {x: 2}}\n"
    "other: *b\n"
    "text: |\n  some\n\n  text\n"
    "folded: >-\n  more\n  text\n"
    "\"quoted\\n\": 'it''s'\n"
    "repeat:\n"
    "- count: N\n"
    "  bodies:\n"
    "    link{i}: {mass: i+1, next: \"link{i+1}\", when: \"i < 2\"}\n"
    "  repeat: {count: i, index: j, joints: {\"j{i}_{j%2}{floor(j/2)}\": [\"{i*j}\"]}}\n"
    "...\n",
    ("{\"galpha\": 1, \"bodies\": {\"a\": {\"mass\": 1.5e-3, \"b\": [true, null, "
     "\"\\u00e4\"]}}}\n"),
};
enum { SEEDS = sizeof seeds / sizeof *seeds, LONGEST = 2000 };

static unsigned next_random(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static size_t below(unsigned *state, size_t n) { return n ? next_random(state) % n : 0; }

static void insert(char *text, size_t *length, size_t at, const char *piece, size_t n)
{
    if (*length + n >= LONGEST) return;
    memmove(text + at + n, text + at, *length - at);
    memcpy(text + at, piece, n);
    *length += n;
}

static void cut(char *text, size_t *length, size_t at, size_t n)
{
    if (n > *length - at) n = *length - at;
    memmove(text + at, text + at + n, *length - at - n);
    *length -= n;
}

static void damage(char *text, size_t *length, unsigned *random)
{
    static const char marks[] = "[]{}:,#&*!|>'\"%@`-?\n\t \\0i<~.=";
    char piece[64];
    const size_t at = below(random, *length + 1);
    switch (next_random(random) % 6) {
    case 0: /* a mark */
        insert(text, length, at, &marks[below(random, sizeof marks - 1)], 1);
        break;
    case 1:
        cut(text, length, at, 1 + below(random, 4));
        break;
    case 2: { /* a piece, doubled elsewhere */
        const size_t from = below(random, *length);
        size_t n = below(random, sizeof piece);
        if (n > *length - from) n = *length - from;
        memcpy(piece, text + from, n);
        insert(text, length, at, piece, n);
        break;
    }
    case 3: /* any byte */
        if (at < *length) text[at] = (char)next_random(random);
        break;
    case 4:
        if (at < *length) text[at] = marks[below(random, sizeof marks - 1)];
        break;
    default: /* the rest is missing */
        if (next_random(random) % 4 == 0) *length = at;
        break;
    }
}

static void check_answer(const char *text, size_t length)
{
    const char *set = "bodies.top.mass=3";
    const ga_document_options options = {.max_values = 20000, .set_count = 1, .set = &set};
    ga_messages *messages = ga_messages_create();
    ga_document *document = NULL;
    const ga_status status =
        ga_document_parse("m.yaml", text, length, &options, &document, messages);
    const int errors = ga_messages_errors(messages);
    bool good = status == GA_OK ? errors == 0 && document : status == GA_ERR_INPUT && errors;
    for (int k = 0; k < ga_messages_count(messages); ++k) {
        const ga_message m = ga_messages_get(messages, k);
        const bool on_line = !strcmp(m.file, "--set");
        good = good && *m.text && (on_line || (m.line > 0 && m.column > 0));
    }
    if (!good) {
        char line[512];
        ga_messages_format(messages, 0, line, sizeof line);
        fail_msg("%s, \"%s\" for\n%.*s", ga_status_name(status), line, (int)length, text);
    }
    ga_document_destroy(document);
    ga_messages_destroy(messages);
}

static void test_damaged_files(void **state)
{
    (void)state;
    const char *times = getenv("GALPHA_FUZZ"), *seed = getenv("GALPHA_FUZZ_SEED");
    const long runs = 3000 * (times ? atol(times) : 1);
    unsigned random = seed ? (unsigned)strtoul(seed, NULL, 10) | 1u : 2463534242u;
    for (long k = 0; k < runs; ++k) {
        char text[LONGEST];
        size_t length = strlen(seeds[k % SEEDS]);
        memcpy(text, seeds[k % SEEDS], length);
        for (size_t n = 1 + below(&random, 8); n > 0; --n) damage(text, &length, &random);
        check_answer(text, length);
    }
}

/* Every beginning of a file, as after a full disk. */
static void test_cut_files(void **state)
{
    (void)state;
    for (int k = 0; k < SEEDS; ++k)
        for (size_t length = 0; length <= strlen(seeds[k]); ++length)
            check_answer(seeds[k], length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
