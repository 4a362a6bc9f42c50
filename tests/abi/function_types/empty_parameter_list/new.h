void D_Run();
