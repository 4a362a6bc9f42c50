//! The macros of a plugin; thin entry points over sp-expand.
