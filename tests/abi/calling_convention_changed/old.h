void D_Run(int32_t count);
