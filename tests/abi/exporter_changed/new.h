void D_Init(void);
