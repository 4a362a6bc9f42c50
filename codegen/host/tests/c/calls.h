// The calls that the profiler of the test plugin records. Include tensorflow.h first.
#pragma GCC visibility push(hidden)

// Records the call of a kernel, if a session is open.
void record_call(void);

// The context of the last call of AddV2's kernel, which has ended.
extern TF_OpKernelContext *ended_context;

#pragma GCC visibility pop
