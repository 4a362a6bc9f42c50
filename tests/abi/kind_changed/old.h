typedef enum D_Level { D_LOW, D_HIGH } D_Level;
void D_Run(D_Level level);
