// Functions that the parts of the test plugin share if its streams have threads. Include tensorflow.h first.
#pragma GCC visibility push(hidden)

#if defined(ASYNC)
// Of plugin.c.
uint64_t now(void);

// Of queues.c.
void set_queue_slots(SP_StreamExecutor *table);
void enqueue_on(SP_Stream stream, void (*run)(void *), void *argument);
void drain(SP_Stream stream);
#endif

#pragma GCC visibility pop
