//! A minimal browser for logins in the examples: it follows redirects and stores cookies.

use std::collections::BTreeMap;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Position, Url};

use super::cli::Failure;

/// A browser for plain HTTP on this machine.
#[derive(Default)]
pub(crate) struct Browser {
    /// Keyed by host and port, then by name.
    cookies: BTreeMap<(String, String), String>,
}

/// The last page after all redirects.
#[allow(dead_code)] // Not every example reads it.
pub(crate) struct Page {
    pub(crate) url: Url,
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Browser {
    /// Opens an address.
    pub(crate) async fn open(&mut self, url: &Url) -> Result<Page, Failure> {
        self.follow("GET", url).await
    }

    /// Sends an empty form.
    #[allow(dead_code)] // Not every example has a form.
    pub(crate) async fn submit(&mut self, url: &Url) -> Result<Page, Failure> {
        self.follow("POST", url).await
    }

    async fn follow(&mut self, method: &str, url: &Url) -> Result<Page, Failure> {
        let mut method = method;
        let mut url = url.clone();
        for _ in 0..10 {
            let (page, location) = self.request(method, &url).await?;
            let Some(location) = location else {
                return Ok(page);
            };
            (method, url) = ("GET", url.join(&location)?);
        }
        Err("too many redirects".into())
    }

    async fn request(
        &mut self,
        method: &str,
        url: &Url,
    ) -> Result<(Page, Option<String>), Failure> {
        let host = url.authority();
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .filter(|((of, _), _)| of == host)
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nCookie: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            cookies.join("; ")
        );
        let mut stream = TcpStream::connect(host).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut response = String::new();
        stream.read_to_string(&mut response).await?;
        let (head, body) = response.split_once("\r\n\r\n").ok_or("no whole response")?;
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let mut location = None;
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            match name.to_ascii_lowercase().as_str() {
                "location" => location = Some(value.to_owned()),
                "set-cookie" => self.keep(host, value),
                _ => {}
            }
        }
        let page = Page {
            url: url.clone(),
            status: status.ok_or("no status")?.parse()?,
            body: body.to_owned(),
        };
        Ok((page, location))
    }

    fn keep(&mut self, host: &str, cookie: &str) {
        let pair = cookie.split(';').next().unwrap_or_default();
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let key = (host.to_owned(), name.to_owned());
        if cookie.contains("Max-Age=0") {
            self.cookies.remove(&key);
        } else {
            self.cookies.insert(key, value.to_owned());
        }
    }
}
