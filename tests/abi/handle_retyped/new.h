typedef struct D_Queue D_Queue;
void D_Run(D_Queue* queue);
