typedef union D_Value {
  int64_t number;
  const char* text;
} D_Value;
void D_Set(D_Value* value);
