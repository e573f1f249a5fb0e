"""A PostgreSQL server of its own on the loopback address, for as long as tests need it."""

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

USER = "tester"


def binaries():
    """Folder of the server's programs, None if there are none."""
    found = shutil.which("initdb")
    if found and shutil.which("postgres", path=os.path.dirname(found)):
        return os.path.dirname(found)
    return next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)


def _owner():
    """Options of `subprocess` for a user that is not root, whom the server refuses."""
    if os.geteuid() != 0:
        return {}, None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            who = pwd.getpwnam(name)
            return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}, who
    return None, None


@contextlib.contextmanager
def server():
    """Start a server; its address."""
    folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")  # short: the name of a socket is at most 107 letters
    options, who = _owner()
    if who is not None:
        os.chown(folder, who.pw_uid, who.pw_gid)
    options = {**options, "cwd": folder, "env": {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C"}}
    data, programs = os.path.join(folder, "data"), binaries()
    process = None
    try:
        subprocess.run(
            [f"{programs}/initdb", "-D", data, "-A", "trust", "-U", USER, "-N", "-E", "UTF8"], check=True,
            capture_output=True, timeout=120, **options,
        )  # fmt: skip
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [f"{programs}/postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
             "-c", f"unix_socket_directories={folder}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options,
        )  # fmt: skip
        address = f"postgresql://{USER}:se%40cret@127.0.0.1:{port}/postgres"
        _wait(address)
        yield address
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # without waiting for those who are connected
            process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(address):
    from adbc_driver_postgresql import dbapi

    for attempt in range(100):
        try:
            dbapi.connect(address).close()
            return
        except Exception:
            if attempt == 99:
                raise
            time.sleep(0.1)


def run(address, *statements):
    """Run statements and commit."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection:
        for statement in statements:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        connection.commit()
