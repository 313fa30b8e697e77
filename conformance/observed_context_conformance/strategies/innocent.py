"""Generators of text that looks dangerous and is not: hashes, ids, numbers, program text that only reads a secret."""

from __future__ import annotations

import string
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from observed_context_conformance.strategies import texts

_HEX = string.digits + "abcdef"
_NAMES = ("API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "CLIENT_SECRET")
_TEMPLATES = (
    "fixed in {hex40}, please pull",
    "diff between {hex40} and {hex40} is empty",
    "sha256 of the iso: {hex64}",
    "md5sum {hex32}  backup.tar.gz",
    "job {uuid} finished in {digits2}m",
    "https://app.acme.io/orders/{uuid}",
    "my number is +1415555{digits4}, text me",
    "order {digits3}-{digits7}-{digits7} shipped",
    "https://shop.acme.io/list?page={digits2}&sort=price&utm_source=newsletter",
    "docs at https://docs.python.org/3/library/re.html#re.compile",
    "postgres://localhost:5432/app works without login",
    "v2.{digits2}.0-rc.1+build.{digits8}",
    "52.{digits6}, 13.{digits6} at 2026-11-30T09:15:22Z",
    "{name}=os.environ['{name}']",
    "const token = process.env.{name};",
    "export {name}=$(vault read -field=token secret/x)",
    "Authorization: Bearer ${name}",
    "{name}=<your-key-here>",
    "the token is expired, log in again",
    "I forgot my password again",
    "Secretary: {digits2} minutes of the meeting",
    "we tokenise with tokenizer: cl100k_base",
    '{{"usage": {{"input_tokens": {digits4}, "output_tokens": {digits2}}}}}',
    "I cooked a hotpot at {digits4}",
    "the recovery codes are in the safe",
    "we planted the seeds on Tuesday",
    "the token is base64url encoded",
    "one word about the token: whoever finds it, keep it",
    "rename the token: accessTokenFromCookie reads better",
    "SORT_KEY=created_at PARTITION_KEY=customer",
    "saved as Scan_{digits4}-InvoiceFromTheGarage-{digits3}.pdf",
    "R&amp;D says a &lt; b",
    "the 👨‍👩‍👧‍👦 emoji and 🏳️‍🌈 should stay intact",
    "می‌خواهم این را بخوانم",
)


def lookalikes() -> SearchStrategy[str]:
    """A message that holds no secret, and something that a hasty rule takes for one: fresh digits, hashes and ids."""
    return st.builds(_filled, st.sampled_from(_TEMPLATES), st.integers(0, 2**32 - 1))


def chats() -> SearchStrategy[str]:
    """A few such messages and ordinary ones, each on its line."""
    return st.lists(st.one_of(lookalikes(), texts.words()), min_size=1, max_size=4).map("\n".join)


def _filled(template: str, seed: int) -> str:
    rng = Random(seed)
    digits = {f"digits{size}": "".join(rng.choices(string.digits, k=size)) for size in (2, 3, 4, 6, 7, 8)}
    hashes = {f"hex{size}": "".join(rng.choices(_HEX, k=size)) for size in (32, 40, 64)}
    uuid = "-".join("".join(rng.choices(_HEX, k=size)) for size in (8, 4, 4, 4, 12))
    return template.format(**digits, **hashes, uuid=uuid, name=rng.choice(_NAMES))
