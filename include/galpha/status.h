/* Status codes, their texts, and the report that goes with a failure. */
#ifndef GALPHA_STATUS_H
#define GALPHA_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GA_API __attribute__((visibility("default")))
#else
#define GA_API
#endif

/* One list for codes and texts. */
#define GA_STATUS_LIST(X)                                                                      \
    X(GA_OK, "done")                                                                           \
    X(GA_ERR_MEMORY, "out of memory")                                                          \
    X(GA_ERR_ARGUMENT, "invalid argument")                                                     \
    X(GA_ERR_SYSTEM, "invalid system definition")                                              \
    X(GA_ERR_METHOD, "invalid method parameters")                                              \
    X(GA_ERR_CALLBACK, "a callback reported a fatal failure")                                  \
    X(GA_ERR_RECOVERABLE, "a callback reported a recoverable failure")                         \
    X(GA_ERR_NOT_FINITE, "a callback returned NaN or infinity")                                \
    X(GA_ERR_INCONSISTENT, "start values cannot be made consistent with the constraints")      \
    X(GA_ERR_SINGULAR, "singular matrix")                                                      \
    X(GA_ERR_NO_CONVERGE, "the Newton iteration did not converge")                             \
    X(GA_ERR_DERIVATIVE, "a derivative does not agree with finite differences")                \
    X(GA_ERR_STATE, "call out of order")                                                       \
    X(GA_ERR_STEP_SIZE, "the step size needed is below the smallest allowed")                  \
    X(GA_ERR_EVENTS, "too many events in too short a time")                                    \
    X(GA_ERR_INPUT, "invalid input")                                                           \
    X(GA_ERR_FILE, "a file cannot be read or written")

typedef enum ga_status {
#define GA_STATUS_CODE(code, text) code,
    GA_STATUS_LIST(GA_STATUS_CODE)
#undef GA_STATUS_CODE
} ga_status;

/* Constant strings: "GA_ERR_MEMORY" and "out of memory". Unknown codes give "unknown status".
 */
GA_API const char *ga_status_name(ga_status status);
GA_API const char *ga_status_text(ga_status status);

enum { GA_MESSAGE_SIZE = 320 };

/* Details of a failure. Numbers that do not apply are 0, row and column -1. */
typedef struct ga_report {
    ga_status status;
    double time;           /* time of the state the failure belongs to */
    double step;           /* step size in use */
    int iteration;         /* Newton iterations done */
    double norm_q, norm_v; /* last weighted increments; converged means <= 1 */
    double norm_lambda;
    int row, column;               /* worst entry, if there is one */
    char message[GA_MESSAGE_SIZE]; /* one sentence */
    const char *remedy;            /* a constant string; null: unknown */
} ga_report;

#ifdef __cplusplus
}
#endif
#endif
