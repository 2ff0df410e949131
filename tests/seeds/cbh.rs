//! Any bytes as the files of a ChessBase database.

use std::sync::Arc;

use tabiya_games::cbh::Cbh;

#[allow(clippy::duplicate_mod, reason = "each target is a program of its own")]
#[path = "database.rs"]
mod database;

/// The files that the fuzzer fills, and the first bytes that tell them from other files.
const PARTS: [(&str, &[u8]); 8] = [
    ("cbh", &[0, 0, 0x2c, 0, 0x2e, 1, 0, 0, 0, 4]),
    ("cbg", &[0, 26]),
    ("cba", &[0, 26]),
    ("cbp", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 58, 0, 0, 0]),
    ("cbt", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 90, 0, 0, 0]),
    ("cbj", &[11, 0, 0, 0, 120, 0, 0, 0]),
    ("cbe", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 63, 0, 0, 0]),
    ("cbs", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 59, 0, 0, 0]),
];

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    // The lengths of the files come first, two bytes each.
    let Some((lengths, mut rest)) = data.split_at_checked(2 * PARTS.len()) else { return };
    let mut files = Vec::new();
    for ((name, start), length) in PARTS.iter().zip(lengths.chunks(2)) {
        let length = usize::from(u16::from_be_bytes([length[0], length[1]])) % 2048;
        let (file, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        files.push((*name, [start, file].concat()));
    }
    let part = |name: &str| files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.clone());
    let Ok(db) = Cbh::from_bytes("fuzz.cbh", &part) else { return };
    database::read(Arc::new(db));
}
