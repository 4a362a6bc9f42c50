void D_Run(void);
