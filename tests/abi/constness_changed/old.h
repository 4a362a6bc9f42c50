void D_Run(char* name);
