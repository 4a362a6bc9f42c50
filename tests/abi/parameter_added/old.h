void D_Assign(int32_t from, void (*copy)(void* value));
