//! The configuration file that is made for a user: every key in a comment, and every option with what it is for.

use super::table::{self, SettingKind, SettingRow};

/// The text of the file, with places for what the table of settings says.
const TEXT: &str = include_str!("template.toml");

/// The line in place of which each option is described, and that for the keys of a `[[book]]` table.
const OPTIONS: &str = "@OPTIONS@";
const KEYS: &str = "@KEYS@";

/// The longest line, in characters.
const WIDTH: usize = 120;

/// A configuration file with every key in a comment.
pub fn template() -> String {
    let (mut out, mut described) = (String::new(), String::new());
    for line in TEXT.lines() {
        match line {
            OPTIONS => table::options().filter(|row| !row.at_start).for_each(|row| option(row, &mut out)),
            KEYS => {
                let keys =
                    table::by_book().filter(|row| row.is_of_policy() && !described.contains(&key(row)));
                out.extend(keys.map(|row| format!("{}{}\n", key(row), value(row))));
            }
            line => {
                described.push_str(line);
                described.push('\n');
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// The start of the line of a key in a `[[book]]` table.
fn key(row: &SettingRow) -> String {
    format!("#  {} = ", row.key)
}

/// What an option is for, in lines, and the option with its default.
fn option(row: &SettingRow, out: &mut String) {
    let mut line = "#".to_owned();
    for word in row.help.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&format!("{line}\n#{} = {}\n", name(row.name), value(row)));
}

/// A name as a key of TOML.
fn name(name: &str) -> String {
    if name.contains(' ') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The default of an option as a value of TOML.
fn value(row: &SettingRow) -> String {
    match row.kind {
        SettingKind::Check | SettingKind::Spin { .. } => row.default(),
        _ => format!("'{}'", row.default()),
    }
}
