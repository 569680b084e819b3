//! A gate between a program and the fake, which stops or ends the program at a request.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use envd_sdk::fake::Fake;
use rustix::process::{Pid, Signal, kill_process};

use super::program::Program;

/// When something is done to the program: at one of its requests, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// It has sent the request, and the fake does not get it.
    Before(usize),
    /// The fake has carried the request out, and the program does not get the reply.
    After(usize),
    Never,
}

/// What is done then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Kill,
    /// The program is stopped. Before: the request goes on to the fake when the gate is [opened](Gate::open). After: the reply
    /// goes on then.
    Stop,
}

/// Passes on what a program and the fake send each other.
pub(crate) struct Gate {
    shared: Arc<Shared>,
    address: SocketAddr,
}

struct Shared {
    at: At,
    act: Act,
    fake: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pid: Option<Pid>,
    requests: usize,
    /// Requests that the fake has and has not answered.
    open: usize,
    has_acted: bool,
    is_open: bool,
}

impl Gate {
    pub(crate) fn new(fake: &Fake, act: Act, at: At) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let port = fake.graphql_url().port().unwrap();
        let shared = Arc::new(Shared {
            at,
            act,
            fake: ([127, 0, 0, 1], port).into(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = shared.clone();
        // It ends with the test program.
        thread::spawn(move || {
            for client in listener.incoming() {
                let shared = accepting.clone();
                thread::spawn(move || shared.connect(client?));
            }
        });
        Self { shared, address }
    }

    /// Starts the program behind the gate.
    pub(crate) fn spawn(&self, mut program: Program) -> Child {
        let url = format!("http://{}/v2/graphql", self.address);
        let child = program.0.env("ENVD_GRAPHQL_URL", url).spawn().unwrap();
        self.shared.lock().pid = Some(Pid::from_child(&child));
        self.shared.changed.notify_all();
        child
    }

    /// Waits until the program was stopped or killed; `false`: it has ended before.
    pub(crate) fn has_acted(&self, child: &mut Child) -> bool {
        loop {
            if self.shared.lock().has_acted {
                return true;
            }
            if child.try_wait().unwrap().is_some() {
                return self.shared.lock().has_acted;
            }
            thread::yield_now();
        }
    }

    /// Waits until the fake has nothing of the program any more that it may still carry out.
    pub(crate) fn settle(&self) {
        let state = self.shared.lock();
        let settled = self
            .shared
            .changed
            .wait_while(state, |state| state.open > 0);
        drop(settled.unwrap());
    }

    /// Passes on what it has held back.
    pub(crate) fn open(&self) {
        self.shared.lock().is_open = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn connect(self: Arc<Self>, client: TcpStream) -> io::Result<()> {
        let fake = TcpStream::connect(self.fake)?;
        // Which request of the program is under way on this connection; 0: none.
        let under_way = Arc::new(Mutex::new(0));
        let (to_client, from_fake) = (client.try_clone()?, fake.try_clone()?);
        let (shared, replies_to) = (self.clone(), under_way.clone());
        thread::spawn(move || {
            let _ = shared.replies(from_fake, &to_client, &replies_to);
            if std::mem::take(&mut *replies_to.lock().unwrap()) > 0 {
                shared.answered();
            }
            to_client.shutdown(Shutdown::Both)
        });
        let _ = self.requests(client, &fake, &under_way);
        fake.shutdown(Shutdown::Write)
    }

    fn requests(
        &self,
        mut from: TcpStream,
        to: &TcpStream,
        under_way: &Mutex<usize>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            if buffer[..read].starts_with(b"POST ") {
                let number = {
                    let mut state = self.lock();
                    state.requests += 1;
                    state.requests
                };
                if self.at == At::Before(number) && !self.act() {
                    return Ok(());
                }
                *under_way.lock().unwrap() = number;
                self.lock().open += 1;
            }
            (&mut &*to).write_all(&buffer[..read])?;
        }
    }

    fn replies(
        &self,
        mut from: TcpStream,
        mut to: &TcpStream,
        under_way: &Mutex<usize>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return Ok(());
            }
            let number = std::mem::take(&mut *under_way.lock().unwrap());
            if number > 0 {
                self.answered();
                if self.at == At::After(number) && !self.act() {
                    return Ok(());
                }
            }
            to.write_all(&buffer[..read])?;
        }
    }

    fn answered(&self) {
        self.lock().open -= 1;
        self.changed.notify_all();
    }

    /// Stops or kills the program. Returns whether to go on then.
    fn act(&self) -> bool {
        let mut state = self.lock();
        while state.pid.is_none() {
            state = self.changed.wait(state).unwrap();
        }
        let signal = match self.act {
            Act::Kill => Signal::KILL,
            Act::Stop => Signal::STOP,
        };
        kill_process(state.pid.unwrap(), signal).unwrap();
        state.has_acted = true;
        self.changed.notify_all();
        if self.act == Act::Kill {
            return false;
        }
        let opened = self.changed.wait_while(state, |state| !state.is_open);
        drop(opened.unwrap());
        true
    }
}
