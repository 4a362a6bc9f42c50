typedef struct D_Sum {
  int64_t number;
  char unit;
} D_Sum;
typedef struct D_Line {
  D_Sum sums[2];
} D_Line;
