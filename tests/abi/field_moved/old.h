typedef struct DP_Fns {
  size_t struct_size;
  void (*start)(void* self);
  const char* name;
  int32_t count;
} DP_Fns;
#define DP_FNS_STRUCT_SIZE D_OFFSET_OF_END(DP_Fns, count)
