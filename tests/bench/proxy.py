"""The proxy against direct connections, and against tinyproxy where it is installed: rows for tests/bench/run. Loopback only."""
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "proxy"))
from lab import Host, Proxy, echo, read_head  # noqa: E402

GIB = 1024

SOURCE = """
import socket, threading
s = socket.create_server(("127.0.0.1", 0), backlog=1024)
print(s.getsockname()[1], flush=True)
block = b"x" * (1 << 20)
def one(c):
    try:
        c.recv(1)
        for _ in range(%d):
            c.sendall(block)
    except OSError:
        pass
    c.close()
while True:
    threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
""" % GIB


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def tunnel(proxy_port, port):
    s = socket.create_connection(("127.0.0.1", proxy_port or port))
    if proxy_port:
        s.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n" % port)
        read_head(s)
    return s


def rate(proxy_port, port):
    buffer = bytearray(1 << 20)
    with tunnel(proxy_port, port) as s:
        s.sendall(b"g")
        start, n = time.perf_counter(), 0
        while got := s.recv_into(buffer):
            n += got
        return n / (time.perf_counter() - start)


def latency(proxy_port, port):
    start = time.perf_counter()
    with tunnel(proxy_port, port):
        return (time.perf_counter() - start) * 1000


def start_tinyproxy(directory):
    """(process, port), or None where it is not installed."""
    if not shutil.which("tinyproxy"):
        return None
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    path = os.path.join(directory, "tinyproxy.conf")
    with open(path, "w") as f:
        f.write(f"Port {port}\nListen 127.0.0.1\nMaxClients 2000\nTimeout 600\nLogLevel Critical\n")
    process = subprocess.Popen(["tinyproxy", "-d", "-c", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except OSError:
            time.sleep(0.05)
    process.kill()
    return None


def measure(rounds):
    """Rows: proxy, throughput of one tunnel and its ratio, processor seconds for a GiB, a new tunnel in ms, KiB with 1,000 idle ones."""
    source = subprocess.Popen([sys.executable, "-c", SOURCE], stdout=subprocess.PIPE, text=True)
    port = int(source.stdout.readline())
    with tempfile.TemporaryDirectory() as directory, Host(echo) as host, Proxy("allow=127.0.0.1") as ours:
        peers = {"direct": (0, 0), "hurdle's proxy": (ours.port, ours.pid)}
        other = start_tinyproxy(directory)
        if other:
            peers["tinyproxy"] = (other[1], other[0].pid)
        rates, costs, times = ({name: [] for name in peers} for _ in range(3))
        for _ in range(rounds):
            for name, (proxy_port, pid) in peers.items():
                before = processor_seconds(pid) if pid else 0
                rates[name].append(rate(proxy_port, port))
                costs[name].append(processor_seconds(pid) - before if pid else 0)
                times[name] += [latency(proxy_port, host.port) for _ in range(50)]
        direct = statistics.median(rates["direct"])
        rows = []
        for name, (proxy_port, pid) in peers.items():
            idle = "-"
            if pid:
                held = [tunnel(proxy_port, host.port) for _ in range(300)]
                idle = f"{resident(pid) / 1024:.1f}"
                for s in held:
                    s.close()
            middle = statistics.median(rates[name])
            rows.append([name, f"{middle / 1e6:.0f}", f"{middle / direct:.2f}", f"{statistics.median(costs[name]):.2f}" if pid else "-",
                         f"{statistics.median(times[name]):.3f}", idle])
        if other:
            other[0].kill()
            other[0].wait()
    source.kill()
    source.wait()
    return rows


if __name__ == "__main__":
    for row in measure(3):
        print(row)
