//! A database as a source of games for whoever builds or learns.

use std::ops::ControlFlow;
use std::sync::Arc;

use shakmaty::Move;

use super::board::{Board, Key};
use super::database::Cbh;
use super::decode::Sink;
use super::reader::{Game, Reader};
use super::record::{Kind, Record};
use crate::chess::MoveCode;
use crate::chess::Position;
use crate::games::export::Tree;
use crate::games::{Batch, End, Header, KeyedPly, Problem, Reason, Visitor};

/// Games of a batch: enough that handing it over costs nothing beside it.
const BATCH: u32 = 512;

/// The games of a database in the order of their numbers, but for deleted ones and texts.
#[derive(Debug)]
pub struct CbhSource {
    db: Arc<Cbh>,
    next: u32,
}

impl CbhSource {
    /// All games of a database.
    pub fn new(db: Arc<Cbh>) -> Self {
        Self { db, next: 1 }
    }

    /// The next batch; `None` at the end.
    pub fn next_batch(&mut self) -> Option<Box<dyn Batch>> {
        if self.next > self.db.count() {
            return None;
        }
        let first = self.next;
        let last = first.saturating_add(BATCH - 1).min(self.db.count());
        self.next = last.saturating_add(1);
        Some(Box::new(Games { db: self.db.clone(), first, last }))
    }

    /// Bytes of the database that were read so far.
    pub fn done(&self) -> u64 {
        let (read, all) = (u64::from(self.next - 1), u64::from(self.db.count()).max(1));
        (self.db.size() as u128 * u128::from(read.min(all)) / u128::from(all)) as u64
    }
}

/// Games by their numbers.
struct Games {
    db: Arc<Cbh>,
    first: u32,
    last: u32,
}

impl Batch for Games {
    fn play(self: Box<Self>, visitor: &mut dyn Visitor) {
        let mut reader = Reader::new(&self.db);
        let mut memory = Memory {
            header: Header::default(),
            event: Event::default(),
            tree: Tree::default(),
            plies: Vec::new(),
            ordinary: Position::start(),
        };
        for number in self.first..=self.last {
            let record = match reader.record(number) {
                Ok(record) => record,
                Err(error) => {
                    let place = reader.place(number, 0, 0);
                    let why = error.to_string();
                    visitor.unreadable(Problem { reason: Reason::Unreadable, place, why });
                    continue;
                }
            };
            let record = Record(&record);
            if record.kind() == Kind::Game && !record.is_deleted() {
                one(&mut reader, number, record, &mut memory, visitor);
            }
        }
    }
}

/// Memory that the games of a batch share.
struct Memory {
    header: Header,
    event: Event,
    tree: Tree<Option<Move>>,
    plies: Vec<KeyedPly>,
    /// The position that ordinary games start from.
    ordinary: Position,
}

/// The tournament of the last game.
#[derive(Default)]
struct Event {
    number: Option<u32>,
    title: String,
    place: String,
}

/// Plays through one game.
fn one(
    reader: &mut Reader<'_>,
    number: u32,
    record: Record<'_>,
    memory: &mut Memory,
    visitor: &mut dyn Visitor,
) {
    let Memory { header, event, tree, plies, ordinary } = memory;
    let game = match reader.find(number, record) {
        Ok(game) => game,
        Err(unreadable) => {
            let place = reader.place(number, unreadable.offset, 0);
            visitor.unreadable(Problem { reason: unreadable.reason, place, why: unreadable.why });
            return;
        }
    };
    fill(reader, &game, record, header, event);
    if !visitor.begin(header) {
        return;
    }
    let at = header.start.as_ref().unwrap_or(ordinary);
    let (ended, passed) = if visitor.wants_variations() {
        tree.clear();
        let ended = reader.decode(&game, &mut Moves(tree));
        (ended, variations(tree, at.clone(), visitor))
    } else if let Some(most) = visitor.keyed_plies() {
        plies.clear();
        let mut line =
            KeyedLine { key: Key::new(&reader.board_of(&game), at.key()), plies, most, passed: false };
        let ended = reader.decode(&game, &mut line);
        let passed = line.passed;
        visitor.keyed_line(plies);
        (ended, passed)
    } else {
        let mut line = MainLine { at: at.clone(), visitor, passed: false };
        let ended = reader.decode(&game, &mut line);
        (ended, line.passed)
    };
    let problem = match ended {
        Ok(()) if passed => Some(Problem {
            reason: Reason::NullMove,
            place: reader.place(number, game.offset, game.len),
            why: "a side passes".to_owned(),
        }),
        Ok(()) if game.cut => Some(Problem {
            reason: Reason::Damaged,
            place: reader.place(number, game.offset, game.len),
            why: "its moves are cut off by the end of the file".to_owned(),
        }),
        Ok(()) => None,
        Err(damage) => Some(reader.problem(&game, &damage)),
    };
    visitor.end(End { result: header.result, problem });
}

