typedef struct D_Options D_Options;
void D_Run(D_Options* options);
