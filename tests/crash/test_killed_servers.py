"""Servers die and come back, all of them or one, rudely or politely: nothing accepted is lost or done twice."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from roboto.ai import ClientTool

from tests import live
from tests.crash.disasters import LONG, polling, start_workers
from tests.sdk.browsers import Browser
from tests.sdk.callers import PATIENCE, Caller, calls, held, roles, run, some_words, text_of

pytestmark = pytest.mark.live


def test_whatever_was_accepted_survives_every_process(served: live.Served, alice: Caller) -> None:
    """1.5, B71, B82: sends, ratings and a pending call; the client that works on that call never hears of it."""
    release = threading.Event()
    called: list[Any] = []

    def look(**given: Any) -> dict[str, Any]:
        called.append(given)
        release.wait(PATIENCE)
        return {"seen": True}

    tool = ClientTool(look, name="client_look", description="Look.", input_schema={"type": "object"})
    looking = alice.start("Look. " + calls(("client_look", {"n": 1})), client_tools=[tool])
    threads = [alice.talk(f"Number {number}.") for number in range(6)]
    rated = threads[0].submit_feedback(1, "positive")  # type: ignore[arg-type]
    with polling(looking):
        while not called:
            time.sleep(0.05)
        if served.way == "full":
            served.kill("worker")
        for number, thread in enumerate(threads):
            thread.send_text(f"Again, number {number}. [[sleep 0.2]]")
        served.kill("server")
        served.start_server("--no-prepare")
        release.set()
        served.start_worker()
    assert called == [{"n": 1}]
    assert roles(looking) == ["user", "assistant", "roboto", "assistant"]
    for number, thread in enumerate(threads):
        run(thread)
        assert roles(thread) == ["user", "assistant"] * 2
        assert f"Again, number {number}." in text_of(thread.latest_message)
    for thread in (looking, *threads):
        assert held(thread) == held(alice.thread(thread))
    assert [row["feedback_id"] for row in alice.get(f"threads/{threads[0].thread_id}/feedback")] == [rated.feedback_id]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_stop_loses_nothing_either(served: live.Served, alice: Caller, stop: signal.Signals) -> None:
    """In the middle of an answer, also by a closed terminal: the process ends soon, and what it left is finished after
    the start.
    """
    if signal.getsignal(stop) is signal.SIG_IGN:
        pytest.skip("these tests outlive their terminal, and so does what they begin")
    thread = alice.start(f"Slowly. {LONG}")
    some_words(alice, thread)
    stopping = served.processes.pop("worker" if served.way == "full" else "server")
    os.kill(stopping.pid, stop)
    try:
        stopping.wait(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(stopping.pid, signal.SIGKILL)
        stopping.wait()
        raise
    start_workers(served)
    run(thread)
    assert roles(thread) == ["user", "assistant"]
    assert len(text_of(thread.latest_message).split()) == 120
    assert held(thread) == held(alice.thread(thread))


def test_who_reads_along_does_not_keep_a_server_from_stopping(served: live.Served, alice: Caller) -> None:
    """SIGTERM while a thread is open in a browser: its line ends at once, then the process, and the log says so."""
    thread = alice.talk("Read along.")
    with Browser(served, "alice").stream(thread.thread_id) as stream:
        stream.until("user_turn")
        stopping, asked_at = served.processes.pop("server"), time.monotonic()
        os.kill(stopping.pid, signal.SIGTERM)
        assert list(stream) == []
        assert time.monotonic() - asked_at < 2
    try:
        stopping.wait(timeout=6)  # without its patience for who reads along, which is longer
    finally:
        if stopping.poll() is None:
            os.killpg(stopping.pid, signal.SIGKILL)
            stopping.wait()
    assert "server.stopping" in served.log.read_text()


@pytest.mark.parametrize("who", ["group", "child", "parent"])
def test_a_second_signal_right_after_the_first_does_not_keep_a_server_from_stopping(
    embedded: live.Served, who: str
) -> None:
    """Ctrl+C reaches parent and child, and the parent then stops the child; systemd signals both at once, too."""
    stopping = embedded.processes.pop("server")
    [child] = map(int, Path(f"/proc/{stopping.pid}/task/{stopping.pid}/children").read_text().split())
    with contextlib.suppress(ProcessLookupError):
        if who == "group":
            os.killpg(stopping.pid, signal.SIGINT)
        for _ in range(300):
            os.kill(child if who == "child" else stopping.pid, signal.SIGINT)
    try:
        if who == "child":
            time.sleep(0.5)
            stopping.terminate()
        stopping.wait(timeout=5)
    finally:
        if stopping.poll() is None:
            os.killpg(stopping.pid, signal.SIGKILL)
            stopping.wait()
    assert "Traceback" not in embedded.log.read_text()


def test_a_server_whose_child_was_just_replaced_stops_at_once(embedded: live.Served) -> None:
    """The new one has no handler of its own yet; a signal that it only noted would be waited for, eight seconds."""
    stopping = embedded.processes.pop("server")
    children = Path(f"/proc/{stopping.pid}/task/{stopping.pid}/children")
    [child] = children.read_text().split()
    os.kill(int(child), signal.SIGINT)
    try:
        ends_at = time.monotonic() + 20
        while children.read_text().split() in ([], [child]):
            assert time.monotonic() < ends_at and stopping.poll() is None, embedded.log.read_text()[-2000:]
        stopping.terminate()
        stopping.wait(timeout=5)
    finally:
        if stopping.poll() is None:
            os.killpg(stopping.pid, signal.SIGKILL)
            stopping.wait()


def test_a_web_server_that_is_away_does_not_disturb_the_worker(full: live.Served, alice: Caller) -> None:
    """1.5, B58: the answer goes on meanwhile, and the client that polls outlasts the gap."""
    thread = alice.start(f"Slowly. {LONG}")
    with polling(thread):
        token = alice.record(some_words(alice, thread))["continuation_token"]
        full.kill("server")
        full.start_server("--no-prepare")
    assert len(text_of(thread.latest_message).split()) == 120
    assert held(thread) == held(alice.thread(thread))
    delta = alice.get(f"threads/{thread.thread_id}/delta?next_token={token}")
    assert delta["reset_from_message_sequence_num"] is None


def test_a_server_process_that_falls_over_is_started_again_with_its_worker(
    embedded: live.Served, alice: Caller
) -> None:
    """B86: only the process that serves and answers is killed; its parent starts another one by itself."""
    thread = alice.start(f"Slowly. {LONG}")
    some_words(alice, thread)
    parent = embedded.processes["server"].pid
    [child] = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    with polling(thread):
        os.kill(int(child), signal.SIGKILL)
    assert embedded.processes["server"].poll() is None
    assert roles(thread) == ["user", "assistant"]
    assert len(text_of(thread.latest_message).split()) == 120
    assert held(thread) == held(alice.thread(thread))


def test_a_server_that_is_asked_to_stop_while_it_starts_ends(embedded: live.Served) -> None:
    """SIGTERM before the process that answers is there to hear it: `docker stop` need not wait for its patience."""
    embedded.kill("server")
    embedded.start("server", "manage.py", "serve", "--port", str(embedded.port), "--no-prepare")
    starting = embedded.processes.pop("server")
    children = Path(f"/proc/{starting.pid}/task/{starting.pid}/children")
    while not children.read_text():
        time.sleep(0.05)
    starting.terminate()
    try:
        starting.wait(timeout=20)
    finally:
        if starting.poll() is None:
            os.killpg(starting.pid, signal.SIGKILL)
            starting.wait()


def test_the_demo_with_its_public_passwords_is_not_loaded_among_other_people(
    embedded: live.Served, tmp_path: Path
) -> None:
    port = live.free_port()
    env = {**embedded.env, "HEDDLE_DATA_DIR": str(tmp_path), "HEDDLE_PUBLIC_URL": f"http://127.0.0.1:{port}"}
    other = replace(
        embedded, env=env, port=port, url=env["HEDDLE_PUBLIC_URL"], processes={}, log=tmp_path / "served.log"
    )
    other.manage("migrate")
    other.manage("person", "you@corp.example", "--org", "corp", "--create-org", "--no-password")
    other.start_server("--demo")
    other.kill("server")
    assert "The demo was not loaded: this database has people of its own." in other.log.read_text()
    assert other.manage("demo_credentials", check=False).returncode == 1


def test_a_second_server_on_the_same_port_does_not_start(embedded: live.Served, tmp_path: Path) -> None:
    """The server's library shares its port: two of them would each answer some of the requests."""
    second = replace(embedded, env={**embedded.env, "HEDDLE_DATA_DIR": str(tmp_path)})
    refused = second.manage("serve", "--port", str(embedded.port), check=False)
    assert refused.returncode == 1
    assert f"cannot listen on 127.0.0.1, port {embedded.port}: Address already in use" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_second_server_on_the_same_folder_does_not_start(embedded: live.Served, alice: Caller) -> None:
    """It would take what the first one is doing for left behind: an answer would be written anew, a result lost."""
    thread = alice.start(f"Slowly. {LONG}")
    some_words(alice, thread)
    second = embedded.manage("serve", "--port", str(live.free_port()), check=False)
    assert second.returncode == 1
    process = embedded.processes["server"].pid
    assert (
        f"Another Heddle already serves {embedded.log.parent}, at {embedded.url} (process {process})." in second.stderr
    )
    assert "Traceback" not in second.stderr
    token = alice.get(f"threads/{thread.thread_id}/delta")["continuation_token"]
    run(thread)
    assert alice.get(f"threads/{thread.thread_id}/delta?next_token={token}")["reset_from_message_sequence_num"] is None


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_whoever_stops_the_server_alone_stops_its_process_that_answers_too(
    embedded: live.Served, alice: Caller, stop: signal.Signals
) -> None:
    """Or what is left goes on answering on its port, and the next start finds the port or the folder taken: until the
    turn that it is working on is over, which may take minutes.
    """
    thread = alice.start("Slowly. [[words 900]] [[pace 0.3]]")
    some_words(alice, thread)
    parent = embedded.processes.pop("server")
    os.kill(parent.pid, stop)
    stopped_at = time.monotonic()
    parent.wait()
    assert time.monotonic() - stopped_at < 6, "it is not the parent's last resort after eight seconds"
    with contextlib.suppress(OSError):
        while True:
            socket.create_connection(("127.0.0.1", embedded.port), timeout=1).close()
            time.sleep(0.05)
    embedded.start_server("--no-prepare")
    some_words(alice, thread)
    alice.post(f"threads/{thread.thread_id}/cancel")
    run(thread)
    assert held(thread) == held(alice.thread(thread))
