// The memory of the test plugin. Include tensorflow.h first.
#pragma GCC visibility push(hidden)

// Counts a block as freed. Its memory is still there.
void count_freed(void *memory);

// Frees a block, which was counted.
void give(void *memory);

// Returns 1 for the start of a block of unified memory.
int is_unified(const void *memory);

void set_memory_slots(SP_StreamExecutor *table);

#pragma GCC visibility pop
