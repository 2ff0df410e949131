//! A child engine that searches one position after another.

use std::time::{Duration, Instant};

use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, EnPassantMode, Move, Position as _};

use tabiya_base::error::{Error, ErrorKind, Remedy, Result};
use tabiya_base::interrupt;
use tabiya_chess::{MoveCode, Position, Variant};
use tabiya_uci::engine::{Client, Failure, NoLine, Setup};
use tabiya_uci::{Score, VARIANT, Wdl};

use crate::evals::Limit;
use crate::greeting::{CHESS960, Offer, Preparation, Unprepared, greet, set};
use crate::options::named;

/// A search that is to be made.
#[derive(Clone, Debug)]
pub struct PositionSearch {
    /// The position.
    pub at: Position,
    /// Moves that the engine must not choose.
    pub without: Vec<MoveCode>,
    /// How long it lasts.
    pub limit: Limit,
}

/// The engines, and how long they work.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// How an engine is started.
    pub setup: &'a Setup,
    /// The variant of chess.
    pub variant: Variant,
    /// How long each search lasts.
    pub limit: Limit,
    /// How many engines search at the same time.
    pub jobs: usize,
    /// When evaluating ends, whatever is left.
    pub until: Option<Instant>,
    /// Tells the user what the engines wait for.
    pub tell: fn(&str),
    /// Whether an evaluation is of use only with how the engine expects the game to end.
    pub needs_wdl: bool,
}

impl Work<'_> {
    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// How long the engine may take to end after `quit`.
const QUIT_TIME: Duration = Duration::from_secs(2);

/// An engine that searches more nodes than this many times the limit does not heed it, and is stopped.
const TOO_FAR: u64 = 4;

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchResult {
    pub score: Score,
    pub depth: u16,
    pub nodes: u64,
    pub wdl: Option<Wdl>,
    pub best: MoveCode,
    /// Whether it was stopped before it was done.
    pub cut: bool,
}

/// A running engine. Dropped, it is ended.
pub(crate) struct Searcher<'a> {
    setup: &'a Setup,
    client: Option<Client>,
    pub name: String,
    /// Whether it can say how it expects games to end.
    pub gives_wdl: bool,
    /// Whether it can be told how castling is done.
    plays_chess960: bool,
    /// How castling is done in what it searches.
    mode: CastlingMode,
}

impl<'a> Searcher<'a> {
    /// Starts an engine that searches positions of a variant. Call it from the thread that uses it.
    ///
    /// # Errors
    /// When it does not start, does not speak UCI, or does not offer the variant.
    pub fn start(setup: &'a Setup, variant: Variant) -> Result<Self> {
        let mut client = Client::start(&setup.program, &setup.args, setup.folder.as_deref())?;
        let program = || setup.program.display().to_string();
        let name = |offer: &Offer| offer.name.clone().unwrap_or_else(program);
        let what = match greet(
            &mut client,
            setup,
            &Preparation { variant, shows_wdl: true, ..Preparation::default() },
        ) {
            Ok(offer) => {
                return Ok(Self {
                    setup,
                    client: Some(client),
                    name: named(&name(&offer), &setup.options),
                    gives_wdl: offer.gives_wdl(),
                    plays_chess960: offer.plays_chess960(),
                    mode: CastlingMode::Standard,
                });
            }
            Err(Unprepared::Failure(Failure::Interrupted)) => {
                return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
            }
            Err(Unprepared::Failure(Failure::Engine(what))) => what,
            Err(Unprepared::LacksVariant(offer)) => {
                format!("{} does not offer {} in its option {VARIANT}", name(&offer), variant.uci())
            }
        };
        // It may have said why.
        let what = format!("{}: {what}{}", program(), client.last_words());
        Err(Error::new(ErrorKind::Engine, what).remedied_by(Remedy::TryEngine))
    }

    /// Searches a position as if it were the first one: what was searched before does not count. After `until` the search is
    /// stopped.
    pub fn search(
        &mut self,
        search: &PositionSearch,
        until: Option<Instant>,
    ) -> Result<SearchResult, Failure> {
        let Some(client) = &mut self.client else { return Err(NoLine::Ended.into()) };
        let (PositionSearch { at, without, limit }, patience) = (search, self.setup.patience);
        let mode = at.chess().castles().mode();
        if mode != self.mode {
            if !self.plays_chess960 {
                let what = format!("the engine has no option {CHESS960}, which this position needs");
                return Err(Failure::Engine(what));
            }
            client.send(&set(CHESS960, if mode.is_chess960() { "true" } else { "false" }));
            self.mode = mode;
        }
        client.send("ucinewgame");
        client.settle(patience)?;
        client.send(&format!("position fen {}", Fen::from_position(at.chess(), EnPassantMode::Legal)));
        let mut go = match limit {
            Limit::Nodes(nodes) => format!("go nodes {nodes}"),
            Limit::Depth(depth) => format!("go depth {depth}"),
            Limit::Movetime(time) => format!("go movetime {time}"),
        };
        if !without.is_empty() {
            go += " searchmoves";
            let is_searched = |mv: &Move| !without.contains(&MoveCode::from_move(*mv));
            for mv in at.chess().legal_moves().into_iter().filter(is_searched) {
                go += &format!(" {}", mv.to_uci(mode));
            }
        }
        let begun = Instant::now();
        let (mut last, mut depth, mut nodes) = (None, 0, 0);
        let (mut stops, mut cut) = (false, false);
        let answer = client.search(&go, patience, |info| {
            nodes = nodes.max(info.nodes.unwrap_or_default());
            if let Some(score) = info.best().filter(|score| *score != Score::Mate(0)) {
                last = Some((score, info.wdl));
                depth = info.depth.unwrap_or_default();
            }
            let is_too_long = match *limit {
                Limit::Nodes(limit) => nodes / TOO_FAR > limit,
                Limit::Movetime(limit) => begun.elapsed() > Duration::from_millis(limit) + patience,
                Limit::Depth(_) => false,
            };
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if !stops && (is_too_long || is_late) {
                (stops, cut) = (true, is_late);
            }
            !stops
        })?;
        let mv = answer.parse::<UciMove>().ok().and_then(|uci| uci.to_move(at.chess()).ok());
        let Some(mv) = mv.filter(|mv| at.chess().is_legal(*mv)) else {
            return Err(Failure::Engine(format!("the engine answers '{answer}', which is not a legal move")));
        };
        let Some((score, wdl)) = last else {
            return Err(Failure::Engine("the engine gives no score".to_owned()));
        };
        let depth = u16::try_from(depth).unwrap_or(u16::MAX);
        Ok(SearchResult { score, depth, nodes, wdl, best: MoveCode::from_move(mv), cut })
    }
}

impl Drop for Searcher<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take().filter(|_| !interrupt::asked()) {
            let _ = client.quit(QUIT_TIME);
        }
    }
}
