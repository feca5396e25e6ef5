#include "cli/json.h"

#include "cli/text.h"

#include <math.h>

/* Length of the UTF-8 sequence at s; 0 if it is none. */
static int sequence_length(const unsigned char *s)
{
    const int length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (length == 1) return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    for (int k = 1; k < length; ++k)
        if ((s[k] & 0xc0) != 0x80) return 0;
    /* too long for what they say, surrogates, beyond the last character */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        const int length = sequence_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
            ++s;
            continue;
        }
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)length, out);
        s += length;
    }
    fputc('"', out);
}

static void new_line(const cli_json *json) { fprintf(json->out, "\n%*s", 2 * json->depth, ""); }

static void begin_value(cli_json *json, const char *key)
{
    if (json->depth > 0) {
        if (!json->first) fputc(',', json->out);
        new_line(json);
    }
    json->first = false;
    if (key) {
        print_text(json->out, key);
        fputs(": ", json->out);
    }
}

static void begin(cli_json *json, const char *key, char bracket)
{
    begin_value(json, key);
    fputc(bracket, json->out);
    ++json->depth;
    json->first = true;
}

static void end(cli_json *json, char bracket)
{
    --json->depth;
    if (!json->first) new_line(json);
    json->first = false;
    fputc(bracket, json->out);
    if (json->depth == 0) fputc('\n', json->out);
}

void cli_json_object(cli_json *json, const char *key) { begin(json, key, '{'); }
void cli_json_end_object(cli_json *json) { end(json, '}'); }
void cli_json_list(cli_json *json, const char *key) { begin(json, key, '['); }
void cli_json_end_list(cli_json *json) { end(json, ']'); }

static void print_number(FILE *out, double number)
{
    char text[CLI_NUMBER_SIZE];
    fputs(isfinite(number) ? cli_number(number, text) : "null", out);
}

void cli_json_number(cli_json *json, const char *key, double number)
{
    begin_value(json, key);
    print_number(json->out, number);
}

void cli_json_integer(cli_json *json, const char *key, long number)
{
    begin_value(json, key);
    fprintf(json->out, "%ld", number);
}

void cli_json_boolean(cli_json *json, const char *key, bool value)
{
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    begin_value(json, key);
    if (text)
        print_text(json->out, text);
    else
        fputs("null", json->out);
}

void cli_json_numbers(cli_json *json, const char *key, int count, const double *numbers)
{
    if (count == 1) {
        cli_json_number(json, key, numbers[0]);
        return;
    }
    begin_value(json, key);
    for (int k = 0; k < count; ++k) {
        fputs(k ? ", " : "[", json->out);
        print_number(json->out, numbers[k]);
    }
    fputs(count ? "]" : "[]", json->out);
}
