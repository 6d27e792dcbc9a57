"""``kubectl nvshare limit``: what a pod may use, written as annotations."""

import click

from nvshare.cli.kubectl.cluster import Cluster
from nvshare.errors import BadInputError
from nvshare.kubernetes.annotations import PREFIX, check_annotation
from nvshare.limits.table import LIMITS

_KEYS = {one.option: PREFIX + one.annotation for one in LIMITS if one.annotation}


@click.command()
@click.argument("pod")
@click.argument("changes", nargs=-1, required=True, metavar="NAME=VALUE…")
@click.option("-n", "--namespace", metavar="NAMESPACE", help="Namespace of the pod.")
@click.option("-c", "--container", metavar="NAME", help="One container only.")
@click.pass_obj
def limit(
    cluster: Cluster,
    pod: str,
    changes: tuple[str, ...],
    namespace: str | None,
    container: str | None,
) -> None:
    """Limit the programs of a pod, while it runs.

    kubectl nvshare limit trainer memory=4Gi compute=40

    kubectl nvshare limit trainer memory=none
    """
    words = [_annotation(text, container) for text in changes]
    where = ["-n", namespace] if namespace else []
    click.echo(cluster.run("annotate", "pod", pod, "--overwrite", *where, *words), nl=False)


def _annotation(text: str, container: str | None) -> str:
    """Turn "memory=4Gi" into what kubectl annotate takes."""
    name, equals, value = text.partition("=")
    if not equals or name not in _KEYS:
        raise BadInputError(
            f'"{text}" cannot be set',
            why=None if equals else 'a change is written "name=value"',
            do=f"the names are {', '.join(_KEYS)}",
        )
    key = f"{_KEYS[name]}.{container}" if container else _KEYS[name]
    if value == "none":
        return f"{key}-"
    if why := check_annotation(_KEYS[name], value):
        raise BadInputError(f'"{value}" cannot be the {name} of a pod', why=why)
    return f"{key}={value}"
