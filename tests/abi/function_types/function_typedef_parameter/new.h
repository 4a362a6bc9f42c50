typedef void D_Callback(int n);
void D_Run(D_Callback f);
