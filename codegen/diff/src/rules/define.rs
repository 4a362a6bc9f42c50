//! The macro that declares changes and their rules. It needs `Rule`, `Bump`, `Impact` and `Finding` in scope.

/// Declares an enumeration of changes, the rule of each variant, and `RULES`.
///
/// A row has the variant with its values, the handler, the impact, the bump and the reference. Its doc comment is the text
/// of the rule. The name of the handler is the id of the rule. Variants in the braces of the enumeration have no rule.
macro_rules! rules {
    (
        $(#[$attribute:meta])*
        pub enum $changes:ident $(<$lifetime:lifetime>)? {
            $($(#[$unreported_attribute:meta])* $unreported:ident($reason:ty),)*
        }

        handlers: fn(&$judged:ident, ..) -> Finding;

        $(
            $(#[doc = $line:literal])+
            $variant:ident $(($($value:ident: $type:ty),+))?
            => $module:ident::$id:ident, $impact:ident, $bump:ident, $reference:ident;
        )+
    ) => {
        $(#[$attribute])*
        pub enum $changes $(<$lifetime>)? {
            $($(#[doc = $line])+ $variant $(($($type),+))?,)+
            $($(#[$unreported_attribute])* $unreported($reason),)*
        }

        /// All rules, sorted by id.
        pub const RULES: &[&Rule] = &[$(
            &Rule {
                id: stringify!($id),
                impact: Impact::$impact,
                bump: Bump::$bump,
                text: concat!($($line, "\n"),+),
                reference: $reference,
            }
        ),+];

        impl $(<$lifetime>)? $changes $(<$lifetime>)? {
            /// Returns the rule of the change, or `None` if the change is not reported.
            pub fn rule(&self) -> Option<&'static Rule> {
                // Each variant has the index of its rule.
                enum Index { $($variant),+ }
                match self {
                    $(Self::$variant { .. } => Some(RULES[Index::$variant as usize]),)+
                    $(Self::$unreported(_) => None,)*
                }
            }

            /// Returns the finding that the handler makes, or `None` if the change is not reported.
            pub(super) fn finding(&self, judged: &$judged) -> Option<Finding> {
                match self {
                    $(Self::$variant $(($($value),+))? => Some($module::$id(judged $($(, $value)+)?)),)+
                    $(Self::$unreported(_) => None,)*
                }
            }
        }
    };
}

pub(crate) use rules;
