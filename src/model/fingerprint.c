/* A number that tells models apart: of what stands in the file, with includes, --set and
 * repeats, whatever its layout, and of the plug-ins it loads. How it is simulated and what is
 * output do not count. */
#include "model/fingerprint.h"
#include "base/archive.h"

#include <string.h>

static uint64_t add_text(uint64_t sum, const char *text)
{
    return text ? ga_checksum(sum, text, strlen(text) + 1) : ga_checksum(sum, "\1", 1);
}

/* Loop variables of repeats are numbers in expressions. */
static uint64_t add_scope(uint64_t sum, const ga_scope *scope)
{
    for (; scope; scope = scope->outer) {
        sum = add_text(sum, scope->name);
        sum = ga_checksum(sum, &scope->value, sizeof scope->value);
    }
    return sum;
}

static uint64_t add_value(uint64_t sum, const ga_value *value)
{
    const int kind = (int)value->kind;
    sum = ga_checksum(sum, &kind, sizeof kind);
    sum = ga_checksum(sum, &value->count, sizeof value->count);
    if (value->kind == GA_VALUE_SCALAR) {
        sum = add_text(sum, value->text);
        sum = add_scope(sum, value->scope);
    }
    for (int k = 0; k < value->count; ++k) {
        sum = add_text(sum, value->entries[k].key);
        sum = add_value(sum, &value->entries[k].value);
    }
    return sum;
}

uint64_t ga_fingerprint(const ga_value *root)
{
    uint64_t sum = GA_CHECKSUM_EMPTY;
    for (int k = 0; k < root->count; ++k) {
        const ga_entry *entry = root->entries + k;
        const char *key = entry->key;
        if (!key || !strcmp(key, "simulate") || !strcmp(key, "output") || !strcmp(key, "name"))
            continue;
        sum = add_text(sum, key);
        sum = add_value(sum, &entry->value);
    }
    return sum;
}
