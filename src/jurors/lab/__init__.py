"""Juries to experiment with: examples of real ones, simulated ones, and plans."""

from __future__ import annotations

from importlib.resources import as_file, files

from jurors.errors import check_choice
from jurors.options import verb
from jurors.votes.key import Key, read_votes_with_key
from jurors.votes.table import Votes

#: Real juries that come with the package, as counts by decision tuple and true label.
EXAMPLES = {
    "census": "three neural networks on 20,000 census records: is the person employed? (Table 1 of the paper)",
    "llm_graders": "three LLMs grading 281 chains of thought of PaLM 2 on arithmetic: is it wrong? (BIG-Bench-Mistake)",
}


@verb()
def load_example(name: str) -> tuple[Votes, Key]:
    """Load the votes (as counts) and the answer key of an example.

    Parameters
    ----------
    name
        Such as "llm_graders". An unknown name raises an error that lists all names.

    Returns
    -------
    (Votes, Key)

    Examples
    --------
    >>> votes, key = load_example("llm_graders")
    >>> votes.total, votes.jurors
    (281, ('Gemini Pro', 'Mistral', 'GPT-4-Turbo'))
    """
    check_choice(name, tuple(EXAMPLES), "example")
    with as_file(files("jurors") / "data" / f"{name}.csv") as path:
        return read_votes_with_key(path, "truth")
