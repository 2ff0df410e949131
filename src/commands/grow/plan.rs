//! Searches for several machines: a file with a search in each line, and the making of a share of them.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use shakmaty::CastlingMode;
use shakmaty::uci::UciMove;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_base::replace::{Replacement, keep_inputs};
use tabiya_chess::{MoveCode, Position, Variant, rules_of};
use tabiya_search::Knowledge;
use tabiya_workshop::grow::{Finished, Growth, Rounds, Task, finish, grow, search};

use super::{Args, POSITIONS};
use crate::output::exit::Exit;
use crate::output::rows::{json, many};
use crate::output::{interrupts, print_lines, progress, written};

/// Which of how many shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    number: usize,
    of: usize,
}

/// Reads `3/8`.
pub(super) fn share(text: &str) -> std::result::Result<Share, String> {
    let share = text.split_once('/').and_then(|(number, of)| {
        Some(Share { number: number.trim().parse().ok()?, of: of.trim().parse().ok()? })
    });
    share
        .filter(|share| (1..=share.of).contains(&share.number))
        .ok_or_else(|| "must be a share such as 3/8, from 1/8 to 8/8".to_owned())
}

/// A search as the file has it.
#[derive(Serialize, Deserialize)]
struct SearchJson {
    /// Standard chess if it is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    fen: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    times: u64,
}

impl SearchJson {
    fn new(task: &Task) -> Self {
        let uci = |code: &MoveCode| {
            let mv = code.resolve(task.at.chess())?;
            Some(mv.to_uci(CastlingMode::Standard).to_string())
        };
        let without = task.without.iter().filter_map(uci).collect();
        let variant = Some(task.at.variant()).filter(|variant| *variant != Variant::Chess);
        let variant = variant.map(|variant| variant.uci().to_owned());
        Self { variant, fen: task.at.fen(), without, times: task.times }
    }

    /// The search; `None` if the position or a move is not legal.
    fn task(&self) -> Option<Task> {
        let variant = self.variant.as_deref().map_or(Some(Variant::Chess), rules_of)?;
        let at = Position::from_fen_of(variant, self.fen.as_bytes(), CastlingMode::Standard).ok()?;
        let code =
            |uci: &String| Some(MoveCode::from_move(uci.parse::<UciMove>().ok()?.to_move(at.chess()).ok()?));
        let without = self.without.iter().map(code).collect::<Option<_>>()?;
        Some(Task::new(at, without, self.times))
    }
}

/// Writes the next searches: those that are missing, and then the most urgent ones.
///
/// # Errors
/// When the file cannot be written, or the work is interrupted.
pub(super) fn write(args: &Args, file: &Path, growth: Growth<'_>, mut knowledge: Knowledge) -> Result<Exit> {
    let mut out = Replacement::new(file, args.to.force)?;
    let limit = args.search.limit();
    let mut rounds = Rounds::new(growth, u64::MAX);
    grow(&mut rounds, &mut knowledge, limit, None, |_| Ok(()))?;
    let Finished { mut growth, missing: mut tasks, .. } = finish(rounds, &knowledge, limit);
    let most = usize::try_from(args.positions.unwrap_or(POSITIONS)).unwrap_or(usize::MAX);
    let more = growth.plan(most.saturating_sub(tasks.len()));
    tasks.extend(more);
    for task in tasks.iter().take(most) {
        json(&SearchJson::new(task), &mut out).map_err(|error| out.error(error))?;
    }
    out.commit()?;
    let searches = tasks.len().min(most) as u64;
    print_lines(&[format!("{}: {searches} searches", file.display())], Exit::Done)
}

/// Makes a share of the searches of a file.
///
/// # Errors
/// When a file cannot be read or written, the engine cannot be started or fails again and again, or the work is interrupted.
pub(super) fn make(args: &Args, file: &Path, share: Share, store: &Path) -> Result<Exit> {
    keep_inputs(&[store.to_owned()], &[file.to_owned()])?;
    let tasks = read(file, share)?;
    interrupts::watch();
    let mut knowledge = Knowledge::open(store)?;
    let variant = tasks.first().map(|task| task.at.variant()).unwrap_or_default();
    let setup = args.engine.setup(variant)?;
    let work = args.search.work(&setup, variant);
    let progress = progress::on_terminal(store.to_string_lossy());
    progress.slow_things(tasks.len() as u64, "searches");
    let (evaluated, known) = search(&mut tasks.into_iter(), &mut knowledge, &work, &progress)?;
    drop(progress);
    let searched = many(evaluated.done, "position");
    let mut lines = vec![format!("searched: {searched}; {known} were known already ({})", store.display())];
    lines.extend(written::cut(&evaluated));
    let exit = if evaluated.skipped.is_empty() { Exit::Done } else { Exit::Findings };
    let exit = print_lines(&lines, exit)?;
    written::not_evaluated(&evaluated);
    Ok(exit)
}

/// The searches of a share: each N-th line from the K-th on.
fn read(file: &Path, share: Share) -> Result<Vec<Task>> {
    let error = |error| Error::file(file, "cannot read the plan", error);
    let lines = BufReader::new(File::open(file).map_err(error)?).lines();
    let mut tasks: Vec<Task> = Vec::new();
    for (number, line) in lines.enumerate().skip(share.number - 1).step_by(share.of) {
        let line = line.map_err(error)?;
        let task = serde_json::from_str::<SearchJson>(&line).ok().and_then(|search| search.task());
        // All searches of a plan are for one engine.
        let variant = tasks.first().map(|first| first.at.variant());
        let task = task.filter(|task| variant.is_none_or(|variant| task.at.variant() == variant));
        tasks.push(task.ok_or_else(|| {
            Error::new(ErrorKind::Format, format!("line {} of the plan is damaged", number + 1))
                .at_path(file)
                .advice("write the plan again")
        })?);
    }
    Ok(tasks)
}
