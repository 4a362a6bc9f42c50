typedef struct DP_Value {
  size_t struct_size;
  int64_t number;
} DP_Value;
#define DP_VALUE_STRUCT_SIZE D_OFFSET_OF_END(DP_Value, number)
typedef struct DP_Pair {
  DP_Value first;
  DP_Value second;
} DP_Pair;
