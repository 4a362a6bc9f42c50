void D_Assign(int32_t from, bool check, void* value);
