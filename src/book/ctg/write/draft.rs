//! A book as it is put together in memory: positions become rows, rows become pages.

use std::io::{self, Write};

use shakmaty::Position as _;

use super::super::entry::{annotation_code, comment_code};
use super::super::layout::{CTG_FIXED, CTG_GAMES, CTG_PAGES, CTG_POSITIONS, PAGE_LEN};
use super::super::moves::code;
use super::super::signature::Signature;
use super::rows::{MOST_MOVES, Row, Rows, SAID_GREEN, SAID_NONE, SAID_RED, Source, Tally};
use super::trie::{Item, Trie};
use crate::book::{Annotation, Counts, Green, Known, KnownMove};
use crate::chess::Position;
use crate::chess::normal::Normal;

/// A CTG book on its way into its three files.
#[derive(Debug, Default)]
pub struct Draft {
    green: Green,
    rows: Rows,
    /// Moves that became green because only their weights are known.
    greens: u64,
    /// Kept to save allocations.
    moves: Vec<[u8; 2]>,
    lost: Lost,
}

/// What the format has no place for, or holds otherwise.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    positions: u64,
    illegal: u64,
    codes: u64,
    learned: u64,
    comments: u64,
    weights: u64,
}

/// What stands beside the pages of a book that was written.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// The `.cto` file.
    pub cto: Vec<u8>,
    /// The `.ctb` file.
    pub ctb: Vec<u8>,
    /// Positions in the book.
    pub positions: u64,
    /// Moves in the book.
    pub moves: u64,
    /// What the book does not hold, and how often.
    pub left_out: Vec<(String, u64)>,
    /// Moves that became green because only their weights are known.
    pub greens: u64,
}

impl Draft {
    /// An empty book. Where a position's moves have no colour, these become green.
    pub fn new(green: Green) -> Self {
        Self { green, ..Self::default() }
    }

    /// Takes in a position. One that comes again, mirrored or with its colours swapped, is the same to the format: its
    /// moves are put together, and its counts added up.
    pub fn add(&mut self, known: &Known) {
        let form = known.position.as_ref().and_then(|position| {
            let normal = Normal::of(position.chess())?;
            Some((position, normal, Row::new(&Signature::of_normal(&normal)?)))
        });
        let Some((position, normal, mut row)) = form else {
            self.lost.positions += 1;
            return;
        };
        if let Some(words) = &known.comment {
            row.comment = comment_code(words).unwrap_or_default();
            self.lost.comments += u64::from(row.comment == 0);
        }
        let of_moves = || known.moves.iter().filter_map(|known| known.counts).reduce(plus);
        match known.total {
            Some(total) => row.count(Source::Itself, Tally::of(total)),
            None => {
                if let Some(total) = of_moves() {
                    row.count(Source::Moves, Tally::of(total));
                }
            }
        }
        let greens = self.greens(known);
        let nothing = !known.moves.iter().any(|known| known.counts.is_some_and(has_result));
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        for (at, known) in known.moves.iter().enumerate() {
            let green = greens.map(|least| u128::from(known.weight) * 1000 >= least && known.weight > 0);
            moves.extend(self.add_move(known, position, &normal, green, nothing, at < MOST_MOVES));
        }
        self.rows.push_with(row, &moves);
        self.moves = moves;
    }

    /// A thousand times the weight from which on a move becomes green, where weights decide on that.
    fn greens(&mut self, known: &Known) -> Option<u128> {
        if known.moves.iter().any(|known| known.recommended.is_some()) {
            return None;
        }
        let weights = known.moves.iter().map(|known| u128::from(known.weight));
        let only_weights = known.moves.iter().all(|known| known.counts.is_none());
        let least = match self.green {
            Green::PerMille(1..) if known.moves.is_empty() => None,
            Green::PerMille(share @ 1..) => Some(weights.sum::<u128>() * u128::from(share)),
            Green::Weights if only_weights => weights.max().map(|heaviest| heaviest * 500),
            _ => None,
        };
        if least.is_none() {
            self.lost.weights += if known.weighs_by_results() { 0 } else { known.moves.len() as u64 };
        } else if self.green == Green::Weights {
            let green = |known: &&KnownMove| {
                known.weight > 0 && least.is_some_and(|least| u128::from(known.weight) * 1000 >= least)
            };
            self.greens += known.moves.iter().filter(green).count() as u64;
        }
        least
    }

    /// Notes what a move says of the position that it leads to; gives its code and mark.
    fn add_move(
        &mut self,
        known: &KnownMove,
        position: &Position,
        normal: &Normal,
        green: Option<bool>,
        nothing: bool,
        room: bool,
    ) -> Option<[u8; 2]> {
        let Some(found) = known.at(position) else {
            self.lost.illegal += 1;
            return None;
        };
        let chess = position.chess();
        let Some(code) = code(found.mv, normal, chess).filter(|_| room) else {
            self.lost.codes += 1;
            return None;
        };
        let mut next = chess.clone();
        next.play_unchecked(found.mv);
        let Some(signature) = Signature::of(&next) else {
            self.lost.codes += 1;
            return None;
        };
        self.lost.learned += u64::from(known.learned.is_some());
        let mut row = Row::new(&signature);
        if let Some(counts) = known.counts {
            row.count(Source::Reached, Tally::of_mover(counts));
        }
        row.said = match known.recommended.or(green.filter(|green| *green)) {
            None => SAID_NONE,
            Some(true) => SAID_GREEN,
            Some(false) => SAID_RED,
        };
        if let Some(ratings) = known.ratings {
            row.rate(opponents(known), ratings.average);
        }
        self.rows.push(row);
        Some([code, annotation_code(known.annotation.or_else(|| never(known, nothing)))])
    }

