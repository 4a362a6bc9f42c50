//! Tests of the ABI diff: on all releases, on a pair of headers for each rule, and on edits of every kind.

mod breaks;
mod mutations;
mod releases;
mod rules;
