void D_Use(void (*run)(int n));
