//! What the command line asks of the engine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What `--help` prints.
pub const HELP: &str = "\
scripted-engine: a UCI engine that does what its arguments say, good or bad.
Without arguments it behaves well and answers every go at once.

What it is and what it answers
  --name NAME            the name in its answer to uci (default: Scripted Engine)
  --option LINE          one more line before uciok, printed as it stands; repeatable
  --bestmove ANSWER      what stands behind bestmove: `MOVE` or `MOVE ponder MOVE` (default: a2a3);
                         repeatable: the answers are given in turn
  --score SCORE          what stands behind score in the info line of each go: `cp 13` (the default), `mate -2`;
                         repeatable: given in turn, and the last one from then on
  --value MOVE=CP        what a move is worth in every position; repeatable. Of the moves that it may search (those of
                         `searchmoves`, or else those with a value) it plays the one of the greatest value, with that
                         score; a move without a value is worth 0
  --ignore-searchmoves   does not know `searchmoves`
  --score-at TEXT=SCORE  another score where the position line, a space and the go line contain TEXT; repeatable. It may
                         be followed by nodes, 20 by default: `cp 13 nodes 160`
  --any-score CP         scores from -CP to CP that follow from the position and `searchmoves`
  --legal                answers a legal move of the position by the rules of UCI_Variant instead, always the same for the same position
  --think MS             time between go and bestmove; stop ends it
  --ready-delay MS       time between isready and readyok
What it tells the test
  --record FILE          appends each line that it receives, byte for byte, before it acts on it
  --pid-file FILE        writes its process id
  --hold FILE            creates this file, and holds a lock on it for as long as it lives
  --strict               exits with code 42 when its peer violates the protocol
Misbehaviour at the start and the end
  --exit-at-start CODE   exits at once
  --hang-uci             never answers uci, and reads on
  --mute                 reads nothing and prints nothing, for ever
  --garbage-instead-of-uci
                         answers each line with text that is no UCI, never with uciok
  --spawn-child          starts a process that sleeps for ever with our own pipes in its hands, and prints
                         `info string grandchild PID` before uciok
  --slow-quit MS         time between quit, or the end of input, and the exit
  --ignore-quit          goes on after quit, and sleeps for ever after the end of input: has to be killed
Misbehaviour while it searches
  --die-on-go [exit|signal|abort]
                         dies after go and one info line: with code 1 (the default), by SIGKILL, by SIGABRT
  --die-at TEXT          dies with code 1 at a go where the position line contains TEXT; repeatable
  --die-once FILE        dies with code 1 at the first go of all engines with the same FILE, which it creates
  --hang-at TEXT         sleeps for ever at a go where the position line contains TEXT; repeatable
  --close-stdout-on-go   closes its output at go, and reads on
  --no-newline-line N    prints N bytes without an end of line at go, and sleeps for ever
  --stderr N             writes N bytes to standard error at go
  --flood N              prints N info lines of about 120 bytes at go, numbered from 1 behind `nodes`
  --flood-block BYTES    writes the flood in blocks of about so many bytes (default: 65536)
  --flood-line           writes the flood line by line
  --rubbish N            prints N pseudo-random bytes, NUL and 0xff among them, as one line before each bestmove
  --long-line N          prints an info string line of N bytes before each bestmove
  --ignore-stop          goes on after stop
  --early-bestmove       answers go infinite and go ponder at once, against the protocol
  --double-bestmove      prints each bestmove twice
  --crlf                 ends its lines with \\r\\n
Misbehaviour at any stage
  --fail WORD=HOW        fails when it gets a line that begins with WORD: `silent` reads and prints nothing any more,
                         `close` closes its output besides, `flood` prints lines for ever, `late` sleeps for five
                         seconds first, `crash` dies with code 1 after `cannot open weights` on standard output

`for ever` is an hour, so that a failed test leaves nothing behind.

With --record the file also has lines of our own:
  VIOLATION WHAT         the peer broke the protocol: a go or a position while we search (we ignore it), a stop
                         while we are idle, a ponderhit when we do not ponder
  CROSSED WHAT           the first stop or ponderhit after a bestmove that we gave by ourselves: no violation, since
                         the peer may have sent it before it saw the bestmove
