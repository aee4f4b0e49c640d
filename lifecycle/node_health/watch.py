"""The hang detector of one node: it reads local heartbeats, exchanges their progress, dumps stacks, and marks this node if it lags.

A node marks only itself. It waits until every node of the step has dumped its ranks, looks again, and marks. Only then does it kill
its tasks of that step, so that the step fails and the job resumes elsewhere. With an unknown culprit, it reports and kills nothing.
After a refused mark, it kills nothing and asks again later. It also starts a slurmd again that remembers jobs which have left.

Its input comes from jobs: an error in one step is logged, and the other steps are still watched.
"""

from __future__ import annotations

import json
import signal

from node_health import aggregate, beats, dumping, picture, summary
from node_health.aggregate import STALE_POLLS, Aggregate, Peers
from node_health.batches import Batches
from node_health.beats import Beat, Leftovers
from node_health.finding import REPLACE, Finding
from node_health.hang import Verdict
from node_health.heartbeat import DIRECTORY
from node_health.log import log
from node_health.marking import Marker
from node_health.memory import DIRECTORY as STATE
from node_health.picture import Picture
from node_health.settings import Settings
from node_health.shared import Exchange, SharedDirectory
from node_health.slurm import Slurm
from node_health.summary import Leadership, Summary
from node_health.system import System

REPORT = f"{STATE}/hang.json"
DUMPS_SECONDS = 120.0
LEADER_SECONDS = 20.0
LONGEST_POLL_SECONDS = 30.0
POLLS_PER_HANG = 10


