//! Findings: changes with their effects on plugins, as the rules judge them.
//!
//! Other programs read the JSON. New keys may be added; existing keys keep their meaning.

use serde::Serialize;
use sp_ir::Loc;

/// The version of a diff's JSON form.
pub const SCHEMA: u32 = 1;

/// The result of a whole diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No difference affects a plugin.
    Identical,
    /// A plugin built for one side works on the other if it follows the `struct_size` protocol.
    Compatible,
    /// The plugin works, without kernels or parts that need absent functions.
    Reduced,
    /// Not everything was compared, and what was compared does not break. Never the verdict of a whole diff.
    Incomplete,
    /// Some plugins built for one side do not work on the other.
    Breaking,
}

/// The severity of one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Only the compilation of source code is affected, no binary.
    SourceOnly,
    /// Binaries still work.
    Compatible,
    /// The plugin works without kernels or parts, as it states.
    Reduced,
    /// Binaries may not work.
    Breaking,
}

/// The version bump that semantic versioning requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    /// No bump.
    None,
    /// A change that no interface shows.
    Patch,
    /// An addition.
    Minor,
    /// A breaking change.
    Major,
}

/// The behavior of a plugin, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Outcome {
    /// The plugin works.
    #[serde(rename = "works")]
    Works,
    /// The plugin works, without what the newer side added.
    #[serde(rename = "works without the new feature")]
    WorksWithout,
    /// The plugin works without kernels or parts that need an absent function, as it states.
    #[serde(rename = "loses kernels")]
    LosesKernels,
    /// The plugin declines the host: it has no devices, and TensorFlow continues.
    #[serde(rename = "is declined")]
    Declined,
    /// The plugin looks up a function that is absent. It works if it handles that.
    #[serde(rename = "misses a function")]
    MissesFunction,
    /// The host requires a member that is null, and rejects the registration.
    #[serde(rename = "is rejected")]
    Rejected,
    /// The dynamic linker does not find a symbol of the plugin.
    #[serde(rename = "fails to load")]
    FailsToLoad,
    /// A value has different meanings in plugin and host.
    #[serde(rename = "misreads a value")]
    MisreadsValue,
    /// A side reads a member where the other side has another.
    #[serde(rename = "reads the wrong member")]
    ReadsWrongMember,
    /// A call passes other arguments than the callee expects.
    #[serde(rename = "passes the wrong arguments")]
    WrongArguments,
    /// A side calls another function than it intends to.
    #[serde(rename = "calls the wrong function")]
    WrongFunction,
    /// Memory of the other side is overwritten or freed.
    #[serde(rename = "corrupts memory")]
    CorruptsMemory,
    /// The host ends the process, such as by a call of a null pointer.
    #[serde(rename = "ends the process")]
    EndsProcess,
}

/// The effect on a plugin in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// The outcome for a plugin that relies on the headers it was built with, as plain C code does.
    pub outcome: Outcome,
    /// The outcome for a plugin that accesses only fields within the host's `struct_size`, and looks functions up at
    /// run time.
    pub guarded: Outcome,
    /// The reason, as one sentence about the bytes or calls concerned.
    pub why: String,
}

/// One of the two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A plugin built against OLD, on a NEW host.
    OldOnNew,
    /// A plugin built against NEW, on an OLD host.
    NewOnOld,
}

/// The effects in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Directions {
    /// A plugin built against OLD, on a NEW host.
    pub old_on_new: Effect,
    /// A plugin built against NEW, on an OLD host.
    pub new_on_old: Effect,
}

/// A range of bytes of a struct, and the member that each side has there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ByteRange {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// OLD's member, or `None` for padding and past the end.
    pub old: Option<String>,
    /// NEW's member, or `None` for padding and past the end.
    pub new: Option<String>,
}

/// The text of a declaration on one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclarationText {
    /// The declaration in C, on one line, from the IR.
    pub text: String,
    /// The location, relative to the include root.
    pub loc: Loc,
}

/// A change, as its rule judges it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The API that the item belongs to.
    pub api: String,
    /// The changed item: `SP_StreamExecutor.mem_zero`, `TF_AssignVariable`, `TF_Code.TF_OK`.
    pub item: String,
    /// The severity.
    pub impact: Impact,
    /// The version bump that this change requires.
    pub bump: Bump,
    /// The change in one line.
    pub message: String,
    /// The effects on plugins.
    pub directions: Directions,
    /// The bytes that differ; may be empty.
    pub bytes: Vec<ByteRange>,
    /// OLD's declaration.
    pub before: Option<DeclarationText>,
    /// NEW's declaration.
    pub after: Option<DeclarationText>,
    /// The recommendation for the author.
    pub remedy: String,
    /// The target, if the finding exists only there and the diff is of another target.
    pub target: Option<String>,
}

