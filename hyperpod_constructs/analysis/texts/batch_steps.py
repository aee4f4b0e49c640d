"""Steps of batch scripts: they run until their end, on all nodes, with as many processes as there are GPUs, and get their signals.

Sources: https://slurm.schedmd.com/sbatch.html, https://slurm.schedmd.com/srun.html,
https://pytorch.org/docs/stable/elastic/run.html and https://www.gnu.org/software/bash/manual/bash.html#Signals
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from hyperpod_constructs.analysis.texts.cluster_jobs import Job, Mistake, most_of, processes_of
from hyperpod_constructs.analysis.written_texts import text_of

_VARIABLE = re.compile(r"\$(?:\{?[A-Za-z_]|\()|`")
_OWN_WORDS = ("comment", "wrap")
"""Options whose values nobody takes apart."""
_PATHS = ("chdir", "error", "input", "output")
_STEP = re.compile(r"\b(?:srun|mpirun|mpiexec|torchrun|python3?|accelerate|deepspeed)\b")
_BEHIND = re.compile(r"(?<![&|>])&\s*$")
_TRIVIAL = re.compile(r"(?:done|fi|esac|\}|;;|echo\b.*|exit\b.*|printf\b.*|date\b.*|true|:)\s*$")
_SIGNAL = re.compile(r"(?:([RB]{1,2}):)?(?:SIG)?(\w+)(?:@\d+)?", re.IGNORECASE)
_NUMBERS = {"1": "HUP", "2": "INT", "3": "QUIT", "9": "KILL", "10": "USR1", "12": "USR2", "15": "TERM", "18": "CONT"}
_AMPERSAND = re.compile(r"(?<![&|><])&(?![&>\d])")
_LAUNCHING = ("srun", "mpirun", "mpiexec", "pdsh", "ssh", "parallel", "xargs", "clush")
_OWN_NODES = ("-N", "--nodes", "-w", "--nodelist", "-n", "--ntasks", "-x", "--exclude", "--het-group")
_NNODES = re.compile(r"--nnodes=(.{1,60})")
_SRUN, _TRAP = "srun", "trap"
_TASKS = re.compile(r"(?:--ntasks(?:=(\d{1,6}))?|-n(\d{1,6})?)")
_TASKS_OF_NODE = re.compile(r"--n?tasks-per-node(?:=(\d{1,6}))?")
_COUNT = re.compile(r"(\d{1,6})(?:-\d{1,6})?")
_ENDPOINT = re.compile(r"--(?:rdzv[-_]endpoint|master[-_]addr)")
_OWN_HOST = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\])(?::.*)?")
_ADDRESS = "MASTER_ADDR"
_ONE_NODE = re.compile(r"(?:-N|--nodes=|--nnodes=)1|--standalone")


def _expanded(job: Job) -> Iterator[Mistake]:
    """Variables of a shell in lines for `sbatch`, which are no lines of a shell."""
    for one in (one for one in job.batch.options if not one.late and one.name not in _OWN_WORDS):
        is_home = one.name in _PATHS and one.value.startswith("~")
        if _VARIABLE.search(one.value) or is_home:
            says = f"gives --{one.name} the value {one.value} in line {one.line}, in which sbatch expands nothing"
            yield Mistake(says, "a value without variables; paths may have %x, %j and %u")


def _awaited(job: Job) -> Iterator[Mistake]:
    """A step behind which the script ends: Slurm kills what still runs."""
    lines = _lines(job.script.text)
    place = next((place for place in range(len(lines) - 1, -1, -1) if not _TRIVIAL.match(lines[place])), None)
    if place is not None and _BEHIND.search(lines[place]) and _STEP.search(lines[place]):
        says = f"ends behind {_STEP.findall(lines[place])[0]} in the background: Slurm kills it with the job"
        yield Mistake(says, "wait as the last command")


def _lines(text: str) -> list[str]:
    """The lines of a script that are no comments, those with a backslash at their ends with the next one."""
    return [one.strip() for one in re.sub(r"\\\n", " ", text).split("\n") if one.strip() and not one.lstrip().startswith("#")]


def _tasks(job: Job) -> Iterator[Mistake]:
    """Several tasks of a node, each of which starts a process for each GPU."""
    most = most_of(job.groups, "gpu")
    for words, line, count in _launches(job):
        tasks = _tasks_of_node(job, words)
        if most and tasks > 1 and count > 1 and tasks * count > most:
            says = f"starts {tasks} tasks on a node in line {line}, each with {count} processes of torchrun, for {most} GPUs"
            yield Mistake(says, "one task of torchrun on each node")


def _launches(job: Job) -> Iterator[tuple[Sequence[str], int, int]]:
    """The steps that start `torchrun`: their words, their lines, and the processes on a node."""
    run = job.script.run
    for command in run.called if run is not None else ():
        if command.name == _SRUN and run is not None:
            yield [text_of(word, run) for word in command.words], command.line, processes_of(command, job.script)


def _tasks_of_node(job: Job, words: Sequence[str]) -> int:
    """The tasks of a step on each node; nothing if they are not known."""
    nodes = _COUNT.fullmatch(job.value("nodes"))
    for word, behind in pairwise((*words, "")):
        for form, of_all in ((_TASKS_OF_NODE, False), (_TASKS, True)):
            found = form.fullmatch(word)
            if found is not None:
                number = next(filter(None, found.groups()), behind)
                count = int(number) if number.isdecimal() and len(number) < 7 else 0
                return count // int(nodes[1]) if of_all and nodes is not None and int(nodes[1]) else 0 if of_all else count
    own, every = job.value("ntasks-per-node"), job.value("ntasks")
    if own.isdecimal() and len(own) < 7 and not every:
        return int(own)
    return int(every) // int(nodes[1]) if every.isdecimal() and len(every) < 7 and nodes is not None and int(nodes[1]) else 0


def _signals(job: Job) -> Iterator[Mistake]:
    """A signal for the steps, which the script itself waits for."""
    value = job.value("signal")
    found = _SIGNAL.fullmatch(value)
    line = next((one.line for one in job.batch.options if one.name == "signal"), 0)
    if found is None or "B" in (found[1] or "").upper():
        return
    name = _NUMBERS.get(found[2], found[2].upper())
    if name in _trapped(job):
        says = f"asks for --signal={value} in line {line}, which goes to the steps alone: its trap for {name} never runs"
        yield Mistake(says, f"--signal=B:{value}")


def _trapped(job: Job) -> set[str]:
    """The signals for which a script has commands."""
    run = job.script.run
    found = set[str]()
    for command in run.called if run is not None else ():
        words = [text_of(word, run) for word in command.arguments] if run is not None and command.name == _TRAP else []
        if len(words) > 1 and words[0] not in ("", "-", ":"):
            found |= {_NUMBERS.get(word, word.upper().removeprefix("SIG")) for word in words[1:]}
    return found


def _endpoints(job: Job) -> Iterator[Mistake]:
    """A meeting point of several nodes that each looks for on itself."""
    nodes, run = _COUNT.fullmatch(job.value("nodes")), job.script.run
    for command in run.called if run is not None and nodes is not None and int(nodes[1]) > 1 else ():
        words = [text_of(word, run) for word in command.words] if run is not None else []
        given = [f"{name}={text_of(word, run)}" for name, word in command.given] if run is not None else []
        own = next((host for host in _hosts([*given, *words]) if _OWN_HOST.fullmatch(host)), None)
        if own is not None and not any(_ONE_NODE.fullmatch(word) for word in words):
            says = f"has each of its nodes look for the others at {own} in line {command.line}, which is the node itself"
            yield Mistake(says, "the name of the first node")


def _foreground(job: Job) -> Iterator[Mistake]:
    """A trap of the script itself, which waits for its step: the shell runs the trap when the step has ended."""
    found, run = _SIGNAL.fullmatch(job.value("signal")), job.script.run
    steps = [one for one in run.called if one.name == _SRUN] if run is not None else []
    name = _NUMBERS.get(found[2], found[2].upper()) if found is not None else ""
    is_of_script = found is not None and "B" in (found[1] or "").upper() and name in _trapped(job)
    if is_of_script and steps and not any(_AMPERSAND.search(line) for line in _lines(job.script.text)):
        says = f"waits for srun in line {steps[-1].line}, so that its trap for {name} runs when the step has ended"
        yield Mistake(says, 'srun … & and wait "$!"')


def _requeued(job: Job) -> Iterator[Mistake]:
    """A job that puts itself into the queue again, and says that nobody may."""
    run = job.script.run
    inside = [*(one for one in run.called if one.name == "scontrol")] if run is not None else []
    asks = any(text_of(word, run) == "requeue" for one in inside for word in one.arguments[:1]) if run is not None else False
    traps = re.search(r"\btrap\s+[\"'][^\n]{0,200}\bscontrol\s+requeue\b", job.script.text) is not None
    if (asks or traps) and job.batch.value("no-requeue") is not None and job.batch.value("requeue") is None:
        yield Mistake("has scontrol requeue its job, which --no-requeue forbids", "--requeue")


def _alone(job: Job) -> Iterator[Mistake]:
    """`torchrun` for several nodes that starts on the first one alone, or on more nodes than it counts."""
    nodes, run = _COUNT.fullmatch(job.value("nodes")), job.script.run
    if nodes is None or run is None or int(nodes[1]) < 2:
        return
    launches = [one for one in run.called if one.name in _LAUNCHING]
    for command in run.called:
        words = [text_of(word, run) for word in command.words]
        count = next((found for one in words if (found := _NNODES.fullmatch(one)) is not None), None)
        if command.name == "torchrun" and not launches and count is not None and count[1] != "1" and not command.function:
            says = f"starts torchrun in line {command.line} on the first of {nodes[1]} nodes alone"
            yield Mistake(says, "srun torchrun …")
        is_counted = command.name == _SRUN and "torchrun" in words and count is not None and not _narrowed(words)
        if is_counted and count is not None and count[1].isdecimal() and int(count[1]) not in (1, int(nodes[1])):
            says = f"has torchrun wait for {count[1]} nodes in line {command.line}, and the job has {nodes[1]}"
            yield Mistake(says, f"--nnodes={nodes[1]}")


def _narrowed(words: Sequence[str]) -> bool:
    """Whether a step has nodes of its own."""
    return any(one.startswith(_OWN_NODES) for one in words[: words.index("torchrun")])


def _hosts(words: Sequence[str]) -> Iterator[str]:
    for word, behind in pairwise((*words, "")):
        name, equals, value = word.partition("=")
        if _ENDPOINT.fullmatch(name) or name == _ADDRESS:
            yield value if equals else behind


STEPS: tuple[Callable[[Job], Iterator[Mistake]], ...] = (
    _expanded,
    _awaited,
    _tasks,
    _signals,
    _foreground,
    _requeued,
    _alone,
    _endpoints,
)
"""The judges of a job."""
