void D_Run(int64_t p[2]);
