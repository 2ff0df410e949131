//! What somebody is expected to play: several sources in order, each with the next behind it.
//!
//! | step | module |
//! |---|---|
//! | the moves of a position with their chances | [`Expected`] |
//! | books, count files and games as its sources | [`ExpectedSources`] |

mod sources;

use shakmaty::Move;

use tabiya_book::choose::{Policy, chances};
use tabiya_book::{MoveFacts, Moves};
use tabiya_chess::Position;

use crate::bookmaker::Recency;

pub use sources::{CountedSource, ExpectedSources, Wanted};

/// Games for which the sources behind one count: where it knows `n` games, its moves count `n` against this.
pub const BEHIND: f64 = 3.0;

/// A move that may be played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedMove {
    /// The move.
    pub mv: Move,
    /// How probable it is, from 0 to 1.
    pub chance: f64,
    /// How often it was played in the games of the source that speaks, if that counts games.
    pub games: Option<u64>,
}

/// Which source speaks of a position: the first that knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Its place among the sources.
    pub source: usize,
    /// The games that went on from the position; `None` if it does not count games.
    pub games: Option<u64>,
}

/// Sources of what is played, the first of which speaks where it knows the position.
///
/// A source that counts games gives moves as often as they were played, also those that only lost; older games may count as parts of one.
/// Where it knows `n` games, a move has the chance `(n_move + 3 c) / (n + 3)`, `c` being its chance by the sources behind, if one of those knows the position. A
/// book that counts no games says what it plays, and nothing behind it adds to that.
#[derive(Clone, Debug, Default)]
pub struct Expected<'a> {
    sources: Vec<SourceOfMoves<'a>>,
}

/// Appends the moves that were played in a position, each with its games.
pub type PlayedMoves<'a> = dyn Fn(&Position, &mut Vec<MoveFacts>) + Send + Sync + 'a;

/// What is asked by position.
#[derive(Clone, Copy)]
pub(crate) enum SourceOfMoves<'a> {
    Book(&'a dyn Moves),
    /// The games, and the same counted by their age, in parts of [`Recency::WHOLE`].
    Dated(&'a dyn Moves, &'a dyn Moves),
    Games(&'a PlayedMoves<'a>),
}

impl std::fmt::Debug for SourceOfMoves<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Book(_) => "Book",
            Self::Dated(..) => "Dated",
            Self::Games(_) => "Games",
        })
    }
}

impl<'a> Expected<'a> {
    /// These sources, in order.
    pub fn new(sources: impl IntoIterator<Item = &'a dyn Moves>) -> Self {
        Self { sources: sources.into_iter().map(SourceOfMoves::Book).collect() }
    }

    /// These games, and what was there behind them.
    pub fn behind(self, games: &'a PlayedMoves<'a>) -> Self {
        Self { sources: [vec![SourceOfMoves::Games(games)], self.sources].concat() }
    }

    /// Whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The moves that are expected in a position in place of what `out` holds, the most probable first, and who speaks of it; `None`
    /// if no source knows it, and then there are no moves. The chances add up to 1.
    pub fn moves(&self, at: &Position, out: &mut Vec<ExpectedMove>) -> Option<Speaker> {
        self.before(&mut 0.0, at, out)
    }

    /// As [`Expected::moves`], with something behind the last source that knows every position, such as an engine. Returns how
    /// probable it is that this is asked, which is what the chances lack to 1: 3 in n + 3 behind n games, and 0 behind a book.
    pub fn moves_and_rest(&self, at: &Position, out: &mut Vec<ExpectedMove>) -> f64 {
        let mut rest = 1.0;
        self.before(&mut rest, at, out);
        rest
    }

    /// The moves before what stands behind all sources with this chance, which becomes the smaller the more they know.
    fn before(&self, rest: &mut f64, at: &Position, out: &mut Vec<ExpectedMove>) -> Option<Speaker> {
        out.clear();
        let mut speaker = None;
        let (mut facts, mut parts) = (Vec::new(), Vec::new());
        for (number, source) in self.sources.iter().enumerate().rev() {
            facts.clear();
            parts.clear();
            match source {
                SourceOfMoves::Book(book) => book.moves(at, &mut facts),
                SourceOfMoves::Dated(games, by_age) => {
                    games.moves(at, &mut facts);
                    by_age.moves(at, &mut parts);
                }
                SourceOfMoves::Games(games) => games(at, &mut facts),
            }
            let games = match games(&facts) {
                Some(games) => {
                    add_games(&played(&facts, &parts), rest, out);
                    Some(games)
                }
                None if add_book(&facts, rest, out) => None,
                None => continue,
            };
            speaker = Some(Speaker { source: number, games });
        }
        // Stable: of equally probable moves the source has the first.
        out.sort_by(|one, other| other.chance.total_cmp(&one.chance));
        speaker
    }
}

