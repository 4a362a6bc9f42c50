//! The shape of the rules whose text is one paragraph.

/// A rule, and the function that finds its violations.
#[derive(Debug)]
pub struct Rule<F> {
    /// The stable id.
    pub id: &'static str,
    /// The rule, and the consequence of a violation.
    pub about: &'static str,
    /// Describes a violation, or returns `None`.
    pub find: F,
}

/// Declares a list of rules with functions of one type: `id: function, "text";` for each.
macro_rules! rules {
    ($(#[$doc:meta])* $name:ident: $find:ty; $($id:ident: $function:expr, $about:literal;)*) => {
        $(#[$doc])*
        pub(crate) const $name: &[$crate::rule::Rule<$find>] = &[$($crate::rule::Rule {
            id: stringify!($id),
            about: $about,
            find: $function,
        },)*];
    };
}
pub(crate) use rules;
