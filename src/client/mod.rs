//! The client: settings, the one path of every request, the handle of an account.
