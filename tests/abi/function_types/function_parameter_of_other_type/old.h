void D_Run(void f(int32_t n));
