#define D_LIMIT 16
void D_Run(void);
