//! A database as a source of games.

use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Move, Position as _};

use tabiya_chess::MoveCode;
use tabiya_chess::Position;

use super::super::mode::Mode;
use super::fixtures::{TestDatabase, moves};
use crate::database::DatabaseSource;
use crate::{GameEnd, GameError, GameHeader, KeyedPly, LineOrGame, Reason, Visitor};

/// Records what it receives, in the notation of docs/formats/cbh.md.
#[derive(Default)]
struct Listener {
    games: Vec<(GameHeader, String, Option<Reason>)>,
    unreadable: Vec<GameError>,
    variations: bool,
    at_most: usize,
    refuse: bool,
}

impl Visitor for Listener {
    fn begin(&mut self, game: &GameHeader) -> bool {
        self.games.push((game.clone(), String::new(), None));
        !self.refuse
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(at.chess().is_legal(mv));
        let text = &mut self.games.last_mut().unwrap().1;
        *text += &format!("{} ", SanPlus::from_move(at.chess().clone(), mv));
        if text.split_whitespace().count() == self.at_most {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn end(&mut self, end: GameEnd) {
        self.games.last_mut().unwrap().2 = end.error.map(|error| error.reason);
    }

    fn unreadable(&mut self, error: GameError) {
        self.unreadable.push(error);
    }

    fn wants_variations(&self) -> bool {
        self.variations
    }

    fn begin_variation(&mut self) {
        self.games.last_mut().unwrap().1 += "( ";
    }

    fn end_variation(&mut self) {
        self.games.last_mut().unwrap().1 += ") ";
    }
}

/// Records the moves of main lines with keys, received as keys or computed from positions.
#[derive(Default)]
struct Keys {
    by_positions: bool,
    most: usize,
    /// With the key after the last move.
    games: Vec<(Vec<KeyedPly>, u64, Option<Reason>)>,
}

impl Visitor for Keys {
    fn begin(&mut self, game: &GameHeader) -> bool {
        let start = game.start.clone().unwrap_or_else(Position::start);
        self.games.push((Vec::new(), start.key(), None));
        true
    }

    fn ply(&mut self, at: &Position, mv: Move) -> ControlFlow<()> {
        assert!(self.by_positions);
        let (plies, last, _) = self.games.last_mut().unwrap();
        *last = at.after(mv).key();
        plies.push(KeyedPly { key: at.key(), side: at.chess().turn(), mv: MoveCode::from_move(mv) });
        if plies.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn end(&mut self, end: GameEnd) {
        self.games.last_mut().unwrap().2 = end.error.map(|error| error.reason);
    }

    fn unreadable(&mut self, error: GameError) {
        panic!("{error:?}");
    }

    fn keyed_plies(&self) -> Option<usize> {
        (!self.by_positions).then_some(self.most)
    }

    fn keyed_line(&mut self, plies: &[KeyedPly]) {
        self.games.last_mut().unwrap().0.extend(plies);
    }

    fn keyed_last(&mut self, key: u64) {
        self.games.last_mut().unwrap().1 = key;
    }
}

fn listen<V: Visitor>(database: &TestDatabase, mut listener: V) -> V {
    let mut source = DatabaseSource::new(Arc::new(database.open().unwrap()));
    while let Some(batch) = source.next_batch() {
        batch.play(&mut listener);
    }
    assert!(source.done() > 0);
    listener
}

fn heard(database: &TestDatabase, variations: bool) -> Vec<String> {
    let games = listen(database, Listener { variations, ..Listener::default() }).games;
    games.into_iter().map(|(_, text, _)| text.trim_end().to_owned()).collect()
}

#[test]
fn variations_follow_main_lines_if_they_are_wanted() {
    let mut database = TestDatabase::default();
    database.play("e4 < c5 Nf3 < d6 d4 > Nc6 Bb5 > < c6 d4 > Nf6 e5", &[]);
    database.play("< e4 < e5 > c5 > d4 < d5 > Nf6", &[]);
    assert_eq!(heard(&database, false), ["e4 c5 Nf3 d6 d4", "e4 e5"]);
    assert_eq!(
        heard(&database, true),
        ["e4 c5 ( c6 d4 ) ( Nf6 e5 ) Nf3 d6 ( Nc6 Bb5 ) d4", "e4 ( d4 d5 ( Nf6 ) ) e5 ( c5 )",]
    );
}

#[test]
fn a_pass_ends_the_line_that_it_is_in() {
    let mut database = TestDatabase::default();
    database.play("e4 < e5 Nf3 > < -- d4 > c5 -- Nf6", &[]);
    database.play("e4 -- d4", &[]);
    assert_eq!(heard(&database, true), ["e4 e5 ( ) ( c5 ) Nf3", "e4"]);
    let games = listen(&database, Listener::default()).games;
    assert_eq!(games.iter().map(|game| game.2).collect::<Vec<_>>(), [None, Some(Reason::NullMove)]);
}

#[test]
fn the_header_is_complete_and_an_unwanted_game_is_not_decoded() {
    let mut database = TestDatabase::default();
    let game = database.play("e4 e5", &[]);
    database.file("cbh")[game as usize * 46 + 24..][..3]
        .copy_from_slice(&(1972_u32 << 9 | 7 << 5 | 11).to_be_bytes()[1..]);
    database.file("cbh")[game as usize * 46 + 31..][..4].copy_from_slice(&[0x0a, 0xd1, 0x0a, 0x64]);
    *database.record(game, 29) = 1;
    database.play_from("k7/8/8/8/8/8/4P3/K7 w - - 0 1", 0, "e4 >");
    let listener = listen(&database, Listener { refuse: true, ..Listener::default() });
    let (header, text, _) = &listener.games[0];
    assert_eq!(text, "");
    assert_eq!((&*header.white, &*header.black), ("Fischer, Robert James", "Spassky"));
    assert_eq!((&*header.event, &*header.site, &*header.round), ("A Tourna", "Berlin", "1"));
    assert_eq!(
        (header.date.to_string(), header.white_elo, header.black_elo),
        ("1972.07.11".into(), NonZeroU16::new(2769), NonZeroU16::new(2660))
    );
    assert_eq!((header.place.spot, header.place.offset), (LineOrGame::Game(1), 26));
    assert!(header.start.is_none());
    assert_eq!(listener.games[1].0.start.as_ref().unwrap().fen(), "k7/8/8/8/8/8/4P3/K7 w - - 0 1");
}

#[test]
fn breaking_off_ends_a_game_and_deleted_games_are_left_out() {
    let mut database = TestDatabase::default();
    database.play("e4 e5 Nf3", &[]);
    let gone = database.play("d4", &[]);
    *database.record(gone, 0) = 0x81;
    database.play("c4 < c5 > e5 Nc3", &[]);
    for variations in [false, true] {
        let games = listen(&database, Listener { variations, at_most: 2, ..Listener::default() }).games;
        let texts: Vec<_> = games.iter().map(|game| game.1.trim_end()).collect();
        assert_eq!(texts, ["e4 e5", "c4 c5"]);
    }
}

#[test]
fn damage_is_reported_with_its_place() {
    let mut database = TestDatabase::default();
    database.play("e4 e5", &[]);
    let mode = Mode::from_number(0).unwrap();
    let mut data = moves(&shakmaty::Chess::default(), mode, "e4 e5", false);
    data.push(mode.hidden(0x27, 2));
    database.game(0, &data, &[]);
    database.game(8, &[], &[]);
    let mut listener = Listener::default();
    let mut source = DatabaseSource::new(Arc::new(database.open().unwrap()));
    assert_eq!(source.next_batch().unwrap().play(&mut listener), 3);
    assert_eq!(
        listener.games.iter().map(|game| game.2).collect::<Vec<_>>(),
        [None, Some(Reason::IllegalMove)]
    );
    assert_eq!(listener.games[1].1, "e4 e5 ");
    assert_eq!(listener.unreadable.len(), 1);
    assert_eq!(listener.unreadable[0].reason, Reason::OtherVariant);
    assert!(listener.unreadable[0].to_string().starts_with("test.cbg: game 3: "));
}

#[test]
fn keyed_lines_agree_with_positions() {
    let mut database = TestDatabase::default();
    database.play("e4 < c5 Nf3 < d6 d4 > Nc6 Bb5 > Nf6", &[]);
    database.play("e4 e6 e5 d5 exd6 Bxd6 Nf3 Nf6 Bb5+ c6 O-O O-O", &[]);
    database.play("e4 -- d4", &[]);
    let mode = Mode::from_number(0).unwrap();
    let mut damaged = moves(&Chess::default(), mode, "e4 e5", false);
    // The queen goes to a square of its own side.
    damaged.push(mode.hidden(0x0b, 2));
    database.game(0, &damaged, &[]);
    database.play_from("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1", 0, "exd6 O-O b8=N Rfe8+ Kd2 >");
    database.play_from("r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1", 0, "bxa8=Q+ Kd7 O-O >");
    for most in [1, 5, 1000] {
        let read = |by_positions| listen(&database, Keys { by_positions, most, ..Keys::default() }).games;
        let games = read(false);
        assert_eq!(games, read(true));
        assert_eq!(games[1].0.len(), most.min(12));
        let errors = games.iter().filter(|game| game.2.is_some()).count();
        assert_eq!(errors, if most == 1 { 0 } else { 2 });
    }
}
