void D_Run(int32_t p[2]);
