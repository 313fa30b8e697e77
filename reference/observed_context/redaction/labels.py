"""Values that a name gives away: in an assignment of any notation, after an option of a command, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from observed_context.redaction.codes import one_time_code, recovery_codes, seed_phrase
from observed_context.redaction.notation import Notation, Written, run_on, written
from observed_context.redaction.tokens import Span, any_of
from observed_context.redaction.values import is_code, is_placeholder, is_plain_word, is_random, is_strong


class Family(Enum):
    """What a name promises."""

    PASSWORD = "password"
    KEY = "secret"
    SUFFIX = "suffix"  # ends a longer name: FAL_KEY
    CODE = "code"
    RECOVERY = "recovery"
    SEED = "seed"


_NAMES = {
    Family.PASSWORD: """password passwd passwort passphrase passcode pwd pass pw psk kennwort contraseña contrasena
        mot_de_passe senha wachtwoord hasło şifre salasana lösenord пароль 密码 密碼 口令 パスワード 비밀번호""",
    Family.KEY: """secret token credential jwt api_key apikey api-key access_key accesskey access-key account_key
        accountkey private_key privatekey private-key auth_key authkey auth-key signing_key encryption_key master_key
        storage_key sharedaccesskey license_key x-amz-signature секрет токен 密钥 密鑰 トークン 令牌""",
    Family.SUFFIX: "_key _auth _salt _dsn",
    Family.CODE: """otp verification_code security_code login_code confirmation_code auth_code authentication_code
        2fa_code one-time_code bestätigungscode sicherheitscode einmalcode anmeldecode código_de_verificación
        código_de_seguridad code_de_vérification code_de_sécurité codice_di_verifica código_de_verificação
        код_подтверждения 验证码 驗證碼 認証コード 確認コード 인증번호""",
    Family.RECOVERY: "recovery_code backup_code wiederherstellungscode",
    Family.SEED: "seed mnemonic recovery_phrase secret_phrase secret_recovery_phrase backup_phrase",
}
_FAMILY = {
    name: family
    for family, names in _NAMES.items()
    for listed in names.split()
    for name in ((listed,) if family is Family.SUFFIX else (listed, listed.replace("_", " ")))
}
_NAME = re.compile(any_of(list(_FAMILY)))
_WORDS = ("pass", "pw", "psk", "jwt", "otp")  # so short that they end other words

# What may follow the word within a name: `tokens`, `password2`, `secret_access_key`, `secretKey`; not `tokenizer`.
_TAIL = re.compile(
    r"(?:s(?![a-z]))?(?:[_.-]?[A-Z][a-z0-9]{1,24}|[_.-][A-Za-z0-9]{1,24}|[0-9]{1,4}){0,4}+(?![A-Za-z0-9])"
)
# Such a tail makes it the name of something about a secret.
_ABOUT = re.compile(
    r"""count | chars? | limit | len(?:gth)? | size | max | min | type | name | (?<![a-z])ids?(?![a-z]) | url | uri
    | path | file | dir | ttl | expir | age | store | reset | field | budget | usage | policy | ref | window | index
    | manager | provider | input | stdin | prompt | hint | label | rotation | required | enabled | valid | version
    | format | status | public | rate | per(?![a-z]) | vault | arn""",
    re.VERBOSE | re.IGNORECASE,
)


def labelled(text: str, lowered: str) -> Iterator[Span]:
    """The values in `text` that stand behind the name of a secret. `lowered` is the same text in small letters."""
    at = 0
    while found := _NAME.search(lowered, at):
        start, at = found.span()
        match _FAMILY[found[0]]:
            case Family.CODE:
                span = one_time_code(text, start, at)
            case Family.RECOVERY:
                span = recovery_codes(text, at)
            case Family.SEED:
                span = seed_phrase(text, at)
            case family:
                span = _named(text, start, at, family)
        if span is not None:
            yield span
            at = max(at, span.end)


def _named(text: str, start: int, end: int, family: Family) -> Span | None:
    before = text[start - 1 : start]
    if text[start:end].lower() in _WORDS and before.isascii() and before.isalpha() and not text[start].isupper():
        return None
    tail = _TAIL.match(text, end)
    if tail is None or _ABOUT.search(tail[0]):
        return None
    for value in written(text, start, tail.end()):
        if _is_secret(text[value.start : value.end], value, family, capitals=text[start : tail.end()].isupper()):
            return Span(value.start, run_on(text, value), "password" if family is Family.PASSWORD else "secret")
    return None


def _is_secret(value: str, how: Written, family: Family, *, capitals: bool) -> bool:
    """Whether the value of a name is a secret: the looser the notation, the more it has to look like one."""
    if len(value) < 4 or is_placeholder(value) or is_plain_word(value) or (is_code(value) and not how.quoted):
        return False
    password = family is Family.PASSWORD
    firm = how.notation in (Notation.ASSIGNED, Notation.LISTED, Notation.GIVEN)
    if value.isdigit():
        return password and (firm or (how.near and len(value) >= 6))
    if family is Family.SUFFIX:
        return firm and (is_random(value) or (capitals and is_strong(value)))
    match how.notation:
        case Notation.ASSIGNED:
            # `password = other_name` is a line of a program; in quotes, in capitals or without blanks it is none.
            enough = how.quoted or how.near or capitals or is_strong(value, 4)
        case Notation.LISTED:
            enough = len(value) >= 6
        case Notation.GIVEN:
            enough = not value.startswith("-")
        case Notation.MENTIONED:
            enough = is_strong(value) and (password or is_random(value))
        case Notation.SAID if password:
            enough = is_strong(value)
        case Notation.SAID:
            enough = (len(value) >= 12 and is_random(value)) or (how.near and is_strong(value, 8) and _loud(value))
        case Notation.BESIDE:
            enough = (len(value) >= 16 and is_random(value)) or (password and is_strong(value, 8) and _loud(value))
    return enough


def _loud(value: str) -> bool:
    """Whether a symbol inside the value tells it from a word, a version or an identifier."""
    return any(symbol in value[1:-1] for symbol in "!@#$%^&*?") and any(map(str.isalnum, value))
