//! Reading a whole book: its totals and the findings about it.
#![allow(clippy::cast_possible_truncation, reason = "a block has 2048 bytes")]

use std::path::Path;

use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _, fen::Fen};

use tabiya_base::findings::{Findings, kinds};
use tabiya_base::map::Access;
use tabiya_base::progress::Progress;
use tabiya_chess::Position;
use tabiya_chess::normal::Normal;

use super::block::Block;
use super::element::{Body, Extras, Link, RawElement};
use super::header::KvetkaHeader;
use super::key::Key;
use super::layout::{
    ALL_PLIES, BLOCK_HEADER, BLOCK_LEN, HAS_COMMENT, HAS_ENDS, HAS_LINK, HAS_LINKS, KEY_LEN, MAX_COMMENT,
    MAX_ELEMENT, SOURCE_CBH,
};
use super::moves::{CODES, legal};
use super::read::Kvetka;
use super::read::sources::KvetkaSources;
use crate::BookSummary;
use crate::traverse::breadth_first;

kinds! {
    /// Kinds of findings about a Kvetka book.
    enum KvetkaFindingKind {
        Files: Error "missing or damaged files",
        Header: Warning "unknown values in the header" => "they change nothing in play",
        Block: Error "blocks with a wrong length",
        Empty: Warning "empty blocks" => "they change nothing in play",
        Element: Error "elements that cannot be read",
        Length: Error "elements that are too long",
        Order: Error "elements out of order",
        Position: Error "elements whose position cannot be found",
        Move: Error "move codes that are not legal in their position",
        MoveTwice: Warning "moves that their position already has" => "the first one counts",
        Extras: Error "elements whose flags, link or comment cannot be read",
        Unknown: Warning "values without a known meaning" => "they change nothing in play",
        Link: Error "links to games that the .ksf file does not have",
        Source: Error "sources or games that cannot be read",
        Index: Error "wrong keys in the index",
        Open: Warning "moves that lead to positions that the book does not have" => "they are played only where no move has a game",
        NoSources: Warning "links to games, but no .ksf file with these games" => "moves are played as before, without the names of games",
        Cut: Warning "depths with too many positions" => "deeper positions are not checked, and are played",
    }
}

/// What a pass over the book counts.
#[derive(Default)]
pub struct KvetkaTotals {
    elements: u64,
    moves: u64,
    comments: u64,
    links: u64,
    used: u64,
    games: Option<u64>,
}

/// Sums the book up and reports findings.
pub(crate) fn survey(book: &Kvetka, progress: &Progress, findings: &mut Findings<'_>) -> BookSummary {
    let totals = inspect(book, progress, findings);
    let walk = breadth_first(book, totals.elements, progress);
    walk.add_cut(KvetkaFindingKind::Cut, findings);
    BookSummary {
        entries: totals.elements,
        positions: Some(totals.elements),
        moves: Some(totals.moves),
        games: book.results(&Position::start()).map(|results| results.games),
        deepest: walk.deepest(),
        reachable: Some(walk.reached),
        learned: None,
        findings: Vec::new(),
        notes: notes(book, &totals),
    }
}

/// What the header and the files say, as named lines.
fn notes(book: &Kvetka, totals: &KvetkaTotals) -> Vec<(&'static str, String)> {
    let header = book.header();
    let limits = |header: &KvetkaHeader| {
        let names = ["White", "Black", "the stronger", "the weaker"];
        let limits = header.least_elo.iter().zip(names).filter(|(least, _)| **least > 0);
        limits.map(|(least, name)| format!("{name} {least}")).collect::<Vec<_>>().join(", ")
    };
    let plies = header.map(|header| header.plies).filter(|plies| *plies != ALL_PLIES);
    let percent = (totals.used * 100).checked_div(book.blocks() * BLOCK_LEN);
    let sources = book.sources().zip(totals.games);
    let number = |count: u64| (count > 0).then(|| count.to_string());
    let notes = [
        ("caption", header.map(|header| header.caption.clone())),
        ("least Elo", header.map(limits)),
        ("plies of a game", plies.map(|plies| format!("the first {plies}"))),
        ("blocks", percent.map(|percent| format!("{}, {percent}% full", book.blocks()))),
        ("comments", number(totals.comments)),
        ("links to games", number(totals.links)),
        ("sources", sources.map(|(sources, games)| format!("{} with {games} games", sources.count()))),
    ];
    let known = notes.into_iter().filter_map(|(name, text)| Some((name, text?)));
    known.filter(|(_, text)| !text.is_empty()).collect()
}

