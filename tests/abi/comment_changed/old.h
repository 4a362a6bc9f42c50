char* D_Name(void);
