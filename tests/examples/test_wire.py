"""The port of a job: who has no token gets nothing, and no frame is longer than its reader allows."""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from threading import Thread
from typing import Any

import pytest
from common import wire
from common.shard_memory import Shard, ShardClient, ShardMemory
from common.wire import Peer, Port, WireError, dial

KEY = b"k" * 32
OTHER = b"o" * 32


def echo(peer: Peer) -> None:
    while True:
        head, body = peer.receive(100)
        peer.send({"seen": head}, bytes(body))


def received(peer: Peer) -> tuple[dict[str, Any], bytes]:
    head, body = peer.receive(100)
    return head, bytes(body)


@pytest.fixture
def port() -> Iterator[Port]:
    with closing(Port("127.0.0.1", KEY, echo)) as made:
        yield made


@pytest.fixture
def memory() -> Iterator[ShardMemory]:
    with closing(ShardMemory("127.0.0.1", KEY, budget=1000)) as made:
        yield made


@pytest.fixture
def client(memory: ShardMemory) -> Iterator[ShardClient]:
    with ShardClient(memory.address, KEY) as made:
        yield made


def test_frames_come_back(port: Port) -> None:
    with dial(port.address, KEY, 5) as peer:
        for body in (b"", b"x" * 100):
            peer.send({"n": [1]}, body)
            assert received(peer) == ({"seen": {"n": [1]}}, body)


def test_fails_with_another_token(port: Port) -> None:
    with pytest.raises((WireError, ConnectionError)):
        dial(port.address, OTHER, 5)


def test_a_port_takes_no_frame_from_a_stranger(port: Port) -> None:
    with closing(socket.create_connection(port.address, timeout=5)) as connection, Peer(connection, 5) as peer:
        peer.exactly(wire.NONCE_BYTES)
        connection.sendall(b"n" * wire.NONCE_BYTES + b"f" * wire.PROOF_BYTES)
        with pytest.raises(ConnectionError):
            peer.exactly(1)


def test_fails_at_a_port_without_the_token() -> None:
    """The client proves itself, and the server that cannot is found out."""

    def forge(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"n" * wire.NONCE_BYTES)
            connection.recv(wire.NONCE_BYTES + wire.PROOF_BYTES)
            connection.sendall(b"f" * wire.PROOF_BYTES)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = Thread(target=forge, args=(listener,))
        thread.start()
        with pytest.raises(WireError, match="has another token"):
            dial(listener.getsockname()[:2], KEY, 5)
        thread.join()


def test_a_proof_cannot_be_sent_back() -> None:
    """Who has no token could return the server's own proof, if both sides proved the same."""
    assert wire.prove(KEY, b"client", b"s" * 32, b"c" * 32) != wire.prove(KEY, b"server", b"s" * 32, b"c" * 32)


@pytest.mark.parametrize(
    "sent",
    [
        wire.LENGTHS.pack(wire.MOST_HEAD + 1, 0),
        wire.LENGTHS.pack(2, 101) + b"{}",
        wire.LENGTHS.pack(2, 1 << 63) + b"{}",
        wire.LENGTHS.pack(2, 0) + b"[]",
        wire.LENGTHS.pack(3, 0) + b"{x}",
    ],
    ids=["head too long", "body too long", "body huge", "no object", "no JSON"],
)
def test_a_frame_that_is_not_allowed_ends_the_connection(port: Port, sent: bytes) -> None:
    with dial(port.address, KEY, 5) as peer:
        peer.connection.sendall(sent)
        with pytest.raises(ConnectionError):
            peer.receive(100)
    with dial(port.address, KEY, 5) as peer:
        peer.send({})
        assert received(peer) == ({"seen": {}}, b"")


def test_a_stranger_who_says_nothing_keeps_nobody_out(port: Port) -> None:
    with closing(socket.create_connection(port.address)), dial(port.address, KEY, 5) as peer:
        peer.send({})
        assert received(peer) == ({"seen": {}}, b"")