/// Writes down what the records say of a game.
fn fill(reader: &Reader<'_>, game: &Game, record: Record<'_>, header: &mut Header, event: &mut Event) {
    let db = reader.db();
    header.clear();
    let player = |number, out: &mut String| {
        if let Some(player) = Cbh::live(&db.players, number) {
            player.push_player(out);
        }
    };
    player(record.white(), &mut header.white);
    player(record.black(), &mut header.black);
    // Games of one tournament are mostly next to each other.
    let number = record.tournament();
    if event.number != Some(number) {
        let found = Cbh::live(&db.tournaments, number).map(|entity| entity.tournament());
        let (title, place) = found.map(|found| (found.title, found.place)).unwrap_or_default();
        *event = Event { number: Some(number), title: title.into_owned(), place: place.into_owned() };
    }
    header.event.push_str(&event.title);
    header.site.push_str(&event.place);
    record.push_round(&mut header.round);
    header.date = record.date();
    (header.white_elo, header.black_elo) = record.elos();
    header.result = record.outcome().result();
    header.start = game.start.as_ref().map(|start| Position::from_chess(start.chess.clone()));
    header.place = reader.place(game.number, game.offset, game.len);
}

/// Hands the main line over as it is decoded.
struct MainLine<'a> {
    at: Position,
    visitor: &'a mut dyn Visitor,
    passed: bool,
}

impl Sink for MainLine<'_> {
    const VARIATIONS: bool = false;
    type Before = ControlFlow<()>;

    fn before(&mut self, _: &Board, mv: Move) -> ControlFlow<()> {
        self.visitor.ply(&self.at, mv)
    }

    fn after(&mut self, _: &Board, mv: Move, before: ControlFlow<()>) -> ControlFlow<()> {
        before?;
        self.at.play(mv);
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }

    fn push(&mut self) {}

    fn pop(&mut self) {}
}

/// Keeps the main line with the keys of its positions.
struct KeyedLine<'a> {
    key: Key,
    plies: &'a mut Vec<KeyedPly>,
    /// Plies that are wanted.
    most: usize,
    passed: bool,
}

impl Sink for KeyedLine<'_> {
    const VARIATIONS: bool = false;
    type Before = u64;

    #[inline(always)]
    fn before(&mut self, board: &Board, mv: Move) -> u64 {
        if self.plies.len() < self.most {
            self.plies.push(KeyedPly {
                key: self.key.get(),
                side: board.turn(),
                mv: MoveCode::from_move(mv),
            });
        }
        self.key.moved(board, mv)
    }

    #[inline(always)]
    fn after(&mut self, board: &Board, _: Move, moved: u64) -> ControlFlow<()> {
        self.key.play(board, moved);
        if self.plies.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.passed = true;
        ControlFlow::Break(())
    }

    fn push(&mut self) {}

    fn pop(&mut self) {}
}

/// Keeps all moves, for those of a variation are stored after the main line, and are handed over before it goes on.
struct Moves<'a>(&'a mut Tree<Option<Move>>);

impl Sink for Moves<'_> {
    const VARIATIONS: bool = true;
    type Before = ();

    fn before(&mut self, _: &Board, _: Move) {}

    fn after(&mut self, _: &Board, mv: Move, (): ()) -> ControlFlow<()> {
        self.0.add(Some(mv));
        ControlFlow::Continue(())
    }

    fn pass(&mut self) -> ControlFlow<()> {
        self.0.add(None);
        ControlFlow::Continue(())
    }

    fn push(&mut self) {
        self.0.push();
    }

    fn pop(&mut self) {
        self.0.pop();
    }
}

/// Where a line goes on once its variations are through.
struct Waiting {
    /// Another variation; 0 where there is none.
    other: u32,
    /// The position that the variations start from.
    before: Position,
    /// The line's next move, and the position it is made in; `None` where the line ended with a pass.
    next: Option<(u32, Position)>,
}

/// Hands over the moves with their variations; whether the main line ends with a pass.
///
/// What follows a pass is left out, in variations too: the visitor knows no such move.
fn variations(tree: &Tree<Option<Move>>, start: Position, visitor: &mut dyn Visitor) -> bool {
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut passed = false;
    let mut line = Some((tree.node(0).map_or(0, |start| start.next), start));
    let mut first = true;
    loop {
        while let Some((number, at)) = line.take() {
            let Some(node) = tree.node(number).filter(|_| number != 0) else { break };
            let next = match node.mv {
                Some(mv) => {
                    if visitor.ply(&at, mv).is_break() {
                        return passed;
                    }
                    Some((node.next, at.after(mv)))
                }
                None => {
                    passed |= waiting.is_empty();
                    None
                }
            };
            // A pass has nothing that could be played instead of a move that the visitor knows.
            if first && node.other != 0 && node.mv.is_some() {
                let other = tree.node(node.other).map_or(0, |other| other.other);
                waiting.push(Waiting { other, before: at.clone(), next });
                visitor.begin_variation();
                (line, first) = (Some((node.other, at)), false);
            } else {
                (line, first) = (next, true);
            }
        }
        let Some(at) = waiting.pop() else { return passed };
        visitor.end_variation();
        if at.other == 0 {
            (line, first) = (at.next, true);
        } else {
            let node = at.other;
            let other = tree.node(node).map_or(0, |node| node.other);
            visitor.begin_variation();
            (line, first) = (Some((node, at.before.clone())), false);
            waiting.push(Waiting { other, ..at });
        }
    }
}
