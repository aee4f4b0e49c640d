"""The hang detector of one node: reads local heartbeats, exchanges aggregates, dumps stacks, and marks this node when it lags.

A node marks only itself. It waits until every node of the step has dumped its ranks, looks again, marks, and only then kills its
tasks of that step, so that the step fails and the job resumes elsewhere. Where the culprit cannot be told it reports and kills
nothing, and neither where the mark is refused; it then asks again later.
"""

from __future__ import annotations

import json
import signal
from concurrent.futures import ThreadPoolExecutor

from node_health import aggregate
from node_health.aggregate import STALE_POLLS, Aggregate, Peers
from node_health.beats import Beat, live_steps
from node_health.finding import REPLACE, Finding
from node_health.hang import Place, Verdict, culprit, stragglers
from node_health.heartbeat import DIRECTORY
from node_health.log import log
from node_health.marking import Marker
from node_health.memory import DIRECTORY as STATE
from node_health.settings import Settings
from node_health.shared import Exchange, SharedDirectory
from node_health.slurm import Slurm
from node_health.stacks import Dump, dump
from node_health.system import System

REPORT = f"{STATE}/hang.json"
HANGS = "hang"
LOCAL_HANGS = "/var/log/hyperpod/hang"
DUMPS_SECONDS = 120.0
LONGEST_POLL_SECONDS = 30.0
POLLS_PER_HANG = 10


class StepWatch:
    """What is known of one live step between two polls."""

    def __init__(self, patience: int) -> None:
        self.peers = Peers(patience)
        self.number = 0
        self.vector: tuple[object, ...] = ()
        self.since = 0.0
        self.hung_since: float | None = None
        self.dumped = False
        self.decided = ""
        self.asked: float | None = None
        self.places: dict[int, Place] = {}
        self.others: list[Aggregate] = []
        self.slow: list[int] = []

    def look(self, own: Aggregate, others: list[Aggregate], now: float) -> float:
        """Takes in the new picture. Returns for how many seconds, by this node's clock, no rank of it has moved."""
        same = [other for other in others if (other.restart, other.world) == (own.restart, own.world)]
        self.others = self.peers.update([other for other in same if other.node != own.node])
        self.places = {rank: place for other in (*self.others, own) for rank, place in other.ranks.items()}
        seen = tuple(sorted((rank, place.progress, place.paused) for rank, place in self.places.items()))
        if seen != self.vector:
            self.vector, self.since = seen, now
            self.hung_since, self.dumped, self.decided, self.asked = None, False, "", None
        return now - self.since


