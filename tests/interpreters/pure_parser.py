"""Stands in for `yaml._yaml` where nothing is compiled for an interpreter: PyYAML's own parser written in Python.

It makes the events of libyaml's parser but for two values that are None here: the style of plain scalars, "" there, and
`flow_style` of a sequence that is not indented, False there.
"""

from yaml.events import Event, ScalarEvent, SequenceStartEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class CParser(Reader, Scanner, Parser):
    def __init__(self, stream: str | bytes) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> Event:
        event: Event = super().get_event()  # type: ignore[no-untyped-call]
        if isinstance(event, ScalarEvent) and event.style is None:
            event.style = ""
        elif isinstance(event, SequenceStartEvent):
            event.flow_style = bool(event.flow_style)
        return event

    def raw_parse(self) -> None:
        while self.check_event():
            self.get_event()
