typedef struct DP_Fns {
  int32_t (*count)(void* self);
} DP_Fns;