/// Reads everything once and reports findings about the files, the sources, the blocks in their order and the index.
pub(crate) fn inspect(book: &Kvetka, progress: &Progress, findings: &mut Findings<'_>) -> KvetkaTotals {
    for error in &book.warnings {
        let at = error.offset().unwrap_or_default();
        findings.add(KvetkaFindingKind::Files, (error.path().unwrap_or(&book.name), at), error.what());
    }
    if let (Some(header), Some(first)) = (book.header(), book.parts.files.first())
        && header.element_type & !HAS_LINKS != 0
    {
        let kind = header.element_type;
        let what = format_args!("the header's kind of elements, 0x{kind:02x}, has no known meaning");
        findings.add(KvetkaFindingKind::Header, (&first.path, first.start - 6), what);
    }
    let games = sources(book, findings);
    let totals =
        KvetkaTotals { games: book.sources().map(|_| games.iter().sum()), ..KvetkaTotals::default() };
    book.parts.expect(Access::Sequential);
    progress.bytes(book.blocks() * BLOCK_LEN);
    let mut pass = Pass { book, totals, games, last: None, findings };
    for number in 0..book.blocks() {
        progress.pass(number * BLOCK_LEN);
        pass.block(number);
    }
    book.parts.expect(Access::Random);
    pass.totals
}

/// The pass over the blocks.
struct Pass<'a, 'b> {
    book: &'a Kvetka,
    totals: KvetkaTotals,
    /// Games of each source that can be read.
    games: Vec<u64>,
    last: Option<[u8; KEY_LEN]>,
    findings: &'a mut Findings<'b>,
}

/// A file and an offset in it.
type At<'a> = (&'a Path, u64);

impl Pass<'_, '_> {
    fn block(&mut self, number: u64) {
        let Some((part, start)) = self.book.parts.place(number) else { return };
        let Some(block) = self.book.parts.block(number) else { return };
        let path = &*part.path;
        self.totals.used += block.used().len() as u64;
        let said = usize::from(block.said().unwrap_or_default());
        if said < BLOCK_HEADER || said > BLOCK_LEN as usize {
            let what = format_args!("block {number} claims that {said} of its {BLOCK_LEN} bytes are in use");
            self.findings.add(KvetkaFindingKind::Block, (path, start), what);
        } else if said == BLOCK_HEADER {
            self.findings.add(
                KvetkaFindingKind::Empty,
                (path, start),
                format_args!("block {number} is empty"),
            );
        }
        if let Some(index) = &self.book.index
            && let Some(first) = block.first_key()
            && index.key(number) != Some(first)
        {
            let what = format_args!("the index has a different first key for block {number}");
            self.findings.add(KvetkaFindingKind::Index, (&*index.path, number * KEY_LEN as u64), what);
        }
        for element in block.elements() {
            match element {
                Ok(element) => self.element(&block, number, &element, (path, start + element.at as u64)),
                Err((at, why)) => {
                    let what = format_args!("an element of block {number} {why} of the used bytes");
                    self.findings.add(KvetkaFindingKind::Element, (path, start + at as u64), what);
                }
            }
        }
    }

    fn element(&mut self, block: &Block<'_>, number: u64, element: &RawElement<'_>, at: At<'_>) {
        self.totals.elements += 1;
        let len = element.len();
        if len > MAX_ELEMENT {
            let what = format_args!("an element has {len} bytes, but at most {MAX_ELEMENT} are allowed");
            self.findings.add(KvetkaFindingKind::Length, at, what);
        }
        let last = self.last.replace(*element.key);
        if last == self.last {
            self.findings.add(KvetkaFindingKind::Order, at, "the element before has the same position");
        } else if last > self.last {
            let what = "the element before has a higher key: this position may not be found";
            self.findings.add(KvetkaFindingKind::Order, at, what);
        }
        debug_assert!(element.end <= block.used().len());
        let chess = Key(*element.key).position();
        if let Err(what) = &chess {
            self.findings.add(KvetkaFindingKind::Position, at, what);
        }
        match element.body() {
            Ok(body) => {
                if let Ok(chess) = chess {
                    self.moves(&chess, &body, at);
                }
                self.extras(&body, at);
            }
            Err(why) => {
                let what = format_args!("an element of block {number} {why} of it");
                self.findings.add(KvetkaFindingKind::Element, at, what);
            }
        }
    }

