typedef struct D_Queue_st* D_Queue;
void D_Run(D_Queue* queue);
