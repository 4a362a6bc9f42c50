// The calls that the profiler of the test plugin records. Include tensorflow.h first.
#pragma GCC visibility push(hidden)

// Records the call of a kernel, if a session is open.
void record_call(void);

#pragma GCC visibility pop
