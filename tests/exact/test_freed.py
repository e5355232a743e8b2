from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PAGES = """
import resource, sys
import numpy as np
from jurors._numeric import retain_freed_memory

def fetched():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

if "keep" in sys.argv:
    retain_freed_memory()
before = fetched()
for _ in range(20):
    arrays = [np.ones(1 << 19) for _ in range(4)]
    del arrays
print(fetched() - before)
"""


def pages(*arguments: str) -> int:
    return int(subprocess.run([sys.executable, "-c", PAGES, *arguments], check=True, capture_output=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other rules")
def test_freed_memory_is_fetched_once() -> None:
    assert pages("keep") < 0.2 * pages()
