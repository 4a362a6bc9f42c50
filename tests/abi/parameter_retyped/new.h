void D_Run(int64_t count);
