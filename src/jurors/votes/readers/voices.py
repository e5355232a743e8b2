"""Feedback on traces: who gives it is told by its name, its source and its kind; a name may be a question instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.votes.readers import Records
from jurors.votes.readers.short_names import told_apart

Voice: TypeAlias = tuple[str, str, str]  #: the feedback's name, its source, the kind of source


@dataclass(frozen=True)
class Feedback:
    """What one voice said of one item, and when, where that is known (seconds since 1970)."""

    item: Any
    voice: Voice
    value: Any
    time: float | None = None


@dataclass(frozen=True)
class Asked:
    """Which question was asked for, and how its user calls it."""

    question: str | None
    what: str  #: what the tool calls a name of feedback: "assessment"
    how: str  #: how one is chosen: "--from mlflow:"
    tool: str
    is_stream: bool = False  #: more may come: a voice is named by itself, not by what tells it from the others

    def records(self, feedback: Sequence[Feedback], texts: Mapping[Any, Mapping[str, str]]) -> Records:
        """A juror per voice: the name alone, or the source where one name has several.

        Where there are several names and one of them has several sources, the names are questions and one of them must
        be chosen: votes on different questions are no jury.
        """
        voices = list(dict.fromkeys(one.voice for one in feedback))
        questions = list(dict.fromkeys(one.voice[0] for one in feedback if one.value is not None))
        if self.question is None and not self.is_stream and 1 < len(questions) < len(voices):
            names_of = ", ".join(sorted(questions)[:12])
            message = f"{len(questions)} {self.what}s are given: {names_of}; choose one with {self.how}{questions[0]}"
            chosen = f"{self.tool}:{questions[0]}"
            raise VotesError(message, code="several_questions", known=questions, tool=chosen)
        if self.question is not None:
            wanted = self.question if self.is_stream else nearest(self.question, questions, self.what)
            voices = [voice for voice in voices if voice[0] == wanted]
        names = self._names(voices)
        kept = [one for one in feedback if one.voice in names]
        jurors = [names[one.voice] for one in kept]
        times = [one.time for one in kept]
        return Records([one.item for one in kept], jurors, [one.value for one in kept], texts, times)

    def _names(self, voices: Sequence[Voice]) -> dict[Voice, str]:
        if not voices:
            return {}
        if self.is_stream:
            return {voice: self._by_itself(voice) for voice in voices}
        names = told_apart(*zip(*voices, strict=True))
        return {voice: name or voice[0] for voice, name in zip(voices, names, strict=True)}

    def _by_itself(self, voice: Voice) -> str:
        """The source where the question is known, else the question and the source; the name where none is told."""
        name, source, _ = voice
        return (source if self.question is not None else f"{name}:{source}") if source else name
