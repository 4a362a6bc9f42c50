/* <assert.h> for a parse: nothing is run, so nothing is checked. */
#undef assert
#define assert(condition) ((void)0)
#if !defined(__cplusplus) && !defined(static_assert)
#define static_assert _Static_assert
#endif
