//! The child engine of the tests and benches: it does what its arguments say, good or bad. `--help` lists them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

#[path = "scripted_engine/args.rs"]
mod args;
#[path = "flood.rs"]
mod flood;
#[path = "scripted_engine/input.rs"]
mod input;
#[path = "scripted_engine/legal.rs"]
mod legal;
#[path = "scripted_engine/output.rs"]
mod output;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::process::{self, Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use args::{Death, Failure, Script};
use flood::Flood;
use input::{Event, Input};
use legal::Rules;
use output::Output;
use shakmaty::CastlingMode;
use shakmaty::variant::Variant;

/// What `for ever` means: longer than any test waits, and the end of a process that a failed test left behind.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// How late an engine is that is late.
const LATE: Duration = Duration::from_secs(5);

/// Exit code of `--strict` when the peer violates the protocol.
const VIOLATION: i32 = 42;

/// The options that every engine here has.
const OPTIONS: [&str; 4] = [
    "option name Hash type spin default 16 min 1 max 1024",
    "option name Ponder type check default false",
    "option name MultiPV type spin default 1 min 1 max 500",
    "option name UCI_Chess960 type check default false",
];

fn main() -> ExitCode {
    match args::parse(std::env::args_os().skip(1)) {
        Ok(None) => {
            print!("{}", args::HELP);
            ExitCode::SUCCESS
        }
        Ok(Some(script)) => match start(script) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error.to_string(), 3),
        },
        Err(error) => fail(&error, 2),
    }
}

fn fail(what: &str, code: u8) -> ExitCode {
    eprintln!("scripted-engine: {what}");
    ExitCode::from(code)
}

/// What has to happen before the first line is read, then the engine.
fn start(script: Script) -> io::Result<()> {
    // The lock goes when the process ends, however that comes about.
    let held = script.hold.as_ref().map(File::create).transpose()?;
    held.as_ref().map_or(Ok(()), File::lock)?;
    if let Some(path) = &script.pid_file {
        // A reader must never see half a number.
        let half = path.with_extension("new");
        fs::write(&half, process::id().to_string())?;
        fs::rename(half, path)?;
    }
    if let Some(code) = script.exit_at_start {
        process::exit(code);
    }
    if script.mute {
        sleep_for_ever();
    }
    Engine::new(script)?.run()
}

fn sleep_for_ever() -> ! {
    thread::sleep(FOR_EVER);
    process::exit(1)
}

/// Where the search stands.
enum Search {
    Idle {
        /// The last bestmove was our own doing, so that a stop may have crossed it.
        crossable: bool,
    },
    Running {
        until: Option<Instant>,
        ponder: bool,
        infinite: bool,
    },
}

struct Engine {
    script: Script,
    input: Input,
    out: Output,
    record: Option<File>,
    search: Search,
    answers: usize,
    position: Vec<u8>,
    go: Vec<u8>,
    rules: Rules,
    grandchild: Option<u32>,
}

impl Engine {
    fn new(script: Script) -> io::Result<Self> {
        let record = match &script.record {
            Some(path) => Some(File::options().append(true).create(true).open(path)?),
            None => None,
        };
        let grandchild = if script.spawn_child {
            Some(Command::new(std::env::current_exe()?).arg("--mute").spawn()?.id())
        } else {
            None
        };
        Ok(Self {
            input: Input::new(!script.think.is_zero()),
            out: Output::new(script.crlf, script.ignore_quit),
            record,
            search: Search::Idle { crossable: false },
            answers: 0,
            position: Vec::new(),
            go: Vec::new(),
            rules: Rules { variant: Variant::Chess, mode: CastlingMode::Standard },
            grandchild,
            script,
        })
    }

