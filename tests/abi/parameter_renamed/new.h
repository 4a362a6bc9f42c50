void D_Run(int32_t number);
