"""The world that the kit hands to an adapter: store, summariser, model, clock, event loop; all fake, all recorded."""

from observed_context_conformance.environment.clock import Clock
from observed_context_conformance.environment.gateway import GatewayEnvironment, WriteFailure, fresh_storage
from observed_context_conformance.environment.loop import KitLoop
from observed_context_conformance.environment.model import Model, ModelFailure, calls_tool, fails_once, says
from observed_context_conformance.environment.store import MemoryStore, StoreFailure
from observed_context_conformance.environment.summariser import (
    FAILURES,
    FENCE,
    Behaviour,
    Request,
    Summariser,
    SummariserFailure,
    answers,
    echoes,
    fails,
    flat,
    is_silent,
    only_thinks,
)

__all__ = [
    "FAILURES",
    "FENCE",
    "Behaviour",
    "Clock",
    "GatewayEnvironment",
    "KitLoop",
    "MemoryStore",
    "Model",
    "ModelFailure",
    "Request",
    "StoreFailure",
    "Summariser",
    "SummariserFailure",
    "WriteFailure",
    "answers",
    "calls_tool",
    "echoes",
    "fails",
    "fails_once",
    "flat",
    "fresh_storage",
    "is_silent",
    "only_thinks",
    "says",
]
