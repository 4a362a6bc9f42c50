int32_t D_Count(void);
