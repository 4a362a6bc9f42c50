double D_Count(void);
