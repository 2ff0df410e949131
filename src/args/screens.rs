//! What `-h` shows of each command, on a screen of 80 columns and 24 lines: what people need first, and an example. `--help` has
//! all, and more examples.

use clap::Command;

/// What `-h` shows of a command.
struct Screen {
    /// Its name, after that of the command that it belongs to.
    command: &'static str,
    /// The arguments that are shown, each with what is said of it there; empty: what `--help` says.
    shown: &'static [(&'static str, &'static str)],
    /// Lines that do what people use it for most; `-h` shows the first.
    examples: &'static [&'static str],
}

const BOOK_OUT: &str = "The book to write; its extension selects the format";
const FORCE: &str = "Replace a file that exists";
const MOVES: &str = "The moves from the start, such as \"1. e4 e5 2. Nf3\"";
const GAMES: &str = "PGN files (also .gz, .zst, .zip), folders, .cbh, .cbv, -";
const PLAYER: &str = "Only games of players with this in their name";
const VARIANT: &str = "atomic, antichess, crazyhouse, horde, 3check, ...";
const ENGINE: &str = "The engine [default: that of tabiya.toml]";
const NODES: &str = "Nodes to search in each position [default: 1000000]";
const JOBS: &str = "Run this many engines at once [default: 1]";
const TIME: &str = "Stop searching after this, such as 30m or 8h";