";

/// How the engine dies.
#[derive(Clone, Copy)]
pub enum Death {
    /// By `exit(1)`.
    Exit,
    /// By SIGKILL.
    Signal,
    /// By SIGABRT.
    Abort,
}

/// How it fails at some stage.
#[derive(Clone, Copy)]
pub enum Failure {
    Silent,
    Close,
    Flood,
    Late,
    Crash,
}

/// The engine's behaviour; [`HELP`] describes every field under its option's name.
pub struct Script {
    pub name: String,
    pub options: Vec<String>,
    pub bestmoves: Vec<String>,
    pub scores: Vec<String>,
    pub values: Vec<(String, i64)>,
    pub ignore_searchmoves: bool,
    pub scores_at: Vec<(String, String)>,
    pub any_score: i64,
    pub legal: bool,
    pub think: Duration,
    pub ready_delay: Duration,
    pub record: Option<PathBuf>,
    pub pid_file: Option<PathBuf>,
    pub hold: Option<PathBuf>,
    pub strict: bool,
    pub exit_at_start: Option<i32>,
    pub hang_uci: bool,
    pub mute: bool,
    pub garbage: bool,
    pub spawn_child: bool,
    pub slow_quit: Duration,
    pub ignore_quit: bool,
    pub die_on_go: Option<Death>,
    pub die_at: Vec<String>,
    pub die_once: Option<PathBuf>,
    pub hang_at: Vec<String>,
    pub close_stdout_on_go: bool,
    pub no_newline_line: Option<usize>,
    pub stderr: usize,
    pub flood: u64,
    pub flood_block: usize,
    pub rubbish: usize,
    pub long_line: usize,
    pub ignore_stop: bool,
    pub early_bestmove: bool,
    pub double_bestmove: bool,
    pub crlf: bool,
    pub fail: Option<(String, Failure)>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            name: "Scripted Engine".to_owned(),
            options: Vec::new(),
            bestmoves: Vec::new(),
            scores: Vec::new(),
            values: Vec::new(),
            ignore_searchmoves: false,
            scores_at: Vec::new(),
            any_score: 0,
            legal: false,
            think: Duration::ZERO,
            ready_delay: Duration::ZERO,
            record: None,
            pid_file: None,
            hold: None,
            strict: false,
            exit_at_start: None,
            hang_uci: false,
            mute: false,
            garbage: false,
            spawn_child: false,
            slow_quit: Duration::ZERO,
            ignore_quit: false,
            die_on_go: None,
            die_at: Vec::new(),
            die_once: None,
            hang_at: Vec::new(),
            close_stdout_on_go: false,
            no_newline_line: None,
            stderr: 0,
            flood: 0,
            flood_block: 65536,
            rubbish: 0,
            long_line: 0,
            ignore_stop: false,
            early_bestmove: false,
            double_bestmove: false,
            crlf: false,
            fail: None,
        }
    }
}

