//! Books made of games.

use std::collections::BTreeMap;
use std::path::Path;

use shakmaty::{CastlingMode, Position as _};

use tabiya_base::progress::Progress;
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

use super::super::element::{Element, Extras, Link};
use super::super::write::ksf::KsfWriter;
use super::super::{Key, Kvetka, KvetkaHeader, code};
use super::Packed;
use crate::traits::Book;
use crate::{Counts, GameReference, ReferenceKind};

/// A book to be.
#[derive(Clone, Default)]
pub struct Fixture {
    pub header: KvetkaHeader,
    elements: BTreeMap<Key, Element>,
}

impl Fixture {
    /// Adds games that all went this way: so many won by White, drawn, won by Black.
    #[must_use]
    pub fn games(mut self, moves: &str, [white, draws, black]: [u64; 3]) -> Self {
        let mut at = Position::start();
        for word in moves.split_whitespace().map(Some).chain([None]) {
            let normal = Normal::from_chess(at.standard().unwrap()).unwrap();
            let element = self.element(&at);
            let mover = at.standard().unwrap().turn().fold_wb((white, black), (black, white));
            element.results = element.results.plus(Counts::ended(mover.0, draws, mover.1));
            let Some(word) = word else { break };
            let mv = word.parse::<shakmaty::uci::UciMove>().unwrap().to_move(at.standard().unwrap()).unwrap();
            let code = code(mv, &normal).unwrap();
            if !element.moves.contains(&code) {
                element.moves.push(code);
            }
            at = at.after(mv);
        }
        self
    }

    fn element(&mut self, at: &Position) -> &mut Element {
        let key = Key::from_chess(at.standard().unwrap()).unwrap();
        self.elements.entry(key).or_insert(Element {
            key,
            results: Counts::default(),
            moves: Vec::new(),
            extras: Extras::default(),
        })
    }

    #[must_use]
    pub fn comment(mut self, at: &Position, comment: &str) -> Self {
        self.element(at).extras.comment = Some(comment.to_owned());
        self
    }

    #[must_use]
    pub fn link(mut self, at: &Position, source: u16, game: u32) -> Self {
        self.element(at).extras.link = Some(Link { source, game });
        self
    }

    pub fn change(mut self, at: &Position, change: impl FnOnce(&mut Element)) -> Self {
        change(self.element(at));
        self
    }

    pub fn elements(&self) -> Vec<Element> {
        self.elements.values().cloned().collect()
    }

    pub fn packed(&self) -> Packed {
        Packed::new(&self.header, &self.elements())
    }

    /// In files of one or two blocks.
    pub fn in_small_files(&self) -> Packed {
        Packed::with_files_of(2 * 2048 + 20, &self.header, &self.elements())
    }

    pub fn book(&self) -> Kvetka {
        let Packed { kob, kin } = self.packed();
        Kvetka::with_files("fixture.kob", kob, Some(kin), None).unwrap()
    }
}

/// A book of many positions: random games that share their beginnings.
pub fn many(games: u64) -> Fixture {
    let mut fixture = Fixture::default();
    for game in 0..games {
        let mut at = Position::start();
        let mut moves = Vec::new();
        let mut random = game.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for _ in 0..12 {
            let legal = at.standard().unwrap().legal_moves();
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let mv = legal[(random >> 33) as usize % legal.len().min(6)];
            moves.push(mv.to_uci(CastlingMode::Standard).to_string());
            at = at.after(mv);
        }
        fixture = fixture.games(&moves.join(" "), [game % 3, game % 2, 1]);
    }
    fixture
}

/// A `.ksf` file with a source of each kind.
pub fn ksf() -> Vec<u8> {
    let first = GameReference {
        number: 0,
        kind: ReferenceKind::Pgn,
        source: "%currentdir%pgn\\base.pgn".to_owned(),
        gone: false,
        address: 1000,
        length: 700,
        white: "Hübner, R".to_owned(),
        black: "Карпов".to_owned(),
        white_elo: std::num::NonZeroU16::new(2600),
        black_elo: None,
        points: Some(crate::Points::Draw),
    };
    let unnamed = GameReference {
        kind: ReferenceKind::Web,
        source: "http://example.org/%currentdir%".to_owned(),
        length: 9,
        white: String::new(),
        black: String::new(),
        white_elo: None,
        points: None,
        ..first.clone()
    };
    let games = [
        GameReference { number: 1, address: 1700, points: Some(crate::Points::Win), ..first.clone() },
        GameReference { number: 2, address: 1 << 26 | 4, ..unnamed.clone() },
        GameReference { number: 3, address: 10 << 26 | 4, ..unnamed.clone() },
        GameReference {
            number: 4,
            kind: ReferenceKind::Cbh,
            source: "/data/b.cbh".to_owned(),
            address: 92,
            length: 46,
            points: Some(crate::Points::Loss),
            ..unnamed
        },
    ];
    let mut writer = KsfWriter::new(Path::new(""), 1 << 10);
    [first].iter().chain(&games).for_each(|game| writer.add(game).unwrap());
    let links: Vec<_> = (0..5).map(|number| writer.link(number).unwrap().unwrap()).collect();
    let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)].map(|(source, game)| Link { source, game });
    assert_eq!((links, writer.lost), (expected.to_vec(), 0));
    let mut file = Vec::new();
    let put = |bytes: &[u8]| {
        file.extend(bytes);
        Ok(())
    };
    writer.finish(put).unwrap();
    file
}

/// The errors that `check` reports.
pub fn damages(book: &Kvetka) -> Vec<String> {
    findings(book, true)
}

/// The errors or the warnings that `check` reports.
pub fn findings(book: &Kvetka, errors: bool) -> Vec<String> {
    let mut findings = Vec::new();
    book.check(&Progress::none(), &mut |finding| {
        if finding.is_error() == errors {
            findings.push(finding.to_string());
        }
    });
    findings
}
