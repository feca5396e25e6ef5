/* Writes JSON, one value after the other. Always valid: numbers that are not finite become
 * null, bytes that are no UTF-8 become U+FFFD. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_json {
    FILE *out;
    int depth;
    bool first; /* nothing in the innermost object or list yet */
} cli_json;

/* The key is null for elements of a list and for the value at the top. */
void cli_json_object(cli_json *json, const char *key);
void cli_json_end_object(cli_json *json);
void cli_json_list(cli_json *json, const char *key);
void cli_json_end_list(cli_json *json);

void cli_json_number(cli_json *json, const char *key, double number);
void cli_json_integer(cli_json *json, const char *key, long number);
void cli_json_boolean(cli_json *json, const char *key, bool value);
void cli_json_text(cli_json *json, const char *key, const char *text); /* null: null */
/* One number, or a list of them if count > 1. */
void cli_json_numbers(cli_json *json, const char *key, int count, const double *numbers);

#endif
