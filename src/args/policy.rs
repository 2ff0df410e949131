//! How moves are chosen, as arguments: the adapter's options, by their names.

use tabiya_adapter::settings::Given;
use tabiya_adapter::settings::spelling::without_book;
use tabiya_adapter::settings::table;
use tabiya_book::choose::Policy;
use tabiya_uci::same_name;

/// Which of a book's moves may be played, and how often.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct PolicyArgs {
    /// Set an option of tabiya that decides which moves are played, such as "Book Variety=0"; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<Setting>,
}

/// An option of the adapter, and its value.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    key: &'static str,
    value: String,
}

fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    let (name, value) = (name.trim(), value.trim());
    let Some(row) = table::shown().find(|row| same_name(row.name.as_bytes(), name.as_bytes())) else {
        if let Some(option) = without_book(name) {
            return Err(format!("write \"{option}={value}\""));
        }
        let names: Vec<_> = table::shown().map(|row| row.name).collect();
        return Err(format!("{name} does not decide which moves are played; these do: {}", names.join(", ")));
    };
    if !row.kind.takes(value) {
        let meant = row.kind.meant(value).map(|meant| format!(": {meant}")).unwrap_or_default();
        return Err(format!("{} must be {}{meant}", row.name, row.kind.needs()));
    }
    Ok(Setting { key: row.key, value: value.to_owned() })
}

impl PolicyArgs {
    /// The policy: the arguments, and the default of the adapter's options for each that is not given.
    pub fn policy(&self) -> Policy {
        self.over(&Policy::default())
    }

    /// The policy: the arguments, and `options` for each that is not given.
    pub(crate) fn over(&self, options: &Policy) -> Policy {
        let set = self.set.iter();
        set.fold(Given::default(), |given, Setting { key, value }| given.with(key, [value.as_str()]))
            .over(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(set: &[&str]) -> Result<Policy, String> {
        let set: Result<_, _> = set.iter().map(|text| setting(text)).collect();
        Ok(PolicyArgs { set: set? }.policy())
    }

    #[test]
    fn without_arguments_the_policy_is_the_adapters_default() {
        assert_eq!(policy(&[]), Ok(Policy::default()));
    }

    #[test]
    fn what_is_not_set_is_as_in_the_options() {
        let mut options = Policy::default();
        (options.variety, options.depth, options.threefold, options.tournament) = (7, 3, true, false);
        let mut expected = options.clone();
        (expected.variety, expected.tournament) = (9, true);
        let set = ["book  VARIETY = 9", "Book Tournament=true"].map(|text| setting(text).unwrap()).to_vec();
        assert_eq!(PolicyArgs { set }.over(&options), expected);
    }

    #[test]
    fn each_option_of_a_policy_is_set_by_its_name() {
        for row in table::shown() {
            let other = if row.default() == "true" {
                "false"
            } else if row.default() == "false" {
                "true"
            } else {
                "9"
            };
            assert_ne!(policy(&[&format!("{}={other}", row.name)]), Ok(Policy::default()), "{}", row.name);
        }
        for wrong in
            ["Hash=1", "Book File=a.bin", "Book Variety", "Book Variety=101", "Book Tournament=perhaps", "=1"]
        {
            assert!(policy(&[wrong]).is_err(), "{wrong}");
        }
        assert_eq!(policy(&["variety=30"]).unwrap_err(), "write \"Book Variety=30\"");
    }
}
