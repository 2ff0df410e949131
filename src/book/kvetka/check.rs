//! The whole book read: its sums for `info`, its damages for `check`.

use std::path::Path;

use shakmaty::{Chess, EnPassantMode, Move, Position as _, fen::Fen};

use super::block::Block;
use super::element::{Body, Extras, RawElement};
use super::header::Header;
use super::key::Key;
use super::layout::{
    ALL_PLIES, BLOCK_HEADER, BLOCK_LEN, HAS_COMMENT, HAS_ENDS, HAS_LINK, HAS_LINKS, KEY_LEN, MOST_COMMENT,
    MOST_ELEMENT, SHORTEST_ELEMENT, SOURCE_CBH,
};
use super::moves::{is_known, legal};
use super::read::Kvetka;
use super::sources::{LinkFault, Sources};
use crate::base::map::Access;
use crate::base::progress::Progress;
use crate::book::groups::Groups;
use crate::book::reach::{Reach, reach};
use crate::book::{Damage, Summary};
use crate::chess::Position;
use crate::chess::normal::Normal;

/// Faults of one kind that are told one by one.
const TOLD: u64 = 20;

/// Blocks between two looks at the progress bar.
const STRIDE: u64 = 1 << 9;

/// What can be wrong, those that are told together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Files,
    Header,
    Block,
    Empty,
    Element,
    Length,
    Order,
    Position,
    Move,
    MoveTwice,
    Extras,
    Unknown,
    Link,
    Source,
    Index,
}

impl Kind {
    /// Whether it is damage, or merely odd.
    fn is_serious(self) -> bool {
        !matches!(self, Self::Header | Self::Empty | Self::MoveTwice | Self::Unknown)
    }
}

/// What the pass counted.
#[derive(Default)]
struct Totals {
    elements: u64,
    moves: u64,
    /// Moves to positions that the book does not have.
    open: u64,
    comments: u64,
    links: u64,
    /// Bytes in use.
    used: u64,
    games: Option<u64>,
}

/// A finding: its kind, its offset, and what is wrong, with the name of the file.
type Tell<'a> = &'a mut dyn FnMut(Kind, u64, String);

/// Sums the book up.
pub fn summary(book: &Kvetka, progress: &Progress) -> Summary {
    let mut groups = Groups::new(0);
    let totals = pass(book, progress, &mut |kind, at, what| {
        groups.add(kind, at, format!("{what} (byte {at})"));
    });
    let mut oddities: Vec<String> = groups.others().map(|(_, _, what)| what).collect();
    oddities.extend(general(book, &totals));
    let walk = walk(book, totals.elements, progress);
    if walk.cut {
        oddities.push("too many positions at one depth to follow every line".to_owned());
    }
    Summary {
        entries: totals.elements,
        positions: Some(totals.elements),
        moves: Some(totals.moves),
        games: book.results(&Position::start()).map(|results| results.games()),
        deepest: Some(walk.plies),
        reachable: Some(walk.reached),
        learned: None,
        oddities,
        notes: notes(book, &totals),
    }
}

/// What the header and the files tell, as lines with names.
fn notes(book: &Kvetka, totals: &Totals) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    if let Some(Header { caption, least_elo, plies, .. }) = book.header() {
        if !caption.is_empty() {
            notes.push(("caption", caption.clone()));
        }
        let names = ["White", "Black", "the stronger", "the weaker"];
        let limits = least_elo.iter().zip(names).filter(|(least, _)| **least > 0);
        let limits: Vec<String> = limits.map(|(least, name)| format!("{name} {least}")).collect();
        if !limits.is_empty() {
            notes.push(("least Elo", limits.join(", ")));
        }
        if *plies != ALL_PLIES {
            notes.push(("plies of a game", format!("the first {plies}")));
        }
    }
    let room = book.blocks() * BLOCK_LEN;
    if let Some(percent) = (totals.used * 100).checked_div(room) {
        notes.push(("blocks", format!("{}, {percent}% full", book.blocks())));
    }
    for (name, count) in [("comments", totals.comments), ("links to games", totals.links)] {
        if count > 0 {
            notes.push((name, count.to_string()));
        }
    }
    if let (Some(sources), Some(games)) = (book.sources(), totals.games) {
        notes.push(("sources", format!("{} with {games} games", sources.count())));
    }
    notes
}

/// Reports each damage and oddity: those of the files, of the blocks in their order, of the sources, of the index; many
/// of one kind in one line at the end.
pub fn check(book: &Kvetka, progress: &Progress, report: &mut dyn FnMut(Damage)) {
    let mut groups = Groups::new(TOLD);
    let totals = pass(book, progress, &mut |kind, at, what| {
        if let Some(what) = groups.add(kind, at, what) {
            report(Damage { offset: at, what, serious: kind.is_serious() });
        }
    });
    for (kind, offset, what) in groups.others() {
        report(Damage { offset, what, serious: kind.is_serious() });
    }
    for what in general(book, &totals) {
        report(Damage { offset: 0, what, serious: false });
    }
}

