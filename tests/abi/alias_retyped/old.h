typedef int32_t D_Count;
void D_Run(D_Count count);
