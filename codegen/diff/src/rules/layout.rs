//! Findings about the members, sizes and alignment of structs and unions.

use sp_ir::StructSize;

use super::{Rule, catalog};
use crate::change::{Change, LayoutChange, OldNew};
use crate::effect;
use crate::finding::{Finding, Impact};
use crate::pair::SurfacePair;
use crate::phrases;
use crate::similarity::Similarity;

const BY_STRUCT_SIZE: &str = "choose the layout by the struct_size that the host wrote";
const BY_RELEASE: &str = "choose the layout by the running release";
const CHECK_RELEASE: &str = "check the running release before you access it";
const USE_HEADER_NAME: &str = "use the name in the headers that you compile with";

impl Rule {
    /// Returns the finding of `rule` about a struct whose layout changed.
    fn layout_finding(
        &self,
        pair: &SurfacePair,
        change: &Change,
        layout: &LayoutChange,
        message: String,
        remedy: &str,
    ) -> Finding {
        let directions =
            effect::in_both_directions(pair, |case| effect::changed_layout(case, layout));
        self.finding(change, message, directions, remedy)
            .with_bytes(layout)
    }
}

pub fn inserted(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "inserted at offset") + &phrases::describe_moves(layout);
    catalog::FIELD_INSERTED.layout_finding(pair, change, layout, message, BY_STRUCT_SIZE)
}

pub fn appended(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "appended at offset") + &phrases::describe_size(layout);
    let remedy = "access it only if the host's struct_size covers it";
    catalog::FIELD_APPENDED.layout_finding(pair, change, layout, message, remedy)
}

pub fn required_appended(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "appended at offset") + "; the host requires a value";
    let remedy = "set it if the host's struct_size covers it";
    catalog::REQUIRED_FIELD_APPENDED.layout_finding(pair, change, layout, message, remedy)
}

pub fn size_outdated(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let size = phrases::new_struct_size(layout);
    let message = phrases::describe_fields(layout, "appended at offset")
        + &format!("; the size macro is still {size}");
    let remedy = "do not rely on struct_size for it: check the running release";
    catalog::STRUCT_SIZE_OUTDATED.layout_finding(pair, change, layout, message, remedy)
}

pub fn padding_filled(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = phrases::describe_fields(layout, "added in padding at offset");
    let remedy = "set the whole struct to zero before you fill it, and check the running release";
    catalog::PADDING_FILLED.layout_finding(pair, change, layout, message, remedy)
}

pub fn unsized_grown(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = phrases::describe_fields(layout, "appended at offset")
        + &phrases::describe_size(layout)
        + "; the struct has no size field";
    catalog::UNSIZED_STRUCT_GROWN.layout_finding(pair, change, layout, message, CHECK_RELEASE)
}

pub fn embedded_grown(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = phrases::describe_fields(layout, "appended at offset")
        + &phrases::describe_size(layout)
        + "; the struct is used by value";
    let remedy = "choose array strides and offsets by the running release";
    catalog::EMBEDDED_STRUCT_GROWN.layout_finding(pair, change, layout, message, remedy)
}

pub fn removed(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message =
        phrases::describe_fields(layout, "removed from offset") + &phrases::describe_moves(layout);
    catalog::FIELD_REMOVED.layout_finding(pair, change, layout, message, BY_STRUCT_SIZE)
}

pub fn moved(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = format!(
        "{} moved{}",
        phrases::first_field(layout),
        phrases::describe_moves(layout)
    );
    catalog::FIELD_MOVED.layout_finding(pair, change, layout, message, BY_RELEASE)
}

pub fn replaced(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let names = layout.field_names();
    let (old, new) = (names.first().unwrap_or(&""), names.last().unwrap_or(&""));
    let message = format!(
        "{old} was replaced by {new} at offset {}",
        phrases::first_offset(layout)
    );
    catalog::FIELD_REPLACED.layout_finding(pair, change, layout, message, CHECK_RELEASE)
}

pub fn retyped(
    pair: &SurfacePair,
    change: &Change,
    layout: &LayoutChange,
    similarity: Similarity,
) -> Finding {
    let message = format!(
        "{} has another type{}",
        phrases::first_field(layout),
        phrases::describe_moves(layout)
    );
    let directions =
        effect::in_both_directions(pair, |case| effect::retyped_field(case, layout, similarity));
    let remedy = "read and write it with the type of the running release";
    catalog::FIELD_RETYPED
        .finding(change, message, directions, remedy)
        .with_bytes(layout)
}

pub fn renamed(change: &Change) -> Finding {
    let message = format!("{} was renamed to {}", change.old_name(), change.new_name());
    catalog::FIELD_RENAMED.harmless(
        change,
        message,
        "type and offset are unchanged",
        USE_HEADER_NAME,
    )
}

