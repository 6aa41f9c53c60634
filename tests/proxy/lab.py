"""What the proxy's tests share: the proxy under test, hosts that record what reached them, a name server. Loopback only."""
import os
import socket
import struct
import subprocess
import threading

SERVE = os.path.join(os.environ.get("HURDLE_BUILD", "build"), "tests/proxy/serve")


class Proxy:
    """The program tests/proxy/serve; record: the lines that it prints at its end."""

    def __init__(self, *options):
        self.process = subprocess.Popen([SERVE, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        assert len(words) == 2, "the proxy did not start"
        self.port, self.pid = int(words[0]), int(words[1])
        self.record = None

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def ask(self, data, half_close=False):
        """Sends bytes and returns all that comes back."""
        with self.connect() as s:
            s.sendall(data)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            return read_all(s)

    def end(self):
        if self.record is None:
            self.record = self.process.communicate(timeout=20)[0].splitlines()
        return self.record

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def read_all(s):
    data = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                return data
            data += part
    except ConnectionResetError:
        return data


def read_exactly(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        assert part, f"ended after {data!r}"
        data += part
    return data


def read_head(s):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = s.recv(1)
        assert part, f"ended after {data!r}"
        data += part
    return data


class Host:
    """A server: each connection is given to handle(socket, number); what it received stands in seen."""

    def __init__(self, handle, family=socket.AF_INET, address="127.0.0.1"):
        self.handle, self.seen, self.count = handle, [], 0
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((address, 0))
        self.socket.listen(1024)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            self.seen.append(b"")
            threading.Thread(target=self.one, args=(s, self.count - 1), daemon=True).start()

    def one(self, s, number):
        with s:
            s.settimeout(20)
            try:
                self.handle(self, s, number)
            except OSError:
                pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def echo(host, s, number):
    while True:
        part = s.recv(65536)
        if not part:
            return
        host.seen[number] += part
        s.sendall(part)


def answer(response):
    """Takes one request with its body, as far as it has one, and answers; then waits for the end."""

    def handle(host, s, number):
        data = b""
        while b"\r\n\r\n" not in data:
            part = s.recv(65536)
            if not part:
                host.seen[number] = data
                return
            data += part
        host.seen[number] = data
        s.sendall(response)
        s.shutdown(socket.SHUT_WR)
        host.seen[number] += read_all(s)

    return handle


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Names:
    """A name server on loopback: names -> list of answers, one for each time the name is asked for; an answer is a list of addresses,
    or an rcode, or None (silence). asked: every question."""

    def __init__(self, directory, names):
        self.names, self.asked, self.turn = names, [], {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.file = os.path.join(directory, f"resolv.{self.port}")
        with open(self.file, "w") as f:
            f.write(f"nameserver 127.0.0.1:{self.port}\noptions timeout:1 attempts:2\nsearch example.org\n")
        self.hosts = os.path.join(directory, f"hosts.{self.port}")
        with open(self.hosts, "w") as f:
            f.write("127.0.0.1 from-the-hosts-file.example\n")
        threading.Thread(target=self.run, daemon=True).start()

    def options(self):
        return [f"resolv={self.file}", f"hosts={self.hosts}"]

    def run(self):
        while True:
            try:
                query, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            at, labels = 12, []
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]])
                at += 1 + query[at]
            name, kind = b".".join(labels).decode("latin-1").lower(), struct.unpack(">H", query[at + 1:at + 3])[0]
            self.asked.append((name, kind))
            reply = self.reply(query, at + 5, name, kind)
            if reply:
                self.socket.sendto(reply, peer)

    def reply(self, query, end, name, kind):
        answers = self.names.get(name, [3])
        turn = self.turn[name, kind] = self.turn.get((name, kind), -1) + 1
        now = answers[min(turn, len(answers) - 1)]
        if now is None:
            return None
        rcode, addresses = (now, []) if isinstance(now, int) else (0, now)
        family = {1: socket.AF_INET, 28: socket.AF_INET6}.get(kind)
        records = b""
        n = 0
        for address in addresses:
            if family and (":" in address) == (kind == 28):
                data = socket.inet_pton(family, address)
                records += struct.pack(">HHHIH", 0xC00C, kind, 1, 1, len(data)) + data
                n += 1
        return query[:2] + struct.pack(">HHHHH", 0x8180 | rcode, 1, n, 0, 0) + query[12:end] + records

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
