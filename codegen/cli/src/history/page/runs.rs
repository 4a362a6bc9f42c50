//! Merges the columns of releases between which nothing in a table changed.

use sp_ir::History;

use super::super::span;
use super::GridRow;
use super::cells::GridCell;

/// Merges each column of `tables` that equals the previous one. Returns the headings of the remaining columns.
pub fn merge(history: &History, tables: &mut [&mut [GridRow]]) -> Vec<String> {
    let mut runs: Vec<Vec<String>> = Vec::new();
    let mut firsts = Vec::new();
    for (index, release) in history.releases.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if continues(tables, index) => run.push(release.clone()),
            _ => {
                runs.push(vec![release.clone()]);
                firsts.push(index);
            }
        }
    }
    for row in tables.iter_mut().flat_map(|rows| rows.iter_mut()) {
        let cell = |index: &usize| row.cells[*index].clone();
        row.cells = firsts.iter().map(cell).collect();
    }
    runs.iter().map(|run| span(history, run)).collect()
}

/// Returns true if the column at `index` continues the previous one in all rows.
fn continues(tables: &[&mut [GridRow]], index: usize) -> bool {
    let mut rows = tables.iter().flat_map(|rows| rows.iter());
    rows.all(|row| row.cells[index].continues(&row.cells[index - 1]))
}

impl GridCell {
    /// Returns true if there was no event since `previous`.
    fn continues(&self, previous: &Self) -> bool {
        if !self.state.is_empty() {
            return self.state == previous.state;
        }
        let is_absent = |cell: &Self| matches!(&*cell.class, "absent" | "removed");
        self.sign.is_empty()
            && !self.class.contains("edge")
            && self.text == previous.text
            && previous.state.is_empty()
            && is_absent(self) == is_absent(previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str, sign: &str, class: &str) -> GridCell {
        GridCell {
            text: text.into(),
            sign: sign.into(),
            class: class.into(),
            ..GridCell::default()
        }
    }

    #[test]
    fn event_begins_a_run_without_ending_it() {
        let (plain, event) = (cell("8", "", ""), cell("8", "!", "inserted edge"));
        assert!(plain.continues(&event) && plain.continues(&plain));
        assert!(!event.continues(&plain));
        assert!(!cell("16", "", "").continues(&plain));
        assert!(!cell("", "", "absent").continues(&cell("", "", "present")));
        assert!(cell("", "", "absent").continues(&cell("", "x", "removed")));
    }
}
