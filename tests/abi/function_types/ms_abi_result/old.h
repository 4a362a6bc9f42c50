typedef void (*D_Run)(int n);
D_Run D_Get(void);
