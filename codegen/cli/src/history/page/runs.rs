//! Releases in which nothing in a table changed, as one column.

use sp_ir::History;

use super::super::span;
use super::Line;
use super::squares::Square;

/// Merges each column of `lines` that says the same as the one before it, and returns the columns' heads.
pub fn merge(history: &History, lines: &mut [&mut [Line]]) -> Vec<String> {
    let mut runs: Vec<Vec<String>> = Vec::new();
    let mut firsts = Vec::new();
    for (index, release) in history.releases.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if continues(lines, index) => run.push(release.clone()),
            _ => {
                runs.push(vec![release.clone()]);
                firsts.push(index);
            }
        }
    }
    for line in lines.iter_mut().flat_map(|lines| lines.iter_mut()) {
        let pick = |index: &usize| line.squares[*index].clone();
        line.squares = firsts.iter().map(pick).collect();
    }
    runs.iter().map(|run| span(history, run)).collect()
}

/// Returns true if the release at `index` says in no line more than the one before it.
fn continues(lines: &[&mut [Line]], index: usize) -> bool {
    let mut lines = lines.iter().flat_map(|lines| lines.iter());
    lines.all(|line| line.squares[index].continues(&line.squares[index - 1]))
}

impl Square {
    /// Returns true if nothing happened since `previous`.
    fn continues(&self, previous: &Self) -> bool {
        if !self.state.is_empty() {
            return self.state == previous.state;
        }
        let is_absent = |square: &Self| matches!(&*square.class, "absent" | "gone");
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

    fn square(text: &str, sign: &str, class: &str) -> Square {
        Square {
            text: text.into(),
            sign: sign.into(),
            class: class.into(),
            ..Square::default()
        }
    }

    #[test]
    fn event_begins_a_run_and_does_not_end_it() {
        let (plain, event) = (square("8", "", ""), square("8", "!", "inserted edge"));
        assert!(plain.continues(&event) && plain.continues(&plain));
        assert!(!event.continues(&plain));
        assert!(!square("16", "", "").continues(&plain));
        assert!(!square("", "", "absent").continues(&square("", "", "here")));
        assert!(square("", "", "absent").continues(&square("", "x", "gone")));
    }
}
