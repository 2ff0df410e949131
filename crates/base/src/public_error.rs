//! The error that a public crate shows to other programs: the same data, without a type of this crate.

/// Makes the `Error`, `ErrorKind` and `Result` of a crate.
#[macro_export]
macro_rules! public_error {
    () => {
        /// What kind of thing is wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum ErrorKind {
            /// Something was asked for that does not exist, or not here.
            Usage,
            /// A file cannot be opened, read or written.
            File,
            /// A file was read but is not what it should be.
            Format,
            /// The work was asked to stop.
            Interrupted,
            /// Something else.
            Other,
        }

        /// What is wrong, where, and what helps.
        ///
        /// Shown as `FILE: what is wrong (byte OFFSET): what to do`; with `{:#}` the source follows what is wrong.
        pub struct Error(::tabiya_base::error::Error);

        /// A result, with [`Error`] where nothing else is said.
        pub type Result<T, E = Error> = ::std::result::Result<T, E>;

        impl Error {
            /// The kind of the error.
            pub fn kind(&self) -> ErrorKind {
                use ::tabiya_base::error::ErrorKind as Kind;
                match self.0.kind() {
                    Kind::Usage => ErrorKind::Usage,
                    Kind::File => ErrorKind::File,
                    Kind::Format => ErrorKind::Format,
                    Kind::Interrupted => ErrorKind::Interrupted,
                    _ => ErrorKind::Other,
                }
            }

            /// The file, where there is one.
            pub fn path(&self) -> ::std::option::Option<&::std::path::Path> {
                self.0.path()
            }

            /// The offset in the file in bytes, where there is one.
            pub fn offset(&self) -> ::std::option::Option<u64> {
                self.0.offset()
            }

            /// What is wrong, as a clause, without file, offset and advice.
            pub fn what(&self) -> &str {
                self.0.what()
            }

            /// What to do, as a clause, where something is known to help.
            pub fn advice(&self) -> ::std::option::Option<&str> {
                self.0.advice_text()
            }
        }

        impl ::std::fmt::Debug for Error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl ::std::fmt::Display for Error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        impl ::std::error::Error for Error {
            fn source(&self) -> ::std::option::Option<&(dyn ::std::error::Error + 'static)> {
                ::std::error::Error::source(&self.0)
            }
        }

        #[doc(hidden)]
        impl From<::tabiya_base::error::Error> for Error {
            fn from(error: ::tabiya_base::error::Error) -> Self {
                Self(error)
            }
        }

        #[doc(hidden)]
        impl From<Error> for ::tabiya_base::error::Error {
            fn from(error: Error) -> Self {
                error.0
            }
        }
    };
}
