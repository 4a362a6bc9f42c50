void D_Run(void) __asm__("D_Run_v2");
