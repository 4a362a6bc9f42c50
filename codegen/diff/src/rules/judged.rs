//! The first argument of every handler: a change, its rule, and the sides that were compared.

use super::Rule;
use crate::change::{Declaration, LayoutChange};
use crate::effect::{self, PluginOnHost};
use crate::finding::{Bump, Directions, Effect, Finding, Impact, Outcome};
use crate::pair::SurfacePair;
use crate::phrases;

/// A change that a rule judges.
pub struct JudgedChange<'c> {
    /// The rule.
    pub rule: &'static Rule,
    /// The compared sides.
    pub pair: &'c SurfacePair<'c>,
    /// The API that the item belongs to.
    pub api: &'c str,
    /// The changed item.
    pub item: &'c str,
    /// OLD's declaration.
    pub old: Option<Declaration<'c>>,
    /// NEW's declaration.
    pub new: Option<Declaration<'c>>,
}

impl<'c> JudgedChange<'c> {
    /// Returns the rule's finding with these effects.
    pub fn finding(
        &self,
        message: impl Into<String>,
        directions: Directions,
        remedy: &str,
    ) -> Finding {
        let text = |declaration: Declaration| declaration.text();
        let rule = self.rule;
        Finding {
            before: self.old.map(text),
            after: self.new.map(text),
            ..rule.finding(self.api, self.item, message, directions, remedy)
        }
    }

    /// Returns the rule's finding about a change that affects no binary, because of `why`.
    pub fn harmless(&self, message: impl Into<String>, why: &str, remedy: &str) -> Finding {
        self.finding(message, effect::harmless(why), remedy)
    }

    /// Returns the rule's finding with `effect`, evaluated in both directions.
    pub fn evaluate(
        &self,
        message: impl Into<String>,
        remedy: &str,
        effect: impl Fn(PluginOnHost<'c>) -> Effect,
    ) -> Finding {
        let directions = effect::in_both_directions(self.pair, effect);
        self.finding(message, directions, remedy)
    }

    /// Returns the item's name: the part of its path after the last dot.
    pub fn name(&self) -> &'c str {
        phrases::last_component(self.item)
    }

    /// Returns the name of OLD's declaration, or "" if there is none.
    pub fn old_name(&self) -> &'c str {
        self.old.map_or("", |declaration| declaration.name())
    }

    /// Returns the name of NEW's declaration, or "" if there is none.
    pub fn new_name(&self) -> &'c str {
        self.new.map_or("", |declaration| declaration.name())
    }
}

impl Finding {
    /// Returns the finding with the bytes that differ.
    pub fn with_bytes(self, layout: &LayoutChange) -> Self {
        Self {
            bytes: layout.byte_ranges(),
            ..self
        }
    }

    /// Returns the finding with the lower `impact` if `condition` holds.
    pub fn reduce_if(self, condition: bool, impact: Impact) -> Self {
        match condition {
            true => Self {
                impact,
                bump: self.bump.min(Bump::Minor),
                ..self
            },
            false => self,
        }
    }

    /// Returns the finding with the lower `impact` if a plugin of OLD works on a host of NEW.
    pub fn reduce_if_old_works(self, impact: Impact) -> Self {
        let works = self.directions.old_on_new.outcome == Outcome::Works;
        self.reduce_if(works, impact)
    }
}
