//! What a difference means: a finding is one change as a rule judged it.
//!
//! Its JSON is a contract that other programs read; a key is added, never given another meaning.

use serde::Serialize;
use sp_ir::Loc;

/// The version of a diff's JSON form.
pub const SCHEMA: u32 = 1;

/// What the whole difference comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing that a plugin could see differs.
    Identical,
    /// What was built for one side works on the other under the `struct_size` protocol.
    Compatible,
    /// Something built for one side does not work on the other.
    Breaking,
}

/// How much one finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Only a compiler sees it; no binary does.
    SourceOnly,
    /// Binaries live with it.
    Compatible,
    /// Binaries do not.
    Breaking,
}

/// What the semantic versioning that the headers promise would have asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    /// Nothing.
    None,
    /// For what no interface shows.
    Patch,
    /// For what was added.
    Minor,
    /// For what breaks.
    Major,
}

/// What becomes of a plugin, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Outcome {
    /// It runs as it was meant to.
    #[serde(rename = "works")]
    Works,
    /// It runs, and what the newer side added is not used.
    #[serde(rename = "works without the new feature")]
    WorksWithout,
    /// A call that it makes finds no function; it runs as long as it copes with that.
    #[serde(rename = "misses a function")]
    MissesFunction,
    /// The host sees an empty slot that it demands, and refuses the registration.
    #[serde(rename = "is refused")]
    Refused,
    /// The dynamic linker does not find what it needs.
    #[serde(rename = "fails to load")]
    FailsToLoad,
    /// A value means one thing here and another there.
    #[serde(rename = "misreads a value")]
    MisreadsValue,
    /// One side reads a member where the other has another.
    #[serde(rename = "reads the wrong member")]
    ReadsWrongMember,
    /// A call passes what the callee does not expect.
    #[serde(rename = "passes the wrong arguments")]
    WrongArguments,
    /// A slot holds another function than the caller thinks.
    #[serde(rename = "calls the wrong function")]
    WrongFunction,
    /// Memory is written or freed that is not the writer's.
    #[serde(rename = "corrupts memory")]
    CorruptsMemory,
}

/// What becomes of a plugin in one direction, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// For a plugin that trusts the headers it was built with, as plain C code does.
    pub outcome: Outcome,
    /// For one that reads and writes no field beyond the host's `struct_size`, and looks functions
    /// up at run time.
    pub guarded: Outcome,
    /// One sentence: what happens to which bytes or calls.
    pub why: String,
}

/// Both directions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Directions {
    /// A plugin built against OLD, on a NEW host.
    pub old_on_new: Effect,
    /// A plugin built against NEW, on an OLD host.
    pub new_on_old: Effect,
}

/// What stands at one place of a struct on either side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// Bytes from the struct's start.
    pub offset: u64,
    /// Bytes that it takes.
    pub size: u64,
    /// OLD's member there; nothing where the struct has ended or has padding.
    pub old: Option<String>,
    /// NEW's member there.
    pub new: Option<String>,
}

/// A declaration as it stood on one side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// In C, on one line, from the IR.
    pub text: String,
    /// Where it is declared, relative to the include root.
    pub loc: Loc,
}

/// One change, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The id of the rule.
    pub rule: &'static str,
    /// The API that the item belongs to.
    pub api: String,
    /// What changed: `SP_StreamExecutor.mem_zero`, `TF_AssignVariable`, `TF_Code.TF_OK`.
    pub item: String,
    /// How much it weighs.
    pub impact: Impact,
    /// The bump that it alone asks for.
    pub bump: Bump,
    /// The change in one line.
    pub message: String,
    /// What becomes of plugins.
    pub directions: Directions,
    /// The bytes concerned; empty where none are.
    pub bytes: Vec<Slot>,
    /// OLD's declaration.
    pub before: Option<Shown>,
    /// NEW's declaration.
    pub after: Option<Shown>,
    /// What an author does about it, or which shim covers it.
    pub remedy: String,
    /// The target, where only that one shows it and the diff is of another.
    pub target: Option<String>,
}

/// All that differs between two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What OLD is called: `2.5`, or a path as it was given.
    pub old: String,
    /// What NEW is called.
    pub new: String,
    /// The target whose layouts were compared.
    pub target: String,
    /// What it all comes to.
    pub verdict: Verdict,
    /// The bump that the versioning policy would have asked for.
    pub bump: Bump,
    /// Sorted by API, item and rule.
    pub findings: Vec<Finding>,
}

impl Effect {
    fn make_lookup(&mut self, function: &str) {
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

impl Finding {
    /// The parts of what changed, the outermost first: `SP_Foo`, `run`, `size` of `SP_Foo.run(size)`.
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &str> {
        let parts = self.item.split(['.', '(', ')']);
        parts.filter(|part| !part.is_empty())
    }

    /// The struct, enumeration or function that it is about.
    pub fn owner(&self) -> &str {
        self.path().next().unwrap_or(&self.item)
    }

    /// Returns the finding for a plugin that looks the function up at run time: its library loads without it.
    pub fn as_lookup(mut self) -> Self {
        let name = self.owner().to_owned();
        let both = &mut self.directions;
        let effects = [&mut both.old_on_new, &mut both.new_on_old];
        let works = effects.map(|effect| {
            effect.make_lookup(&name);
            effect.outcome <= Outcome::WorksWithout
        });
        if self.is_breaking() && works == [true; 2] {
            self.impact = Impact::Compatible;
        }
        self
    }

    /// Whether binaries do not live with it.
    pub fn is_breaking(&self) -> bool {
        self.impact == Impact::Breaking
    }
}

impl Diff {
    /// These findings between those sides, sorted and judged.
    pub fn of(old: &str, new: &str, target: &str, mut findings: Vec<Finding>) -> Self {
        let key = |one: &Finding| (one.api.clone(), one.item.clone(), one.rule);
        findings.sort_by_cached_key(key);
        Self {
            schema: SCHEMA,
            old: old.into(),
            new: new.into(),
            target: target.into(),
            verdict: Verdict::of(&findings),
            bump: findings
                .iter()
                .map(|one| one.bump)
                .max()
                .unwrap_or(Bump::None),
            findings,
        }
    }

    /// Returns the diff with each finding replaced by what `change` makes of it.
    pub fn map(self, change: impl FnMut(Finding) -> Finding) -> Self {
        let findings = self.findings.into_iter().map(change).collect();
        Self::of(&self.old, &self.new, &self.target, findings)
    }

    /// The findings that `keep` accepts, judged for themselves, and the others.
    pub fn part(self, keep: impl FnMut(&Finding) -> bool) -> (Self, Vec<Finding>) {
        let (kept, others) = self.findings.into_iter().partition(keep);
        (Self::of(&self.old, &self.new, &self.target, kept), others)
    }
}

impl Verdict {
    /// What findings come to.
    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().map(|one| one.impact).max() {
            None => Self::Identical,
            Some(Impact::Breaking) => Self::Breaking,
            Some(_) => Self::Compatible,
        }
    }
}
