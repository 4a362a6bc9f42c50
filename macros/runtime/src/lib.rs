//! What every plugin needs at run time: prefix access, status, panic guard, symbol table.