@pytest.mark.parametrize("token", ["", "short"])
def test_fails_without_a_token_of_the_job(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_TOKEN", token)
    with pytest.raises(SystemExit, match="shorter than 32 characters"):
        wire.token()


def test_a_shard_comes_back_whole(memory: ShardMemory, client: ShardClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.shard_memory.PART", 7)
    data = bytearray(range(100))
    client.put(Shard(1, 2, 10, 5), data)
    assert client.held() == [Shard(1, 2, 10, 5)]
    assert client.get(Shard(1, 2, 10, 5)) == data
    with pytest.raises(WireError, match="not held here"):
        client.get(Shard(0, 2, 10, 5))


def test_the_last_whole_step_stays_until_the_next_is_whole(client: ShardClient) -> None:
    """Each rank sends a step after all have sent the one before."""
    for step in (1, 2, 3):
        for rank in (0, 1):
            client.put(Shard(rank, 2, step, 5), bytearray(10))
            whole = {
                shard.step
                for shard in client.held()
                if {Shard(0, 2, shard.step, 5), Shard(1, 2, shard.step, 5)} <= set(client.held())
            }
            assert max(whole, default=0) == (step if rank else step - 1)
    assert {shard.step for shard in client.held()} == {2, 3}


def test_shards_of_another_start_go_when_this_one_has_a_whole_step(client: ShardClient) -> None:
    client.put(Shard(7, 8, 90, 4), bytearray(10))
    client.put(Shard(0, 2, 1, 5), bytearray(10))
    assert len(client.held()) == 2
    client.put(Shard(0, 2, 2, 5), bytearray(10))
    assert [shard.life for shard in client.held()] == [5, 5]


def test_what_does_not_fit_is_refused_and_the_rest_stays(memory: ShardMemory, client: ShardClient) -> None:
    client.put(Shard(0, 2, 1, 5), bytearray(600))
    with pytest.raises(WireError, match="raise MEMORY_BYTES"):
        client.put(Shard(1, 2, 1, 5), bytearray(401))
    client.put(Shard(1, 2, 1, 5), bytearray(400))
    assert len(client.held()) == 2
    assert memory.reserved == 1000


@pytest.mark.parametrize(
    "spoil",
    [
        lambda peer: (peer.send({}, b"y" * 10), peer.receive(0)),
        lambda peer: peer.connection.sendall(wire.LENGTHS.pack(2, 11) + b"{}" + b"x" * 11),
        lambda peer: peer.send({}, b"x" * 9),
    ],
    ids=["other bytes", "too many bytes", "cut off"],
)
def test_a_shard_that_is_not_whole_is_not_kept(memory: ShardMemory, client: ShardClient, spoil: Callable[[Peer], object]) -> None:
    with dial(memory.address, KEY, 5) as peer:
        checksum = hashlib.sha256(b"x" * 10).hexdigest()
        peer.send({"do": "put", "rank": 0, "size": 1, "step": 1, "life": 1, "bytes": 10, "sha256": checksum})
        assert peer.receive(0)[0] == {}
        spoil(peer)
    deadline = time.monotonic() + 60
    while memory.reserved:
        assert time.monotonic() < deadline, memory.reserved
        time.sleep(0.01)
    assert client.held() == []


def test_a_shard_that_was_damaged_in_memory_is_not_read(memory: ShardMemory, client: ShardClient) -> None:
    client.put(Shard(0, 1, 1, 1), bytearray(10))
    memory.held[0].data[3] = 1
    with pytest.raises(WireError, match="does not have its checksum"):
        client.get(Shard(0, 1, 1, 1))


@pytest.mark.parametrize("wrong", [-1, 1 << 63, "1", None, 1.5])
def test_numbers_are_numbers(memory: ShardMemory, wrong: object) -> None:
    with dial(memory.address, KEY, 5) as peer:
        peer.send({"do": "put", "rank": 0, "size": 1, "step": 1, "life": 1, "bytes": wrong, "sha256": ""})
        with pytest.raises(ConnectionError):
            peer.receive(0)
