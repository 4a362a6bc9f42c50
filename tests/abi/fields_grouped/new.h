typedef struct DP_Base {
  int32_t kind;
  void* next;
} DP_Base;
typedef struct DP_Part {
  DP_Base base;
  int64_t value;
} DP_Part;
