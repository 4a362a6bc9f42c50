static inline int32_t D_Count(void) { return 1; }
