"""Every vector is a check of its requirement."""

from __future__ import annotations

from observed_context_conformance.checking import Adapter, Check, expect, register
from observed_context_conformance.vectors import Vector, load_vectors


def _check_of(vector: Vector) -> Check:
    def body(adapter: Adapter) -> None:
        settled = vector.settled_for(adapter.description)
        broken = settled.broken(getattr(adapter, vector.call)(**settled.arguments))
        wanted, got = broken or ("", "")
        expect(broken is None, "differs", expected=wanted, got=got)

    return Check(
        name="vector_" + vector.id.replace("-", "_"),
        requirement=vector.requirement,
        calls=(vector.call,),
        after=(),
        examples=1,
        doc=vector.description,
        body=body,
        strategies={},
    )


for _vector in load_vectors():
    register(_check_of(_vector))
