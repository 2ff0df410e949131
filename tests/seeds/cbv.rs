//! Any bytes as an archive, as a whole file, as its directory, and as the blocks of a database in it: nothing panics or takes more
//! memory than a block, and what is read is as long as the directory says.

use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::Move;
use tabiya_chess::Position;
use tabiya_games::cbh::Cbh;
use tabiya_games::cbv::{Cbv, check};
use tabiya_games::database::DatabaseSource;
use tabiya_games::{GameEnd, GameError, GameHeader, Visitor};

/// The files of a database in the archive, and the first bytes of each.
const PARTS: [(&str, &[u8]); 3] = [
    ("a.cbh", &[0, 0, 0x2c, 0, 0x2e, 1, 0, 0, 0, 4]),
    ("a.cbg", &[0, 26]),
    ("a.cbp", &[3, 0, 0, 0, 0, 0, 0, 0, 0xd2, 2, 0x96, 0x49, 58, 0, 0, 0]),
];

struct Listener;

impl Visitor for Listener {
    fn begin(&mut self, _: &GameHeader) -> bool {
        true
    }

    fn ply(&mut self, _: &Position, _: Move) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: GameEnd) {}

    fn unreadable(&mut self, error: GameError) {
        assert!(!error.why.is_empty());
    }
}

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    read(data.to_vec());
    read([&[8, 0][..], data].concat());
    // Each part: a stored block with the first bytes, then a block as the fuzzer packs it.
    let mut blocks = data.split(|byte| *byte == 0xfb);
    let parts = PARTS.map(|(name, start)| {
        let packed = blocks.next().unwrap_or_default();
        (name, [block(&[&[0], start].concat()), block(packed)].concat(), start.len())
    });
    let lens = data.iter().copied().chain([0; 3]);
    let mut file = [&[8, 0][..], &3_u16.to_le_bytes(), &173_u16.to_le_bytes(), &[3, 0]].concat();
    let mut offset = 8 + 3 * 173;
    for ((name, packed, start), more) in parts.iter().zip(lens) {
        let mut entry = name.as_bytes().to_vec();
        entry.resize(128, 0);
        let numbers = [offset, packed.len(), start + usize::from(more)];
        entry.extend(numbers.iter().flat_map(|number| (*number as u32).to_le_bytes()));
        entry.extend([1; 9]);
        entry.extend(numbers.iter().flat_map(|number| (*number as u64).to_le_bytes()));
        file.extend(entry);
        offset += packed.len();
    }
    file.extend(parts.iter().flat_map(|(_, packed, _)| packed));
    read(file);
}

/// A block with its head.
fn block(content: &[u8]) -> Vec<u8> {
    let content = &content[..content.len().min(65_535)];
    let words = content.as_chunks().0.iter().map(|word| u16::from_le_bytes(*word));
    let sum = words.fold(0_u16, u16::wrapping_add);
    [&(content.len() as u16).to_le_bytes()[..], &sum.to_le_bytes(), content].concat()
}

fn read(bytes: Vec<u8>) {
    let len = bytes.len() as u64;
    let Ok(archive) = Cbv::from_bytes("fuzz.cbv", bytes) else { return };
    assert!(archive.members().iter().all(|member| member.offset + member.packed <= len));
    check::check(&archive, &mut |at, _| assert!(at < len)).expect("memory is read");
    let Ok(db) = Cbh::from_archive(&archive) else { return };
    let mut source = DatabaseSource::new(Arc::new(db));
    while let Some(batch) = source.next_batch() {
        batch.play(&mut Listener);
    }
}
