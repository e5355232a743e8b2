"""The same judge several times is one voice: `gpt#1` and `gpt#2` share every misunderstanding.

A name alone does not prove it (`judge_1` and `judge_2` are two people), and neither does agreement (good jurors agree).
So both are asked for: the name says "once more" in so many words, and the votes confirm it, the repeats disagreeing
clearly less with each other than with everybody else. Where there is nobody else, the names must do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs
from jurors.votes.repeats import AGAIN, stem_and_number

# The marks, at the end of a name: `#2`, `(2)`, `[2]`, `@2`, ` run 2`, `_run2`, `/epoch=2`, ` (run 2)`. Numbers
# up to 999 for marks without a word: longer ones are versions and dates (`claude@20240229`, `gpt-4 (0613)`).
_MARK = re.compile(
    rf"""^(?P<base>.*?[^\s_\-/.:,|])\s*
    (?: \#\s*(?P<hash>\d{{1,3}})
      | @\s*(?P<at>\d{{1,2}})
      | [(\[]\s*(?P<round>\d{{1,3}})\s*[)\]]
      | (?:[\s_\-/.:,|]+|\s*[(\[]\s*)(?:{AGAIN})[\s_\-=:\#]*(?P<word>\d{{1,6}})\s*[)\]]?
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_BEFORE_NUMBER = (*"#@_-=: ", *AGAIN.split("|"))  # what may stand before the number of a mark
_LONGEST_BEFORE = max(map(len, _BEFORE_NUMBER))
# Names of a role, not of somebody: what a number after them counts is people. `annotator #3` is a third annotator.
_ROLES = frozenset(
    re.findall(
        r"\w+",
        """
        a an annotator annotators assessor anno agent ai amt bot c classifier clf coder crowd crowdworker detector
        doctor e editor evaluator examiner expert grader h human humans i id item j judge juror k labeler labeller lf
        llm m member ml mod moderator model mturk mturker n no number observer p panelist panellist participant patient
        person physician player pathologist q r radiologist rater reader referee respondent reviewer rule s scorer
        sensor speaker student subject system t teacher team tool turk turker u unit user v volunteer voter w witness
        worker x y z
        """,
    )
)
# Roles of programs: a number after them may well count how often one was asked. After the name of a model (`phi-1`,
# `phi-2`, `text-davinci-002`, `v0.2`) it is a version, unless it is set apart (`gpt4_1`, `gpt4 1`); after other words
# (`prompt_1`, `site 2`, `expert1`) it counts those.
_PROGRAMS = frozenset(
    re.findall(
        r"\w+",
        """
        agent ai answer assistant autorater bot checker classifier critic evaluator grader judge llm model output
        prediction response scorer system verdict verifier vote
        """,
    )
) | set(AGAIN.split("|"))
# Those of whom even a whole panel is worth a word; `model 1`, `classifier 2` and the like are as a rule different ones.
_JUDGES = _PROGRAMS - set(re.findall(r"\w+", "agent ai bot checker classifier model system verifier"))
_MODELS = re.compile(
    r"gpt|claude|sonnet|opus|haiku|gemini|gemma|llama|mi[sx]tral|qwen|deepseek|grok|phi|command|nova|o\d", re.IGNORECASE
)
# How much less the repeats must disagree with each other than with the others: at most this share of it. A choice:
# independent jurors sit at 1, exact repeats at 0; no set with named repeats was at hand to tune it.
_LESS = 0.75
# And by how many standard errors: 1% one-sided, for independent jurors who happen to have such names.
_STANDARD_ERRORS = 2.33
# The same where a name only leaves it open (`judge_1`, `judge_2`): it takes far more, and is only said.
_FAR_LESS, _FAR_ERRORS = 0.5, 4.0


def repeated_name(name: str) -> tuple[str, int] | None:
    """The judge behind a name that says "once more", and which time it is; None for any other name.

    Examples
    --------
    >>> repeated_name("gpt-4o #2"), repeated_name("claude (run 3)"), repeated_name("llama/epoch 1")
    (('gpt-4o', 2), ('claude', 3), ('llama', 1))
    >>> repeated_name("judge_2"), repeated_name("annotator #3"), repeated_name("w12"), repeated_name("gpt-4")
    (None, None, None, None)
    >>> repeated_name("judge (run 2)"), repeated_name("judge-sample-3")
    (('judge', 2), ('judge', 3))
    """
    mark = _MARK.match(name.strip()) if _may_be_marked(name) else None
    if mark is None:
        return None
    base = _plain(mark["base"])
    number = next(g for g in (mark["hash"], mark["at"], mark["round"], mark["word"]) if g is not None)
    return None if mark["word"] is None and _is_role(base) else (base, int(number))


def named_alike(jurors: Sequence[str]) -> list[tuple[int, ...]]:
    """Groups of two or more whose names say that they are one judge; its plain name (`gpt`, `gpt (2)`) counts too.

    Examples
    --------
    >>> named_alike(["gpt", "gpt (2)", "gpt (3)", "ann", "bob #1"])
    [(0, 1, 2)]
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    endings = ((k, name) for k, name in enumerate(jurors) if not name[-1:].isalpha())  # no mark ends in a letter
    repeats = {k: repeat for k, name in endings if (repeat := repeated_name(name)) is not None}
    for k, (base, number) in repeats.items():
        groups.setdefault(base, []).append((k, number))
    if not groups:
        return []
    for k, name in enumerate(jurors):
        if k not in repeats and (base := _plain(name)) in groups:
            groups[base].append((k, -1))
    # A number that comes twice is no count of times: `gpt #1` and `GPT #1` are two spellings of who knows what.
    counted = [pairs for pairs in groups.values() if len({number for _, number in pairs}) == len(pairs)]
    return sorted(tuple(sorted(k for k, _ in pairs)) for pairs in counted if len(pairs) > 1)


def same_voices(sketch: Sketch) -> list[tuple[int, ...]]:
    """Groups of jurors that are one judge asked several times: by name, and confirmed by how they vote.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 10, "BBA": 10, "ABA": 1, "ABB": 1}
    >>> same_voices(Sketch.from_counts(counts, jurors=("gpt#1", "gpt#2", "ann")))
    [(0, 1)]
    >>> same_voices(Sketch.from_counts(counts, jurors=("gpt#1", "ann", "gpt#2")))
    []
    """
    groups = named_alike(sketch.jurors)
    if not groups:
        return []
    pairs = Pairs(sketch)
    return [group for group in groups if _is_confirmed(group, pairs)]


def possible_repeats(sketch: Sketch) -> dict[str, tuple[int, ...]]:
    """Jurors numbered from 0 or 1 who may be one judge: they disagree far less with each other than with the others.

    Where there are no others, the name alone must do: that of judges. Nothing is made of it but a warning: the name
    (what to join them by), and who they are.

    Examples
    --------
    >>> counts = {"AAA": 40, "BBB": 40, "AAB": 30, "BBA": 30, "ABA": 1, "ABB": 1}
    >>> possible_repeats(Sketch.from_counts(counts, jurors=("judge_1", "judge_2", "ann")))
    {'judge': (0, 1)}
    >>> possible_repeats(Sketch.from_counts(counts, jurors=("expert1", "expert2", "ann")))
    {}
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for k, name in enumerate(sketch.jurors):
        if (numbered := stem_and_number(name)) is not None:
            groups.setdefault(numbered[0], []).append((numbered[1], k))
    several = {stem: group for stem, group in groups.items() if len(group) > 1}  # hundreds of names are alone
    again = {stem: [n for n in group if _may_be_again(sketch.jurors[n[1]], stem)] for stem, group in several.items()}
    if all(len(group) < 2 for group in again.values()):
        return {}
    clear = {k for group in named_alike(sketch.jurors) for k in group}
    open_ = {name: [each for each in group if each[1] not in clear] for name, group in again.items()}
    able = {name: tuple(k for _, k in sorted(group)) for name, group in open_.items() if _counts_up(group)}
    if not able:
        return {}
    pairs = Pairs(sketch)
    everybody = len(sketch.jurors)
    return {
        name: group
        for name, group in able.items()
        if (_are_judges(name) if len(group) == everybody else _is_confirmed(group, pairs, _FAR_LESS, _FAR_ERRORS))
    }


def joined(voices: Sequence[int], groups: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Each juror's voice, where every group has one voice between them.

    Examples
    --------
    >>> joined((0, 1, 0, 3, 4), [(2, 4)])
    (0, 1, 0, 3, 0)
    """
    heard = list(voices)
    for group in groups:
        one = {heard[k] for k in group}
        heard = [min(one) if voice in one else voice for voice in heard]
    return tuple(heard)


def _counts_up(group: list[tuple[int, int]]) -> bool:
    """Whether two or more are numbered 0, 1, 2 … or 1, 2, 3 …"""
    numbers = sorted(number for number, _ in group)
    return len(numbers) > 1 and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _is_confirmed(
    group: tuple[int, ...], pairs: Pairs, most: float = _LESS, standard_errors: float = _STANDARD_ERRORS
) -> bool:
    """Whether the repeats disagree less with each other than with the others, beyond chance and by a good deal."""
    members = np.isin(pairs.first, group).astype(int) + np.isin(pairs.second, group)
    disagreed = pairs.items - pairs.agreed
    items, others = pairs.items[members == 2].sum(), pairs.items[members == 1].sum()
    if not others:  # nobody to compare with: the names must do
        return True
    if not items:
        return False
    inner, outer = disagreed[members == 2].sum() / items, disagreed[members == 1].sum() / others
    # Pairs of one group meet on the same items, so only the items of one pair are counted.
    middle, met = (inner + outer) / 2, max(float(pairs.items[members == 2].mean()), 1.0)
    error = float(np.sqrt(2 * middle * (1 - middle) / met))
    return bool(inner <= most * outer and outer - inner > standard_errors * error)


def _may_be_marked(name: str) -> bool:
    """Whether a closer look is worth its time: most names have no mark, which their ends show."""
    text = name.rstrip()
    if not text[-1:].isdigit():
        return text[-1:] in (")", "]")
    before = text.rstrip("0123456789")[-_LONGEST_BEFORE:]
    return before.lower().endswith(_BEFORE_NUMBER) or not text.isascii()


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-/.:,|]+$", "", re.sub(r"\s+", " ", name.strip())).casefold()


def _may_be_again(name: str, stem: str) -> bool:
    """Whether the number at the end of a name may count how often somebody was asked: not people, not versions."""
    words = re.findall(r"[a-z]+", stem.casefold())
    if words and all(word in _PROGRAMS for word in words):
        return True
    return name.strip()[len(stem)] in "_ " and _MODELS.search(stem) is not None


def _are_judges(stem: str) -> bool:
    words = re.findall(r"[a-z]+", stem.casefold())
    return bool(words) and all(word in _JUDGES for word in words)


def _is_role(base: str) -> bool:
    """Whether the name is only a role (`the annotator`, `human rater`) or has no letter at all."""
    words = re.findall(r"[a-z]+", base)
    return not words or all(word in _ROLES or word == "the" for word in words)
