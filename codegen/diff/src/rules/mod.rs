//! Rules: which finding a change gives. [`judge`] matches every kind of change to one rule, the catalog has the text of
//! each rule, and the other modules have the messages.

mod apis;
mod calls;
mod catalog;
mod contract;
pub(crate) mod define;
mod functions;
mod layout;
mod types;
mod values;

use sp_ir::c;

pub use catalog::RULES;

use super::change::{Change, ChangeKind, Declaration, LayoutChange};
use super::effect;
use super::finding::{Bump, DeclarationText, Directions, Finding, Impact};
use super::pair::SurfacePair;

/// A rule: its weight, and its text for reports and `sp-gen explain`.
#[derive(Debug)]
pub struct Rule {
    /// The stable id.
    pub id: &'static str,
    /// The highest impact of its findings. A finding may have a lower one.
    pub impact: Impact,
    /// The largest version bump that its findings require.
    pub bump: Bump,
    /// Paragraphs. The first is the summary; the others state which plugins are affected, and what to do.
    pub text: &'static str,
    /// The document that defines what the rule relies on.
    pub reference: &'static str,
}

impl Rule {
    /// Returns the first paragraph of the text, which is one line.
    pub fn summary(&self) -> &'static str {
        let end = self.text.find("\n\n").unwrap_or(self.text.len());
        self.text[..end].trim()
    }

    /// Returns the paragraphs after the summary, each on one line.
    pub fn explanation(&self) -> String {
        let paragraphs = self.text.split("\n\n").skip(1);
        let lines = paragraphs.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>().join("\n\n")
    }

    fn finding(
        &self,
        change: &Change,
        message: String,
        directions: Directions,
        remedy: &str,
    ) -> Finding {
        Finding {
            rule: self.id,
            api: change.api.into(),
            item: change.item.clone(),
            impact: self.impact,
            bump: self.bump,
            message,
            directions,
            bytes: Vec::new(),
            before: change.old.map(|declaration| declaration.text()),
            after: change.new.map(|declaration| declaration.text()),
            remedy: remedy.into(),
            target: None,
        }
    }

    /// Returns the finding about a change that affects no binary, because of `why`.
    fn harmless(&self, change: &Change, message: String, why: &str, remedy: &str) -> Finding {
        self.finding(change, message, effect::harmless(why), remedy)
    }
}

impl Finding {
    fn with_bytes(self, layout: &LayoutChange) -> Self {
        Self {
            bytes: layout.byte_ranges(),
            ..self
        }
    }

    /// Returns the finding with the lower `impact` if `condition` holds.
    fn reduce_if(self, condition: bool, impact: Impact) -> Self {
        match condition {
            true => Self {
                impact,
                bump: self.bump.min(Bump::Minor),
                ..self
            },
            false => self,
        }
    }
}

