void D_Run(const char* name);