/// What is odd about the book as a whole.
fn general(book: &Kvetka, totals: &Totals) -> Vec<String> {
    let mut odd = Vec::new();
    if totals.open > 0 {
        let (moves, lead) = if totals.open == 1 { ("move", "leads") } else { ("moves", "lead") };
        odd.push(format!("{} {moves} {lead} to positions that the book does not have", totals.open));
    }
    if totals.links > 0 && book.sources().is_none() {
        odd.push(format!("{} links to games, and no .ksf file that names them", totals.links));
    }
    odd
}

/// A clause with the name of the file that it tells of.
fn named(what: String, path: &Path) -> String {
    match path.file_name() {
        Some(name) => format!("{what}, in {}", name.to_string_lossy()),
        None => what,
    }
}

/// Reads everything once.
fn pass(book: &Kvetka, progress: &Progress, tell: Tell<'_>) -> Totals {
    let mut totals = Totals::default();
    for warning in book.complaints() {
        let what = warning.what().to_owned();
        let what = warning.path().map_or(what.clone(), |path| named(what, path));
        tell(Kind::Files, warning.offset().unwrap_or_default(), what);
    }
    if let (Some(header), Some(first)) = (book.header(), book.parts().all().first())
        && header.element_type & !HAS_LINKS != 0
    {
        let what =
            format!("the header's kind of elements, 0x{:02x}, means nothing known", header.element_type);
        tell(Kind::Header, first.start - 6, named(what, &first.path));
    }
    let games = sources(book, tell);
    totals.games = book.sources().map(|_| games.iter().sum());
    book.parts().expect(Access::Sequential);
    progress.bytes(book.blocks() * BLOCK_LEN);
    let mut pass = Pass { book, totals, games, last: None, tell };
    for number in 0..book.blocks() {
        if number.is_multiple_of(STRIDE) {
            progress.at(number * BLOCK_LEN);
        }
        pass.block(number);
    }
    let totals = pass.totals;
    book.parts().expect(Access::Random);
    totals
}

/// The pass over the blocks.
struct Pass<'a, 'b> {
    book: &'a Kvetka,
    totals: Totals,
    /// Games of each source that can be read.
    games: Vec<u64>,
    last: Option<[u8; KEY_LEN]>,
    tell: Tell<'b>,
}

impl Pass<'_, '_> {
    fn block(&mut self, number: u64) {
        let Some((part, start)) = self.book.parts().place(number) else { return };
        let Some(block) = self.book.parts().block(number) else { return };
        let path = &part.path;
        let mut tell =
            |kind, at: usize, what: String| (self.tell)(kind, start + at as u64, named(what, path));
        self.totals.used += block.used().len() as u64;
        let said = usize::from(block.said().unwrap_or_default());
        if said < BLOCK_HEADER || said > BLOCK_LEN as usize {
            let what = format!("block {number} says that {said} of its {BLOCK_LEN} bytes are in use");
            tell(Kind::Block, 0, what);
        } else if said == BLOCK_HEADER {
            tell(Kind::Empty, 0, format!("block {number} is empty"));
        }
        if let Some(index) = self.book.index()
            && let Some(first) = block.first_key()
            && index.key(number) != Some(first)
        {
            let what = format!("the index has another first key than block {number}");
            (self.tell)(Kind::Index, number * KEY_LEN as u64, named(what, index.path()));
        }
        for element in block.elements() {
            match element {
                Ok(element) => self.element(&block, number, &element, start, path),
                Err((at, fault)) => {
                    let what = format!("an element of block {number} {} of what is in use", fault.what());
                    (self.tell)(Kind::Element, start + at as u64, named(what, path));
                }
            }
        }
    }

    fn element(&mut self, block: &Block<'_>, number: u64, element: &RawElement<'_>, start: u64, path: &Path) {
        let at = start + element.at as u64;
        let mut tell = |kind, what: String| (self.tell)(kind, at, named(what, path));
        self.totals.elements += 1;
        if element.len() > MOST_ELEMENT {
            tell(
                Kind::Length,
                format!("an element has {} bytes, and {MOST_ELEMENT} are the most", element.len()),
            );
        }
        match self.last.replace(*element.key) {
            Some(last) if last == *element.key => {
                tell(Kind::Order, "this position stands before it already".to_owned());
            }
            Some(last) if last > *element.key => {
                let what = "this position stands behind one whose key is greater: it may not be found";
                tell(Kind::Order, what.to_owned());
            }
            _ => {}
        }
        debug_assert!(element.end <= block.used().len());
        let chess = match Key(*element.key).position() {
            Ok(chess) => Some(chess),
            Err(fault) => {
                tell(Kind::Position, fault.what().to_owned());
                None
            }
        };
        match element.body() {
            Ok(body) => {
                if let Some(chess) = chess {
                    self.moves(&chess, &body, at, path);
                }
                self.extras(&body, at, path);
            }
            Err(fault) => {
                tell(Kind::Element, format!("an element of block {number} {} of it", fault.what()));
            }
        }
    }