/// Returns the finding about a change, or `None` if the change is not reported.
pub fn judge(pair: &SurfacePair, change: &Change) -> Option<Finding> {
    use ChangeKind as K;
    Some(match &change.kind {
        K::ApiAdded => apis::added(pair, change),
        K::ApiRemoved => apis::removed(pair, change),
        K::Version { versions, required } => apis::version(change, *versions, *required),
        K::TypeAdded => types::added(change),
        K::TypeRemoved => types::removed(change),
        K::TypeRenamed => types::renamed(change),
        K::KindChanged(similarity) => types::kind_changed(change, *similarity),
        K::AliasRetyped(similarity) => types::alias_retyped(change, *similarity),
        K::HandleRetyped => types::handle_retyped(change),
        K::ConstnessChanged(types) => types::constness_changed(change, *types),
        K::TypeRespelled(types) => types::respelled(change, *types),
        K::EnumRetyped(integers, similarity) => types::enum_retyped(change, *integers, *similarity),
        K::ConstAdded => values::constant_added(change),
        K::ConstRemoved => values::constant_removed(change),
        K::ConstChanged => values::constant_changed(change),
        K::VariantAdded(value) => values::enumerator_added(pair, change, *value),
        K::VariantRemoved(value) => values::enumerator_removed(pair, change, *value),
        K::VariantRenamed(value) => values::enumerator_renamed(change, *value),
        K::VariantInserted(moved) => values::enumerators_inserted(pair, change, moved),
        K::VariantRevalued(value) => values::enumerator_revalued(pair, change, *value),
        K::FunctionAdded => functions::added(pair, change),
        K::FunctionRemoved => functions::removed(pair, change),
        K::FunctionInlined => functions::inlined(pair, change),
        K::FunctionOutlined => functions::outlined(pair, change),
        K::ExporterChanged(sides) => functions::exporter_changed(pair, change, *sides),
        K::SymbolRenamed(symbols) => functions::symbol_renamed(pair, change, *symbols),
        K::SymbolMoved(libraries) => functions::symbol_moved(pair, change, libraries),
        K::SymbolShared(libraries) => functions::symbol_shared(pair, change, libraries),
        K::SymbolDropped(libraries) => functions::symbol_dropped(pair, change, libraries),
        K::SymbolExported(libraries) => functions::symbol_exported(pair, change, libraries),
        K::ParameterAdded(call) => {
            calls::function_changed(&catalog::PARAMETER_ADDED, pair, change, call)
        }
        K::ParameterRemoved(call) => {
            calls::function_changed(&catalog::PARAMETER_REMOVED, pair, change, call)
        }
        K::ParameterMoved(call) => {
            calls::function_changed(&catalog::PARAMETER_MOVED, pair, change, call)
        }
        K::ParameterRetyped(call) => {
            calls::function_changed(&catalog::PARAMETER_RETYPED, pair, change, call)
        }
        K::ReturnRetyped(call) => {
            calls::function_changed(&catalog::RETURN_RETYPED, pair, change, call)
        }
        K::ConventionChanged(call) => {
            calls::function_changed(&catalog::CALLING_CONVENTION_CHANGED, pair, change, call)
        }
        K::ExportMarkRemoved(mark) => functions::export_mark_removed(pair, change, mark),
        K::ParameterRenamed(names) => calls::parameter_renamed(change, *names),
        K::CallbackSignature(call) => calls::callback_changed(pair, change, call),
        K::FieldInserted(layout) => layout::inserted(pair, change, layout),
        K::FieldAppended(layout) => layout::appended(pair, change, layout),
        K::RequiredAppended(layout) => layout::required_appended(pair, change, layout),
        K::SizeOutdated(layout) => layout::size_outdated(pair, change, layout),
        K::PaddingFilled(layout) => layout::padding_filled(pair, change, layout),
        K::UnsizedGrown(layout) => layout::unsized_grown(pair, change, layout),
        K::EmbeddedGrown(layout) => layout::embedded_grown(pair, change, layout),
        K::FieldRemoved(layout) => layout::removed(pair, change, layout),
        K::FieldReplaced(layout) => layout::replaced(pair, change, layout),
        K::FieldMoved(layout) => layout::moved(pair, change, layout),
        K::FieldRenamed => layout::renamed(change),
        K::FieldRetyped(layout, similarity) => layout::retyped(pair, change, layout, *similarity),
        K::FieldsGrouped(names) => layout::grouped(change, names),
        K::UnionMemberAdded(layout) => layout::union_member_added(pair, change, layout),
        K::UnionMemberRemoved(layout) => layout::union_member_removed(pair, change, layout),
        K::SizeShrunk(sizes, layout) => layout::size_shrunk(pair, change, *sizes, layout),
        K::SizeCorrected(sizes, layout) => layout::size_corrected(pair, change, *sizes, layout),
        K::SizeAdded(size) => layout::size_added(change, size),
        K::SizeDropped(size) => layout::size_dropped(change, size),
        K::SizeRenamed(sizes) => layout::size_renamed(change, *sizes),
        K::StructResized(layout) => layout::resized(pair, change, layout),
        K::StructRealigned(alignment) => layout::realigned(pair, change, *alignment),
        K::FillerChanged(sides) => contract::filler_changed(pair, change, *sides),
        K::DirectionChanged(directions) => contract::direction_changed(pair, change, *directions),
        K::PresenceTightened(presence, filler) => {
            contract::presence_tightened(pair, change, *presence, *filler)
        }
        K::PresenceRelaxed(presence, filler) => {
            contract::presence_relaxed(pair, change, *presence, *filler)
        }
        K::TransferChanged(transfers, giver) => {
            contract::transfer_changed(pair, change, *transfers, *giver)
        }
        K::ScopeChanged(scopes, giver) => contract::scope_changed(pair, change, *scopes, *giver),
        K::ReceiverChanged => contract::receiver_changed(change),
        K::CommentChanged => contract::comment_changed(change),
        K::DefaultReturnChanged => contract::default_return_changed(change),
        K::Unreported(_) => return None,
    })
}

impl<'p> Change<'p> {
    /// Returns the name of OLD's declaration, or "" if there is none.
    fn old_name(&self) -> &'p str {
        self.old.map_or("", |declaration| declaration.name())
    }

    /// Returns the name of NEW's declaration, or "" if there is none.
    fn new_name(&self) -> &'p str {
        self.new.map_or("", |declaration| declaration.name())
    }
}

impl<'p> Declaration<'p> {
    fn name(&self) -> &'p str {
        match self {
            Self::Item(name, _) | Self::Enumerator(name, ..) => name,
            Self::Field(field) => &field.name,
        }
    }

    /// Returns the declaration in C, on one line, and its location.
    fn text(&self) -> DeclarationText {
        let (text, loc) = match self {
            Self::Enumerator(name, value, loc) => (format!("{name} = {value}"), *loc),
            Self::Field(field) => (c::member(&field.name, &field.ty), &field.loc),
            Self::Item(name, item) => (c::item(name, item), item.loc()),
        };
        DeclarationText {
            text,
            loc: loc.clone(),
        }
    }
}