/// Reads the command line; `None` when it asks for help.
///
/// # Errors
/// For an unknown option, or a value that is missing or makes no sense.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Option<Script>, String> {
    let mut args = args.peekable();
    let mut script = Script::default();
    while let Some(arg) = args.next() {
        let option = arg.to_str().ok_or_else(|| format!("{} is no option", arg.display()))?;
        let mut raw = || args.next().ok_or_else(|| format!("{option} needs a value"));
        match option {
            "--help" | "-h" => return Ok(None),
            "--name" => script.name = text(option, raw()?)?,
            "--option" => script.options.push(text(option, raw()?)?),
            "--bestmove" => script.bestmoves.push(text(option, raw()?)?),
            "--score" => script.scores.push(text(option, raw()?)?),
            "--value" => {
                let value = text(option, raw()?)?;
                let (mv, cp) = value.split_once('=').ok_or("--value needs MOVE=CP")?;
                script.values.push((mv.to_owned(), number(option, cp.into())?));
            }
            "--ignore-searchmoves" => script.ignore_searchmoves = true,
            "--score-at" => {
                let value = text(option, raw()?)?;
                let (at, score) = value.split_once('=').ok_or("--score-at takes TEXT=SCORE")?;
                script.scores_at.push((at.to_owned(), score.to_owned()));
            }
            "--die-at" => script.die_at.push(text(option, raw()?)?),
            "--die-once" => script.die_once = Some(raw()?.into()),
            "--hang-at" => script.hang_at.push(text(option, raw()?)?),
            "--any-score" => script.any_score = number(option, raw()?)?,
            "--legal" => script.legal = true,
            "--think" => script.think = millis(option, raw()?)?,
            "--ready-delay" => script.ready_delay = millis(option, raw()?)?,
            "--record" => script.record = Some(raw()?.into()),
            "--pid-file" => script.pid_file = Some(raw()?.into()),
            "--hold" => script.hold = Some(raw()?.into()),
            "--strict" => script.strict = true,
            "--exit-at-start" => script.exit_at_start = Some(number(option, raw()?)?),
            "--hang-uci" => script.hang_uci = true,
            "--mute" => script.mute = true,
            "--garbage-instead-of-uci" => script.garbage = true,
            "--spawn-child" => script.spawn_child = true,
            "--slow-quit" => script.slow_quit = millis(option, raw()?)?,
            "--ignore-quit" => script.ignore_quit = true,
            "--die-on-go" => {
                let mode = args.next_if(|next| !next.to_string_lossy().starts_with("--"));
                script.die_on_go = Some(match mode.as_ref().and_then(|mode| mode.to_str()) {
                    None if mode.is_none() => Death::Exit,
                    Some("exit") => Death::Exit,
                    Some("signal") => Death::Signal,
                    Some("abort") => Death::Abort,
                    _ => return Err("--die-on-go knows exit, signal and abort".to_owned()),
                });
            }
            "--close-stdout-on-go" => script.close_stdout_on_go = true,
            "--no-newline-line" => script.no_newline_line = Some(number(option, raw()?)?),
            "--stderr" => script.stderr = number(option, raw()?)?,
            "--flood" => script.flood = number(option, raw()?)?,
            "--flood-block" => script.flood_block = number(option, raw()?)?,
            // A block of one byte is full after every line.
            "--flood-line" => script.flood_block = 1,
            "--rubbish" => script.rubbish = number(option, raw()?)?,
            "--long-line" => script.long_line = number(option, raw()?)?,
            "--ignore-stop" => script.ignore_stop = true,
            "--early-bestmove" => script.early_bestmove = true,
            "--double-bestmove" => script.double_bestmove = true,
            "--crlf" => script.crlf = true,
            "--fail" => {
                let value = text(option, raw()?)?;
                let (word, how) = value.split_once('=').ok_or("--fail needs WORD=HOW")?;
                let how = match how {
                    "silent" => Failure::Silent,
                    "close" => Failure::Close,
                    "flood" => Failure::Flood,
                    "late" => Failure::Late,
                    "crash" => Failure::Crash,
                    _ => return Err("--fail knows silent, close, flood, late and crash".to_owned()),
                };
                script.fail = Some((word.to_owned(), how));
            }
            _ => return Err(format!("there is no option {option}; --help shows them")),
        }
    }
    if script.bestmoves.is_empty() {
        script.bestmoves.push("a2a3".to_owned());
    }
    if script.scores.is_empty() {
        script.scores.push("cp 13".to_owned());
    }
    Ok(Some(script))
}

fn text(option: &str, value: OsString) -> Result<String, String> {
    value.into_string().map_err(|value| format!("{option}: {} is no UTF-8", value.display()))
}

fn number<T: FromStr>(option: &str, value: OsString) -> Result<T, String> {
    let value = text(option, value)?;
    value.parse().map_err(|_| format!("{option}: {value} is no number that it takes"))
}

fn millis(option: &str, value: OsString) -> Result<Duration, String> {
    number(option, value).map(Duration::from_millis)
}
