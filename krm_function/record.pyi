from typing import Annotated as Annotated
from typing import Any
from typing import NamedTuple as NamedTuple

class Declared:
    kind: Any
    notes: tuple[Any, ...]
