//! Precedence of evidence, and mistakes in notes.
