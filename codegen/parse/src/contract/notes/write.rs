//! Adds the facts of notes to items, each with its evidence, and collects mistakes.

use std::collections::BTreeMap;

use sp_ir::{
    Callback, Evidence, Field, Function, Item, Param, Stated, Struct, Transfer, Type, Union,
};

use super::{
    FieldNote, ItemNote, KnownNames, Mistake, Overrides, ParamNote, PresenceNote,
    PresenceOverrides, ReleaseRange, ReturnNote, doc_mut,
};

/// The evidence of a note's facts, and whether they contradict a comment on purpose.
#[derive(Clone, Copy)]
struct Basis<'n> {
    evidence: Option<&'n str>,
    overrides: bool,
}

impl<'n> Basis<'n> {
    fn new(evidence: &'n Option<String>, overrides: Option<Overrides>) -> Self {
        Self {
            evidence: evidence.as_deref(),
            overrides: overrides.is_some(),
        }
    }

    /// Returns this basis with the evidence of the outer note if the inner one has none.
    fn within(self, outer: Self) -> Self {
        Self {
            evidence: self.evidence.or(outer.evidence),
            ..self
        }
    }

    fn without_overrides(self) -> Self {
        Self {
            overrides: false,
            ..self
        }
    }
}

/// Adds the facts of notes to items and collects mistakes.
pub(super) struct NoteWriter<'a> {
    /// The notes file, for messages.
    pub file: String,
    /// The names that other releases declare.
    pub known: &'a KnownNames,
    /// The release of the items.
    pub release: &'a str,
    /// The mistakes so far.
    pub mistakes: Vec<Mistake>,
}

/// Adds those facts of an item for which its note has a value.
macro_rules! add_facts {
    ($self:ident, $item:ident, $note:ident, $key:ident, $basis:ident: $($fact:ident),*) => {
        $($self.fact(&mut $item.$fact, &$note.$fact, $basis, &format!("{}.{}", $key, stringify!($fact)));)*
    };
}