/// The games of a position, if all of its moves are counted and one was played.
fn games(facts: &[MoveFacts]) -> Option<u64> {
    let games = |known: &MoveFacts| known.counts.map(|counts| counts.games);
    let sum = facts.iter().map(games).try_fold(0_u64, |sum, games| Some(sum.saturating_add(games?)));
    sum.filter(|sum| *sum > 0)
}

/// A move that was played.
struct Played {
    mv: Move,
    /// In how many games.
    games: u64,
    /// What these count.
    counts: f64,
}

/// The moves that were played. Their games count once, or what `parts` says if there are any.
fn played(facts: &[MoveFacts], parts: &[MoveFacts]) -> Vec<Played> {
    let games = |known: &MoveFacts| known.counts.map(|counts| counts.games).filter(|games| *games > 0);
    let by_age = |mv: Move| {
        let parts = parts.iter().find(|known| known.mv == mv).and_then(games)?;
        Some(parts as f64 / Recency::WHOLE as f64)
    };
    let played = |known: &MoveFacts| {
        let (mv, games) = (known.mv, games(known)?);
        Some(Played { mv, games, counts: by_age(mv).unwrap_or(games as f64) })
    };
    facts.iter().filter_map(played).collect()
}

/// Adds the games of a source to what the sources behind it expect.
fn add_games(played: &[Played], rest: &mut f64, out: &mut Vec<ExpectedMove>) {
    let behind = if out.is_empty() && *rest <= 0.0 { 0.0 } else { BEHIND };
    let sum = played.iter().map(|played| played.counts).sum::<f64>() + behind;
    *rest *= behind / sum;
    let mut moves = Vec::with_capacity(played.len() + out.len());
    for Played { mv, games, counts } in played {
        let other = out.iter().position(|other| other.mv == *mv).map(|place| out.swap_remove(place).chance);
        let chance = (counts + behind * other.unwrap_or(0.0)) / sum;
        moves.push(ExpectedMove { mv: *mv, chance, games: Some(*games) });
    }
    moves.extend(out.drain(..).map(|other| ExpectedMove {
        chance: behind * other.chance / sum,
        games: Some(0),
        ..other
    }));
    *out = moves;
}

