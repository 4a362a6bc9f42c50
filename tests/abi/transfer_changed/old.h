void D_Give(void* value);