impl NoteWriter<'_> {
    /// Returns true if a note applies to the release.
    fn applies(&self, releases: Option<ReleaseRange>) -> bool {
        releases.is_none_or(|range| range.contains(self.release))
    }

    /// Reports a note on an undeclared name, unless another release declares it.
    pub fn report_undeclared(&mut self, name: &str, key: &str) {
        if !self.known.contains(name) {
            self.report_unused(key);
        }
    }

    /// Reports a note that does not apply to its kind of item. Headers at hand may declare another kind under the name.
    fn report_unused(&mut self, key: &str) {
        if matches!(self.known, KnownNames::AtHand(_)) {
            return;
        }
        self.mistakes.push(Mistake::Unused {
            file: self.file.clone(),
            key: key.into(),
        });
    }

    /// Adds the facts of the notes on one item.
    pub fn item(&mut self, name: &str, item: &mut Item, note: &ItemNote, key: &str) {
        if let Some(doc) = &note.doc {
            *doc_mut(item) = Some(doc.clone());
        }
        if !self.applies(note.releases) {
            return;
        }
        match item {
            Item::Handle(item) => item.rust = note.rust.clone(),
            _ if note.rust.is_some() => self.report_unused(&format!("{key}.rust")),
            _ => {}
        }
        match item {
            Item::Struct(item) => self.structure(name, item, note, key),
            _ => self.report_struct_notes(note, key),
        }
        self.instead(item, note, key);
        self.discriminator(item, note, key);
        let basis = Basis::new(&note.evidence, None);
        match item {
            Item::Function(Function { signature, .. })
            | Item::Callback(Callback { signature, .. }) => {
                self.params(name, &mut signature.params, &note.params, basis, key);
                self.ret(&mut signature.ret_transfer, &note.ret, basis, key);
            }
            _ => self.report_signature_notes(&note.params, &note.ret, key),
        }
    }

    fn instead(&mut self, item: &mut Item, note: &ItemNote, key: &str) {
        let (basis, key) = (Basis::new(&note.evidence, None), format!("{key}.instead"));
        match item {
            Item::Function(item) => self.fact(&mut item.instead, &note.instead, basis, &key),
            _ if note.instead.is_some() => self.report_unused(&key),
            _ => {}
        }
    }

    fn discriminator(&mut self, item: &mut Item, note: &ItemNote, key: &str) {
        let basis = Basis::new(&note.evidence, None);
        let (value, key) = (&note.discriminator, format!("{key}.discriminator"));
        match item {
            Item::Struct(Struct { discriminator, .. })
            | Item::Union(Union { discriminator, .. }) => {
                self.fact(discriminator, value, basis, &key);
            }
            _ if value.is_some() => self.report_unused(&key),
            _ => {}
        }
    }

    /// Reports the notes that apply to functions only.
    fn report_signature_notes(
        &mut self,
        params: &BTreeMap<String, ParamNote>,
        ret: &Option<ReturnNote>,
        key: &str,
    ) {
        self.report_all_unused(params.keys(), &format!("{key}.params"));
        if ret.is_some() {
            self.report_unused(&format!("{key}.ret"));
        }
    }

    fn ret(
        &mut self,
        slot: &mut Option<Stated<Transfer>>,
        note: &Option<ReturnNote>,
        outer: Basis,
        key: &str,
    ) {
        let Some(note) = note.as_ref().filter(|note| self.applies(note.releases)) else {
            return;
        };
        let basis = Basis::new(&note.evidence, note.overrides).within(outer);
        self.fact(slot, &Some(note.transfer), basis, &format!("{key}.ret"));
    }

    /// Reports the notes that apply to structs only.
    fn report_struct_notes(&mut self, note: &ItemNote, key: &str) {
        let keys = [
            ("filled_by", note.filled_by.is_some()),
            ("overrides", note.overrides.is_some()),
            ("receiver", note.receiver.is_some()),
            ("author_trait", note.author_trait.is_some()),
            ("presence", !note.presence.is_empty()),
        ];
        for (name, _) in keys.into_iter().filter(|(_, is_present)| *is_present) {
            self.report_unused(&format!("{key}.{name}"));
        }
        self.report_all_unused(note.fields.keys(), &format!("{key}.fields"));
    }

    fn report_all_unused<'k>(&mut self, names: impl Iterator<Item = &'k String>, key: &str) {
        for name in names {
            self.report_unused(&format!("{key}.{name}"));
        }
    }

    fn structure(&mut self, name: &str, item: &mut Struct, note: &ItemNote, key: &str) {
        let basis = Basis::new(&note.evidence, note.overrides);
        add_facts!(self, item, note, key, basis: filled_by);
        let plain = basis.without_overrides();
        add_facts!(self, item, note, key, plain: receiver, author_trait);
        for presence in &note.presence {
            self.presence(name, item, presence, key);
        }
        for (field, note) in &note.fields {
            let key = format!("{key}.fields.{field}");
            match item.fields.iter_mut().find(|known| known.name == *field) {
                Some(found) => self.field(&format!("{name}.{field}"), found, note, plain, &key),
                None => self.report_undeclared(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn presence(&mut self, name: &str, item: &mut Struct, note: &PresenceNote, key: &str) {
        let applies = self.applies(note.releases);
        let basis = Basis {
            evidence: Some(&note.evidence),
            overrides: note.overrides == Some(PresenceOverrides::Comment),
        };
        for field in &note.fields {
            let key = format!("{key}.presence: {field}");
            match item.fields.iter_mut().find(|known| known.name == *field) {
                Some(_) if !applies => {}
                Some(found) => self.fact(&mut found.presence, &Some(note.value), basis, &key),
                None => self.report_undeclared(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn field(&mut self, name: &str, item: &mut Field, note: &FieldNote, outer: Basis, key: &str) {
        if let Some(doc) = &note.doc {
            item.doc = Some(doc.clone());
        }
        if !self.applies(note.releases) {
            return;
        }
        let basis = Basis::new(&note.evidence, note.overrides).within(outer);
        add_facts!(self, item, note, key, basis: filled_by, direction);
        let plain = basis.without_overrides();
        add_facts!(self, item, note, key, plain: default_return);
        match &mut item.ty {
            Type::Function(signature) => {
                self.params(name, &mut signature.params, &note.params, plain, key);
                self.ret(&mut signature.ret_transfer, &note.ret, plain, key);
            }
            _ => self.report_signature_notes(&note.params, &note.ret, key),
        }
    }

    fn params(
        &mut self,
        name: &str,
        params: &mut [Param],
        notes: &BTreeMap<String, ParamNote>,
        outer: Basis,
        key: &str,
    ) {
        for (param, note) in notes {
            let key = format!("{key}.params.{param}");
            let Some(found) = params.iter_mut().find(|known| known.name == *param) else {
                self.report_undeclared(&format!("{name}.{param}"), &key);
                continue;
            };
            if !self.applies(note.releases) {
                continue;
            }
            let basis = Basis::new(&note.evidence, note.overrides).within(outer);
            add_facts!(self, found, note, key, basis: direction, transfer, scope);
        }
    }

    /// Adds a fact if the note has a value for it.
    fn fact<T: Clone + PartialEq + std::fmt::Debug>(
        &mut self,
        slot: &mut Option<Stated<T>>,
        value: &Option<T>,
        basis: Basis,
        key: &str,
    ) {
        let Some(value) = value else { return };
        let (file, key) = (self.file.clone(), key.to_string());
        let Some(evidence) = basis.evidence else {
            return self.mistakes.push(Mistake::NoEvidence { file, key });
        };
        // For headers at hand, `baseline` decides between the note and a comment that changed.
        let is_strict = !matches!(self.known, KnownNames::AtHand(_));
        match (contradicting_comment(slot, value), basis.overrides) {
            (Some((comment, stated)), false) if is_strict => {
                let note = format!("{value:?}");
                self.mistakes.push(Mistake::Contradiction {
                    file,
                    key,
                    note,
                    comment,
                    stated,
                });
            }
            (None, true) if is_strict => self.mistakes.push(Mistake::OverrideUnused { file, key }),
            _ => {
                let comment = slot
                    .as_ref()
                    .and_then(|known| known.comment_value().cloned());
                *slot = Some(Stated {
                    value: value.clone(),
                    evidence: Evidence::Notes(evidence.into()),
                    comment,
                });
            }
        }
    }
}

/// Returns the location and the value of the comment that contradicts `value`, or `None` if there is none.
fn contradicting_comment<T: PartialEq + std::fmt::Debug>(
    slot: &Option<Stated<T>>,
    value: &T,
) -> Option<(String, String)> {
    match slot {
        Some(Stated {
            value: stated,
            evidence: Evidence::Comment(loc),
            ..
        }) if stated != value => {
            Some((format!("{}:{}", loc.file, loc.line), format!("{stated:?}")))
        }
        _ => None,
    }
}