class Watch:
    """All live steps of the node."""

    def __init__(self, system: System, settings: Settings, node: str) -> None:
        self._system = system
        self._settings = settings
        self._node = node
        self._slurm = Slurm(system, node)
        self._shared = SharedDirectory(system, settings.shared_directory)
        self._marker = Marker(system, settings, self._slurm, self._shared)
        self._steps: dict[str, StepWatch] = {}

    @property
    def poll_seconds(self) -> float:
        return min(LONGEST_POLL_SECONDS, max(0.5, self._settings.hang_seconds / POLLS_PER_HANG))

    def forever(self) -> None:
        self._system.open_directory(DIRECTORY)
        while True:
            self.poll()
            self._system.sleep(self.poll_seconds)

    def poll(self) -> None:
        """One look at every live step."""
        steps = live_steps(self._system, self._slurm)
        ended = [step for step in self._steps if step not in steps]
        for step in ended:
            del self._steps[step]
            self._shared.exchange(Exchange(remove=(f"{aggregate.FOLDER}/{step}/{self._node}.json",)))
        for step, beats in steps.items():
            self._step(step, beats)
        if steps or ended:
            self._report()

    def _step(self, step: str, beats: dict[int, Beat]) -> None:
        watch = self._steps.setdefault(step, StepWatch(max(STALE_POLLS, int(DUMPS_SECONDS / self.poll_seconds))))
        watch.number += 1
        own = aggregate.of_beats(self._node, beats, watch.number, watch.dumped)
        still = watch.look(own, self._exchange(step, own), self._system.monotonic())
        self._straggle(step, watch)
        if still < self._settings.hang_seconds or any(place.paused for place in watch.places.values()):
            return
        verdict = culprit(watch.places, own.world)
        if watch.hung_since is None:
            watch.hung_since = self._system.monotonic()
            log(self._system, f"step {step} has not moved for {still:.0f} s: {verdict.why}")
            self._dump(step, watch, beats, verdict)
        elif verdict.node == self._node and self._may_ask(watch) and self._all_dumped(watch):
            self._mark(step, watch, verdict)

    def _exchange(self, step: str, own: Aggregate) -> list[Aggregate]:
        """Writes the node's aggregate and reads the others'. A step within one node needs none."""
        if len(own.ranks) == own.world:
            return []
        folder = f"{aggregate.FOLDER}/{step}"
        answer = self._shared.exchange(Exchange(write={f"{folder}/{self._node}.json": str(own)}, read=(folder,)))
        found = [aggregate.parse(text) for text in (answer or {}).values()]
        return [other for other in found if other is not None]

    def _dump(self, step: str, watch: StepWatch, beats: dict[int, Beat], verdict: Verdict) -> None:
        with ThreadPoolExecutor(max_workers=len(beats)) as pool:
            taken = pool.map(lambda beat: dump(self._system, step, beat), beats.values())
            dumps = dict(zip(beats, taken))
        first = next(iter(beats.values()))
        folder = f"{step}.{first.restart}/{self._node}"
        texts = {"verdict.txt": verdict.why + "\n", **{f"rank-{rank}.txt": found.text for rank, found in dumps.items()}}
        try:
            for name, text in texts.items():
                self._system.write(f"{LOCAL_HANGS}/{folder}/{name}", text)
        except OSError as error:
            log(self._system, f"{LOCAL_HANGS}/{folder}: {error.strerror}")
        self._share(f"{HANGS}/{folder}", texts, dumps, first.owner)
        watch.dumped = True

    def _share(self, folder: str, texts: dict[str, str], dumps: dict[int, Dump], owner: int) -> None:
        encoded = {f"{folder}/rank-{rank}.flight": found.flight for rank, found in dumps.items() if found.flight}
        wanted = Exchange(write={f"{folder}/{name}": text for name, text in texts.items()}, encoded=encoded, owner=owner)
        if self._settings.shared_directory is not None and self._shared.exchange(wanted, DUMPS_SECONDS / 4) is None:
            log(self._system, f"the dumps stay in {LOCAL_HANGS}: {self._settings.shared_directory} does not take them")

    def _all_dumped(self, watch: StepWatch) -> bool:
        waited = self._system.monotonic() - (watch.hung_since or 0.0)
        return waited > DUMPS_SECONDS or all(other.dumped for other in watch.others)

    def _may_ask(self, watch: StepWatch) -> bool:
        """At once, and again when a refusal has had time to pass."""
        return watch.asked is None or self._system.monotonic() - watch.asked >= self._settings.hang_seconds

    def _mark(self, step: str, watch: StepWatch, verdict: Verdict) -> None:
        finding = Finding("hang", f"step {step}: {verdict.why}", REPLACE, hardware=True)
        decided = self._marker.request([finding])
        said, before = decided.action or decided.why, watch.decided
        watch.asked, watch.decided = self._system.monotonic(), said
        if not decided.marked:
            if said != before:
                log(self._system, f"step {step}: not marked and nothing killed: {said}")
            return
        log(self._system, f"step {step}: marked and killed here, {said}: {verdict.why}")
        for pid in sorted(self._slurm.tasks(step) or ()):
            self._system.kill(pid, signal.SIGKILL)

    def _straggle(self, step: str, watch: StepWatch) -> None:
        slow = stragglers(watch.places)
        if slow != watch.slow:
            watch.slow = slow
            seconds = ", ".join(f"rank {rank} on {watch.places[rank].node} {watch.places[rank].busy:.3f} s" for rank in slow)
            log(self._system, f"step {step}: stragglers: {seconds or 'none any more'}")

    def _report(self) -> None:
        document = {
            step: {
                "ranks": {str(rank): [place.node, str(place)] for rank, place in sorted(watch.places.items())},
                "hung": watch.hung_since is not None,
                "decided": watch.decided,
                "stragglers": watch.slow,
            }
            for step, watch in self._steps.items()
        }
        try:
            self._system.write(REPORT, json.dumps(document))
        except OSError as error:
            log(self._system, f"{REPORT}: {error.strerror}")
