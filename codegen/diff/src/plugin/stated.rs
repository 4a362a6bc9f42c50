//! The section `sp_optional` of a plugin: its runtime, the releases that the runtime knows, and what the plugin loses
//! without each function of the host. One statement is a line, or ends with a NUL.
//!
//! | statement | meaning |
//! |---|---|
//! | `runtime NAME VERSION NEWEST PREVIEW..` | the runtime knows all releases up to NEWEST, and these previews |
//! | `kernel OP FUNCTION..` | without one of the functions the kernel of OP is not registered |
//! | `required FUNCTION..` | without one of the functions the plugin does not work |
//! | `part NAME FUNCTION..` | without one of the functions the part does not work |
//!
//! Other statements are ignored: a newer sp-gen may write them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use sp_ir::Release;
use sp_library::section::find_section;

/// The name of the section.
const SECTION: &str = "sp_optional";

/// The statements of a plugin about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedFacts {
    /// The runtime, such as `sp-plugin 0.1.0`; `None` if the plugin has no runtime of sp-gen.
    pub runtime: Option<String>,
    known: Option<KnownReleases>,
    required: BTreeSet<String>,
    /// By function, what is lost without it.
    losses: BTreeMap<String, Loss>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownReleases {
    newest: Release,
    previews: BTreeSet<Release>,
}

/// The kernels and parts that a plugin loses without a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    kernels: BTreeSet<String>,
    parts: BTreeSet<String>,
}

impl StatedFacts {
    /// Reads the section of a library. The facts are empty if it has none.
    pub fn read(library: &[u8]) -> Self {
        find_section(library, SECTION).map_or_else(Self::default, Self::parse)
    }

    /// Parses the section.
    pub(super) fn parse(section: &[u8]) -> Self {
        let mut facts = Self::default();
        let statements = section.split(|byte| matches!(byte, b'\n' | 0));
        for statement in statements.filter_map(|it| std::str::from_utf8(it).ok()) {
            let words: Vec<&str> = statement.split(' ').filter(|it| is_word(it)).collect();
            match words[..] {
                ["runtime", name, version, newest, ref previews @ ..] => {
                    facts.runtime = Some(format!("{name} {version}"));
                    facts.known = KnownReleases::parse(newest, previews);
                }
                ["kernel", op, ref functions @ ..] => {
                    facts.add(functions, |it| it.kernels.insert(op.into()))
                }
                ["part", name, ref functions @ ..] => {
                    facts.add(functions, |it| it.parts.insert(name.into()))
                }
                ["required", ref functions @ ..] => {
                    facts
                        .required
                        .extend(functions.iter().map(|it| (*it).to_owned()));
                }
                _ => {}
            }
        }
        facts
    }

    fn add(&mut self, functions: &[&str], add: impl Fn(&mut Loss) -> bool) {
        for function in functions {
            add(self.losses.entry((*function).to_owned()).or_default());
        }
    }

    /// Returns what the plugin loses without the function, or `None` if it does not state that.
    pub fn loss(&self, function: &str) -> Option<&Loss> {
        self.losses.get(function)
    }

    /// Returns true if the plugin does not work without the function.
    pub fn is_required(&self, function: &str) -> bool {
        self.required.contains(function)
    }

    /// Returns true if the runtime knows the layouts and signatures of the release.
    pub fn knows(&self, release: Option<Release>) -> bool {
        let (Some(known), Some(release)) = (&self.known, release) else {
            return false;
        };
        release.key() <= known.newest || known.previews.contains(&release)
    }
}

impl KnownReleases {
    fn parse(newest: &str, previews: &[&str]) -> Option<Self> {
        Some(Self {
            newest: newest.parse().ok()?,
            previews: previews.iter().filter_map(|it| it.parse().ok()).collect(),
        })
    }
}

/// Returns true for a name or a version: reports print them.
fn is_word(text: &str) -> bool {
    let is_character = |it: u8| it.is_ascii_alphanumeric() || b"_-.+".contains(&it);
    !text.is_empty() && text.len() <= 200 && text.bytes().all(is_character)
}

impl<'a> FromIterator<&'a Loss> for Loss {
    fn from_iter<I: IntoIterator<Item = &'a Loss>>(losses: I) -> Self {
        let mut all = Self::default();
        for loss in losses {
            all.kernels.extend(loss.kernels.iter().cloned());
            all.parts.extend(loss.parts.iter().cloned());
        }
        all
    }
}

/// The number of kernels whose names a message has.
const NAMED: usize = 8;

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut losses: Vec<String> = self.parts.iter().map(|it| it.replace('-', " ")).collect();
        if !self.kernels.is_empty() {
            let names = self.kernels.iter().take(NAMED).map(String::as_str);
            let names: Vec<&str> = names.collect();
            let others = match self.kernels.len() - names.len() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            losses.push(format!("kernels of {}{others}", names.join(", ")));
        }
        write!(f, "loses {}", losses.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: &[u8] =
        b"kernel Sum TF_A TF_B\nruntime sp-plugin 0.1.0 2.21 2.22.0-rc0\nkernel Relu TF_A\n\
        part graph-optimizer TF_C\nlater things\n\0\0part ops TF_C\0kernel \x1b[31m TF_A\n";

    #[test]
    fn states_losses_by_function() {
        let facts = StatedFacts::parse(SECTION);
        assert_eq!(facts.runtime.as_deref(), Some("sp-plugin 0.1.0"));
        let loss = |function: &str| facts.loss(function).map(Loss::to_string);
        assert_eq!(loss("TF_A").unwrap(), "loses kernels of Relu, Sum");
        assert_eq!(loss("TF_B").unwrap(), "loses kernels of Sum");
        assert_eq!(loss("TF_C").unwrap(), "loses graph optimizer, ops");
        assert_eq!(loss("TF_D"), None);
    }

    #[test]
    fn knows_releases_up_to_the_newest_and_previews() {
        let facts = StatedFacts::parse(SECTION);
        let knows = |release: &str| facts.knows(Some(release.parse().unwrap()));
        assert!(knows("2.5") && knows("2.21.3") && knows("2.22.0rc0"));
        assert!(!knows("2.22") && !knows("2.23.0.dev20261026") && !facts.knows(None));
        assert!(!StatedFacts::parse(b"").knows(Some(Release::FIRST_SUPPORTED)));
    }
}
