//! Any bytes as a count file, as footer and pages of one, and as changes to a sound one: nothing panics or takes room
//! for what it only claims, and every row read can be. Rows written from the bytes are read again.

use std::path::Path;
use std::sync::OnceLock;

use shakmaty::Position as _;
use tabiya_base::findings::summed;
use tabiya_base::progress::Progress;
use tabiya_book as book;
use tabiya_book::counts::{CountFile, CountWriter, CountsRow, Shape, sum};
use tabiya_book::{By, Slice};
use tabiya_chess::MoveCode;
use tabiya_chess::{Packed, Position, RatingBand, Speed};

/// The most that one row can count: 39 bits.
const MAX: u64 = (1 << 39) - 2;

/// One input of the fuzzer.
pub fn run(data: &[u8]) {
    look(data.to_vec());
    if let Some((&[low, high], rest)) = data.split_first_chunk::<2>() {
        let (pages, footer) = rest.split_at(rest.len().min(usize::from(low) | usize::from(high) << 8));
        let len = (footer.len() as u32).to_le_bytes();
        look([b"PAR1", pages, footer, &len, b"PAR1"].concat());
    }
    for sound in samples() {
        let mut changed = sound.clone();
        for change in data.as_chunks::<3>().0.iter().take(16) {
            let [low, high, byte] = *change;
            let at = (usize::from(low) | usize::from(high) << 8) % changed.len();
            changed[at] = byte;
        }
        look(changed);
    }

    let lines = lines(data);
    for number in 0..8 {
        let shape = shape(number);
        let lines = lines.iter().filter(|line| line.packed.is_some() || !shape.positions);
        let lines: Vec<_> = lines
            .map(|line| CountsRow {
                packed: line.packed.filter(|_| shape.positions),
                slice: shape.by.part(line.slice),
                ..*line
            })
            .collect();
        let Ok(file) = CountFile::from_bytes("fuzz.parquet", written(&lines, shape)) else {
            panic!("a written file is refused")
        };
        assert_eq!(file.shape(), shape);
        assert_eq!(read(&file), lines);
    }
}

/// Each of the eight shapes of a count file.
fn shape(number: u8) -> Shape {
    let has = |bit: u8| number >> bit & 1 == 1;
    Shape { positions: has(0), by: By { speed: has(1), rating: has(2) } }
}

/// What holds of any count file.
fn look(bytes: Vec<u8>) {
    if let Ok(book) = book::open_bytes("fuzz.parquet", bytes.clone()) {
        let mut moves = Vec::new();
        book.moves(&Position::start(), &mut moves);
        assert!(moves.iter().all(|facts| Position::start().chess().is_legal(facts.mv)));
    }
    let Ok(file) = CountFile::from_bytes("fuzz.parquet", bytes) else { return };
    let (Ok(sum), _) = summed(|findings| sum(&file, &Progress::none(), findings)) else {
        panic!("nobody interrupted")
    };
    assert!(sum.rows <= file.rows());
    assert!(file.rows() <= file.bytes() * 64 * 70);
    assert!(sum.positions.is_none_or(|positions| positions <= sum.rows));
    for group in 0..file.groups() {
        let _ = file.group(group, file.shape(), |line| {
            assert!(line.mv == MoveCode::NULL || line.mv.error(tabiya_chess::Variant::Chess).is_none());
            assert!(line.wins.max(line.draws).max(line.losses) <= MAX);
            if let Some(packed) = line.packed {
                assert_eq!(packed.unpack().map(|position| position.key()), Some(line.key));
            }
            Ok(())
        });
    }
}

fn read(file: &CountFile) -> Vec<CountsRow> {
    let mut lines = Vec::new();
    for group in 0..file.groups() {
        let read = file.group(group, file.shape(), |line| {
            lines.push(*line);
            Ok(())
        });
        assert!(read.is_ok());
    }
    lines
}

fn written(lines: &[CountsRow], shape: Shape) -> Vec<u8> {
    let Ok(mut writer) = CountWriter::new(Path::new("fuzz.parquet"), Vec::new(), shape) else {
        panic!("nothing is refused")
    };
    for line in lines {
        assert!(writer.add(line).is_ok());
    }
    let Ok((file, _)) = writer.close() else { panic!("memory does not fail") };
    file
}

/// A row for each six bytes: a move of a game that the bytes choose, and counts.
fn lines(data: &[u8]) -> Vec<CountsRow> {
    let mut position = Position::start();
    let mut lines = Vec::new();
    for &[step, key, wins, draws, losses, shift] in data.as_chunks::<6>().0.iter().take(512) {
        let legal = position.chess().legal_moves();
        let Some(&mv) = legal.get(usize::from(step) % legal.len().max(1)) else { break };
        let here = key % 4 > 0;
        let count = |count: u8| (u64::from(count) << (shift % 48)).min(MAX);
        lines.push(CountsRow {
            key: if here { position.key() } else { u64::from(key) << 56 | u64::from(step) },
            mv: MoveCode::from_move(mv),
            wins: count(wins),
            draws: count(draws),
            losses: count(losses),
            slice: Slice::new(
                Speed::NAMES.get(usize::from(wins) % 8).map(|(_, speed)| *speed),
                RatingBand::all().nth(usize::from(draws) % 12),
            ),
            packed: if here { Packed::new(&position) } else { None },
        });
        position.play(mv);
    }
    lines
}

/// Sound files: few rows, many, with positions and without.
fn samples() -> &'static [Vec<u8>] {
    static SAMPLES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let many: Vec<u8> = (0..3000_u32).map(|at| (at * at / 7) as u8).collect();
        let mut samples = Vec::new();
        for data in [&many[..60], &many] {
            let lines = lines(data);
            samples.push(written(&lines, shape(0)));
            samples.push(written(&lines, shape(6)));
            let placed: Vec<_> = lines.iter().filter(|line| line.packed.is_some()).copied().collect();
            samples.push(written(&placed, shape(1)));
        }
        samples
    })
}