    fn moves(&mut self, chess: &Chess, body: &Body<'_>, at: u64, path: &Path) {
        let Some(normal) = Normal::of(chess) else { return };
        let fen = || Fen::from_position(chess, EnPassantMode::PseudoLegal).to_string();
        let mut seen: Vec<Move> = Vec::new();
        for &code in body.moves {
            let Some(mv) = legal(code, &normal, chess) else {
                let why = if is_known(code) { "is not legal" } else { "means nothing" };
                let what = format!("the move code 0x{code:02x} {why} in {}", fen());
                (self.tell)(Kind::Move, at, named(what, path));
                continue;
            };
            if seen.contains(&mv) {
                let what = format!("the move {mv} stands in {} already", fen());
                (self.tell)(Kind::MoveTwice, at, named(what, path));
                continue;
            }
            seen.push(mv);
            self.totals.moves += 1;
            let mut next = chess.clone();
            next.play_unchecked(mv);
            let found = Key::of(&next).and_then(|key| self.book.find(&key));
            self.totals.open += u64::from(found.is_none());
        }
    }

    fn extras(&mut self, body: &Body<'_>, at: u64, path: &Path) {
        let mut tell = |kind, what: String| (self.tell)(kind, at, named(what, path));
        let Extras { flags, link, comment, rest } = match body.extras(self.book.has_links()) {
            Ok(extras) => extras,
            Err(fault) => {
                return tell(
                    Kind::Extras,
                    format!("what stands behind the moves {} of its element", fault.what()),
                );
            }
        };
        let unknown = flags & !(HAS_COMMENT | HAS_ENDS | HAS_LINK);
        if unknown != 0 {
            tell(Kind::Unknown, format!("the flags 0x{unknown:02x} mean nothing known"));
        } else if flags & HAS_ENDS == 0 && !rest.is_empty() {
            tell(Kind::Unknown, format!("no flag tells of the last {} bytes of an element", rest.len()));
        }
        if let Some(comment) = comment {
            self.totals.comments += 1;
            let letters = comment.encode_utf16().count();
            if letters > MOST_COMMENT {
                tell(
                    Kind::Unknown,
                    format!("a comment has {letters} letters, and {MOST_COMMENT} are the most"),
                );
            }
        }
        if let Some(link) = link {
            self.totals.links += 1;
            let games = self.games.get(usize::from(link.source)).copied();
            if self.book.sources().is_some() && games.is_none_or(|games| u64::from(link.game) >= games) {
                let what = format!(
                    "a link leads to game {} of source {}, which the .ksf file does not have",
                    link.game, link.source
                );
                tell(Kind::Link, what);
            }
        }
    }
}

/// Reads the `.ksf` file; the games of each source that can be read.
fn sources(book: &Kvetka, tell: Tell<'_>) -> Vec<u64> {
    let Some(sources) = book.sources() else { return Vec::new() };
    let mut tell = |kind, at, what| tell(kind, at, named(what, sources.path()));
    let len = sources.bytes().len() as u64;
    let (said, count) = (sources.said(), sources.count());
    if said > count || Sources::contents_len(said.into()) > len {
        tell(Kind::Source, 0, format!("the contents name {said} sources, and the file has {len} bytes"));
    }
    let mut held = Vec::new();
    for number in 0..count {
        held.push(0);
        let entry = 4 + 4 * u64::from(number);
        let source = match sources.source(number) {
            Ok(source) => source,
            Err(LinkFault::Cut(at, fault)) if at <= len => {
                tell(Kind::Source, at, format!("source {number} {} of the file", fault.what()));
                continue;
            }
            Err(_) => {
                tell(Kind::Source, entry, format!("source {number} lies behind the end of the file"));
                continue;
            }
        };
        if source.kind > SOURCE_CBH {
            tell(
                Kind::Unknown,
                entry,
                format!("source {number} is of kind {}, which means nothing known", source.kind),
            );
        }
        for game in sources.games(&source) {
            match game {
                Ok(_) => held.iter_mut().next_back().into_iter().for_each(|held| *held += 1),
                Err((at, fault)) => {
                    let games = held.last().copied().unwrap_or_default();
                    let what = format!(
                        "game {games} of {} of source {number} {} of the file",
                        source.games,
                        fault.what()
                    );
                    tell(Kind::Source, at.min(len), what);
                }
            }
        }
    }
    held
}

/// Walks from the starting position along all legal moves of the book, each position once.
fn walk(book: &Kvetka, positions: u64, progress: &Progress) -> Reach {
    // No two elements begin within the shortest one's bytes.
    let places = book.blocks() * BLOCK_LEN / SHORTEST_ELEMENT + 1;
    reach(places, positions, progress, &mut |chess, moves| {
        let normal = Normal::of(chess)?;
        let found = book.find(&Key::of_normal(&normal)?)?;
        if let (Some(moves), Ok(body)) = (moves, found.element.body()) {
            moves.extend(body.moves.iter().filter_map(|&code| legal(code, &normal, chess)));
        }
        Some(Kvetka::offset(&found) / SHORTEST_ELEMENT)
    })
}
