#define D_MAJOR 1
#define D_MINOR 4
void D_Run(void);
