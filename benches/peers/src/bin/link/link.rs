//! A TCP proxy that delays and limits the bytes that pass through it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes that arrive at once, so that a client can act on the beginning of a reply.
const PIECE: usize = 1_460;

/// One direction of a line. All connections share it.
struct Direction {
    bytes_per_second: u64,
    delay: Duration,
    /// When the line has sent everything that it was given.
    free: Mutex<Instant>,
}

impl Direction {
    /// When bytes that are sent now have arrived.
    fn arrival(&self, bytes: usize) -> Instant {
        let time = bytes as u64 * 1_000_000_000 / self.bytes_per_second;
        let mut free = self.free.lock().unwrap();
        *free = (*free).max(Instant::now()) + Duration::from_nanos(time);
        *free + self.delay
    }
}

/// Forwards connections to a server over a line with this speed in both directions, and returns the address of its other end.
pub fn start(server: SocketAddr, bits_per_second: u64, round_trip: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let direction = || {
        Arc::new(Direction {
            bytes_per_second: bits_per_second / 8,
            delay: round_trip / 2,
            free: Mutex::new(Instant::now()),
        })
    };
    let (up, down) = (direction(), direction());
    thread::spawn(move || {
        for client in listener.incoming() {
            let (up, down) = (Arc::clone(&up), Arc::clone(&down));
            thread::spawn(move || {
                // The handshake of TCP.
                thread::sleep(round_trip);
                let client = client.unwrap();
                let server = TcpStream::connect(server).unwrap();
                forward(client.try_clone().unwrap(), server.try_clone().unwrap(), up);
                forward(server, client, down);
            });
        }
    });
    address
}

fn forward(mut from: TcpStream, to: TcpStream, direction: Arc<Direction>) {
    to.set_nodelay(true).unwrap();
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || deliver(&to, &pieces));
    thread::spawn(move || read(&mut from, &sender, &direction));
}

/// What is read is in the line; the channel closes at the end.
fn read(from: &mut TcpStream, line: &Sender<(Instant, Vec<u8>)>, direction: &Direction) {
    let mut buffer = [0; PIECE];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let piece = buffer[..read].to_vec();
        if line.send((direction.arrival(read), piece)).is_err() {
            return;
        }
    }
}

fn deliver(mut to: &TcpStream, line: &Receiver<(Instant, Vec<u8>)>) {
    for (arrival, piece) in line {
        thread::sleep(arrival.saturating_duration_since(Instant::now()));
        if to.write_all(&piece).is_err() {
            return;
        }
    }
    // OK to ignore: the other side has closed the connection.
    let _ = to.shutdown(Shutdown::Write);
}
