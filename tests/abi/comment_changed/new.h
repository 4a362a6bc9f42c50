// Caller takes ownership of returned text.
char* D_Name(void);
