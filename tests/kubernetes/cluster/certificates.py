"""Keys and certificates of a cluster that lives for some minutes."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pair:
    """A key and its certificate."""

    key: Path
    certificate: Path


class Authority:
    """Signs any requested subject."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.own = Pair(folder / "ca.key", folder / "ca.crt")
        _openssl(
            *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=nvshare-test", "-keyout", self.own.key, "-out", self.own.certificate),
        )

    def sign(self, name: str, subject: str, address: str = "") -> Pair:
        """Make a key, and a certificate for a subject; ``address`` is that of a server."""
        pair = Pair(self._folder / f"{name}.key", self._folder / f"{name}.crt")
        request, extensions = self._folder / f"{name}.csr", self._folder / f"{name}.ext"
        _openssl(
            *("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject),
            *("-keyout", pair.key, "-out", request),
        )
        usage = "serverAuth,clientAuth"
        names = f"subjectAltName=IP:{address},IP:127.0.0.1\n" if address else ""
        extensions.write_text(f"extendedKeyUsage={usage}\n{names}")
        _openssl(
            *("x509", "-req", "-days", "2", "-in", request, "-extfile", extensions),
            *("-CA", self.own.certificate, "-CAkey", self.own.key, "-CAcreateserial"),
            *("-out", pair.certificate),
        )
        return pair


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["/usr/bin/openssl", *arguments], check=True, capture_output=True)
