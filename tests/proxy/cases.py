#!/usr/bin/env python3
"""Attacks on the proxy alone, and what it must hold. usage: cases.py DIRECTORY CASE... (no case: list them)"""
# long: a case is a function, and they share what stands above them
import base64
import os
import signal
import socket
import struct
import sys
import threading
import time

from lab import (Host, Names, OK, Proxy, answer, echo, read_all, read_exactly, read_head)

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def status(response):
    return int(response.split(b" ", 2)[1]) if response.startswith(b"HTTP/1.1 ") else None


def connect(host, port, head=b""):
    host = host.encode("latin-1") if isinstance(host, str) else host
    return b"CONNECT %b:%d HTTP/1.1\r\nHost: x\r\n%b\r\n" % (host, port, head)


def socks5(host, port, kind=3):
    address = host if kind != 3 else bytes([len(host)]) + host
    return b"\x05\x01\x00\x05\x01\x00" + bytes([kind]) + address + struct.pack(">H", port)


# ---- spellings ----

@case
def spellings_of_loopback_are_refused(_):
    """No spelling of an address that is not allowed gets through, in any protocol, and nothing is looked up for it."""
    spellings = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "0", "0.0.0.0", "[::1]", "[::]",
                 "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "localhost", "LOCALHOST", "localhost.", "a.localhost"]
    with Host(echo) as h, Names(_, {}) as names, Proxy("allow=*.example.com", *names.options()) as p:
        for s in spellings:
            assert status(p.ask(connect(s, h.port))) == 403, s
            assert status(p.ask(b"GET http://%b:%d/ HTTP/1.1\r\nHost: a.example.com\r\n\r\n" % (s.encode(), h.port))) == 403, s
            plain = s.strip("[]").encode()
            assert p.ask(socks5(plain, h.port))[2:4] == b"\x05\x02", s
            assert p.ask(b"\x04\x01" + struct.pack(">H", h.port) + b"\0\0\0\x01\0" + plain + b"\0")[1:2] == b"\x5b", s
        assert p.ask(socks5(socket.inet_aton("127.0.0.1"), h.port, 1))[2:4] == b"\x05\x02"
        assert p.ask(socks5(socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"), h.port, 4))[2:4] == b"\x05\x02"
        assert p.ask(b"\x04\x01" + struct.pack(">H", h.port) + b"\x7f\0\0\x01\0")[1:2] == b"\x5b"
        assert h.count == 0 and names.asked == [], (h.count, names.asked)


@case
def spellings_of_an_allowed_address_are_one(_):
    with Host(echo) as h, Proxy(f"allow=127.0.0.1:{h.port}") as p:
        for s in ["127.0.0.1", "127.1", "2130706433", "0X7F.1", "0177.0.0.1", "127.0.0.1.", "[::ffff:7f00:1]"]:
            with p.connect() as c:
                c.sendall(connect(s, h.port) + b"x")
                assert status(read_head(c)) == 200, s
                assert read_exactly(c, 1) == b"x"
        assert p.end()[0].startswith(f"host 127.0.0.1:{h.port} allow times 7 "), p.end()


@case
def malformed_hosts_are_refused(_):
    bad = [b"a b", b"evil.example.net\0.example.com", b"a\r\nX: y", b"user@a.example.com", b"a..example.com", b"-a.example.com", b"a.example.com..", b"%61.example.com",
           b"a.example.com/", b"[a.example.com]", b"[::1%lo]", b"256.1.1.1", b"1.2.3.4.5", b"0x", b"08.1.1.1", b"b\xc3\xbccher.example.com", b"a" * 64 + b".example.com",
           b"a." * 130 + b"example.com", b"", b"*", b"a\\@.example.com", b"a\x1b[31m.example.com", b"\xef\xbc\x91.example.com"]
    with Names(_, {}) as names, Proxy("allow=*.example.com", "allow=*.1.example.com", *names.options()) as p:
        for host in bad:
            answer_ = p.ask(connect(host, 443))
            assert status(answer_) in (400, 403), (host, answer_)
            assert b"\x1b" not in answer_, host
            if len(host) < 256:
                reply = p.ask(socks5(host, 443))
                assert reply in (b"\x05\x00", b"\x05\x00\x05\x02\0\x01\0\0\0\0\0\0"), (host, reply)
        assert names.asked == [], names.asked
        for line in p.end():
            assert line.isprintable(), line


@case
def ports(_):
    with Host(echo) as h, Proxy("allow=127.0.0.1") as p:
        for port in ["0", "", "65536", "75534", str(65536 + h.port), "+443", "0443", " 443", "4a", "443:443", "0x1bb", str(2 ** 32 + h.port), "-1"]:
            assert status(p.ask(b"CONNECT 127.0.0.1:%b HTTP/1.1\r\nHost: x\r\n\r\n" % port.encode())) == 400, port
            assert status(p.ask(b"GET http://127.0.0.1:%b/ HTTP/1.1\r\nHost: x\r\n\r\n" % port.encode())) == 400, port
        assert status(p.ask(b"CONNECT 127.0.0.1 HTTP/1.1\r\nHost: x\r\n\r\n")) == 400
        assert p.ask(socks5(b"127.0.0.1", 0))[2:4] == b"\x05\x02"
        assert h.count == 0


# ---- HTTP ----

BAD_REQUESTS = {
    "CL and TE": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE and CL": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two CL": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "two equal CL": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "CL list": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello",
    "CL +5": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
    "CL -1": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "CL 0x5": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello",
    "CL empty": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
    "CL huge": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "TE xchunked": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "TE gzip, chunked": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "TE identity": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
    "two TE": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE in 1.0": b"POST %b HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE vertical tab": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "space before colon": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
    "folded": b"GET %b HTTP/1.1\r\nHost: x\r\nA: b\r\n c: d\r\n\r\n",
    "folded first": b"GET %b HTTP/1.1\r\n Host: x\r\n\r\n",
    "bare LF": b"GET %b HTTP/1.1\nHost: x\n\n",
    "bare LF in a field": b"GET %b HTTP/1.1\r\nHost: x\r\nA: b\nContent-Length: 5\r\n\r\n",
    "bare CR": b"GET %b HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n",
    "CR CR LF": b"GET %b HTTP/1.1\r\nHost: x\r\r\n\r\n",
    "NUL in a field": b"GET %b HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n",
    "NUL in a name": b"GET %b HTTP/1.1\r\nHost: x\r\nA\0: b\r\n\r\n",
    "no name": b"GET %b HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
    "no colon": b"GET %b HTTP/1.1\r\nHost: x\r\nabc\r\n\r\n",
    "two Host": b"GET %b HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "two equal Host": b"GET %b HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "no Host": b"GET %b HTTP/1.1\r\n\r\n",
    "odd Host": b"GET %b HTTP/1.1\r\nHost: a b\r\n\r\n",
    "userinfo Host": b"GET %b HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "HTTP/0.9": b"GET %b\r\n\r\n",
    "HTTP/2.0": b"GET %b HTTP/2.0\r\nHost: x\r\n\r\n",
    "HTTP/1.2": b"GET %b HTTP/1.2\r\nHost: x\r\n\r\n",
    "lower-case http": b"GET %b http/1.1\r\nHost: x\r\n\r\n",
    "two blanks": b"GET  %b HTTP/1.1\r\nHost: x\r\n\r\n",
    "tab": b"GET\t%b HTTP/1.1\r\nHost: x\r\n\r\n",
    "odd method": b"GE(T %b HTTP/1.1\r\nHost: x\r\n\r\n",
    "TRACE": b"TRACE %b HTTP/1.1\r\nHost: x\r\n\r\n",
    "two credentials": b"GET %b HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic a\r\nProxy-Authorization: Basic b\r\n\r\n",
}


@case
def malformed_requests_reach_nobody(_):
    with Host(answer(OK)) as h, Proxy("allow=127.0.0.1") as p:
        url = b"http://127.0.0.1:%d/" % h.port
        for name, request in BAD_REQUESTS.items():
            got = p.ask(request % url)
            assert status(got) in (400, 405, 505), (name, got)
            assert got.count(b"HTTP/1.1 ") == 1, (name, got)
        for target in [b"/", b"*", b"x", b"127.0.0.1:80", b"http:/127.0.0.1/", b"http://", b"http:///x", b"http://?", b"http://a@127.0.0.1:%d/" % h.port,
                       b"http://127.0.0.1:%d#x" % h.port, b"http://127.0.0.1:/", b"//127.0.0.1/", b"http://127.0.0.1\\@x/", b"http://[127.0.0.1]/"]:
            got = p.ask(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            assert status(got) == 400, (target, got)
        for target in [b"https://127.0.0.1:%d/" % h.port, b"ftp://127.0.0.1/", b"ws://127.0.0.1/", b"file:///etc/passwd", b"gopher://127.0.0.1/"]:
            assert status(p.ask(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")) == 501, target
        assert p.ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")[9:12] in (b"400", b"505")
        for first in [b"\x16\x03\x01\x02\x00", b"\0", b"\xff", b" GET", b"\r\nGET", b"\x06"]:
            assert p.ask(first) == b"", first
        assert h.count == 0


@case
def chunk_tricks_reach_nobody_whole(_):
    bad = [b"5;\nhello\r\n0\r\n\r\n", b"5\nhello\r\n0\r\n\r\n", b"5\rhello", b"-5\r\nhello", b"+5\r\nhello", b"0x5\r\nhello", b"\r\nhello", b"g\r\n", b"123456789\r\n", b"5\r\nhelloX\r\n0\r\n\r\n",
           b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello\r\n0\r\nX: y\n\r\n", b"5\r\nhello\r\n0\r\n\n", b";x\r\n", b" 5\r\nhello\r\n0\r\n\r\n", b"5\x0b\r\nhello\r\n0\r\n\r\n"]
    with Host(answer(OK)) as h, Proxy("allow=127.0.0.1") as p:
        for body in bad:
            head = b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % h.port
            before = h.count
            got = p.ask(head + body, half_close=True)
            assert b" 200 " not in got or got.count(b"HTTP/1.1") == 1, (body, got)
            for seen in h.seen[before:]:
                assert not seen.endswith(b"0\r\n\r\n"), (body, seen)


@case
def chunks_are_written_anew(_):
    def whole(host, s, number):
        while not host.seen[number].endswith(b"\r\n0\r\n\r\n"):
            host.seen[number] += s.recv(65536)
        s.sendall(OK)

    with Host(whole) as h, Proxy("allow=127.0.0.1") as p:
        with p.connect() as c:
            c.sendall(b"POST http://127.0.0.1:%d/a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nTrailer: T\r\n\r\n" % h.port)
            for byte in b"5;name=value\r\nhello\r\n0003 \r\nabc\r\n0\r\nT: smuggled\r\n\r\n":
                c.sendall(bytes([byte]))
            assert read_head(c).startswith(b"HTTP/1.1 200 OK\r\n") and read_exactly(c, 2) == b"ok"
        seen = h.seen[0]
        assert b"smuggled" not in seen and b"name=value" not in seen and b"Trailer" not in seen, seen
        head, body = seen.split(b"\r\n\r\n", 1)
        assert b"\r\nTransfer-Encoding: chunked\r\n" in head and body.endswith(b"\r\n0\r\n\r\n"), seen


@case
def one_hop_fields_stay_here(_):
    with Host(answer(b"HTTP/1.1 200 OK\r\nConnection: X-Secret, close\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\nProxy-Authenticate: Basic\r\nX-Kept: 2\r\nContent-Length: 2\r\n\r\nok")) as h, \
            Proxy("allow=127.0.0.1", "token=" + "a" * 32) as p:
        credential = base64.b64encode(b"hurdle:" + b"a" * 32)
        with p.connect() as c:
            c.sendall(b"GET http://127.0.0.1:%d HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic %b\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"
                      b"Proxy-Connection: keep-alive\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nTE: trailers\r\nX-End: 2\r\n\r\n" % (h.port, credential))
            head = read_head(c)
            assert read_exactly(c, 2) == b"ok"
        seen = h.seen[0]
        assert seen.startswith(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % h.port), seen
        for word in [b"X-Hop", b"Proxy", b"Upgrade", b"HTTP2", b"TE:", b"other.example", b"keep-alive", credential]:
            assert word.lower() not in seen.lower(), (word, seen)
        assert b"X-End: 2" in seen and b"X-Kept: 2" in head
        for word in [b"X-Secret", b"Keep-Alive:", b"Upgrade", b"Proxy-"]:
            assert word not in head, (word, head)


@case
def each_request_is_decided(_):
    """A connection that stays is no permission for what comes next on it."""
    with Host(answer(OK)) as h, Host(answer(OK)) as other, Proxy(f"allow=127.0.0.1:{h.port}") as p:
        good, bad = (b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (port, h.port) for port in (h.port, other.port))
        got = p.ask(good + good + bad + good)
        assert got.count(b"HTTP/1.1 200 OK") == 2 and got.count(b"HTTP/1.1 403 ") == 1 and got.count(b"HTTP/1.1 ") == 3, got
        assert h.count == 2 and other.count == 0
        # behind a refused CONNECT nothing is read as a request
        got = p.ask(connect("127.0.0.1", other.port) + good)
        assert status(got) == 403 and got.count(b"HTTP/1.1 ") == 1, got
        assert h.count == 2


@case
def host_field_decides_nothing(_):
    with Host(answer(OK)) as h, Proxy("allow=good.example.com") as p:
        for request in [b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: good.example.com\r\n\r\n", b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: good.example.com:443\r\n\r\n"]:
            assert status(p.ask(request % h.port)) == 403
        assert h.count == 0


@case
def connect_with_a_body_is_refused(_):
    with Host(echo) as h, Proxy("allow=127.0.0.1") as p:
        for head in [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]:
            assert status(p.ask(connect("127.0.0.1", h.port, head) + b"hello")) == 400
        assert h.count == 0


@case
def responses_of_all_kinds(_):
    rows = [  # response of the host, how it ends for the client, body
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", None),
        (b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", b"no"),
    ]
    for response, body in rows:
        with Host(answer(response)) as h, Proxy("allow=127.0.0.1") as p:
            with p.connect() as c:
                c.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % h.port)
                got = read_all(c)
            if body is None:
                assert got.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n") and got.endswith(b"\r\n\r\nhello"), got
            else:
                assert got.split(b"\r\n\r\n", 1)[1] == body, (response, got)
    for response in [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
                     b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", b"SSH-2.0-x\r\n\r\n", b"", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
                     b"HTTP/1.1 99 x\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70000 + b"\r\n\r\n"]:
        with Host(answer(response)) as h, Proxy("allow=127.0.0.1") as p:
            got = p.ask(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % h.port)
            assert status(got) == 502, (response[:60], got)


@case
def a_response_cut_short_is_no_whole_one(_):
    """A client must be able to tell: the connection is reset, not closed."""
    def cut(host, s, number):
        s.recv(65536)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")

    with Host(cut) as h, Proxy("allow=127.0.0.1") as p, p.connect() as c:
        c.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % h.port)
        read_head(c)
        try:
            while c.recv(100):
                pass
            ended = True
        except ConnectionResetError:
            ended = False
        assert not ended


@case
def large_bodies_both_ways(_):
    size = 3_000_000

    def handle(host, s, number):
        data = b""
        while b"\r\n\r\n" not in data or len(data.split(b"\r\n\r\n", 1)[1]) < size:
            data += s.recv(65536)
        body = data.split(b"\r\n\r\n", 1)[1]
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        s.sendall(body)

    body = os.urandom(size)
    with Host(handle) as h, Proxy("allow=127.0.0.1") as p:
        with p.connect() as c:
            for _ in range(2):
                c.sendall(b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (h.port, size))
                threading.Thread(target=c.sendall, args=(body,), daemon=True).start()
                assert status(read_head(c)) == 200
                assert read_exactly(c, size) == body
        assert p.end()[0] == f"host 127.0.0.1:{h.port} allow times 2 sent {2 * size} received {2 * size}", p.end()


# ---- who may use it ----

@case
def without_the_credential_nothing(_):
    token = "0123456789abcdef" * 2
    good = base64.b64encode(b"hurdle:" + token.encode())
    with Host(echo) as h, Proxy("allow=127.0.0.1", "token=" + token) as p:
        for value in [None, b"Basic", b"Basic ", b"Bearer " + good, b"Basic " + good[:-1], b"Basic " + good + b"A", b"Basic " + base64.b64encode(b"hurdle:" + token[:-1].encode() + b"x"),
                      b"Basic " + base64.b64encode(b"hurdle:"), b"Basic " + b"A" * 100000]:
            got = p.ask(connect("127.0.0.1", h.port, b"Proxy-Authorization: " + value + b"\r\n" if value else b""))
            assert status(got) in (407, 431), (value, got)
        # who may not use it learns nothing about the rules either
        assert status(p.ask(connect("denied.example", 443))) == 407
        for password in [b"", b"x", token[:-1].encode(), token.encode() + b"x", b"x" * 255]:
            assert p.ask(b"\x05\x01\x02\x01\x01u" + bytes([len(password)]) + password)[2:] == b"\1\1", password
        assert p.ask(b"\x05\x01\x00") == b"\x05\xff"
        assert p.ask(b"\x04\x01" + struct.pack(">H", h.port) + b"\x7f\0\0\x01wrong\0")[:2] == b"\0\x5b"
        assert h.count == 0
        with p.connect() as c:
            c.sendall(connect("127.0.0.1", h.port, b"Proxy-Authorization: basic " + good + b"\r\n"))
            assert status(read_head(c)) == 200
        with p.connect() as c:
            c.sendall(b"\x05\x02\x00\x02\x01\x01u\x20" + token.encode() + b"\x05\x01\x00\x01\x7f\0\0\x01" + struct.pack(">H", h.port) + b"hi")
            assert read_exactly(c, 14)[:7] == b"\x05\x02\x01\x00\x05\x00\x00" and read_exactly(c, 2) == b"hi"
        with p.connect() as c:
            c.sendall(b"\x04\x01" + struct.pack(">H", h.port) + b"\0\0\0\x01" + token.encode() + b"\0" + b"127.1\0hi")
            assert read_exactly(c, 8)[:2] == b"\0\x5a" and read_exactly(c, 2) == b"hi"


# ---- SOCKS ----

@case
def socks_forms(_):
    with Host(echo) as h, Proxy("allow=127.0.0.1") as p:
        for request in [socks5(b"127.0.0.1", h.port), socks5(b"0x7f.1", h.port), socks5(socket.inet_aton("127.0.0.1"), h.port, 1)]:
            with p.connect() as c:
                for byte in request:  # a byte at a time
                    c.sendall(bytes([byte]))
                assert read_exactly(c, 12)[:4] == b"\x05\x00\x05\x00"
                c.sendall(b"ping")
                assert read_exactly(c, 4) == b"ping"
        for request, reply in [(b"\x05\x01\x00\x05\x02\x00\x01\x7f\0\0\x01\0\x50", 7), (b"\x05\x01\x00\x05\x03\x00\x01\x7f\0\0\x01\0\x50", 7), (b"\x05\x01\x00\x05\x01\x00\x02\x7f\0\0\x01\0\x50", 8)]:
            assert p.ask(request)[3] == reply, request
        for request in [b"\x05\x00", b"\x05\x01\x00\x04\x01\x00\x01\x7f\0\0\x01\0\x50", b"\x05\x01\x00\x05\x01\x01\x01\x7f\0\0\x01\0\x50", b"\x04\x01\0\x50\x7f\0\0\x01" + b"u" * 600]:
            assert p.ask(request) in (b"", b"\x05\x00"), request
        assert p.ask(b"\x04\x02" + struct.pack(">H", h.port) + b"\x7f\0\0\x01\0")[:2] == b"\0\x5b"


# ---- names ----

@case
def names_are_looked_up_once_and_their_addresses_judged(directory):
    with Host(echo) as h:
        table = {"good.example.com": [["127.0.0.1"]], "rebound.example.com": [["127.0.0.1"], ["10.0.0.1"]], "denied.example.net": [["127.0.0.1"]],
                 "mixed.example.com": [["169.254.169.254", "127.0.0.1"]], "metadata.example.com": [["169.254.169.254"]],
                 "six.example.com": [["::ffff:169.254.169.254", "fd00:ec2::254", "64:ff9b::a9fe:a9fe"]], "zero.example.com": [["0.0.0.0"]], "local6.example.com": [["::1"]],
                 "nothing.example.com": [[]], "broken.example.com": [2], "refused.example.com": [["10.1.1.1"]]}
        with Names(directory, table) as names, Proxy("allow=*.example.com", f"allow=127.0.0.1:{h.port}", "refuse=10.0.0.0/8", "dial=8", *names.options()) as p:
            for name in ["good", "mixed", "GOOD", "good.example.com."]:
                host = name if name.endswith(".") else name + ".example.com"
                before = len(names.asked)
                with p.connect() as c:
                    c.sendall(connect(host, h.port) + b"x")
                    assert status(read_head(c)) == 200 and read_exactly(c, 1) == b"x", name
                asked = names.asked[before:]
                assert sorted(kind for _, kind in asked) == [1, 28] and len({n for n, _ in asked}) == 1, asked
            # on another port loopback is not allowed
            assert status(p.ask(connect("good.example.com", h.port + 1 if h.port < 65535 else 1))) == 403
            for name in ["metadata", "six", "zero", "local6", "refused"]:
                got = p.ask(connect(name + ".example.com", h.port))
                assert status(got) == 403, (name, got)
                assert b"169.254" not in got
            for name in ["nothing", "broken", "unknown"]:
                assert status(p.ask(connect(name + ".example.com", h.port))) == 502, name
            before = len(names.asked)
            assert status(p.ask(connect("denied.example.net", h.port))) == 403
            assert status(p.ask(connect("secret-in-a-name.example.net", 443))) == 403
            assert names.asked[before:] == [], "a denied name was looked up"
            # what changes its address between two questions is judged, and dialled, by one answer
            assert status(one(p, "rebound.example.com", h.port)) == 200
            assert status(p.ask(connect("rebound.example.com", h.port))) == 403
            # nothing is searched for with a domain behind it
            assert not [n for n, _ in names.asked if n.endswith("example.org")], names.asked


def one(p, host, port):
    with p.connect() as c:
        c.sendall(connect(host, port))
        return read_head(c)


@case
def a_silent_name_server(directory):
    with Names(directory, {"slow.example.com": [None]}) as names, Proxy("allow=*.example.com", "dial=20", *names.options()) as p:
        assert status(p.ask(connect("slow.example.com", 443))) in (502, 504)
        # a client that leaves while its name is looked up
        for _ in range(20):
            c = p.connect()
            c.sendall(connect("slow.example.com", 443))
            c.close()
        assert status(p.ask(connect("slow.example.com", 443))) in (502, 504)


@case
def the_hosts_file_and_localhost_are_answered_here(directory):
    with Host(echo) as h, Names(directory, {}) as names, Proxy("allow=from-the-hosts-file.example", f"allow=127.0.0.1:{h.port}", "allow=*.localhost", "allow=localhost", *names.options()) as p:
        for host in ["from-the-hosts-file.example", "localhost", "a.b.localhost", "LocalHost."]:
            assert status(one(p, host, h.port)) == 200, host
        assert names.asked == [], names.asked


@case
def the_next_address_is_tried(directory):
    with Host(echo) as h, Names(directory, {"two.example.com": [["127.0.0.9", "127.0.0.1"]], "none.example.com": [["127.0.0.9"]]}) as names:
        with Proxy("allow=*.example.com", "allow=127.0.0.0/8", *names.options()) as p:
            assert status(one(p, "two.example.com", h.port)) == 200
            assert status(p.ask(connect("none.example.com", h.port))) == 502
            assert p.ask(socks5(b"none.example.com", h.port))[2:4] == b"\x05\x05"


# ---- tunnels ----

@case
def half_close_both_ways(_):
    def handle(host, s, number):
        data = read_all(s)
        host.seen[number] = data
        s.sendall(b"got %d" % len(data))

    with Host(handle) as h, Proxy("allow=127.0.0.1") as p, p.connect() as c:
        c.sendall(connect("127.0.0.1", h.port) + b"x" * 1000)
        read_head(c)
        c.sendall(b"y" * 100000)
        c.shutdown(socket.SHUT_WR)
        assert read_all(c) == b"got 101000"


@case
def many_bytes_are_the_same_bytes(_):
    """Both directions at once, more connections than there are pipes."""
    blob = os.urandom(2_000_000)
    errors = []

    def go(p, port):
        try:
            with p.connect() as c:
                c.sendall(connect("127.0.0.1", port))
                read_head(c)
                t = threading.Thread(target=lambda: (c.sendall(blob), c.shutdown(socket.SHUT_WR)))
                t.start()
                got = read_all(c)
                t.join()
                assert got == blob, len(got)
        except Exception as e:
            errors.append(repr(e))

    with Host(echo) as h, Proxy("allow=127.0.0.1") as p:
        threads = [threading.Thread(target=go, args=(p, h.port)) for _ in range(48)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not errors, errors
        assert p.end()[0] == f"host 127.0.0.1:{h.port} allow times 48 sent {48 * len(blob)} received {48 * len(blob)}", p.end()


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(next(line.split()[1] for line in f if line.startswith("VmRSS")))


@case
def who_does_not_read_holds_back(_):
    """A hundred clients that never read from hosts that never stop: memory stays where it is, and others are served."""
    def pour(host, s, number):
        while True:
            s.sendall(b"x" * 65536)

    with Host(pour) as h, Host(echo) as e, Proxy("allow=127.0.0.1") as p:
        stalled = []
        for i in range(100):
            c = p.connect()
            if i % 2:
                c.sendall(connect("127.0.0.1", h.port))
            else:
                c.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % h.port)
            stalled.append(c)
        time.sleep(0.5)
        first = resident(p.pid)
        time.sleep(1)
        assert resident(p.pid) < first + 2048, (first, resident(p.pid))
        with p.connect() as c:
            c.sendall(connect("127.0.0.1", e.port) + b"ping")
            read_head(c)
            assert read_exactly(c, 4) == b"ping"
        for c in stalled:
            c.close()


@case
def reset_at_any_byte(_):
    requests = [connect("127.0.0.1", 0), b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", socks5(b"127.0.0.1", 1)]
    with Host(answer(OK)) as h, Proxy("allow=127.0.0.1") as p:
        requests = [connect("127.0.0.1", h.port) + b"xyz", requests[1] % h.port, socks5(b"127.0.0.1", h.port) + b"xyz"]
        for request in requests:
            for n in range(1, len(request) + 1):
                c = p.connect()
                c.sendall(request[:n])
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                c.close()
        assert status(one(p, "127.0.0.1", h.port)) == 200


# ---- limits ----

@case
def heads_that_are_too_large(_):
    with Host(answer(OK)) as h, Proxy("allow=127.0.0.1") as p:
        url = b"http://127.0.0.1:%d/" % h.port
        assert status(p.ask(b"GET " + url + b" HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"b" * 70000 + b"\r\n\r\n")) == 431
        assert status(p.ask(b"GET " + url + b" HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 200 + b"\r\n")) == 431
        assert status(p.ask(b"GET " + url + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")) == 431
        assert status(p.ask(b"GET " + b"a" * 200000)) == 431
        assert h.count == 0
        assert status(p.ask(b"GET " + url + b"a" * 8000 + b" HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 90 + b"Connection: close\r\n\r\n")) == 200


@case
def slow_clients_are_ended_and_others_served(_):
    with Host(answer(OK)) as h, Proxy("allow=127.0.0.1", "first=2", "head=3") as p:
        slow = [p.connect() for _ in range(300)]
        for c in slow[:200]:
            c.sendall(b"GET http://x/ HT")
        start = time.monotonic()
        while time.monotonic() - start < 4.5:
            for c in slow[:100]:
                try:
                    c.send(b"a")
                except OSError:
                    pass
            assert status(p.ask(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % h.port)) == 200
            time.sleep(0.3)
        for c in slow[100:]:
            assert read_all(c)[:13] in (b"", b"HTTP/1.1 408 "), c
        for c in slow:
            c.close()


@case
def a_full_house_waits(_):
    with Host(echo) as h, Proxy("allow=127.0.0.1", "clients=8", "idle=60") as p:
        guests = []
        for _ in range(8):
            c = p.connect()
            c.sendall(connect("127.0.0.1", h.port))
            read_head(c)
            guests.append(c)
        late = p.connect()
        late.sendall(connect("127.0.0.1", h.port))
        late.settimeout(1)
        try:
            late.recv(1)
            assert False, "there was a place"
        except TimeoutError:
            pass
        guests.pop().close()
        late.settimeout(20)
        assert status(read_head(late)) == 200
        for c in guests + [late]:
            c.close()


@case
def idle_tunnels_end(_):
    with Host(echo) as h, Proxy("allow=127.0.0.1", "idle=2") as p, p.connect() as c, p.connect() as busy:
        for s in (c, busy):
            s.sendall(connect("127.0.0.1", h.port))
            read_head(s)
        start = time.monotonic()
        while time.monotonic() - start < 4:
            busy.sendall(b"x")
            assert busy.recv(1) == b"x"
            time.sleep(0.2)
        assert read_all(c) == b""


@case
def two_thousand_connections(_):
    """Bounded memory, no descriptor left, and it still works."""
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    want = min(2000, (hard - 100) // 3 if hard != resource.RLIM_INFINITY else 2000)
    with Host(echo) as h, Proxy("allow=127.0.0.1") as p:
        before = len(os.listdir(f"/proc/{p.pid}/fd")) if os.geteuid() == 0 else None
        open_ = []
        for _ in range(want):
            c = p.connect()
            c.sendall(connect("127.0.0.1", h.port))
            open_.append(c)
        done = sum(status(read_head(c)) == 200 for c in open_[:500])
        assert done == 500, done
        for c in open_:
            c.close()
        assert status(one(p, "127.0.0.1", h.port)) == 200
        end = time.monotonic() + 10
        while before and len(os.listdir(f"/proc/{p.pid}/fd")) > before + 2 * 32 + 4 and time.monotonic() < end:
            time.sleep(0.1)
        if before:
            assert len(os.listdir(f"/proc/{p.pid}/fd")) <= before + 2 * 32 + 4


# ---- a proxy above ----

@case
def through_a_proxy_above(_):
    with Host(echo) as e, Host(answer(OK)) as h, Proxy("allow=127.0.0.1", "token=" + "b" * 32) as above:
        url = f"parent=http://hurdle:{'b' * 32}@127.0.0.1:{above.port}"
        # what the proxy above can resolve is its business: names go there as they are
        with Proxy("allow=127.0.0.2", "allow=*.example.com", "allow=127.0.0.1", url) as p:
            with p.connect() as c:
                c.sendall(connect("upper.example.com", 443))
                assert status(read_head(c)) == 502  # which refuses it
        assert "host upper.example.com:443 deny" in " ".join(above.end()), above.end()
    for words, code in [(b"", 504), (b"HTTP/1.1 407 No\r\n\r\n", 502), (b"nonsense\r\n\r\n", 502), (b"HTTP/1.1 2", 504)]:
        with Host(lambda host, s, number: (s.recv(9999), s.sendall(words), time.sleep(4))) as above:
            with Proxy("allow=up.example.com", f"parent=http://127.0.0.1:{above.port}", "dial=2") as p:
                assert status(p.ask(connect("up.example.com", 443))) == code, words
    for scheme in ["http", "socks5h"]:
        with Host(echo) as e, Host(answer(OK)) as h, Proxy("allow=*.example.com", "hosts=" + hosts_file(_), f"allow=127.0.0.1") as above:
            with Proxy("allow=*.example.com", f"parent={scheme}://127.0.0.1:{above.port}") as p:
                with p.connect() as c:
                    c.sendall(connect("up.example.com", e.port) + b"early")
                    assert status(read_head(c)) == 200, scheme
                    got = read_exactly(c, 5)
                    assert got == b"early", (scheme, got)
                got = p.ask(b"GET http://up.example.com:%d/x HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n" % h.port)
                assert status(got) == 200, (scheme, got)
                assert h.seen[0].startswith(b"GET /x HTTP/1.1\r\nHost: up.example.com:%d\r\n" % h.port), h.seen
                assert status(p.ask(connect("denied.example.net", 443))) == 403
            assert "denied.example.net" not in " ".join(above.end())


def hosts_file(directory):
    path = os.path.join(directory, "hosts")
    with open(path, "w") as f:
        f.write("127.0.0.1 up.example.com\n")
    return path


# ---- the process ----

@case
def its_own_process_is_confined(_):
    with Proxy("allow=127.0.0.1") as p:
        # it was only just started
        end = time.monotonic() + 10
        while True:
            with open(f"/proc/{p.pid}/status") as f:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
            if fields["NoNewPrivs"] == "1" and int(fields["CapEff"], 16) == 0 or time.monotonic() > end:
                break
            time.sleep(0.02)
        assert fields["NoNewPrivs"] == "1" and int(fields["CapEff"], 16) == int(fields["CapPrm"], 16) == 0, fields
        if os.geteuid() == 0 and fields["Uid"].split()[0] != "0":
            assert set(fields["Uid"].split()) == {"65534"} and fields.get("Groups", "").split() == [], fields
        if os.geteuid() == 0:
            for fd in os.listdir(f"/proc/{p.pid}/fd"):
                target = os.readlink(f"/proc/{p.pid}/fd/{fd}")
                assert target == "/dev/null" or target.startswith(("socket:", "anon_inode:", "pipe:")), (fd, target)
        # it ends with the one who started it
        os.kill(p.process.pid, signal.SIGKILL)
        end = time.monotonic() + 10
        while os.path.exists(f"/proc/{p.pid}") and time.monotonic() < end:
            try:
                with open(f"/proc/{p.pid}/stat") as f:
                    if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                        break
            except OSError:
                break
            time.sleep(0.05)
        else:
            assert not os.path.exists(f"/proc/{p.pid}"), "it lives on"
        p.record = []
        p.process.wait()


def main():
    directory, names = sys.argv[1], sys.argv[2:]
    if not names:
        print("\n".join(CASES))
        return
    for name in names:
        CASES[name](directory)
    sys.stdout.flush()
    os._exit(0)  # threads that still wait for somebody make the interpreter's own end crash


if __name__ == "__main__":
    main()