    /// Writes the pages; what stands beside them is given back.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(self, ctg: &mut impl Write) -> io::Result<Beside> {
        let rows = self.rows.sorted();
        let all = &rows.rows;
        let trie = Trie::new(all.len(), |at| {
            all.get(at)
                .map_or(Item { order: 0, len: 0 }, |row| Item { order: row.order, len: row.entry_len() })
        });
        let mut beside = Beside { cto: trie.cto(), ctb: trie.ctb(), ..Beside::default() };
        let start = Signature::of(Position::start().chess());
        let games = start.and_then(|start| rows.find(&start)).map(Row::games);
        let games = games.or_else(|| all.iter().map(Row::games).max()).unwrap_or_default();
        let placed: u64 = trie.pages.iter().map(|page| page.len() as u64).sum();
        ctg.write_all(&header(trie.pages.len() as u32, placed as u32, games))?;
        let (mut torn, mut scaled) = (0, 0);
        let mut page = Vec::with_capacity(PAGE_LEN as usize);
        for entries in &trie.pages {
            page.clear();
            page.extend([0; 4]);
            for row in all.get(entries.clone()).unwrap_or_default() {
                let moves = rows.moves_of(row);
                page.extend(row.signature());
                page.push(1 + 2 * moves.len() as u8);
                page.extend(moves.as_flattened());
                page.extend(row.statistics().to_bytes());
                beside.moves += moves.len() as u64;
                torn += u64::from(row.is_torn());
                scaled += u64::from(row.is_too_great());
            }
            let (count, len) = (entries.len() as u16, page.len() as u16);
            let head = count.to_be_bytes().into_iter().chain(len.to_be_bytes());
            page.iter_mut().zip(head).for_each(|(place, byte)| *place = byte);
            page.resize(PAGE_LEN as usize, 0);
            ctg.write_all(&page)?;
        }
        beside.positions = placed;
        beside.greens = self.greens;
        let Lost { positions, illegal, codes, learned, comments, weights } = self.lost;
        beside.left_out = [
            ("positions that the format cannot write", positions),
            ("positions whose hashes are too much alike", trie.left_out),
            ("moves that are not legal in their position", illegal),
            ("moves that the format cannot write", codes + rows.left_out),
            ("comments that the format has no sign for", comments),
            ("learned results of moves", learned),
            ("weights of moves that are not those of their results: --green makes colours of weights", weights),
            ("positions with different colours on different ways to them, of which red counts before green", torn),
            ("positions with more games than the format can count, all counts halved until they fit", scaled),
        ]
        .map(|(what, count)| (what.to_owned(), count))
        .into();
        beside.left_out.retain(|(_, count)| *count > 0);
        Ok(beside)
    }
}

fn plus(a: Counts, b: Counts) -> Counts {
    Counts {
        games: a.games.saturating_add(b.games),
        wins: a.wins.saturating_add(b.wins),
        draws: a.draws.saturating_add(b.draws),
        losses: a.losses.saturating_add(b.losses),
    }
}

fn has_result(counts: Counts) -> bool {
    counts.wins | counts.draws | counts.losses != 0
}

/// The mark of a move that must never be played and would be by its results; `nothing` says that no move of its
/// position has one, so that all would weigh the same.
fn never(known: &KnownMove, nothing: bool) -> Option<Annotation> {
    let points = known.counts.is_some_and(|counts| counts.wins | counts.draws != 0);
    (known.weight == 0 && known.recommended.is_none() && (points || nothing)).then_some(Annotation::Bad)
}

/// The average rating of the mover's opponents, by what the mover performed at against them.
fn opponents(known: &KnownMove) -> Option<u32> {
    /// Any average that does not end at the bounds of a performance.
    const BASE: u32 = 10_000;
    let performance = known.ratings?.performance?;
    let difference = i64::from(known.counts?.performance(BASE)?) - i64::from(BASE);
    u32::try_from(i64::from(performance) - difference).ok()
}

/// The header page.
fn header(pages: u32, positions: u32, games: u32) -> Vec<u8> {
    let mut page = vec![0; PAGE_LEN as usize];
    let mut put = |at: u64, bytes: &[u8]| {
        page.iter_mut().skip(at as usize).zip(bytes).for_each(|(place, byte)| *place = *byte);
    };
    CTG_FIXED.iter().for_each(|(at, bytes)| put(*at, bytes));
    put(CTG_PAGES, &pages.to_be_bytes());
    put(CTG_POSITIONS, &positions.to_be_bytes());
    put(CTG_GAMES, &games.to_be_bytes());
    page
}
