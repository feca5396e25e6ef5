/* JSON at the end of a buffer. Commas come by themselves.
 *
 *     ga_json_open(b, '{');
 *     ga_json_key(b, "name");
 *     ga_json_text(b, "top");
 *     ga_json_close(b, '}');
 *
 * What is written may stand in a <script> of a page: <, >, &, U+2028 and U+2029 are escaped in
 * texts, so that no text ends the element. Bytes that are no UTF-8 become U+FFFD.
 */
#ifndef GA_BASE_JSON_H
#define GA_BASE_JSON_H

#include "base/buffer.h"

void ga_json_open(ga_buffer *buffer, char bracket);
void ga_json_close(ga_buffer *buffer, char bracket);
void ga_json_key(ga_buffer *buffer, const char *key);
void ga_json_text(ga_buffer *buffer, const char *text);
/* The shortest decimal that reads back the same; null where it is not finite. */
void ga_json_number(ga_buffer *buffer, double x);
void ga_json_numbers(ga_buffer *buffer, int count, const double *x);
void ga_json_boolean(ga_buffer *buffer, bool x);
void ga_json_null(ga_buffer *buffer);
/* A text of bytes in base64. */
void ga_json_base64(ga_buffer *buffer, const void *bytes, size_t count);
/* JSON from elsewhere, escaped as above. False, and nothing is written, if it is none, or nests
 * deeper than GA_JSON_DEPTH. */
enum { GA_JSON_DEPTH = 64 };
bool ga_json_copy(ga_buffer *buffer, const char *json, size_t length);

/* Base64 alone, without quotes. */
void ga_base64_add(ga_buffer *buffer, const void *bytes, size_t count);

/* The length of the UTF-8 character at p, at most `left` bytes; 0: there is none. */
size_t ga_utf8_length(const char *p, size_t left);

#endif