    fn moves(&mut self, chess: &Chess, body: &Body<'_>, at: At<'_>) {
        let Some(normal) = Normal::from_chess(chess) else { return };
        let fen = || Fen::from_position(chess, EnPassantMode::PseudoLegal);
        let uci = |mv: Move| mv.to_uci(CastlingMode::Standard);
        let mut seen: Vec<Move> = Vec::new();
        for &code in body.moves {
            let Some(mv) = legal(code, &normal, chess) else {
                let why = if CODES.is_known(code) { "is not legal" } else { "is unknown" };
                let what = format_args!("the move code 0x{code:02x} {why} in {}", fen());
                self.findings.add(KvetkaFindingKind::Move, at, what);
                continue;
            };
            if seen.contains(&mv) {
                let what = format_args!("{} already has the move {}", fen(), uci(mv));
                self.findings.add(KvetkaFindingKind::MoveTwice, at, what);
                continue;
            }
            seen.push(mv);
            self.totals.moves += 1;
            let mut next = chess.clone();
            next.play_unchecked(mv);
            if Key::from_chess(&next).and_then(|key| self.book.find(&key)).is_none() {
                let what =
                    format_args!("the move {} leads to a position that the book does not have", uci(mv));
                self.findings.count(KvetkaFindingKind::Open, at, what);
            }
        }
    }

    fn extras(&mut self, body: &Body<'_>, at: At<'_>) {
        let Self { book, totals, games, findings, .. } = self;
        let Extras { flags, link, comment, rest } = match body.extras(book.has_links()) {
            Ok(extras) => extras,
            Err(why) => {
                let what = format_args!("the part after the moves {why} of its element");
                return findings.add(KvetkaFindingKind::Extras, at, what);
            }
        };
        let unknown = flags & !(HAS_COMMENT | HAS_ENDS | HAS_LINK);
        if unknown != 0 {
            findings.add(
                KvetkaFindingKind::Unknown,
                at,
                format_args!("the flags 0x{unknown:02x} have no known meaning"),
            );
        } else if flags & HAS_ENDS == 0 && !rest.is_empty() {
            let what = format_args!("no flag announces the last {} bytes of an element", rest.len());
            findings.add(KvetkaFindingKind::Unknown, at, what);
        }
        if let Some(comment) = comment {
            totals.comments += 1;
            let letters = comment.encode_utf16().count();
            if letters > MAX_COMMENT {
                let what =
                    format_args!("a comment has {letters} letters, but at most {MAX_COMMENT} are allowed");
                findings.add(KvetkaFindingKind::Unknown, at, what);
            }
        }
        let Some(link) = link else { return };
        totals.links += 1;
        if book.sources().is_none() {
            findings.count(
                KvetkaFindingKind::NoSources,
                at,
                "there is a link to a game, but no .ksf file with this game",
            );
        } else if games.get(usize::from(link.source)).is_none_or(|&games| u64::from(link.game) >= games) {
            let Link { source, game } = link;
            let what = format_args!(
                "a link leads to game {game} of source {source}, which the .ksf file does not have"
            );
            findings.add(KvetkaFindingKind::Link, at, what);
        }
    }
}

/// Reads the `.ksf` file; the games of each source that can be read.
fn sources(book: &Kvetka, findings: &mut Findings<'_>) -> Vec<u64> {
    let Some(sources) = book.sources() else { return Vec::new() };
    let path = &*sources.path;
    let len = sources.map.len() as u64;
    let (said, count) = (sources.said(), sources.count());
    if said > count || KvetkaSources::contents_len(said.into()) > len {
        let what = format_args!("the contents name {said} sources, but the file has only {len} bytes");
        findings.add(KvetkaFindingKind::Source, (path, 0), what);
    }
    let (mut held, mut read) = (Vec::new(), 0);
    for number in 0..count {
        if sources.is_shared(read) {
            let what = format_args!("the sources before source {number} have the same games");
            findings.add(KvetkaFindingKind::Source, (path, KvetkaSources::entry(number)), what);
            break;
        }
        let mut games = 0;
        match sources.source(number) {
            Ok(source) => {
                if source.kind > SOURCE_CBH {
                    let what =
                        format_args!("the kind {} of source {number} has no known meaning", source.kind);
                    findings.add(KvetkaFindingKind::Unknown, (path, KvetkaSources::entry(number)), what);
                }
                let mut all_games = sources.games(&source);
                for game in all_games.by_ref() {
                    if let Err((at, why)) = game {
                        let all = source.games;
                        let what = format_args!("game {games} of {all} of source {number} {why} of the file");
                        findings.add(KvetkaFindingKind::Source, (path, at.min(len)), what);
                        break;
                    }
                    games += 1;
                }
                read += all_games.read();
            }
            Err((at, why)) if at <= len => {
                let what = format_args!("source {number} {why} of the file");
                findings.add(KvetkaFindingKind::Source, (path, at), what);
            }
            Err(_) => {
                let what = format_args!("source {number} is after the end of the file");
                findings.add(KvetkaFindingKind::Source, (path, KvetkaSources::entry(number)), what);
            }
        }
        held.push(games);
    }
    held
}
