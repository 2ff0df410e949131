//! Test databases: writes games from moves, records, and files of names.

use std::collections::BTreeMap;

use shakmaty::fen::Fen;
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, Color, Move, Role, Setup, Square};

use tabiya_base::error::Result;
use tabiya_chess::Position;

use super::super::board::Board;
use super::super::database::Cbh;
use super::super::decode::{CODES, Code};
use super::super::layout::{ENTITY_MARK, SET_UP};
use super::super::mode::Mode;
use super::super::start::{number, square};

/// The bytes of a set-up position, and those after it in a game of Chess960.
pub fn set_up(fen: &str, chess960: Option<([u8; 6], u16)>) -> Vec<u8> {
    let fen: Fen = fen.parse().unwrap();
    let setup: &Setup = fen.as_setup();
    let mut bytes = vec![1, 0, 0, setup.fullmoves.get() as u8];
    bytes[1] = setup.ep_square.map_or(0, |at| at.file() as u8 + 1) | (u8::from(setup.turn.is_black()) << 4);
    for (bit, color, short) in
        [(0, Color::White, false), (1, Color::White, true), (2, Color::Black, false), (3, Color::Black, true)]
    {
        let king = setup.board.king_of(color);
        let rooks = setup.castling_rights & setup.board.by_color(color);
        let right = rooks.into_iter().any(|rook| king.is_some_and(|king| (rook > king) == short));
        bytes[2] |= u8::from(right) << bit;
    }
    let mut bits = Vec::new();
    for at in 0..64 {
        match setup.board.piece_at(square(at)) {
            None => bits.push(0),
            Some(piece) => {
                let kind = match piece.role {
                    Role::King => 1,
                    Role::Queen => 2,
                    Role::Knight => 3,
                    Role::Bishop => 4,
                    Role::Rook => 5,
                    Role::Pawn => 6,
                };
                bits.extend([1, u8::from(piece.color.is_black()), kind >> 2, kind >> 1 & 1, kind & 1]);
            }
        }
    }
    bits.resize(192, 0);
    bytes.extend(bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)));
    if let Some((squares, number)) = chess960 {
        bytes.extend(squares);
        bytes.extend(number.to_be_bytes());
    }
    bytes
}

/// Encodes the moves of a game. `text` is SAN, `--` passes, `<` keeps a position and `>` returns to it; with `wide`, all
/// moves take two bytes.
pub fn moves(start: &Chess, mode: Mode, text: &str, wide: bool) -> Vec<u8> {
    let mut at = Board::new(Position::from_chess(start.clone()), mode.reversed);
    let mut kept = Vec::new();
    let mut count = 0_u8;
    let mut bytes: Vec<u8> = Vec::new();
    let mut push = false;
    let mut last = 0;
    let words: Vec<&str> = text.split_whitespace().collect();
    for word in words {
        match word {
            "<" => {
                kept.push(at.clone());
                push = true;
                if mode.compact {
                    bytes.push(mode.hidden(0xfe, count));
                }
                continue;
            }
            ">" => {
                if let Some(board) = kept.pop() {
                    at = board;
                }
                if mode.compact {
                    bytes.push(mode.hidden(0xff, count));
                } else if !bytes.is_empty() {
                    // The mark is in the move before.
                    let before = count.wrapping_sub(1);
                    bytes[last] = mode.hidden(mode.plain(bytes[last], before) | 0x40, before);
                }
                continue;
            }
            _ => {}
        }
        let mv = (word != "--").then(|| {
            let san: San = word.parse().unwrap();
            san.to_move(at.chess()).unwrap_or_else(|error| panic!("{word}: {error}"))
        });
        if mode.compact {
            match mv.map(|mv| if wide { None } else { code(&at, mv) }) {
                None => bytes.push(mode.hidden(0, count)),
                Some(Some(code)) => bytes.push(mode.hidden(code, count)),
                Some(None) => {
                    bytes.push(mode.hidden(0xeb, count));
                    let word = word_of(mode, mv.unwrap());
                    bytes.extend(word.to_be_bytes().map(|byte| mode.hidden(byte, count)));
                }
            }
        } else {
            let mut word = mv.map_or(0, |mv| word_of(mode, mv));
            if mode.reversed {
                word = word & 0xf000 | word >> 6 & 0x3f | (word & 0x3f) << 6;
            }
            word |= u16::from(push) << 15;
            last = bytes.len();
            bytes.extend(word.to_be_bytes().map(|byte| mode.hidden(byte, count)));
        }
        push = false;
        count = count.wrapping_add(1);
        match mv {
            Some(mv) => at.play(mv),
            None => at.pass().unwrap(),
        }
    }
    bytes
}

/// The two bytes of a move.
fn word_of(mode: Mode, mv: Move) -> u16 {
    let (from, to) = match mv {
        Move::Castle { king, rook } => {
            let file = if king < rook { shakmaty::File::G } else { shakmaty::File::C };
            let to = Square::from_coords(file, king.rank());
            (if mode.chess960 { to } else { king }, to)
        }
        other => (other.from().unwrap(), other.to()),
    };
    let promotion = match mv.promotion() {
        Some(Role::Rook) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Knight) => 3,
        _ => 0,
    };
    u16::from(number(from)) | u16::from(number(to)) << 6 | promotion << 12
}