pub fn grouped(change: &Change, names: &[String]) -> Finding {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let state = if change.new.is_some() {
        "now"
    } else {
        "no longer"
    };
    let message = format!(
        "{} kept their offsets and are {state} in {}",
        phrases::join_names(&names),
        phrases::last_component(&change.item)
    );
    let remedy = "use the member paths of the headers that you compile with";
    catalog::FIELDS_GROUPED.harmless(change, message, "every member kept its offset", remedy)
}

pub fn union_member_added(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message =
        phrases::join_names(&layout.field_names()) + " was added" + &phrases::describe_size(layout);
    let directions = effect::in_both_directions(pair, |case| {
        effect::changed_union(case, layout, !case.plugin_is_old)
    });
    let remedy = "check which member is active before you read one";
    let finding = catalog::UNION_MEMBER_ADDED.finding(change, message, directions, remedy);
    let same_size = layout.size.old == layout.size.new;
    finding
        .with_bytes(layout)
        .reduce_if(same_size, Impact::Compatible)
}

pub fn union_member_removed(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = phrases::join_names(&layout.field_names())
        + " was removed"
        + &phrases::describe_size(layout);
    let directions = effect::in_both_directions(pair, |case| {
        effect::changed_union(case, layout, case.plugin_is_old)
    });
    let remedy = "check the running release before you store it";
    catalog::UNION_MEMBER_REMOVED
        .finding(change, message, directions, remedy)
        .with_bytes(layout)
}

pub fn size_shrunk(
    pair: &SurfacePair,
    change: &Change,
    sizes: OldNew<&StructSize>,
    layout: &LayoutChange,
) -> Finding {
    let remedy = "check the running release before you rely on struct_size";
    catalog::STRUCT_SIZE_SHRUNK.size_changed(pair, change, sizes, layout, remedy)
}

pub fn size_corrected(
    pair: &SurfacePair,
    change: &Change,
    sizes: OldNew<&StructSize>,
    layout: &LayoutChange,
) -> Finding {
    let remedy = "on older releases do not rely on struct_size for these members";
    catalog::STRUCT_SIZE_CORRECTED.size_changed(pair, change, sizes, layout, remedy)
}

impl Rule {
    /// Returns the finding of `rule` about a size macro that covers other members of the same struct.
    fn size_changed(
        &self,
        pair: &SurfacePair,
        change: &Change,
        sizes: OldNew<&StructSize>,
        layout: &LayoutChange,
        remedy: &str,
    ) -> Finding {
        let message = format!(
            "{} changed from {} to {}",
            sizes.new.symbol, sizes.old.value, sizes.new.value
        );
        let directions = effect::in_both_directions(pair, |case| {
            effect::changed_struct_size(case, sizes, &layout.field_names())
        });
        self.finding(change, message, directions, remedy)
            .with_bytes(layout)
    }
}

pub fn size_added(change: &Change, size: &StructSize) -> Finding {
    let message = format!("{} = {} was added", size.symbol, size.value);
    let remedy = "write the size of the host's layout version";
    catalog::STRUCT_SIZE_ADDED.harmless(change, message, "the layout is unchanged", remedy)
}

pub fn size_dropped(change: &Change, size: &StructSize) -> Finding {
    let message = format!("{} was removed", size.symbol);
    let remedy = "declare the size in your own code";
    catalog::STRUCT_SIZE_DROPPED.harmless(change, message, "the layout is unchanged", remedy)
}

pub fn size_renamed(change: &Change, sizes: OldNew<&StructSize>) -> Finding {
    let message = format!("{} was renamed to {}", sizes.old.symbol, sizes.new.symbol);
    catalog::STRUCT_SIZE_RENAMED.harmless(
        change,
        message,
        "no binary contains the name",
        USE_HEADER_NAME,
    )
}

pub fn resized(pair: &SurfacePair, change: &Change, layout: &LayoutChange) -> Finding {
    let message = format!(
        "sizeof changed from {} to {}",
        layout.size.old, layout.size.new
    );
    let directions = effect::in_both_directions(pair, |case| effect::changed_sizeof(case, layout));
    let remedy = "allocate the larger of the two sizes";
    catalog::STRUCT_RESIZED
        .finding(change, message, directions, remedy)
        .with_bytes(layout)
}

pub fn realigned(pair: &SurfacePair, change: &Change, alignment: OldNew<u64>) -> Finding {
    let message = format!(
        "the alignment changed from {} to {}",
        alignment.old, alignment.new
    );
    let directions =
        effect::in_both_directions(pair, |case| effect::changed_alignment(case, alignment));
    catalog::STRUCT_REALIGNED.finding(
        change,
        message,
        directions,
        "use the larger alignment of the two",
    )
}
