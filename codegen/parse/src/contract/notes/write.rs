//! Writes notes into items: each fact with its evidence, and what cannot stand to a list.

use std::collections::BTreeMap;

use sp_ir::{
    Callback, Evidence, Field, Function, Item, Param, Stated, Struct, Transfer, Type, Union,
};

use super::{
    FieldNote, ItemNote, Known, Mistake, Overrides, ParamNote, PresenceNote, PresenceOverrides,
    ReturnNote, Span,
};

/// How a note's facts are known, and whether they knowingly contradict a comment.
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

    /// A note inside another has its evidence, unless it brings its own.
    fn within(self, outer: Self) -> Self {
        Self {
            evidence: self.evidence.or(outer.evidence),
            ..self
        }
    }
}

/// Writes notes into items and gathers what is wrong with them.
pub(super) struct Writer<'a> {
    /// The notes file, for messages.
    pub file: String,
    /// What other releases declare.
    pub known: &'a Known,
    /// The release that is written of.
    pub release: &'a str,
    /// What is wrong so far.
    pub mistakes: Vec<Mistake>,
}

impl Writer<'_> {
    /// Whether a note holds for the release.
    fn holds(&self, releases: Option<Span>) -> bool {
        releases.is_none_or(|span| span.has(self.release))
    }

    /// A note whose subject is not here; no mistake if another release has it.
    pub fn unused(&mut self, subject: &str, key: &str) {
        if !self.known.has(subject) {
            self.useless(key);
        }
    }

    /// A note about another kind of item, which headers at hand may declare under the name.
    fn useless(&mut self, key: &str) {
        if matches!(self.known, Known::AtHand(_)) {
            return;
        }
        self.mistakes.push(Mistake::Unused {
            file: self.file.clone(),
            key: key.into(),
        });
    }

    /// Writes what is said of one item.
    pub fn item(&mut self, name: &str, item: &mut Item, note: &ItemNote, key: &str) {
        if let Some(doc) = &note.doc {
            *doc_of(item) = Some(doc.clone());
        }
        if !self.holds(note.releases) {
            return;
        }
        match item {
            Item::Handle(item) => item.rust = note.rust.clone(),
            _ if note.rust.is_some() => self.useless(&format!("{key}.rust")),
            _ => {}
        }
        match item {
            Item::Struct(item) => self.structure(name, item, note, key),
            _ => self.no_struct(note, key),
        }
        let basis = Basis::new(&note.evidence, None);
        match (&mut *item, &note.instead) {
            (Item::Function(item), instead) => {
                self.fact(&mut item.instead, instead, basis, &format!("{key}.instead"));
            }
            (_, Some(_)) => self.useless(&format!("{key}.instead")),
            _ => {}
        }
        let said = &note.discriminator;
        match item {
            Item::Struct(Struct { discriminator, .. })
            | Item::Union(Union { discriminator, .. }) => {
                self.fact(discriminator, said, basis, &format!("{key}.discriminator"));
            }
            _ if said.is_some() => self.useless(&format!("{key}.discriminator")),
            _ => {}
        }
        match item {
            Item::Function(Function { signature, .. })
            | Item::Callback(Callback { signature, .. }) => {
                self.params(name, &mut signature.params, &note.params, basis, key);
                self.ret(&mut signature.ret_transfer, &note.ret, basis, key);
            }
            _ => self.no_signature(&note.params, &note.ret, key),
        }
    }

    fn no_signature(
        &mut self,
        params: &BTreeMap<String, ParamNote>,
        ret: &Option<ReturnNote>,
        key: &str,
    ) {
        self.all_useless(params.keys(), &format!("{key}.params"));
        if ret.is_some() {
            self.useless(&format!("{key}.ret"));
        }
    }

    fn ret(
        &mut self,
        slot: &mut Option<Stated<Transfer>>,
        note: &Option<ReturnNote>,
        outer: Basis,
        key: &str,
    ) {
        let Some(note) = note.as_ref().filter(|note| self.holds(note.releases)) else {
            return;
        };
        let basis = Basis::new(&note.evidence, note.overrides).within(outer);
        self.fact(slot, &Some(note.transfer), basis, &format!("{key}.ret"));
    }

    fn no_struct(&mut self, note: &ItemNote, key: &str) {
        let said = [
            ("filled_by", note.filled_by.is_some()),
            ("overrides", note.overrides.is_some()),
            ("receiver", note.receiver.is_some()),
            ("author_trait", note.author_trait.is_some()),
            ("presence", !note.presence.is_empty()),
        ];
        for (name, _) in said.into_iter().filter(|(_, said)| *said) {
            self.useless(&format!("{key}.{name}"));
        }
        self.all_useless(note.fields.keys(), &format!("{key}.fields"));
    }

    fn all_useless<'k>(&mut self, names: impl Iterator<Item = &'k String>, key: &str) {
        for name in names {
            self.useless(&format!("{key}.{name}"));
        }
    }

    fn structure(&mut self, name: &str, item: &mut Struct, note: &ItemNote, key: &str) {
        let basis = Basis::new(&note.evidence, note.overrides);
        self.fact(
            &mut item.filled_by,
            &note.filled_by,
            basis,
            &format!("{key}.filled_by"),
        );
        let plain = Basis {
            overrides: false,
            ..basis
        };
        self.fact(
            &mut item.receiver,
            &note.receiver,
            plain,
            &format!("{key}.receiver"),
        );
        self.fact(
            &mut item.author_trait,
            &note.author_trait,
            plain,
            &format!("{key}.author_trait"),
        );
        for presence in &note.presence {
            self.presence(name, item, presence, key);
        }
        for (field, said) in &note.fields {
            let key = format!("{key}.fields.{field}");
            match item.fields.iter_mut().find(|one| one.name == *field) {
                Some(found) => self.field(&format!("{name}.{field}"), found, said, plain, &key),
                None => self.unused(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn presence(&mut self, name: &str, item: &mut Struct, note: &PresenceNote, key: &str) {
        let holds = self.holds(note.releases);
        let basis = Basis {
            evidence: Some(&note.evidence),
            overrides: note.overrides == Some(PresenceOverrides::Comment),
        };
        for field in &note.fields {
            let key = format!("{key}.presence: {field}");
            match item.fields.iter_mut().find(|one| one.name == *field) {
                Some(_) if !holds => {}
                Some(found) => self.fact(&mut found.presence, &Some(note.value), basis, &key),
                None => self.unused(&format!("{name}.{field}"), &key),
            }
        }
    }

    fn field(&mut self, name: &str, item: &mut Field, note: &FieldNote, outer: Basis, key: &str) {
        if let Some(doc) = &note.doc {
            item.doc = Some(doc.clone());
        }
        if !self.holds(note.releases) {
            return;
        }
        let basis = Basis::new(&note.evidence, note.overrides).within(outer);
        self.fact(
            &mut item.filled_by,
            &note.filled_by,
            basis,
            &format!("{key}.filled_by"),
        );
        self.fact(
            &mut item.direction,
            &note.direction,
            basis,
            &format!("{key}.direction"),
        );
        let plain = Basis {
            overrides: false,
            ..basis
        };
        self.fact(
            &mut item.neutral,
            &note.neutral,
            plain,
            &format!("{key}.neutral"),
        );
        match &mut item.ty {
            Type::Function(signature) => {
                self.params(name, &mut signature.params, &note.params, plain, key);
                self.ret(&mut signature.ret_transfer, &note.ret, plain, key);
            }
            _ => self.no_signature(&note.params, &note.ret, key),
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
            let Some(found) = params.iter_mut().find(|one| one.name == *param) else {
                self.unused(&format!("{name}.{param}"), &key);
                continue;
            };
            if !self.holds(note.releases) {
                continue;
            }
            let basis = Basis::new(&note.evidence, note.overrides).within(outer);
            self.fact(
                &mut found.direction,
                &note.direction,
                basis,
                &format!("{key}.direction"),
            );
            self.fact(
                &mut found.transfer,
                &note.transfer,
                basis,
                &format!("{key}.transfer"),
            );
            self.fact(
                &mut found.scope,
                &note.scope,
                basis,
                &format!("{key}.scope"),
            );
        }
    }

    /// States one fact; `None` says nothing.
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
        // Headers at hand: `baseline` decides between the note and a comment that changed.
        let is_strict = !matches!(self.known, Known::AtHand(_));
        match (contradicted(slot, value), basis.overrides) {
            (Some((comment, said)), false) if is_strict => {
                let note = format!("{value:?}");
                self.mistakes.push(Mistake::Contradiction {
                    file,
                    key,
                    note,
                    comment,
                    said,
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

/// The comment that says otherwise, and what it says.
fn contradicted<T: PartialEq + std::fmt::Debug>(
    slot: &Option<Stated<T>>,
    value: &T,
) -> Option<(String, String)> {
    match slot {
        Some(Stated {
            value: said,
            evidence: Evidence::Comment(loc),
            ..
        }) if said != value => Some((format!("{}:{}", loc.file, loc.line), format!("{said:?}"))),
        _ => None,
    }
}

/// Where an item keeps our own line about it.
pub(super) fn doc_of(item: &mut Item) -> &mut Option<String> {
    match item {
        Item::Struct(item) => &mut item.doc,
        Item::Union(item) => &mut item.doc,
        Item::Enum(item) => &mut item.doc,
        Item::Handle(item) => &mut item.doc,
        Item::Alias(item) => &mut item.doc,
        Item::Callback(item) => &mut item.doc,
        Item::Function(item) => &mut item.doc,
        Item::Constant(item) => &mut item.doc,
    }
}
