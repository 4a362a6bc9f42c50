typedef struct DP_Fns {
  size_t struct_size;
  uint8_t fast;
  void (*stop)(void* self);
} DP_Fns;
#define DP_FNS_STRUCT_SIZE D_OFFSET_OF_END(DP_Fns, stop)