/// The differences between two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: u32,
    /// OLD's label: `2.5`, or a path as the user gave it.
    pub old: String,
    /// NEW's label.
    pub new: String,
    /// The target whose layouts were compared.
    pub target: String,
    /// The result.
    pub verdict: Verdict,
    /// The version bump that all findings together require.
    pub bump: Bump,
    /// Sorted by API, item and rule.
    pub findings: Vec<Finding>,
}

impl Effect {
    /// Changes the effect to that on a plugin that looks `function` up at run time.
    fn apply_lookup(&mut self, function: &str) {
        if self.outcome != Outcome::FailsToLoad {
            return;
        }
        self.outcome = self.guarded;
        self.why = match self.outcome {
            Outcome::MissesFunction => {
                format!("the plugin looks {function} up at run time: {}", self.why)
            }
            _ => format!("the plugin looks {function} up at run time"),
        };
    }
}

impl Directions {
    /// Returns the effects with OLD and NEW exchanged.
    pub fn reversed(self) -> Self {
        Self {
            old_on_new: self.new_on_old,
            new_on_old: self.old_on_new,
        }
    }
}

impl Finding {
    /// Returns the components of the item, outermost first: `SP_Foo`, `run`, `size` for `SP_Foo.run(size)`.
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &str> {
        let parts = self.item.split(['.', '(', ')']);
        parts.filter(|part| !part.is_empty())
    }

    /// Returns the struct, enumeration or function that contains the item.
    pub fn owner(&self) -> &str {
        self.path().next().unwrap_or(&self.item)
    }

    /// Returns the finding for a plugin that looks the function up at run time: its library loads without it.
    pub fn as_lookup(mut self) -> Self {
        let name = self.owner().to_owned();
        let both = &mut self.directions;
        let effects = [&mut both.old_on_new, &mut both.new_on_old];
        let works = effects.map(|effect| {
            effect.apply_lookup(&name);
            effect.outcome <= Outcome::WorksWithout
        });
        if self.is_breaking() && works == [true; 2] {
            self.impact = Impact::Compatible;
        }
        self
    }

    /// Returns the finding with the effects that `change` has changed, for a plugin that works without an absent function.
    pub fn with_effects(mut self, change: impl Fn(&mut Effect, Direction)) -> Self {
        change(&mut self.directions.old_on_new, Direction::OldOnNew);
        change(&mut self.directions.new_on_old, Direction::NewOnOld);
        let Directions {
            old_on_new,
            new_on_old,
        } = &self.directions;
        let worst = old_on_new.outcome.max(new_on_old.outcome);
        if self.is_breaking() {
            self.impact = match worst {
                Outcome::Works | Outcome::WorksWithout => Impact::Compatible,
                Outcome::LosesKernels | Outcome::MissesFunction => Impact::Reduced,
                _ => Impact::Breaking,
            };
        }
        self
    }

    /// Returns true if the finding is reported with its effects: binaries may not work, or lose something.
    pub fn is_notable(&self) -> bool {
        self.impact >= Impact::Reduced
    }

    /// Returns true if binaries may not work.
    pub fn is_breaking(&self) -> bool {
        self.impact == Impact::Breaking
    }
}

impl Diff {
    /// Sorts the findings, and computes verdict and bump.
    pub fn new(old: &str, new: &str, target: &str, mut findings: Vec<Finding>) -> Self {
        let key = |finding: &Finding| (finding.api.clone(), finding.item.clone(), finding.rule);
        findings.sort_by_cached_key(key);
        Self {
            schema: SCHEMA,
            old: old.into(),
            new: new.into(),
            target: target.into(),
            verdict: Verdict::new(&findings),
            bump: findings
                .iter()
                .map(|finding| finding.bump)
                .max()
                .unwrap_or(Bump::None),
            findings,
        }
    }

    /// Applies `change` to each finding.
    pub fn map(self, change: impl FnMut(Finding) -> Finding) -> Self {
        let findings = self.findings.into_iter().map(change).collect();
        Self::new(&self.old, &self.new, &self.target, findings)
    }

    /// Returns the diff with only the findings that `keep` accepts, and the other findings.
    pub fn partition(self, keep: impl FnMut(&Finding) -> bool) -> (Self, Vec<Finding>) {
        let (kept, others) = self.findings.into_iter().partition(keep);
        (Self::new(&self.old, &self.new, &self.target, kept), others)
    }
}

impl Verdict {
    /// Returns the verdict of the most severe finding.
    pub fn new(findings: &[Finding]) -> Self {
        match findings.iter().map(|finding| finding.impact).max() {
            None => Self::Identical,
            Some(Impact::Breaking) => Self::Breaking,
            Some(Impact::Reduced) => Self::Reduced,
            Some(_) => Self::Compatible,
        }
    }
}
