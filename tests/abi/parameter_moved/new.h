void D_Copy(const void* from, void* to, size_t size);
