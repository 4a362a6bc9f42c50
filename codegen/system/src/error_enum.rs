//! The macro that declares the errors of a module, for all crates of sp-gen.

/// Declares an enumeration of errors. Each has a message for `thiserror`, and a code and optional help for `miette`:
///
/// ```text
/// errors! {
///     /// A failure to read a table.
///     #[derive(Debug, Error, Diagnostic)]
///     pub enum TableError in table {
///         /// The file cannot be read.
///         Unreadable { path: PathBuf, source: io::Error }
///             = unreadable: ("cannot read {}: {source}", path.display()),
///             help("make it readable");
///         /// The file cannot be replaced.
///         Replacement(ReplacementError) = transparent;
///     }
/// }
/// ```
///
/// The code is `sp_gen::table::unreadable`. A `transparent` error has the message, code and help of its
/// value, from which it is converted.
///
/// The caller writes the `derive`: macros of a `derive` in this macro could not name the fields of the caller's messages.
#[macro_export]
macro_rules! errors {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident in $family:ident { $($rows:tt)* }) => {
        $crate::errors!(@rows ($(#[$attribute])* $visibility enum $name) $family [] $($rows)*);
    };
    (@rows ($(#[$attribute:meta])* $visibility:vis enum $name:ident) $family:ident [$($variants:tt)*]) => {
        $(#[$attribute])*
        #[allow(missing_docs, reason = "the message of an error has its fields")]
        $visibility enum $name {
            $($variants)*
        }
    };
    (
        @rows $head:tt $family:ident [$($variants:tt)*]
        $(#[$doc:meta])+ $variant:ident($source:ty) = $transparent:ident;
        $($rows:tt)*
    ) => {
        $crate::errors!(@rows $head $family [
            $($variants)*
            $(#[$doc])+
            #[error($transparent)]
            #[diagnostic($transparent)]
            $variant(#[from] $source),
        ] $($rows)*);
    };
    (
        @rows $head:tt $family:ident [$($variants:tt)*]
        $(#[$doc:meta])+ $variant:ident $(($($value:tt)*))? $({ $($field:tt)* })?
            = $code:ident: ($($message:tt)+) $(, help($($help:tt)+))?;
        $($rows:tt)*
    ) => {
        $crate::errors!(@rows $head $family [
            $($variants)*
            $(#[$doc])+
            #[error($($message)+)]
            #[diagnostic(code(sp_gen::$family::$code) $(, help($($help)+))?)]
            $variant $(($($value)*))? $({ $($field)* })?,
        ] $($rows)*);
    };
}
