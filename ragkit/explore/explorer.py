"""An explorer: something to compute, the controls that change it, and how it looks at each setting.

One description serves three readers. On a page of the book (``RAGKIT_BOOK=1``, set by its build) an explorer is HTML:
the state at the start as tables and drawings, which is all that a reader without scripts sees, and its inputs, which a
script of ``book/_ext/assets/explorers/`` brings to life without a kernel. In a live notebook it is ipywidgets over the
functions of ``ragkit``. In a terminal it is text. Controls choose from lists of values, so that both languages compute
with the same floats. Left out: saving a setting, and animation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

from ragkit.show.provenance import provenance_html

Data: TypeAlias = dict[str, Any]
"""What an explorer computes with, as JSON can hold it; the same on every setting."""
State: TypeAlias = dict[str, Any]
"""The value of each control by name."""
Result: TypeAlias = dict[str, Any]
"""What was computed, as JSON can hold it."""


@dataclass(frozen=True, slots=True)
class Control:
    """A choice among ``values``, shown as ``texts``; ``start`` is the position of the first one chosen.

    A ``slider`` has an order, a ``stepper`` also has buttons for one step back and forth, a ``choice`` is a list, a
    ``switch`` is no or yes.
    """

    name: str
    label: str
    kind: Literal["slider", "stepper", "choice", "switch"]
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int


def control(
    name: str,
    label: str,
    kind: Literal["slider", "stepper", "choice", "switch"],
    values: Sequence[Any],
    start: Any,
    texts: Sequence[str] | None = None,
) -> Control:
    """A `Control` that begins at the value ``start``, which must be one of ``values``; texts are the values' own.

    >>> control("restart", "Restart", "slider", [0.15, 0.5], start=0.5).texts
    ('0.15', '0.5')
    """
    if start not in values:
        raise ValueError(f"{name} must be one of {', '.join(map(str, values))}, got {start!r}")
    return Control(
        name,
        label,
        kind,
        tuple(values),
        tuple(texts if texts is not None else map(str, values)),
        list(values).index(start),
    )


def switch(name: str, label: str, start: bool) -> Control:
    """A `Control` that is off or on."""
    return control(name, label, "switch", [False, True], bool(start), ["off", "on"])


@dataclass(frozen=True, slots=True)
class Explorer:
    """Computed anew at each setting: ``compute(data, state)``, shown by ``summary`` and ``view``.

    ``kind`` names the script, ``summary`` is a sentence and ``view`` markup, both from ``(data, state, result)``.
    ``source`` is what `ragkit.show.provenance.provenance` says of the numbers.
    """

    kind: str
    title: str
    controls: tuple[Control, ...]
    data: Data
    compute: Callable[[Data, State], Result]
    summary: Callable[[Data, State, Result], str]
    view: Callable[[Data, State, Result], str]
    source: tuple[str, str]

    def state(self, **changes: Any) -> State:
        """The settings at the start, with ``changes``; ValueError for a control or a value that does not exist."""
        state = {each.name: each.values[each.start] for each in self.controls}
        for name, value in changes.items():
            if name not in state:
                raise ValueError(f"{name} is no control of this explorer; it has {', '.join(state)}")
            values = next(each.values for each in self.controls if each.name == name)
            if value not in values:
                raise ValueError(f"{name} must be one of {', '.join(map(str, values))}, got {value!r}")
            state[name] = values[values.index(value)]  # 1 == 1.0 == True: the one that the control holds
        return state

    def result(self, **changes: Any) -> Result:
        """What is computed at the start, or with ``changes`` to its settings."""
        return self.compute(self.data, self.state(**changes))

    def html(self) -> str:
        """The page's markup: the state at the start, and the inputs for the script."""
        state = self.state()
        result = self.compute(self.data, state)
        inputs = {"data": self.data, "controls": [_plain(each) for each in self.controls]}
        packed = escape(json.dumps(inputs, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
        settings = "; ".join(f"{each.label}: {each.texts[each.start]}" for each in self.controls)
        return (
            f'<div class="rk-explorer" role="group" aria-label="{escape(self.title)}" data-kind="{self.kind}" '
            f'data-input="{packed}"><p class="rk-explorer-title">{escape(self.title)}</p>'
            '<div class="rk-controls"></div>'
            f'<output class="rk-summary" aria-live="polite">{escape(self.summary(self.data, state, result))}</output>'
            f'<div class="rk-view">{self.view(self.data, state, result)}</div>'
            f'<p class="rk-still">Shown for {escape(settings)}. '
            "Where the browser runs scripts, these can be changed here.</p>"
            f"{provenance_html(*self.source)}</div>"
        )

    def widget(self) -> Any:
        """The explorer as ipywidgets, for a notebook with a kernel."""
        import ipywidgets

        parts = {each.name: _live(each) for each in self.controls}
        said, seen = ipywidgets.HTML(), ipywidgets.HTML()

        def show(_: object = None) -> None:
            state = {name: chosen.value for name, (_, chosen) in parts.items()}
            result = self.compute(self.data, state)
            said.value = f"<p>{escape(self.summary(self.data, state, result))}</p>"
            seen.value = self.view(self.data, state, result)

        for _, chosen in parts.values():
            chosen.observe(show, names="value")
        show()
        title = ipywidgets.HTML(f"<strong>{escape(self.title)}</strong>")
        origin = ipywidgets.HTML(provenance_html(*self.source))
        return ipywidgets.VBox([title, *(shown for shown, _ in parts.values()), said, seen, origin])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        page = {"text/plain": repr(self), "text/html": self.html()}
        if os.environ.get("RAGKIT_BOOK") == "1":
            return page
        live: dict[str, Any] = self.widget()._repr_mimebundle_()
        return {**live, **page}  # a viewer that knows no widgets still shows the start

    def __repr__(self) -> str:
        state = self.state()
        chosen = [f"  {each.label}: {each.texts[each.start]}" for each in self.controls]
        return "\n".join([self.title, *chosen, self.summary(self.data, state, self.compute(self.data, state))])


def _plain(each: Control) -> dict[str, Any]:
    names = ("name", "label", "kind", "values", "texts", "start")
    return {name: getattr(each, name) for name in names}


def _live(each: Control) -> tuple[Any, Any]:
    """The widget that is shown, and the one in it that holds the value."""
    import ipywidgets

    look = {"description": each.label, "style": {"description_width": "initial"}}
    options = list(zip(each.texts, each.values, strict=True))
    if each.kind == "switch":
        part = ipywidgets.Checkbox(value=each.values[each.start], indent=False, description=each.label)
        return part, part
    if each.kind == "choice":
        part = ipywidgets.Dropdown(options=options, index=each.start, **look)
        return part, part
    slider = ipywidgets.SelectionSlider(
        options=options, index=each.start, layout=ipywidgets.Layout(width="min(100%, 36rem)"), **look
    )
    if each.kind == "slider":
        return slider, slider
    back, forth = ipywidgets.Button(description="Step back"), ipywidgets.Button(description="Step on")

    def move(by: int) -> None:
        slider.index = min(max(slider.index + by, 0), len(options) - 1)

    back.on_click(lambda _: move(-1))
    forth.on_click(lambda _: move(1))
    return ipywidgets.VBox([slider, ipywidgets.HBox([back, forth])]), slider
