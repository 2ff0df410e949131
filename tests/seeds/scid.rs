//! Any bytes as the files of a database of Scid.

use std::sync::Arc;

use tabiya_games::scid::Scid;

#[allow(clippy::duplicate_mod, reason = "each target is a program of its own")]
#[path = "database.rs"]
mod database;

/// The first bytes of index and names of version 4, with what tells of how many names there are.
const INDEX: &[u8] = b"Scid.si\0\x01\x90";
const NAMES: &[u8] = b"Scid.sn\0";

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    // The version and the lengths of index and names come first; the games follow.
    let Some((&[version, index, names], rest)) = data.split_first_chunk() else { return };
    let (index, rest) = rest.split_at(usize::from(index).saturating_mul(4).min(rest.len()));
    let (names, games) = rest.split_at(usize::from(names).saturating_mul(4).min(rest.len()));
    let (name, index, names) = match version % 2 {
        0 => ("fuzz.si4", [INDEX, index].concat(), [NAMES, names].concat()),
        _ => ("fuzz.si5", index.to_vec(), names.to_vec()),
    };
    let Ok(db) = Scid::from_bytes(name, [index, names, games.to_vec()]) else { return };
    database::read(Arc::new(db));
}
