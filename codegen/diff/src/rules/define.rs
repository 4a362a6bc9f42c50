//! The macro that defines a catalog of rules. It needs `Rule`, `Bump` and `Impact` in scope.

/// Defines one constant per rule from its doc comment, and `RULES` from all of them.
macro_rules! catalog {
    ($($(#[doc = $line:literal])+ $name:ident = $id:literal, $impact:ident, $bump:ident, $reference:ident;)+) => {
        $(
            $(#[doc = $line])+
            pub(super) const $name: Rule = Rule {
                id: $id,
                impact: Impact::$impact,
                bump: Bump::$bump,
                text: concat!($($line, "\n"),+),
                reference: $reference,
            };
        )+

        /// All rules, sorted by id.
        pub const RULES: &[&Rule] = &[$(&$name),+];
    };
}

pub(crate) use catalog;
