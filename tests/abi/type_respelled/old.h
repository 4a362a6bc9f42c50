typedef struct D_Options D_Options;
void D_Run(void* options);
