"""Every limit of a program.

Generated from protocol/limits.toml by ``python -m protocol.generate``: do not edit.
"""

from nvshare.core.limits import Priority
from nvshare.limits.kinds import Amount, Choice, Limit, Number, Permission

LIMITS: tuple[Limit, ...] = (
    Amount(
        name="memory_limit",
        core_name="memory_bytes",
        label="memory limit",
        option="memory",
        help_run="Limit of GPU memory, such as 4Gi.",
        help_limit="Limit of GPU memory, such as 6Gi; none removes it.",
        metavar="SIZE",
        key="m",
        prompt="Memory limit (6Gi, none)",
        variable="NVSHARE_GPU_MEMORY_LIMIT",
        annotation="gpu-memory-limit",
        is_told=True,
    ),
    Number(
        name="compute_percent",
        core_name="compute_percent",
        label="share",
        option="compute",
        help_run="Limit of the GPU's time in percent, 1 to 100.",
        help_limit="Limit of a GPU's time in percent, or none.",
        metavar="PERCENT",
        key="c",
        prompt="Share of compute (1 to 100, none)",
        variable="NVSHARE_GPU_CORE_LIMIT",
        annotation="gpu-core-limit",
        in_scenarios=True,
        unit="%",
        least=1,
        most=100,
    ),
    Permission(
        name="burst",
        core_name="burst",
        label="burst",
        option="burst",
        help_run="Allow more than --compute while no other program wants the GPU.",
        help_limit="Whether it may use more while no other program wants the GPU.",
        variable="NVSHARE_GPU_BURST",
        in_scenarios=True,
        beyond="compute_percent",
        flag=1,
    ),
    Choice(
        name="priority",
        core_name="priority",
        label="priority",
        option="priority",
        help_run="Programs of higher priority go first.",
        help_limit="Programs of higher priority go first.",
        key="p",
        prompt="Priority (high, normal, low)",
        variable="NVSHARE_GPU_PRIORITY",
        annotation="gpu-priority",
        in_scenarios=True,
        default="normal",
        choices=("high", "normal", "low"),
        enum=Priority,
        choice_flags={"high": 2, "low": 4},
    ),
)
