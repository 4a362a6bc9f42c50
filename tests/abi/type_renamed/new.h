typedef struct D_Lane D_Lane;
void D_Run(D_Lane* queue);
