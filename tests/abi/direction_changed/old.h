void D_Ask(int32_t* count);
