"""Requests to addresses that people typed in: where they may lead, and what may come back."""

import socket
import time
from ipaddress import ip_network

import pytest

from core import outbound
from core.errors import NoAnswer, TargetRefused
from tests.receiver import Reply, receiving, silent_port

LOOPBACK = (ip_network("127.0.0.0/8"),)


@pytest.fixture
def allowing(settings):
    """`allowing(networks)` is what an operator has allowed."""

    def allow(networks=(), *, http=True):
        settings.HEDDLE = settings.HEDDLE.model_copy(
            update={"allow_private_targets": networks, "allow_http_targets": http}
        )

    allow()
    return allow


@pytest.fixture
def receiver(allowing):
    allowing(LOOPBACK)
    with receiving() as server:
        yield server


@pytest.fixture
def named(monkeypatch):
    """`named("127.0.0.1", "10.0.0.1")`: every name has these addresses, or the next of several lists of them."""
    asked = []

    def name(*lists):
        def look_up(host, port, **_):
            asked.append(host)
            found = lists[min(len(asked), len(lists)) - 1]
            return [(0, 0, 0, "", (address, port)) for address in found]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        return asked

    return name


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ftp://example.org/", "must begin with https://"),
        ("http://example.org/", "must begin with https://"),
        ("//example.org/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("https:///path", "must name a host"),
        ("https://exa mple.org/", "must name a host"),
        ("https://example.org:0/", "must name a host"),
        ("https://example..org/", "must name a host"),
        (f"https://{'a' * 64}.org/", "must name a host"),
        ("https://example.org:99999/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://user:secret@example.org/", "must not contain a user name"),
        ("https://user@example.org/", "must not contain a user name"),
    ],
)
def test_what_is_no_address_to_send_to_is_refused_with_a_reason(allowing, address, reason):
    allowing(http=False)
    with pytest.raises(TargetRefused, match=reason) as caught:
        outbound.check_url(address)
    assert "secret" not in caught.value.message


PRIVATE = [
    *("127.0.0.1", "127.9.9.9", "0.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.2.1", "192.0.0.192"),
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::1"),
    *("fec0::1", "feff::1", "::127.0.0.1", "::a9fe:a9fe", "::5db8:d70e", "::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe"),
    *("64:ff9b:1::7f00:1", "64:ff9b:1::5db8:d70e", "64:ff9b:1:ffff::1", "::ffff:0:0:0", "3fff::1", "5f00::1"),
    *("100::1", "2001:db8::1", "4000::1", "2001:0:7f00:1::1"),
]
PUBLIC = ["93.184.215.14", "2606:2800:220:1::1", "64:ff9b::5db8:d70e", "::ffff:0:93.184.215.14", "::ffff:93.184.215.14"]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_inside_is_refused_however_it_is_written(allowing, named, address):
    literal = f"[{address}]" if ":" in address else address
    with pytest.raises(TargetRefused, match="private address"):
        outbound.check_url(f"https://{literal}/")
    named([address])
    with pytest.raises(TargetRefused, match="private address"):
        outbound.send("GET", "https://innocent.example/")


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_outside_is_taken_however_it_is_written(allowing, address):
    outbound.check_url(f"https://[{address}]/" if ":" in address else f"https://{address}/")


@pytest.mark.parametrize(
    ("address", "network"),
    [("fec0::1", "fec0::/10"), ("::ffff:0:10.0.0.1", "10.0.0.0/8"), ("64:ff9b:1::a00:1", "64:ff9b:1::/48")],
)
def test_a_network_of_that_kind_may_be_allowed(allowing, address, network):
    allowing((ip_network(network),))
    outbound.check_url(f"https://[{address}]/")


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "localhost", "LOCALHOST."])
def test_other_spellings_of_loopback_are_refused_too(allowing, host):
    """No list of spellings: whatever the machine makes of a name is what is checked."""
    with pytest.raises((TargetRefused, NoAnswer)):
        outbound.send("GET", f"http://{host}:{silent_port()}/", seconds=5)