const SCREENS: [Screen; 26] = [
    Screen {
        command: "show",
        shown: &[
            ("books", ""),
            ("moves", MOVES),
            ("fen", ""),
            ("fen_file", "A file with one FEN per line"),
            ("set", "An option that decides, such as \"Book Variety=0\""),
            ("store", "Show what moves lose, by the evaluations in this store"),
            ("json", ""),
        ],
        examples: &["tabiya show book.bin --moves \"1. e4 c5\"", "tabiya show book.bin other.ctg"],
    },
    Screen {
        command: "explore",
        shown: &[
            ("books", "The books [default: those of tabiya.toml, and the starter book]"),
            ("edit", ""),
            ("games", "Show the games of these files that reach a position"),
            ("engine", "The engine for analysis [default: of tabiya.toml]"),
            ("variant", VARIANT),
            ("open_api", "Answer programs on this machine without a token"),
            ("listen", "The address; port 0: any"),
            ("no_open", ""),
        ],
        examples: &["tabiya explore book.bin --edit --games games.pgn", "tabiya explore book.bin"],
    },
    Screen {
        command: "info",
        shown: &[("books", "Books, count files, databases, or stores of evaluations"), ("json", "")],
        examples: &["tabiya info book.ctg games.cbh"],
    },
    Screen {
        command: "check",
        shown: &[
            ("books", "Books, count files, or ChessBase databases"),
            ("variant", VARIANT),
            ("json", "Print one line of JSON for each problem"),
        ],
        examples: &["tabiya check books/*.bin"],
    },
    Screen {
        command: "build",
        shown: &[
            ("sources", "PGN files (also .gz, .zst, .zip), folders, .cbh, .cbv, .parquet, -"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("max_ply", "Only the first N plies of each game; 0 = all [default: 0]"),
            ("min_elo", "Only games of players with at least this rating"),
            ("player", PLAYER),
            ("only", "Only the moves of this side, or of --player"),
            ("min_games", "Only moves with at least N games"),
            ("repertoire", "Of a study: its own moves for this side"),
            ("store", "Also collect [%eval] of the games in this store"),
            ("variant", VARIANT),
        ],
        examples: &[
            "tabiya build games.pgn -o book.bin",
            "tabiya build masters.cbh more/ -o book.ctg --min-elo 2400 --max-ply 40",
            "tabiya build my-repertoire.pgn -o white.bin --repertoire white",
        ],
    },
    Screen {
        command: "convert",
        shown: &[
            ("books", "The books to read; several are added up"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("green", "In a CTG book: green from this share of weight on"),
            ("variant", VARIANT),
        ],
        examples: &["tabiya convert book.ctg -o book.bin"],
    },
    Screen {
        command: "merge",
        shown: &[
            ("books", "The books; weights, games and results are added up"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("min_games", "Only moves with at least N games, where they are counted"),
            ("reachable", "Only what is reached from the starting position"),
            ("variant", VARIANT),
        ],
        examples: &["tabiya merge a.bin b.abk -o both.bin"],
    },
    Screen {
        command: "trim",
        shown: &[
            ("books", "The book; of several, all together"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("max_ply", "Only the first N plies of each line; 0 = all [default: 0]"),
            ("top", "Only the N heaviest moves of each position"),
            ("min_share", "Only moves with this share of their position's weight"),
            ("min_games", "Only moves with at least N games, where they are counted"),
            ("only", "Only this side's moves, for every reply in the book"),
            ("below", "Only what follows this line, such as \"e4 c5\""),
            ("without", "Remove this line's last move, and what only it reaches"),
        ],
        examples: &["tabiya trim book.bin -o short.bin --max-ply 16 --min-share 10"],
    },
    Screen {
        command: "edit",
        shown: &[
            ("book", ""),
            ("moves", "The moves from the start, such as \"1. e4 c5\""),
            ("fen", ""),
            ("set", "Give a move this weight, such as Nf3=60; repeatable"),
            ("add", "Add a move with this weight; repeatable"),
            ("delete", ""),
            ("undo", "Undo the last edit of a Polyglot book"),
            ("redo", "Redo the edit that was undone last"),
        ],
        examples: &[
            "tabiya edit book.bin --set e4=60 --delete f4",
            "tabiya edit book.bin --moves \"1. e4 c5\" --add Nc3=20",
            "tabiya edit book.bin --undo",
        ],
    },
    Screen {
        command: "diff",
        shown: &[("a", ""), ("b", ""), ("all", "List all, not only the first 20 of each kind"), ("json", "")],
        examples: &["tabiya diff old.bin new.bin"],
    },
    Screen {
        command: "tree",
        shown: &[
            ("book", ""),
            ("moves", MOVES),
            ("fen", ""),
            ("plies", ""),
            ("store", "Show what moves lose, by the evaluations in this store"),
            ("variant", VARIANT),
        ],
        examples: &["tabiya tree book.bin --moves \"1. d4 Nf6\" --plies 8"],
    },
    Screen { command: "learn", shown: &[], examples: &["tabiya learn games book.bin match.pgn --both"] },
    Screen {
        command: "learn games",
        shown: &[
            ("book", ""),
            ("files", "PGN files (also .gz, .zst, .zip), folders of them, or -"),
            ("player", "Learn the moves of players with this in their name"),
            ("both", ""),
            ("again", ""),
            ("list", ""),
            ("variant", VARIANT),
        ],
        examples: &["tabiya learn games book.bin match.pgn --player Stockfish"],
    },
    Screen {
        command: "learn show",
        shown: &[
            ("book", ""),
            ("sort", "By line, games or score"),
            ("against", "Compare what was learned with these games, instead"),
            ("player", "Compare games of players with this in their name"),
            ("json", ""),
        ],
        examples: &["tabiya learn show book.bin --sort score"],
    },
    Screen {
        command: "learn undo",
        shown: &[("book", ""), ("games", ""), ("all", "Clear everything that the book has learned")],
        examples: &["tabiya learn undo book.bin 1"],
    },
    Screen {
        command: "learn spool",
        shown: &[
            ("log", "The log beside which the games are kept"),
            ("drop", "Drop the games that wait for this missing book"),
        ],
        examples: &["tabiya learn spool"],
    },
    Screen {
        command: "export",
        shown: &[
            ("source", "A book, a ChessBase database (.cbh, .cbv), or a store"),
            ("output", "The file to write (.pgn, .tsv, .json, .epd) [default: -]"),
            ("force", FORCE),
            ("format", "pgn, tsv, json or epd [default: as the file's name says]"),
            ("lines", "Of a book, as PGN: one game for each line"),
            ("reachable", "Of a book: what is reached from the start, with positions"),
            ("numbers", "Of a database: only games 1-100, 17, 500-"),
            ("mainline", "Of a database: leave out variations"),
        ],
        examples: &["tabiya export book.ctg -o book.pgn --lines", "tabiya export games.cbh -o games.pgn"],
    },
    Screen {
        command: "vet",
        shown: &[
            ("book", ""),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("engine", ENGINE),
            ("max_loss", "Drop moves that lose more than this"),
            ("side", "Judge only the moves of white or black"),
            ("nodes", NODES),
            ("jobs", JOBS),
            ("time", TIME),
            ("store", "The file of evaluations [default: BOOK.evals]"),
            ("report", "Write all that was found into this file, as JSON"),
        ],
        examples: &["tabiya vet book.bin -o vetted.bin --engine stockfish --max-loss 60"],
    },
    Screen {
        command: "grow",
        shown: &[
            ("sources", "Books or games to grow from [default: the starting position]"),
            ("output", BOOK_OUT),
            ("force", FORCE),
            ("engine", ENGINE),
            ("against", "What the opponent plays from [default: SOURCE]"),
            ("side", "white, black or both"),
            ("positions", "Stop after N searches [default: 10000, or --time]"),
            ("nodes", NODES),
            ("jobs", JOBS),
            ("time", TIME),
            ("store", "The file of evaluations [default: BOOK.evals]"),
        ],
        examples: &["tabiya grow -o black.bin --against rival.bin --side black --engine stockfish"],
    },
    Screen {
        command: "suite",
        shown: &[
            ("sources", "Books, count files, or games"),
            ("output", "The suite to write: .epd or .pgn"),
            ("force", FORCE),
            ("ply", "Plies from the start, such as 8-16"),
            ("count", "At most this many, evenly over openings"),
            ("seed", "The same seed picks the same suite"),
            ("eval", "Only where one side is ahead by this, as 80..120"),
            ("engine", "The engine for --eval"),
            ("nodes", NODES),
            ("jobs", JOBS),
            ("time", TIME),
            ("store", "A file of evaluations; repeatable"),
        ],
        examples: &[
            "tabiya suite book.bin -o openings.epd --ply 16 --count 500",
            "tabiya suite games.pgn -o openings.pgn --eval 0..50 --engine stockfish",
        ],
    },
    Screen {
        command: "report",
        shown: &[
            ("games", GAMES),
            ("book", "A book, or one of this player alone; repeatable"),
            ("player", PLAYER),
            ("store", "A file of evaluations; repeatable"),
            ("top", ""),
            ("json", ""),
            ("pgn", "Also write the games, with the book's moves"),
            ("force", "Replace the file of --pgn if it exists"),
        ],
        examples: &["tabiya report match.pgn --book A=a.bin --book B=b.bin"],
    },
    Screen {
        command: "import",
        shown: &[
            ("store", "The store, such as book.bin.evals; created if it is missing"),
            ("files", "Lichess's dump, EPD, PGN with [%eval], other stores, folders, or -"),
            ("book", "Only positions that this book reaches"),
            ("source", "The source of the evaluations [default: Lichess, EPD, PGN]"),
        ],
        examples: &["tabiya import book.bin.evals lichess_db_eval.jsonl.zst --for book.bin"],
    },
    Screen {
        command: "doctor",
        shown: &[
            ("engine", "The engine [default: that of tabiya.toml, else stockfish]"),
            ("book", "A book; repeatable [default: those of tabiya.toml]"),
            ("set", "An option of the engine or of tabiya"),
            ("config", "The configuration file [default: the tabiya.toml found]"),
            ("movetime", "Milliseconds for each move"),
            ("engine_moves", "Moves that the engine plays for each side"),
            ("json", ""),
        ],
        examples: &["tabiya doctor", "tabiya doctor --engine stockfish --book book.bin"],
    },
    Screen {
        command: "init",
        shown: &[
            ("engine", "The engine [default: ask, or the first one found]"),
            ("book", "A book; repeatable [default: ask, or the first one found]"),
            ("yes", "Ask nothing: take the first engine and book found"),
            ("force", "Replace an existing tabiya.toml"),
        ],
        examples: &["tabiya init", "tabiya init --yes"],
    },
    Screen {
        command: "completions",
        shown: &[("shell", "")],
        examples: &[
            "tabiya completions bash > ~/.local/share/bash-completion/completions/tabiya",
            "tabiya completions fish > ~/.config/fish/completions/tabiya.fish",
        ],
    },
    Screen {
        command: "help",
        shown: &[
            ("command", "The command, or `options` for tabiya's UCI options"),
            ("guide", "Open the guide in the browser"),
        ],
        examples: &["tabiya help build", "tabiya help options"],
    },
];

impl Screen {
    fn of(command: &str) -> Option<&'static Self> {
        SCREENS.iter().find(|screen| screen.command == command)
    }

    /// The command as `-h` describes it.
    fn brief(&self, command: Command) -> Command {
        let command = command.mut_args(|argument| {
            let place = self.shown.iter().position(|(id, _)| argument.get_id() == id);
            let Some((place, (_, words))) = place.and_then(|place| Some((place, self.shown.get(place)?)))
            else {
                return argument.hide_short_help(true);
            };
            let has_values = argument.get_action().takes_values();
            let argument =
                argument.help_heading(None).hide_short_help(false).hide_possible_values(has_values);
            let argument = if words.is_empty() { argument } else { argument.help(*words) };
            if argument.is_positional() { argument } else { argument.display_order(place) }
        });
        let first: String = self.examples.iter().take(1).map(|line| format!("Example: {line}")).collect();
        command.after_help(first)
    }

    /// The command as `--help` describes it.
    fn whole(&self, command: Command) -> Command {
        let lines: String = self.examples.iter().map(|line| format!("\n  {line}")).collect();
        command.after_long_help(format!("Examples:{lines}"))
    }
}

/// The command line as `-h` of a command describes it.
pub(crate) fn brief(cli: Command) -> Command {
    each(cli, "", &|screen, command| screen.brief(command))
}

/// The command line as `--help` of a command describes it.
pub(crate) fn whole(cli: Command) -> Command {
    each(cli, "", &|screen, command| screen.whole(command))
}

/// Gives each command what its screen has; `within`: the names of the commands that these belong to.
fn each(cli: Command, within: &str, shape: &dyn Fn(&Screen, Command) -> Command) -> Command {
    cli.mut_subcommands(|command| {
        let name = format!("{within}{}", command.get_name());
        let shaped = match Screen::of(&name) {
            Some(screen) => shape(screen, command),
            None => command,
        };
        each(shaped, &format!("{name} "), shape)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    /// The words of a line as a shell reads them, up to where its output goes.
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" > ").next().unwrap();
        let parts = line.split('"').enumerate();
        parts
            .flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            })
            .collect()
    }

    /// Each command below these, with its whole name.
    fn named(cli: &Command, within: &str) -> Vec<(String, Command)> {
        let mut found = vec![];
        for command in cli.get_subcommands() {
            let name = format!("{within}{}", command.get_name());
            found.extend(named(command, &format!("{name} ")));
            found.push((name, command.clone()));
        }
        found
    }

    #[test]
    fn each_example_is_a_command_line_that_its_command_takes() {
        for Screen { command: name, examples, .. } in SCREENS {
            for line in examples {
                let found = cli::command().try_get_matches_from(words(line));
                let found = found.unwrap_or_else(|error| panic!("{line}: {error}"));
                let (command, inner) = found.subcommand().unwrap();
                let whole = inner.subcommand_name().map(|inner| format!("{command} {inner}"));
                assert!(command == name || whole.as_deref() == Some(name), "{line}");
            }
        }
    }

    #[test]
    fn the_short_help_of_each_command_fits_a_screen_and_has_an_example() {
        let commands = named(&cli::brief_command(), "");
        assert_eq!(commands.len(), SCREENS.len());
        for (name, command) in commands {
            let screen = Screen::of(&name).unwrap_or_else(|| panic!("what does `tabiya {name} -h` show?"));
            let text = command.clone().term_width(80).render_help().to_string();
            let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.lines().count() <= 24, "{name}: {} lines\n{text}", text.lines().count());
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{name}\n{text}");
            assert!(flowing.contains(&format!("Example: {}", screen.examples[0])), "{name}\n{text}");
            for (id, words) in screen.shown {
                let argument = command.get_arguments().find(|argument| argument.get_id() == id);
                let argument = argument.unwrap_or_else(|| panic!("{name}: {id}"));
                let is_shown = |words: &str| flowing.contains(words);
                assert!(
                    argument.get_long().is_none_or(|long| is_shown(&format!("--{long}"))),
                    "{name}: {id}"
                );
                assert!(is_shown(words), "{name}: {words}\n{text}");
            }
            // What matters in every command that has it.
            for id in ["output", "force", "json", "engine"] {
                let has = command.get_arguments().any(|argument| argument.get_id() == id);
                assert!(!has || screen.shown.iter().any(|(shown, _)| *shown == id), "{name}: {id}");
            }
        }
    }

    #[test]
    fn the_long_help_of_each_command_describes_every_argument() {
        for (name, command) in named(&cli::command(), "") {
            let text = command.clone().term_width(100).render_long_help().to_string();
            for line in Screen::of(&name).unwrap().examples {
                assert!(text.contains(line), "{name}: {line}");
            }
            for argument in command.get_arguments() {
                let shown =
                    argument.get_long().map_or_else(|| argument.to_string(), |long| format!("--{long}"));
                assert!(text.contains(&shown), "{name}: {shown}");
            }
        }
    }
}