/// Replaces what the sources behind a book expect by what it plays; `false` if it has no move to play.
fn add_book(facts: &[MoveFacts], rest: &mut f64, out: &mut Vec<ExpectedMove>) -> bool {
    let mut shares = Vec::new();
    chances(facts, &Policy::default(), |_| true, &mut shares);
    if shares.iter().all(|chance| *chance <= 0.0) {
        return false;
    }
    out.clear();
    *rest = 0.0;
    let played = facts.iter().zip(shares).filter(|(_, chance)| *chance > 0.0);
    out.extend(played.map(|(known, chance)| ExpectedMove { mv: known.mv, chance, games: None }));
    true
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tabiya_base::progress::Progress;
    use tabiya_base::resources::Resources;
    use tabiya_book as book;
    use tabiya_chess::notation::play;
    use tabiya_chess::{Game, Variant};
    use tabiya_games::PlayerName;

    use super::*;

    const RIVAL: &str = "[White \"A\"]\n[Black \"Rival\"]\n[Result \"1-0\"]\n\n1. e4 c5 2. Nf3 1-0\n\n";
    const OTHER: &str = "[White \"B\"]\n[Black \"C\"]\n[Result \"*\"]\n\n1. e4 e5 *\n\n";

    fn open(folder: &Path, files: &[(&str, String)], player: Option<&str>) -> ExpectedSources {
        open_by_age(folder, files, player, None)
    }

    fn open_by_age(
        folder: &Path,
        files: &[(&str, String)],
        player: Option<&str>,
        half_life: Option<f64>,
    ) -> ExpectedSources {
        let paths = files.iter().map(|(name, text)| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        let paths: Vec<_> = paths.collect();
        let player = player.map(PlayerName::part);
        let wanted = Wanted {
            variant: Variant::Chess,
            player: player.as_ref(),
            plies: Some(8),
            half_life,
            open: &|path| book::open_as(path, Variant::Chess),
        };
        let resources = Resources { threads: 1, memory: 64 << 20, temp: folder.to_owned() };
        ExpectedSources::open(&paths, &wanted, &resources, &Progress::none()).unwrap()
    }

    fn after(moves: &str) -> Position {
        let mut game = Game::start();
        play(moves, &mut game).unwrap();
        game.position().clone()
    }

    /// A move with its chance and its games.
    type Row = (String, f64, Option<u64>);

    fn shown(expected: &Expected<'_>, moves: &str) -> (Option<Speaker>, Vec<Row>) {
        let (at, mut out) = (after(moves), Vec::new());
        let speaker = expected.moves(&at, &mut out);
        let row = |found: &ExpectedMove| (crate::view::san(&at, found.mv), found.chance, found.games);
        (speaker, out.iter().map(row).collect())
    }

    #[test]
    fn the_next_source_counts_as_three_games_behind_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("rival.pgn", RIVAL.to_owned()), ("all.pgn", RIVAL.to_owned() + &OTHER.repeat(3))];
        let sources = open(folder.path(), &files, None);
        let expected = sources.expected();
        let (speaker, moves) = shown(&expected, "e4");
        assert_eq!(speaker, Some(Speaker { source: 0, games: Some(1) }));
        // He lost the one game in which he played c5. Of everybody's four games three went on with e5.
        let row = |name: &str, chance, games| (name.to_owned(), chance, Some(games));
        assert_eq!(moves, [row("e5", 3.0 * 0.75 / 4.0, 0), row("c5", (1.0 + 3.0 * 0.25) / 4.0, 1)]);
        // What only the second knows, that alone says.
        let (speaker, moves) = shown(&expected, "");
        assert_eq!((speaker.map(|speaker| speaker.source), moves.len()), (Some(0), 1));
        assert_eq!(shown(&expected, "d4"), (None, Vec::new()));
        assert_eq!(shown(&expected, "e4 c5 Nf3"), (None, Vec::new()));
    }

    #[test]
    fn what_the_sources_do_not_know_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("rival.pgn", RIVAL.to_owned()), ("all.pgn", OTHER.repeat(9))];
        let sources = open(folder.path(), &files, None);
        let (expected, mut out) = (sources.expected(), Vec::new());
        let mut chances = |moves: &str| {
            let rest = expected.moves_and_rest(&after(moves), &mut out);
            (out.iter().map(|found| found.chance).collect::<Vec<_>>(), rest)
        };
        // Three quarters are behind the one game of the first, and of these a quarter behind the nine of the second.
        assert_eq!(chances("e4"), (vec![0.75 * 0.75, 0.25], 0.75 * 0.25));
        assert_eq!(chances("e4 c5"), (vec![0.25], 0.75));
        assert_eq!(chances("e4 e5"), (vec![], 1.0));
        let starter = book::starter_book().unwrap();
        let books =
            [&*starter as &dyn Moves].into_iter().chain(sources.books().map(|book| &**book as &dyn Moves));
        assert_eq!(Expected::new(books).moves_and_rest(&after(""), &mut out), 0.0);
    }

    #[test]
    fn a_player_has_his_own_moves_only() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("all.pgn", RIVAL.to_owned() + &OTHER.repeat(3))];
        let sources = open(folder.path(), &files, Some("rival"));
        assert!(!sources.counted()[0].is_empty);
        let expected = sources.expected();
        assert_eq!(shown(&expected, "").0, None);
        let (speaker, moves) = shown(&expected, "e4");
        assert_eq!(speaker, Some(Speaker { source: 0, games: Some(1) }));
        assert_eq!(moves, [("c5".to_owned(), 1.0, Some(1))]);
        let sources = open(folder.path(), &files, Some("Rifal"));
        let without = &sources.counted()[0];
        assert!(without.is_empty);
        assert_eq!(without.report.other_players.near(&PlayerName::part("Rifal")), ["Rival"]);
    }

    #[test]
    fn older_games_count_less_and_are_told_whole() {
        let folder = tempfile::tempdir().unwrap();
        let dated = |year: &str, text: &str| format!("[Date \"{year}.??.??\"]\n{text}");
        let games = dated("2024", RIVAL) + &dated("2020", OTHER) + &dated("2022", RIVAL);
        let files = [("rival.pgn", games), ("all.pgn", OTHER.to_owned())];
        let sources = open_by_age(folder.path(), &files, None, Some(2.0));
        let (speaker, moves) = shown(&sources.expected(), "e4");
        assert_eq!(speaker, Some(Speaker { source: 0, games: Some(3) }));
        // 1 + 1/2 games with c5, 1/4 with e5; everybody's one game has no date that makes it older than the newest.
        let sum = 1.75 + BEHIND;
        let row = |name: &str, chance, games| (name.to_owned(), chance, Some(games));
        assert_eq!(moves, [row("e5", (0.25 + BEHIND) / sum, 1), row("c5", 1.5 / sum, 2)]);
        let without = shown(&open(folder.path(), &files, None).expected(), "e4").1;
        assert_eq!(without, [row("e5", (1.0 + BEHIND) / 6.0, 1), row("c5", 2.0 / 6.0, 2)]);
    }

    #[test]
    fn a_book_without_games_says_what_it_plays() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("all.pgn", OTHER.to_owned())];
        let sources = open(folder.path(), &files, None);
        let starter = book::starter_book().unwrap();
        let sources = sources.books().map(|book| &**book as &dyn Moves);
        let expected = Expected::new([&*starter as &dyn Moves].into_iter().chain(sources));
        let (speaker, moves) = shown(&expected, "");
        assert_eq!(speaker, Some(Speaker { source: 0, games: None }));
        assert!(
            moves.len() > 1 && (moves.iter().map(|(_, chance, _)| chance).sum::<f64>() - 1.0).abs() < 1e-9
        );
        assert!(moves.iter().all(|(_, chance, games)| *chance > 0.0 && games.is_none()));
    }
}
