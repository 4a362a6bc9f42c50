//! The rules: one file each, with what it is about and when it speaks. The files, this list and the
//! pairs of headers under `tests/abi` are one-to-one.

mod alias_retyped;
mod api_added;
mod api_removed;
mod callback_signature_changed;
mod comment_changed;
mod const_added;
mod const_changed;
mod const_removed;
mod constness_changed;
mod direction_changed;
mod enum_retyped;
mod exporter_changed;
mod field_appended;
mod field_inserted;
mod field_moved;
mod field_removed;
mod field_renamed;
mod field_replaced;
mod field_retyped;
mod fields_grouped;
mod filler_changed;
mod function_added;
mod function_inlined;
mod function_outlined;
mod function_removed;
mod handle_retyped;
mod held_struct_grown;
mod kind_changed;
mod neutral_changed;
mod padding_filled;
mod parameter_added;
mod parameter_moved;
mod parameter_removed;
mod parameter_renamed;
mod parameter_retyped;
mod presence_relaxed;
mod presence_tightened;
mod receiver_changed;
mod required_field_appended;
mod return_retyped;
mod scope_changed;
mod struct_realigned;
mod struct_resized;
mod struct_size_added;
mod struct_size_corrected;
mod struct_size_dropped;
mod struct_size_outdated;
mod struct_size_renamed;
mod struct_size_shrunk;
mod symbol_dropped;
mod symbol_exported;
mod symbol_moved;
mod symbol_renamed;
mod symbol_shared;
mod transfer_changed;
mod type_added;
mod type_removed;
mod type_renamed;
mod type_respelled;
mod union_member_added;
mod union_member_removed;
mod unsized_struct_grown;
mod variant_added;
mod variant_inserted;
mod variant_removed;
mod variant_renamed;
mod variant_revalued;
mod version_changed;
mod version_unbumped;

use sp_ir::StructSize;

use super::change::{Both, Called, Change, Declared, Relaid};
use super::effect;
use super::finding::{Bump, Directions, Finding, Impact, Shown, Slot};
use super::pair::Pair;
use sp_ir::c;

/// What a rule is, for `sp-gen explain` and for reports; and how it judges.
pub struct Rule {
    /// The stable id, `noun_past_participle`.
    pub id: &'static str,
    /// How much its findings weigh at most; a finding may weigh less where it says why.
    pub impact: Impact,
    /// The bump that it asks for at most.
    pub bump: Bump,
    /// One line.
    pub summary: &'static str,
    /// What happens to which plugins, and what to do. Paragraphs.
    pub explanation: &'static str,
    /// Where the convention that it rests on is written down, as a place in a header or document.
    pub reference: &'static str,
    /// Its finding about a change, where that is its business.
    pub judge: fn(&Pair, &Change) -> Option<Finding>,
}

/// All rules, sorted by id.
pub const RULES: &[&Rule] = &[
    &alias_retyped::RULE,
    &api_added::RULE,
    &api_removed::RULE,
    &callback_signature_changed::RULE,
    &comment_changed::RULE,
    &const_added::RULE,
    &const_changed::RULE,
    &const_removed::RULE,
    &constness_changed::RULE,
    &direction_changed::RULE,
    &enum_retyped::RULE,
    &exporter_changed::RULE,
    &field_appended::RULE,
    &field_inserted::RULE,
    &field_moved::RULE,
    &field_removed::RULE,
    &field_renamed::RULE,
    &field_replaced::RULE,
    &field_retyped::RULE,
    &fields_grouped::RULE,
    &filler_changed::RULE,
    &function_added::RULE,
    &function_inlined::RULE,
    &function_outlined::RULE,
    &function_removed::RULE,
    &handle_retyped::RULE,
    &held_struct_grown::RULE,
    &kind_changed::RULE,
    &neutral_changed::RULE,
    &padding_filled::RULE,
    &parameter_added::RULE,
    &parameter_moved::RULE,
    &parameter_removed::RULE,
    &parameter_renamed::RULE,
    &parameter_retyped::RULE,
    &presence_relaxed::RULE,
    &presence_tightened::RULE,
    &receiver_changed::RULE,
    &required_field_appended::RULE,
    &return_retyped::RULE,
    &scope_changed::RULE,
    &struct_realigned::RULE,
    &struct_resized::RULE,
    &struct_size_added::RULE,
    &struct_size_corrected::RULE,
    &struct_size_dropped::RULE,
    &struct_size_outdated::RULE,
    &struct_size_renamed::RULE,
    &struct_size_shrunk::RULE,
    &symbol_dropped::RULE,
    &symbol_exported::RULE,
    &symbol_moved::RULE,
    &symbol_renamed::RULE,
    &symbol_shared::RULE,
    &transfer_changed::RULE,
    &type_added::RULE,
    &type_removed::RULE,
    &type_renamed::RULE,
    &type_respelled::RULE,
    &union_member_added::RULE,
    &union_member_removed::RULE,
    &unsized_struct_grown::RULE,
    &variant_added::RULE,
    &variant_inserted::RULE,
    &variant_removed::RULE,
    &variant_renamed::RULE,
    &variant_revalued::RULE,
    &version_changed::RULE,
    &version_unbumped::RULE,
];