@pytest.mark.parametrize(
    "host",
    [
        *("2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "\uff11\uff12\uff17.1"),
        *("localhost", "LOCALHOST.", "db.localhost", "0xa9fea9fe"),
    ],
)
def test_a_spelling_that_nobody_has_to_be_asked_about_is_refused_when_it_is_typed(allowing, host):
    with pytest.raises(TargetRefused, match="private address"):
        outbound.check_url(f"https://{host}/")
    outbound.check_url("https://1572395042/")
    outbound.check_url("https://localhost.example/")
    allowing(LOOPBACK)
    outbound.check_url("http://localhost:8000/")


def test_a_name_with_one_foot_inside_is_refused_whole(allowing, named):
    named(["93.184.215.14", "10.0.0.1"])
    with pytest.raises(TargetRefused):
        outbound.send("GET", "https://two-faced.example/")


def test_a_name_that_leads_elsewhere_the_second_time_is_not_asked_twice(allowing, receiver, named):
    """DNS rebinding: the address that was checked is the one that is connected to."""
    asked = named(["127.0.0.1"], ["10.0.0.1"])
    answer = outbound.send("GET", f"http://rebinding.example:{receiver.port}/x")
    assert answer.status == 200
    assert asked == ["rebinding.example"]
    assert receiver.got[0].headers["host"] == f"rebinding.example:{receiver.port}"


def test_the_next_address_is_tried_where_the_first_takes_no_connection(allowing, receiver, named):
    named(["127.0.0.99", "127.0.0.1"])
    assert outbound.send("GET", f"http://twice.example:{receiver.port}/").status == 200
    assert len(receiver.got) == 1


def test_an_operator_allows_a_network_and_no_more_than_that(allowing, receiver, named):
    named(["10.0.0.1"])
    with pytest.raises(TargetRefused):
        outbound.send("GET", "http://other.example/")


def test_method_body_and_headers_arrive_and_the_answer_comes_back(receiver):
    receiver.answers(Reply(201, b"made", {"X-Kind": "thing"}))
    answer = outbound.send("PUT", receiver.url + "?a=1", content=b"body", headers={"X-Sent": "yes"})
    assert (answer.status, answer.body, answer.is_cut, answer.headers["x-kind"]) == (201, b"made", False, "thing")
    [got] = receiver.got
    assert (got.method, got.path, got.body, got.headers["x-sent"]) == ("PUT", "/hook?a=1", b"body", "yes")


def test_a_redirect_is_an_answer_and_is_not_followed(receiver):
    receiver.answers(Reply(302, b"", {"Location": "http://127.0.0.1/elsewhere"}))
    assert outbound.send("POST", receiver.url).status == 302
    assert len(receiver.got) == 1


def test_a_long_answer_is_cut(receiver):
    receiver.answers(Reply(200, b"x" * 5_000_000))
    answer = outbound.send("GET", receiver.url, limit=2048)
    assert (len(answer.body), answer.is_cut) == (2048, True)


def test_what_is_compressed_against_our_wish_is_not_blown_up(receiver):
    receiver.answers(Reply(200, b"\x1f\x8b not really", {"Content-Encoding": "gzip"}))
    assert outbound.send("GET", receiver.url).body == b"\x1f\x8b not really"
    assert receiver.got[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("manner", ["hangs", "drips"])
def test_the_whole_of_a_request_is_bounded(receiver, manner):
    """A byte now and then keeps every single read within its time."""
    receiver.answers(Reply(**{manner: True}))
    started = time.monotonic()
    with pytest.raises(NoAnswer, match=r"No answer within 0\.4 seconds"):
        outbound.send("GET", receiver.url, seconds=0.4)
    assert time.monotonic() - started < 2


def test_a_resolver_that_hangs_is_given_up(allowing, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(1.5))
    started = time.monotonic()
    with pytest.raises(NoAnswer, match="No answer within"):
        outbound.send("GET", "https://slow.example/", seconds=0.3)
    assert time.monotonic() - started < 1


def test_who_is_not_there_or_speaks_no_http_is_no_answer(allowing):
    allowing(LOOPBACK)
    with pytest.raises(NoAnswer, match="No connection"):
        outbound.send("GET", f"http://127.0.0.1:{silent_port()}/")
    with socket.create_server(("127.0.0.1", 0)) as rude:
        rude.listen()
        port = rude.getsockname()[1]
        with pytest.raises(NoAnswer):
            outbound.send("GET", f"https://127.0.0.1:{port}/", seconds=0.5)


def test_the_proxy_of_the_environment_is_not_used(receiver, monkeypatch):
    """It would resolve the name again, to whatever it likes."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{silent_port()}")
    assert outbound.send("GET", receiver.url).status == 200
