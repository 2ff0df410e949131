//! The sessions of pages, and the code that begins one.

use std::collections::VecDeque;

use tabiya_base::error::Result;

use crate::token;

/// Sessions at a time; of more the oldest is ended.
pub(super) const SESSIONS: usize = 64;

/// The sessions that have begun, and how the next one begins.
pub(super) struct Sessions {
    /// The code that begins the next one.
    pub(super) code: String,
    begun: VecDeque<Session>,
}

/// A session: the cookie that opens the page, and the key that its other requests need too.
pub(super) struct Session {
    cookie: String,
    key: String,
    /// Whether the page has not been asked for.
    is_new: bool,
}

impl Sessions {
    /// None yet.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn new() -> Result<Self> {
        Ok(Self { code: token::random()?, begun: VecDeque::new() })
    }

    /// Begins a session, and returns its cookie. Where the code was used for that, a new one takes its place.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn begin(&mut self, by_code: bool) -> Result<String> {
        let (cookie, key) = (token::random()?, token::random()?);
        if by_code {
            self.code = token::random()?;
        }
        if self.begun.len() >= SESSIONS {
            self.begun.pop_front();
        }
        self.begun.push_back(Session { cookie: cookie.clone(), key, is_new: true });
        Ok(cookie)
    }

    /// The session of the first of these cookies that has one.
    pub(super) fn find<'c>(&mut self, mut cookies: impl Iterator<Item = &'c str>) -> Option<&mut Session> {
        let number =
            cookies.find_map(|cookie| self.begun.iter().position(|own| is_same(&own.cookie, cookie)))?;
        self.begun.get_mut(number)
    }

    /// Whether this is a session's key. A browser keeps one cookie for all its pages, so an older page's key may come with the
    /// cookie of a session that another page has just begun.
    pub(super) fn have_key(&self, key: &str) -> bool {
        self.begun.iter().any(|own| is_same(&own.key, key))
    }
}

impl Session {
    /// Its key, for the first page alone.
    pub(super) fn key_once(&mut self) -> Option<String> {
        std::mem::take(&mut self.is_new).then(|| self.key.clone())
    }
}

/// Compares a secret with what a request has, in a time that depends on its length alone.
pub(super) fn is_same(own: &str, other: &str) -> bool {
    let (own, other) = (own.as_bytes(), other.as_bytes());
    let differences = own.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    own.len() == other.len() && std::hint::black_box(differences) == 0
}