    fn run(mut self) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            if !self.input.ready() {
                self.out.flush()?;
            }
            let until = match self.search {
                Search::Running { until, .. } => until,
                Search::Idle { .. } => None,
            };
            match self.input.next(&mut line, until) {
                Event::Timeout => self.answer(true)?,
                Event::End => return self.leave(true),
                Event::Line => {
                    self.note(&line)?;
                    if !self.obey(line.trim_ascii())? {
                        return self.leave(false);
                    }
                }
            }
        }
    }

    /// Acts on a line; `false` when it ends the engine.
    fn obey(&mut self, line: &[u8]) -> io::Result<bool> {
        let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        if self.script.garbage && word != b"quit" {
            let answer = format!("Illegal move ({}): try help\n? \u{fffd}", String::from_utf8_lossy(word));
            self.out.line(answer.as_bytes())?;
            return Ok(true);
        }
        if let Some((stage, how)) = &self.script.fail
            && stage.as_bytes() == word
        {
            self.fail(*how)?;
        }
        match word {
            b"uci" => self.introduce()?,
            b"isready" => {
                if !self.script.ready_delay.is_zero() {
                    self.out.flush()?;
                    thread::sleep(self.script.ready_delay);
                }
                self.out.line(b"readyok")?;
            }
            b"setoption" => {
                let words: Vec<_> =
                    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
                if let [_, _, name, _, value] = words[..] {
                    if name.eq_ignore_ascii_case(b"UCI_Chess960") {
                        self.rules.mode = CastlingMode::from_chess960(value.eq_ignore_ascii_case(b"true"));
                    } else if name.eq_ignore_ascii_case(b"UCI_Variant") {
                        let named = |variant: &Variant| variant.uci().as_bytes() == value;
                        self.rules.variant = Variant::ALL.into_iter().find(named).unwrap_or(Variant::Chess);
                    }
                }
            }
            b"position" if self.searching() => self.violation("position while searching")?,
            b"position" => {
                // A peer that sends this believes us idle, so a stop that follows crossed nothing.
                self.search = Search::Idle { crossable: false };
                self.position.clear();
                self.position.extend_from_slice(line);
            }
            b"go" if self.searching() => self.violation("go while searching")?,
            b"go" => self.begin(line)?,
            b"stop" => match self.search {
                Search::Running { .. } if self.script.ignore_stop => {}
                Search::Running { .. } => self.answer(false)?,
                Search::Idle { .. } => self.late("stop", "stop while idle")?,
            },
            b"ponderhit" => match self.search {
                Search::Running { ponder: true, infinite, .. } => self.search_on(infinite)?,
                _ => self.late("ponderhit", "ponderhit while not pondering")?,
            },
            b"quit" => return Ok(self.script.ignore_quit),
            _ => {}
        }
        Ok(true)
    }

    /// Fails in one of the ways that are the same at every stage.
    fn fail(&mut self, how: Failure) -> io::Result<()> {
        match how {
            Failure::Silent => sleep_for_ever(),
            Failure::Close => {
                self.out.close()?;
                sleep_for_ever()
            }
            // It never ends, and leaves the processor to those that have to end.
            Failure::Flood => loop {
                for _ in 0..100 {
                    self.out.line(b"info string on and on")?;
                }
                self.out.flush()?;
                thread::sleep(Duration::from_millis(2));
            },
            Failure::Late => thread::sleep(LATE),
            Failure::Crash => {
                self.out.line(b"cannot open weights")?;
                self.out.flush()?;
                die(Death::Exit)
            }
        }
        Ok(())
    }

    fn introduce(&mut self) -> io::Result<()> {
        if self.script.hang_uci {
            return Ok(());
        }
        if let Some(pid) = self.grandchild {
            self.out.line(format!("info string grandchild {pid}").as_bytes())?;
        }
        let name = format!("id name {}", self.script.name);
        self.out.line(name.as_bytes())?;
        self.out.line(b"id author the tests of tabiya")?;
        for option in OPTIONS {
            self.out.line(option.as_bytes())?;
        }
        for option in &self.script.options {
            self.out.line(option.as_bytes())?;
        }
        self.out.line(b"uciok")
    }

    /// Begins a search, with all that is to go wrong then.
    fn begin(&mut self, line: &[u8]) -> io::Result<()> {
        if let Some(count) = self.script.no_newline_line {
            self.out.fill(count)?;
            self.out.flush()?;
            sleep_for_ever();
        }
        if self.script.stderr > 0 {
            output::complain(self.script.stderr)?;
        }
        self.go.clear();
        self.go.extend_from_slice(line);
        let first = self.planned();
        let pv = first.split_whitespace().filter(|&word| word != "ponder").collect::<Vec<_>>().join(" ");
        let score = self.answers.min(self.script.scores.len().saturating_sub(1));
        let score = self.script.scores.get(score).map_or("cp 13", String::as_str);
        let valued = self.valued().map(|(_, value)| format!("cp {value}"));
        let score = valued.as_deref().unwrap_or(score);
        let any = legal::any_score(&self.position, &self.go, self.script.any_score);
        let score = any.as_deref().unwrap_or(score);
        let position = String::from_utf8_lossy(&self.position);
        let asked = format!("{} {}", position.trim_end(), String::from_utf8_lossy(line).trim_end());
        let here = |texts: &[String]| texts.iter().any(|text| position.contains(text));
        let score_here = self.script.scores_at.iter().find(|(text, _)| asked.contains(text));
        let score = score_here.map_or(score, |(_, score)| score.as_str());
        let first = self.script.die_once.as_ref();
        let dies_first =
            first.is_some_and(|file| File::options().write(true).create_new(true).open(file).is_ok());
        let (dies, hangs) = (dies_first || here(&self.script.die_at), here(&self.script.hang_at));
        let nodes = if score.contains("nodes") { "" } else { " nodes 20" };
        let info = format!("info depth 1 seldepth 1 multipv 1 score {score}{nodes} nps 20000 time 1 pv {pv}");
        self.out.line(info.as_bytes())?;
        if hangs {
            self.out.flush()?;
            sleep_for_ever();
        }
        if let Some(death) = self.script.die_on_go.or(dies.then_some(Death::Exit)) {
            self.out.flush()?;
            die(death);
        }
        if self.script.close_stdout_on_go {
            self.out.close()?;
        }
        if self.script.flood > 0 {
            let mut flood = Flood::new(self.script.crlf);
            for _ in 0..self.script.flood {
                self.out.raw_line(flood.next_line(), self.script.flood_block)?;
            }
        }
        let has = |wanted: &[u8]| line.split(u8::is_ascii_whitespace).any(|word| word == wanted);
        let (infinite, ponder) = (has(b"infinite"), has(b"ponder"));
        if self.script.early_bestmove || !ponder {
            return self.search_on(infinite && !self.script.early_bestmove);
        }
        self.search = Search::Running { until: None, ponder, infinite };
        Ok(())
    }

    /// Searches without pondering: without end, for the time to think, or not at all.
    fn search_on(&mut self, infinite: bool) -> io::Result<()> {
        if infinite || !self.script.think.is_zero() {
            let until = (!infinite).then(|| Instant::now() + self.script.think);
            self.search = Search::Running { until, ponder: false, infinite };
            return Ok(());
        }
        self.answer(true)
    }

    /// Ends the search; `ours` when no stop asked for it.
    fn answer(&mut self, ours: bool) -> io::Result<()> {
        if self.script.rubbish > 0 {
            self.out.rubbish(self.script.rubbish)?;
        }
        if self.script.long_line > 0 {
            self.out.long_line(b"info string ", self.script.long_line)?;
        }
        let answer = format!("bestmove {}", self.planned());
        self.out.line(answer.as_bytes())?;
        if self.script.double_bestmove {
            self.out.line(answer.as_bytes())?;
        }
        self.answers += 1;
        self.search = Search::Idle { crossable: ours };
        Ok(())
    }

    /// What the search that runs, or is about to, will answer.
    fn planned(&self) -> String {
        if self.script.legal {
            return legal::choose(&self.position, &self.go, self.rules);
        }
        if let Some((mv, _)) = self.valued() {
            return mv;
        }
        self.script.bestmoves[self.answers % self.script.bestmoves.len()].clone()
    }

    /// The move of the greatest value among those that may be searched; `None` if no move has a value.
    fn valued(&self) -> Option<(String, i64)> {
        let values = &self.script.values;
        let go = String::from_utf8_lossy(&self.go);
        let only = go.split_once(" searchmoves ").filter(|_| !self.script.ignore_searchmoves);
        let value = |mv: &str| values.iter().find(|(known, _)| known == mv).map_or(0, |(_, value)| *value);
        let may: Vec<&str> = match only {
            _ if values.is_empty() => return None,
            Some((_, moves)) => moves.split_whitespace().collect(),
            None => values.iter().map(|(mv, _)| mv.as_str()).collect(),
        };
        may.into_iter().max_by_key(|mv| value(mv)).map(|mv| (mv.to_owned(), value(mv)))
    }

    fn searching(&self) -> bool {
        matches!(self.search, Search::Running { .. })
    }

    /// A stop or ponderhit when nothing waits for it: forgiven where it may have crossed our bestmove, and as a search
    /// has one stop only, forgiven until that one came.
    fn late(&mut self, word: &str, violation: &str) -> io::Result<()> {
        if let Search::Idle { crossable: true } = self.search {
            self.search = Search::Idle { crossable: word != "stop" };
            return self.note(format!("CROSSED {word}").as_bytes());
        }
        self.violation(violation)
    }

    fn violation(&mut self, what: &str) -> io::Result<()> {
        self.note(format!("VIOLATION {what}").as_bytes())?;
        if self.script.strict {
            self.out.flush()?;
            process::exit(VIOLATION);
        }
        Ok(())
    }

    /// Adds a line to the record, in one write.
    fn note(&mut self, line: &[u8]) -> io::Result<()> {
        let Some(record) = &mut self.record else { return Ok(()) };
        record.write_all(&[line, b"\n"].concat())
    }

    /// Ends after quit, or after the end of input.
    fn leave(mut self, at_end: bool) -> io::Result<()> {
        self.out.flush()?;
        if at_end && self.script.ignore_quit {
            sleep_for_ever();
        }
        thread::sleep(self.script.slow_quit);
        Ok(())
    }
}

fn die(death: Death) -> ! {
    match death {
        Death::Exit => process::exit(1),
        #[cfg(unix)]
        Death::Signal => {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
            process::abort()
        }
        #[cfg(not(unix))]
        Death::Signal => process::abort(),
        Death::Abort => process::abort(),
    }
}