/// What a rule says of one change, beside what it always says.
pub struct Said {
    /// The change in one line.
    pub message: String,
    /// What becomes of plugins.
    pub directions: Directions,
    /// The bytes concerned.
    pub bytes: Vec<Slot>,
    /// What an author does about it.
    pub remedy: String,
}

impl Said {
    /// Of a function that is called otherwise than before.
    fn of_call(pair: &Pair, called: &Called) -> Self {
        Self {
            message: called.what.clone(),
            directions: effect::both(pair, |meeting| effect::called(pair, meeting, called)),
            bytes: Vec::new(),
            remedy: "call it as the running release declares it; sp-abi has a form for each epoch"
                .into(),
        }
    }

    /// Of a struct whose members lie otherwise than before.
    fn of_layout(pair: &Pair, told: &Relaid, message: String, remedy: &str) -> Self {
        Self {
            message,
            directions: effect::both(pair, |meeting| effect::relaid(meeting, told)),
            bytes: told.slots(),
            remedy: remedy.into(),
        }
    }

    /// Of a size that covers more or less of the same struct than before.
    fn of_size(pair: &Pair, said: Both<&StructSize>, told: &Relaid, remedy: &str) -> Self {
        Self {
            message: format!(
                "{} is {}, before {}",
                said.new.symbol, said.new.value, said.old.value
            ),
            directions: effect::both(pair, |meeting| effect::sized(meeting, said, &told.names())),
            bytes: told.slots(),
            remedy: remedy.into(),
        }
    }
}

impl Rule {
    fn finding(&self, change: &Change, said: Said) -> Finding {
        Finding {
            rule: self.id,
            api: change.api.into(),
            item: change.item.clone(),
            impact: self.impact,
            bump: self.bump,
            message: said.message,
            directions: said.directions,
            bytes: said.bytes,
            before: change.old.map(|one| one.shown()),
            after: change.new.map(|one| one.shown()),
            remedy: said.remedy,
            target: None,
        }
    }
}

impl Finding {
    /// The same of less weight, `where_so`.
    fn lighter(self, where_so: bool, impact: Impact) -> Self {
        match where_so {
            true => Self {
                impact,
                bump: self.bump.min(Bump::Minor),
                ..self
            },
            false => self,
        }
    }
}

/// The finding about a change; nothing for what is no change.
pub fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    RULES.iter().find_map(|rule| (rule.judge)(pair, change))
}

impl<'p> Declared<'p> {
    /// What it is called.
    fn name(&self) -> &'p str {
        match self {
            Self::Item(name, _) | Self::Variant(name, ..) => name,
            Self::Field(field) => &field.name,
        }
    }

    /// In C, on one line.
    fn shown(&self) -> Shown {
        let (text, loc) = match self {
            Self::Variant(name, value, loc) => (format!("{name} = {value}"), *loc),
            Self::Field(field) => (c::member(&field.name, &field.ty), &field.loc),
            Self::Item(name, item) => (c::item(name, item), item.loc()),
        };
        Shown {
            text,
            loc: loc.clone(),
        }
    }
}