/// The single byte that means a move, if there is one.
fn code(at: &Board, mv: Move) -> Option<u8> {
    if mv.is_promotion() {
        return None;
    }
    (0..=u8::MAX).find(|&byte| match CODES[at.turn() as usize][usize::from(byte)] {
        Code::Castle { short } => matches!(mv, Move::Castle { king, rook } if (king < rook) == short),
        Code::Piece { role, number, right, up } => at.find(role, number).is_ok_and(|from| {
            let to = Square::new(u32::from(
                (((from as u8 >> 3) + up) & 7) << 3 | (((from as u8 & 7) + right) & 7),
            ));
            !mv.is_castle() && mv.from() == Some(from) && mv.to() == to
        }),
        _ => false,
    })
}

/// A file of entities whose records hold these bytes, padded to their size.
pub fn entities(size: usize, records: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    for number in [records.len() as u32, 0, ENTITY_MARK, size as u32, u32::MAX, records.len() as u32, 4, 0] {
        file.extend(number.to_le_bytes());
    }
    for record in records {
        file.extend([0xff; 8]);
        file.push(0);
        let mut record = record.to_vec();
        record.resize(size, 0);
        file.extend(record);
    }
    file
}

/// An annotation: position, type, content.
pub fn note(position: i32, kind: u8, data: &[u8]) -> Vec<u8> {
    let mut bytes = position.to_be_bytes()[1..].to_vec();
    bytes.push(kind);
    bytes.extend((data.len() as u16 + 6).to_be_bytes());
    bytes.extend(data);
    bytes
}

/// The annotations of a game.
pub fn notes(game: u32, items: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = game.to_be_bytes()[1..].to_vec();
    bytes.extend([1, 0, 0x0e, 0x0e]);
    bytes.extend(&(items.len() as u32 + 1).to_be_bytes()[1..]);
    let len = 14 + items.iter().map(Vec::len).sum::<usize>();
    bytes.extend((len as u32).to_be_bytes());
    bytes.extend(items.concat());
    bytes
}

/// A database under construction: its files by their extensions.
#[derive(Clone, Debug)]
pub struct TestDatabase {
    pub files: BTreeMap<&'static str, Vec<u8>>,
}

impl Default for TestDatabase {
    fn default() -> Self {
        let mut cbh = vec![0; 46];
        cbh[..6].copy_from_slice(&[0, 0, 0x2c, 0, 0x2e, 1]);
        let mut header = vec![0; 26];
        header[1] = 26;
        let mut tournament = vec![0; 90];
        tournament[..8].copy_from_slice(b"A Tourna");
        tournament[40..46].copy_from_slice(b"Berlin");
        tournament[74..77].copy_from_slice(&[4, 0, 52]);
        let mut player = b"Fischer".to_vec();
        player.resize(30, 0);
        player.extend(b"Robert James");
        let files = [
            ("cbh", cbh),
            ("cbg", header.clone()),
            ("cba", header),
            ("cbp", entities(58, &[&player, b"Spassky"])),
            ("cbt", entities(90, &[&tournament])),
            ("cbc", entities(53, &[b""])),
            ("cbs", entities(59, &[b""])),
        ];
        Self { files: files.into() }
    }
}

impl TestDatabase {
    pub fn file(&mut self, part: &str) -> &mut Vec<u8> {
        self.files.get_mut(part).unwrap()
    }

    /// Adds a game by the bytes after its head, and returns its number.
    pub fn game(&mut self, flags: u8, data: &[u8], items: &[Vec<u8>]) -> u32 {
        let number = (self.file("cbh").len() / 46) as u32;
        let mut record = [0; 46];
        record[0] = 1;
        record[1..5].copy_from_slice(&(self.file("cbg").len() as u32).to_be_bytes());
        if !items.is_empty() {
            record[5..9].copy_from_slice(&(self.file("cba").len() as u32).to_be_bytes());
            self.file("cba").extend(notes(number, items));
        }
        record[14] = 1;
        record[27] = 2;
        let head = u32::from(flags) << 24 | (data.len() as u32 + 4);
        self.file("cbg").extend(head.to_be_bytes());
        self.file("cbg").extend(data);
        self.file("cbh").extend(record);
        self.file("cbh")[6..10].copy_from_slice(&(number + 1).to_be_bytes());
        number
    }

    /// Adds a game of mode 0 from the ordinary position.
    pub fn play(&mut self, text: &str, items: &[Vec<u8>]) -> u32 {
        let data = moves(&Chess::default(), Mode::from_number(0).unwrap(), &format!("{text} >"), false);
        let number = self.game(0, &data, items);
        let main =
            text.split_whitespace().take_while(|&word| word != ">").filter(|&word| word != "<").count();
        *self.record(number, 45) = main.div_ceil(2) as u8;
        number
    }

    /// Adds a game from a position.
    pub fn play_from(&mut self, fen: &str, mode: u8, text: &str) -> u32 {
        let mode = Mode::from_number(mode).unwrap();
        let castling = if mode.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let start: Chess = fen.parse::<Fen>().unwrap().into_position(castling).unwrap();
        let mut data = set_up(fen, mode.chess960.then_some(([255; 6], u16::MAX)));
        data.extend(moves(&start, mode, text, false));
        self.game(mode.number | SET_UP, &data, &[])
    }

    /// A byte of a game's record.
    pub fn record(&mut self, game: u32, at: usize) -> &mut u8 {
        &mut self.file("cbh")[game as usize * 46 + at]
    }

    /// Writes the files, named as this one.
    pub fn write(&self, path: &std::path::Path) {
        self.files.iter().for_each(|(part, bytes)| std::fs::write(path.with_extension(part), bytes).unwrap());
    }

    pub fn open(&self) -> Result<Cbh> {
        Cbh::from_bytes("test.cbh", &|part| self.files.get(part).cloned())
    }
}