class StepWatch:
    """The memory of one live step between two polls."""

    def __init__(self, node: str, patience: int) -> None:
        self.peers = Peers(patience)
        self.leadership = Leadership(node, patience)
        self.number = 0
        self.seen: tuple[str, str] | None = None
        self.since = 0.0
        self.hung_since: float | None = None
        self.dumped = False
        self.decided = ""
        self.asked: float | None = None
        self.own: Aggregate | None = None
        self.slow = ""

    def look(self, own: Aggregate, found: Picture, now: float) -> float:
        """Add the new picture, and return the seconds, by this node's clock, since any rank of the step last moved."""
        self.own = own
        seen = (found.digest, picture.draw([own], own.world).digest)
        if seen != self.seen:
            self.seen, self.since = seen, now
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
        self._leftovers = Leftovers(system)
        self._batches = Batches(system, self._slurm)
        self._steps: dict[str, StepWatch] = {}
        self._said: dict[str, str] = {}
        self._dumped = False
        """Whether this poll has dumped a step. Other dumps wait for the next poll: dumps take long, and every step needs a look."""

    @property
    def poll_seconds(self) -> float:
        return min(LONGEST_POLL_SECONDS, max(0.5, self._settings.hang_seconds / POLLS_PER_HANG))

    def forever(self) -> None:
        self._system.open_directory(DIRECTORY)
        if not self._system.own_space(DIRECTORY):
            log(self._system, f"{DIRECTORY}: is not a file system of its own, so jobs that fill it fill the file system around it")
        while True:
            self.poll()
            self._system.sleep(self.poll_seconds)

    def poll(self) -> None:
        """Look once at every live step; do nothing if Slurm does not list them."""
        self._say("shared directory", self._shared.problem or "")
        tasks = self._slurm.steps()
        if tasks is None:
            return
        self._batches.look(tasks)
        steps = {step: self._beats(step, pids) for step, pids in tasks.items() if beats.STEP.fullmatch(step)}
        live = {step: found for step, found in steps.items() if found}
        self._dumped = False
        ended = [step for step in self._steps if step not in live]
        for step in ended:
            self._end(step)
        for step, found in live.items():
            self._guarded(step, found)
        self._leftovers.remove(steps)
        if live or ended:
            self._report()

    def _beats(self, step: str, pids: set[int]) -> dict[int, Beat]:
        try:
            return beats.of_step(self._system, step, pids)
        except Exception as error:
            self._say(step, f"its heartbeats cannot be read: {type(error).__name__}: {error}")
            return {}

    def _guarded(self, step: str, found: dict[int, Beat]) -> None:
        try:
            self._step(step, found)
        except Exception as error:
            self._say(step, f"cannot be watched: {type(error).__name__}: {error}")

    def _say(self, what: str, text: str) -> None:
        """Log the news."""
        if text and self._said.get(what) != text:
            log(self._system, f"{what}: {text}")
        self._said[what] = text

    def _end(self, step: str) -> None:
        led = self._steps.pop(step).leadership.led > 0
        self._said.pop(step, None)
        own, leaders = f"{aggregate.FOLDER}/{step}/{self._node}.json", f"{summary.FOLDER}/{step}.json"
        self._shared.exchange(Exchange(remove=(own, leaders) if led else (own,)))

    def _step(self, step: str, found: dict[int, Beat]) -> None:
        watch = self._steps.setdefault(step, StepWatch(self._node, max(STALE_POLLS, int(DUMPS_SECONDS / self.poll_seconds))))
        watch.number += 1
        own = aggregate.of_beats(self._node, found, watch.number, watch.dumped)
        seen = self._picture(step, watch, own)
        still = watch.look(own, seen, self._system.monotonic())
        self._straggle(step, watch, seen)
        if still < self._settings.hang_seconds or seen.paused:
            return
        if watch.hung_since is None:
            if self._dumped:
                return
            self._dumped = True
            watch.hung_since = self._system.monotonic()
            log(self._system, f"step {step} has not moved for {still:.0f} s: {seen.verdict.why}")
            dumps = dumping.take(self._system, step, found)
            dumping.keep(self._system, self._shared, f"{step}.{own.restart}/{self._node}", seen.verdict.why, dumps)
            watch.dumped = True
        elif self._lags(seen.verdict, own) and self._may_ask(watch) and self._all_dumped(watch, seen):
            self._mark(step, watch, seen.verdict)

    def _picture(self, step: str, watch: StepWatch, own: Aggregate) -> Picture:
        """The picture of the whole step, if the node leads or has a leader; otherwise the picture of its own ranks."""
        alone = picture.draw([own], own.world)
        if len(own.ranks) == own.world:
            return alone
        path = f"{summary.FOLDER}/{step}.json"
        wanted = Exchange(write={f"{aggregate.FOLDER}/{step}/{self._node}.json": str(own)}, files=(path,))
        answer = self._shared.exchange(wanted)
        if answer is None:
            return alone
        told = summary.parse(answer.get(path, ""))
        same = told if told is not None and (told.restart, told.world) == (own.restart, own.world) else None
        lowest = min(own.ranks)
        believed = watch.leadership.follow(same, lowest, lowest // len(own.ranks))
        if believed is not None:
            return believed.picture
        return self._lead(step, watch, own) if watch.leadership.led else alone

    def _lead(self, step: str, watch: StepWatch, own: Aggregate) -> Picture:
        """Make the picture from all nodes' files, each valid for its own node only, and share it."""
        folder = f"{aggregate.FOLDER}/{step}"
        answer = self._shared.exchange(Exchange(read=(folder,)), LEADER_SECONDS) or {}
        found = [aggregate.parse(text) for text in answer.values()]
        same = [one for one in found if one is not None and (one.restart, one.world) == (own.restart, own.world)]
        others = watch.peers.update([one for one in same if one.node != own.node and f"{folder}/{one.node}.json" in answer])
        drawn = picture.draw([*others, own], own.world)
        if watch.leadership.publishes:
            told = Summary(self._node, min(own.ranks), own.restart, watch.number, own.world, drawn)
            self._shared.exchange(Exchange(write={f"{summary.FOLDER}/{step}.json": str(told)}))
        return drawn

    def _lags(self, verdict: Verdict, own: Aggregate) -> bool:
        """Whether the verdict names this node and agrees with its own ranks."""
        lowest = min(place.progress for place in own.ranks.values())
        behind = {rank for rank, place in own.ranks.items() if place.progress == lowest}
        return verdict.node == self._node and set(verdict.ranks) == behind

    def _all_dumped(self, watch: StepWatch, seen: Picture) -> bool:
        waited = self._system.monotonic() - (watch.hung_since or 0.0)
        return waited > DUMPS_SECONDS or seen.dumped

    def _may_ask(self, watch: StepWatch) -> bool:
        """Whether to ask for a mark: at once, and again some time after a refusal."""
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

    def _straggle(self, step: str, watch: StepWatch, seen: Picture) -> None:
        ranks = ", ".join(str(one.rank) for one in seen.slow)
        if ranks != watch.slow:
            watch.slow = ranks
            log(self._system, f"step {step}: stragglers: {', '.join(map(str, seen.slow)) or 'none any more'}")

    def _report(self) -> None:
        document = {
            step: {
                "ranks": {str(rank): [place.node, str(place)] for rank, place in sorted(watch.own.ranks.items())},
                "world": watch.own.world,
                "hung": watch.hung_since is not None,
                "decided": watch.decided,
                "stragglers": [int(rank) for rank in watch.slow.split(", ") if rank],
            }
            for step, watch in self._steps.items()
            if watch.own is not None
        }
        try:
            self._system.write(REPORT, json.dumps(document))
        except OSError as error:
            log(self._system, f"{REPORT}: {error.strerror}")
