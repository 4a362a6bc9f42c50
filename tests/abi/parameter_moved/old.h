void D_Copy(void* to, const void* from, size_t size);
