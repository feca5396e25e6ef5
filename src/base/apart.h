/* APART functions do not become part of their callers: for what is rare, so that registers are
 * not saved for it each time. */
#ifndef GA_BASE_APART_H
#define GA_BASE_APART_H

#if defined(__GNUC__)
#define APART static __attribute__((noinline))
#else
#define APART static
#endif

#endif
