//! The routes without a network, for tests and fuzzing.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::Runtime;

use tabiya_base::error::{Error, ErrorKind, Result};
use tabiya_book::traits::Book;

use super::router::router;
use super::{Explorer, token};

/// Bytes of an answer that are kept.
const MAX_ANSWER: usize = 64 << 20;

/// The answers about one book in memory.
pub struct InProcess {
    runtime: Runtime,
    router: Router,
    token: String,
}

impl InProcess {
    /// Answers about this book.
    ///
    /// # Errors
    /// When the system has no random numbers or threads.
    pub fn new(book: Arc<dyn Book>) -> Result<Self> {
        let token = token::random()?;
        let explorer = Explorer::of_book(book, token.clone())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .map_err(|error| Error::new(ErrorKind::File, format!("cannot start threads: {error}")))?;
        Ok(Self { runtime, router: router(Arc::new(explorer)), token })
    }

    /// Status and body of an answer to a request with the token; `None` if these are not a request. The body of events is
    /// left out: it does not end.
    pub fn ask(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Option<(u16, Vec<u8>)> {
        let mut request = Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .header(header::HOST, "127.0.0.1:80")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        let request = request.body(Body::from(body.to_vec())).ok()?;
        let service = TowerToHyperService::new(self.router.clone());
        self.runtime.block_on(async {
            let response = service.call(request).await.ok()?;
            let status = response.status().as_u16();
            let endless =
                response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
            let body = match endless {
                true => Vec::new(),
                false => to_bytes(response.into_body(), MAX_ANSWER).await.ok()?.to_vec(),
            };
            Some((status, body))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabiya_book as book;

    use super::*;

    const PATHS: [&str; 19] = [
        "/",
        "/api/books",
        "/api/view",
        "/api/position",
        "/api/next",
        "/api/read",
        "/api/openings",
        "/api/pgn",
        "/api/game",
        "/api/games",
        "/masters/pgn/00000000",
        "/api/engine",
        "/api/events",
        "/lichess",
        "/masters",
        "/master",
        "/player",
        "/chessdb",
        "/cdb.php",
    ];

    #[test]
    fn every_path_answers_and_others_do_not_exist() {
        let server = InProcess::new(book::starter_book().unwrap()).unwrap();
        let status = |method, target| server.ask(method, target, &[], b"").unwrap().0;
        for path in PATHS {
            let expected = match path {
                "/api/read" | "/player" => 400,
                "/api/game" | "/api/games" | "/masters/pgn/00000000" | "/api/engine" => 404,
                _ => 200,
            };
            assert_eq!(status("GET", path), expected, "{path}");
            assert_eq!(status("DELETE", path), 405, "{path}");
        }
        assert_eq!((status("GET", "/api"), status("GET", "/api/books/1")), (404, 404));
        let json = [("content-type", "application/json")];
        let edit = br#"{"book":0,"play":[],"move":"e2e4","op":"set","value":1,"expect":{"weight":1}}"#;
        let (status, body) = server.ask("POST", "/api/edit", &json, edit).unwrap();
        assert_eq!(status, 403);
        assert!(String::from_utf8(body).unwrap().contains("read-only"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_request_makes_the_server_fail(
            path in prop::sample::select(&PATHS[..]),
            parameters in prop::collection::vec(("(start|fen|play|books|book|moves|text|q|lines|variety|limit|action|board|json|showall|player|color|variant)", "([ -~]{0,30}|atomic|crazyhouse|3check|P@e4|e2e4,d7d5,e4d5,d8d5,P@e4)"), 0..5),
            body in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let server = InProcess::new(book::starter_book().unwrap()).unwrap();
            let mut query = form_urlencoded::Serializer::new(String::new());
            let query = query.extend_pairs(&parameters).finish();
            for (method, target) in [("GET", format!("{path}?{query}")), ("POST", "/api/edit".to_owned()), ("POST", "/api/read".to_owned())] {
                let answer = server.ask(method, &target, &[("content-type", "application/json")], &body);
                prop_assert!(answer.is_none_or(|(status, _)| status != 500), "{target}");
            }
        }
    }
}
