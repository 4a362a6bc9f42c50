void register_more(void) {}
