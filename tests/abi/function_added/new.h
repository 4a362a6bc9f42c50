void D_Run(void);
void D_Stop(void);
