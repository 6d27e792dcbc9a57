"""Every verb of ``nvshare``: where it is, and what it does, so that a list of them needs no import.

A test compares the sentences with those of the verbs.
"""

from typing import NamedTuple


class Verb(NamedTuple):
    """``module:attribute`` of the command, and the first sentence of its help."""

    place: str
    summary: str


# In the order and under the headings of the help text.
SECTIONS: dict[str, dict[str, Verb]] = {
    "Run and look": {
        "run": Verb("nvshare.cli.run:run", "Run a command that shares its GPU with others."),
        "status": Verb("nvshare.cli.status:status", "Show GPUs, settings and programs."),
        "top": Verb(
            "nvshare.cli.top:top",
            "Watch GPUs and programs, and change limits. h shows the keys, q ends it.",
        ),
        "why": Verb(
            "nvshare.cli.why:why",
            "Say why a program is as fast as it is: one paragraph for each GPU that it uses.",
        ),
        "trace": Verb(
            "nvshare.cli.trace:trace",
            "Record which programs have turns, compute, wait, are held back and move memory, "
            "to a file.",
        ),
        "web": Verb(
            "nvshare.cli.web:web",
            "Serve a web page with GPUs, programs, a timeline and limits, until interrupted.",
        ),
        "ls": Verb(
            "nvshare.cli.ls:ls",
            "List programs: id, pid, user, GPU, state, allocated bytes, program.",
        ),
        "limit": Verb(
            "nvshare.cli.limit:limit", "Change the limits of programs, and print those in force."
        ),
        "park": Verb(
            "nvshare.cli.park:park", "Take a program off its GPUs until `nvshare unpark`."
        ),
        "unpark": Verb("nvshare.cli.park:unpark", "Let a program go on that was parked by hand."),
    },
    "The daemon": {
        "daemon": Verb("nvshare.cli.daemon:daemon", "Share the GPUs of this machine."),
        "service": Verb("nvshare.cli.service:service", "One daemon for all users of this machine."),
        "set": Verb("nvshare.cli.set:change", "Change settings, and print those in force."),
        "doctor": Verb(
            "nvshare.cli.doctor:doctor",
            "Check driver, libraries, sockets, permissions and versions.",
        ),
        "device-plugin": Verb(
            "nvshare.cli.device_plugin:device_plugin",
            "Offer the GPUs of this node to Kubernetes until stopped.",
        ),
        "completion": Verb(
            "nvshare.cli.completion:completion",
            "Print a script by which a shell completes GPUs, programs and verbs.",
        ),
    },
    "Without a GPU": {
        "demo": Verb(
            "nvshare.cli.lab.demo:demo",
            "Show four jobs of 12 GB on two emulated GPUs of 16 GB, with nvshare and without.",
        ),
        "emulate": Verb(
            "nvshare.cli.lab.emulate:emulate",
            "Run a command on emulated GPUs, or manage a node that several terminals share.",
        ),
        "simulate": Verb(
            "nvshare.cli.lab.simulate:simulate",
            "Simulate SCENARIO: the name of a known one, or a TOML file.",
        ),
        "workload": Verb(
            "nvshare.cli.lab.workload:workload",
            "Run a program that does to a GPU what the PyTorch program of that name does.",
        ),
    },
    "For developers": {
        "bench": Verb(
            "nvshare.cli.lab.bench:bench",
            "Measure, and print figures with the machine and the settings they hold for.",
        ),
        "replay": Verb(
            "nvshare.cli.replay:replay",
            "Replay the journal in FILE, which `nvshare status --journal` or the control API gave.",
        ),
    },
}
VERBS = {name: verb for section in SECTIONS.values() for name, verb in section.items()}
