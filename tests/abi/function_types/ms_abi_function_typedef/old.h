typedef void D_Run(int n);
void D_Use(D_Run* run);
