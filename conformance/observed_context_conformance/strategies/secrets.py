"""Generators of made-up secrets: a fresh one of every kind that may not cross.

Bodies come from a random generator whose seed Hypothesis draws, so that a secret that was shrunk is still a random one:
a redactor may take `00000000` for a placeholder.
"""

from __future__ import annotations

import json
import string
from base64 import b64encode, urlsafe_b64encode
from binascii import crc32
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Literal
from urllib.parse import quote

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Stands = Literal["anywhere", "between blanks", "on lines of its own"]

DIGITS = string.digits
HEX = DIGITS + "abcdef"
ALNUM = string.ascii_letters + DIGITS
URL = ALNUM + "-_"
BASE32 = string.ascii_uppercase + "234567"
BASE64 = ALNUM + "+/"
BASE62 = DIGITS + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True)
class Secret:
    """A made-up secret, as people paste it.

    Attributes:
        kind: as in the corpus and the chapter on redaction.
        written: the secret and what belongs to it: a name, a URL, a command.
        values: what may not survive of it.
        stands: where it may be put.
    """

    kind: str
    written: str
    values: tuple[str, ...]
    stands: Stands


# -- bodies -------------------------------------------------------------------------------------------------------


def _body(rng: Random, alphabet: str, size: int) -> str:
    """So many characters, with a digit, a small letter and a capital among them where the alphabet has them."""
    while True:
        made = "".join(rng.choices(alphabet, k=size))
        kinds = (str.isdigit, str.islower, str.isupper)
        if size < 8 or all(any(map(kind, made)) for kind in kinds if any(map(kind, alphabet))):
            return made


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits.rjust(6, "0")


def _checked(prefix: str, rng: Random) -> str:
    """A GitHub token: its last six characters are the CRC-32 of the thirty before, in base 62."""
    body = _body(rng, ALNUM, 30)
    return f"{prefix}{body}{_base62(crc32(body.encode()))}"


def _grafana(rng: Random) -> str:
    head = f"glsa_{_body(rng, ALNUM, 32)}"
    return f"{head}_{crc32(head.encode()):08x}"


def _json64(data: dict[str, object]) -> str:
    return urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


def _jwt(rng: Random) -> str:
    claims = {"sub": f"user-{rng.randrange(10**6)}", "iat": 1_790_000_000, "x": _body(rng, HEX, 8)}
    return f"{_json64({'alg': 'HS256', 'typ': 'JWT'})}.{_json64(claims)}.{_body(rng, URL, 43)}"


def _discord(rng: Random) -> str:
    number = str(rng.randrange(3 * 10**17, 8 * 10**17))
    return f"{urlsafe_b64encode(number.encode()).decode().rstrip('=')}.{_body(rng, URL, 6)}.{_body(rng, URL, 38)}"


def _one_password(rng: Random) -> str:
    return "ops_" + _json64({"signInAddress": "my.1password.com", "x": _body(rng, HEX, 128), "y": _body(rng, HEX, 64)})


def _sentry(rng: Random) -> str:
    claims = b64encode(json.dumps({"iat": rng.randrange(10**9), "org": "acme"}).encode()).decode()
    return f"sntrys_{claims}_{_body(rng, BASE64, 43)}"


def password(rng: Random) -> str:
    """A password as people and machines make them; none of it is a word alone, a quote, a bracket or a blank."""
    word = rng.choice(("Ahorn", "lantern", "Wombat", "galleta", "test", "example", "Tulpe"))
    style = rng.randrange(6)
    if style == 0:
        return _body(rng, ALNUM, rng.randint(12, 40))
    if style == 1:
        return _body(rng, string.ascii_letters, rng.randint(16, 24))
    if style == 2:
        return rng.choice("/~$") + _body(rng, ALNUM, rng.randint(10, 16)) + rng.choice("!*_") + _body(rng, ALNUM, 4)
    if style == 3:
        return "xxxx" + _body(rng, ALNUM, 12)
    if style == 4:
        return word + rng.choice("!#$%&*+=_") + _body(rng, ALNUM, 8)
    return word + rng.choice("!#$%*_") + _body(rng, ALNUM, 5) + rng.choice("!?_*")


def _url_password(rng: Random) -> str:
    return rng.choice((_body(rng, ALNUM, 20), f"Ahorn{rng.choice('!?*$')}{_body(rng, ALNUM, 6)}{rng.choice('!?_')}"))


def _pem(rng: Random, name: str = "RSA PRIVATE KEY", lines: int = 8) -> tuple[str, tuple[str, ...]]:
    body = tuple("MII" + _body(rng, BASE64, 61) if number == 0 else _body(rng, BASE64, 64) for number in range(lines))
    return "\n".join((f"-----BEGIN {name}-----", *body, f"-----END {name}-----")), body


# -- one secret of each kind ----------------------------------------------------------------------------------------

TOKENS: dict[str, Callable[[Random], str]] = {
    "github_pat_classic": lambda rng: _checked("ghp_", rng),
    "github_pat_fine_grained": lambda rng: f"github_pat_{_body(rng, ALNUM, 22)}_{_body(rng, ALNUM, 59)}",
    "github_server_token": lambda rng: _checked("ghs_", rng),
    "gitlab_deploy_token": lambda rng: "gldt-" + _body(rng, URL, 20),
    "slack_bot_token": lambda rng: f"xoxb-{_body(rng, DIGITS, 12)}-{_body(rng, DIGITS, 13)}-{_body(rng, ALNUM, 24)}",
    "openai_project_key": lambda rng: f"sk-proj-{_body(rng, URL, 74)}T3BlbkFJ{_body(rng, URL, 74)}",
    "openai_legacy_key": lambda rng: f"sk-{_body(rng, ALNUM, 20)}T3BlbkFJ{_body(rng, ALNUM, 20)}",
    "anthropic_oauth": lambda rng: f"sk-ant-oat01-{_body(rng, URL, 93)}AA",
    "anthropic_api_key": lambda rng: f"sk-ant-api03-{_body(rng, URL, 93)}AA",
    "openrouter": lambda rng: "sk-or-v1-" + _body(rng, HEX, 64),
    "xai": lambda rng: "xai-" + _body(rng, ALNUM, 80),
    "huggingface": lambda rng: "hf_" + _body(rng, string.ascii_letters, 34),
    "google_api_key": lambda rng: "AIza" + _body(rng, URL, 35),
    "google_oauth_client_secret": lambda rng: "GOCSPX-" + _body(rng, URL, 28),
    "stripe_secret": lambda rng: "sk_live_" + _body(rng, ALNUM, rng.choice((24, 99))),
    "sendgrid": lambda rng: f"SG.{_body(rng, URL, 22)}.{_body(rng, URL, 43)}",
    "npm_token": lambda rng: _checked("npm_", rng),
    "dockerhub_pat": lambda rng: "dckr_pat_" + _body(rng, URL, 27),
    "digitalocean": lambda rng: "dop_v1_" + _body(rng, HEX, 64),
    "telegram_bot": lambda rng: f"{rng.randrange(10**9, 9 * 10**9)}:AA{_body(rng, URL, 33)}",
    "discord_bot": _discord,
    "shopify": lambda rng: "shpat_" + _body(rng, HEX, 32),
    "notion": lambda rng: f"ntn_{_body(rng, DIGITS, 11)}{_body(rng, ALNUM, 35)}",
    "linear": lambda rng: "lin_api_" + _body(rng, ALNUM, 40),
    "grafana_sa": _grafana,
    "doppler": lambda rng: "dp.pt." + _body(rng, ALNUM, 43),
    "onepassword_sa": _one_password,
    "tailscale": lambda rng: f"tskey-auth-{_body(rng, ALNUM, 17)}-{_body(rng, ALNUM, 32)}",
    "newrelic": lambda rng: "NRAK-" + _body(rng, string.ascii_uppercase + DIGITS, 27),
    "sentry_org": _sentry,
    "terraform_cloud": lambda rng: f"{_body(rng, ALNUM, 14)}.atlasv1.{_body(rng, URL, 67)}",
    "jwt": _jwt,
}
"""Tokens that say what they are, wherever they stand."""


def _passphrase(rng: Random) -> str:
    """Words with blanks between, and a number; only quotes tell where it ends."""
    words = ("".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 7))) for _ in range(4))
    return f"{' '.join(words)} {rng.randrange(100, 10_000)}"


def _basic(rng: Random) -> str:
    """A name and a password in Base64: of a sensible length, of the shortest, or a whole key for a password."""
    said = ("mira:" + password(rng), "m:" + _body(rng, ALNUM, rng.randint(5, 8)), "_key:" + _body(rng, ALNUM, 600))
    return b64encode(rng.choice(said).encode()).decode()


# kind: a template with {} for the value, how the value is made. The template stands between blanks.
_PHRASES: dict[str, tuple[str, Callable[[Random], str]]] = {
    "connstr_mongodb": (
        "mongodb+srv://root:{}@cluster0.ab1cd.mongodb.net/?retryWrites=true",
        _url_password,
    ),
    "connstr_redis": ("redis://:{}@cache-1.internal:6379/0", _url_password),
    "connstr_at_in_password": (
        "amqp://svc:{}@rabbit:5672/vhost",
        lambda rng: f"{_body(rng, ALNUM, rng.randint(1, 4))}@{_body(rng, ALNUM, 10)}",
    ),
    "url_userinfo": ("ftp://backup:{}@10.0.3.7/dump.tgz", _url_password),
    "url_query_token": (
        "https://grafana.acme.io/d/x?orgId=1&access_token={}&from=now-1h",
        lambda rng: _body(rng, ALNUM, 32),
    ),
    "url_fragment_token": ("https://app.acme.io/cb#id_token={}&state=9", lambda rng: _body(rng, URL, 43)),
    "azure_sas": (
        "https://acmestore.blob.core.windows.net/c/report.pdf?sv=2025-01-05&sr=b&sp=r&sig={}",
        lambda rng: quote(_body(rng, BASE64, 43) + "=", safe=""),
    ),
    "aws_presigned_url": (
        "https://acme.s3.eu-central-1.amazonaws.com/db.dump?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature={}",
        lambda rng: _body(rng, HEX, 64),
    ),
    "discord_webhook": ("https://discord.com/api/webhooks/7716796218099138936/{}", lambda rng: _body(rng, URL, 68)),
    "teams_webhook": (
        "https://acme.webhook.office.com/webhookb2/23dac11d-d97c-475c-a7c9-734f84d53b5c/IncomingWebhook/{}",
        lambda rng: f"{_body(rng, HEX, 32)}/{'-'.join(_body(rng, HEX, size) for size in (8, 4, 4, 4, 12))}",
    ),
    "otpauth_uri": ("otpauth://totp/Acme:mira?secret={}&issuer=Acme", lambda rng: _body(rng, BASE32, 32)),
    "twilio_pair": ("SID AC" + "0123456789abcdef" * 2 + " and auth token {}", lambda rng: _body(rng, HEX, 32)),
    "cli_curl_u": ("curl -u mira:{} https://jenkins.acme.io/job/x/build", lambda rng: password(rng).lstrip("$~")),
    "cli_flag": ("mysql -h db -u root -p'{}' shop", password),
    "cli_sshpass": ("sshpass -p {} ssh pi@192.168.1.9", lambda rng: _body(rng, ALNUM, 20)),
    "netrc": ("machine api.acme.io login mira password {}", lambda rng: f"Ahorn*{_body(rng, ALNUM, 8)}"),
}

# The same, but each stands on lines of its own.
_LINES: dict[str, tuple[str, Callable[[Random], str]]] = {
    "eth_private_key": ("PRIVATE_KEY=0x{} npx hardhat run deploy.js", lambda rng: _body(rng, HEX, 64)),
    "auth_basic": (
        "> Authorization: Basic {}\n< HTTP/1.1 403",
        _basic,
    ),
    "cookie_header": ("Cookie: theme=dark; sessionid={}; lang=en", lambda rng: _body(rng, ALNUM, 40)),
    "set_cookie": (
        "Set-Cookie: connect.sid={}; Path=/; HttpOnly",
        lambda rng: f"s%3A{_body(rng, URL, 32)}.{_body(rng, ALNUM, 43)}",
    ),
    "connstr_jdbc": (
        "jdbc:mysql://db:3306/shop?user=root&password={}",
        lambda rng: f"Ahorn&{_body(rng, ALNUM, rng.randint(5, 9))}{rng.choice('?!_')}",
    ),
    "env_export_quoted": (
        "export DB_PASS='{}'",
        lambda rng: rng.choice((password(rng), _passphrase(rng), _body(rng, DIGITS, 10))),
    ),
    "env_lower": ("  api_key={}\n  debug=1", lambda rng: _body(rng, ALNUM, 28)),
    "env_dollar_value": (
        "API_SECRET={}",
        lambda rng: f"$argon2id$v=19$m=65536,t=3,p=4${_body(rng, BASE64, 22)}${_body(rng, BASE64, 43)}",
    ),
    "json_field": ('{{"user":"mira","password":"{}","remember":true}}', password),
    "json_escaped": ('payload="{{\\"apiKey\\": \\"{}\\", \\"n\\": 1}}"', lambda rng: _body(rng, ALNUM, 36)),
    "toml_field": ('[auth]\nclient_secret = "{}"', lambda rng: rng.choice((password(rng), _passphrase(rng)))),
    "cloudflare_token": ("CLOUDFLARE_API_TOKEN={} wrangler deploy", lambda rng: _body(rng, URL, 40)),
    "datadog_key": ("DD_API_KEY={} DD_SITE=datadoghq.eu agent run", lambda rng: _body(rng, HEX, 32)),
}


def _aws_pair(rng: Random) -> Secret:
    key_id, key = "AKIA" + _body(rng, BASE32, 16), _body(rng, BASE64, 40)
    return Secret(
        "aws_pair", f"access key {key_id}\nsecret {key}\nregion eu-central-1", (key_id, key), "on lines of its own"
    )


def _aws_session(rng: Random) -> Secret:
    values = ("ASIA" + _body(rng, BASE32, 16), _body(rng, BASE64, 40), f"FwoGZXIvYXdz{_body(rng, BASE64, 260)}==")
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
    written = " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    return Secret("aws_session", f"export {written}", values, "on lines of its own")


def _private_key(kind: str, name: str) -> Callable[[Random], Secret]:
    def make(rng: Random) -> Secret:
        written, body = _pem(rng, name, rng.randint(4, 12))
        if kind == "pem_escaped_newlines":
            written = f'APNS_KEY="{written}"'.replace("\n", "\\n")
        elif kind == "gcp_service_account_json":
            written = json.dumps(
                {"type": "service_account", "private_key": f"{written}\n", "client_email": "bot@acme.iam"}, indent=1
            )
        return Secret(kind, written, body, "on lines of its own")

    return make


def _made_by(kind: str, template: str, value: Callable[[Random], str], stands: Stands) -> Callable[[Random], Secret]:
    def make(rng: Random) -> Secret:
        made = value(rng)
        return Secret(kind, template.format(made), (made,), stands)

    return make


def _header(rng: Random) -> Secret:
    """A header as programs write it, or in small letters with a token that is rather short."""
    made, short = _body(rng, ALNUM, 40), _body(rng, ALNUM, rng.randint(11, 15))
    if rng.randrange(2):
        return Secret("auth_lower", f"authorization: bearer {short}", (short,), "on lines of its own")
    return Secret("auth_lower", f"{{'authorization': 'Token {made}', 'accept': '*/*'}}", (made,), "on lines of its own")


def _field(rng: Random) -> Secret:
    """A line of a file of settings, under names with and without a blank in them."""
    made, name = password(rng), rng.choice(("password", "password", "private key", "access key", "api key"))
    return Secret(
        "yaml_field", f"mail:\n  host: smtp.acme.io\n  {name}: {made}\n  port: 587", (made,), "on lines of its own"
    )


def _ini(rng: Random) -> Secret:
    """A line of a file of settings, in the style of Java or with blanks around the sign."""
    made = password(rng)
    written = f"spring.datasource.password={made}"
    if rng.randrange(2) and any(map(str.isdigit, made)):  # letters alone could be a name in a program
        written = f"[mail]\npassword = {made}\nport = 587"
    return Secret("ini_dotted", written, (made,), "on lines of its own")


MUST: dict[str, Callable[[Random], Secret]] = {
    **{kind: _made_by(kind, "{}", token, "anywhere") for kind, token in TOKENS.items()},
    **{kind: _made_by(kind, *how, "between blanks") for kind, how in _PHRASES.items()},
    **{kind: _made_by(kind, *how, "on lines of its own") for kind, how in _LINES.items()},
    "ini_dotted": _ini,
    "yaml_field": _field,
    "auth_lower": _header,
    "aws_pair": _aws_pair,
    "aws_session": _aws_session,
    "pem_rsa_multiline": _private_key("pem_rsa_multiline", "RSA PRIVATE KEY"),
    "pem_escaped_newlines": _private_key("pem_escaped_newlines", "EC PRIVATE KEY"),
    "gcp_service_account_json": _private_key("gcp_service_account_json", "PRIVATE KEY"),
    "pgp_private": _private_key("pgp_private", "PGP PRIVATE KEY BLOCK"),
}
"""For each kind that may not cross a maker of fresh secrets. Those that the corpus names for a place are `tokens`."""


def secrets(kinds: Iterable[str] = tuple(MUST)) -> SearchStrategy[Secret]:
    """A fresh secret of one of the kinds, by default of any that may not cross."""
    return st.builds(lambda kind, seed: MUST[kind](Random(seed)), st.sampled_from(tuple(kinds)), _seeds())


def tokens() -> SearchStrategy[Secret]:
    """A fresh token that says what it is wherever it stands, alone on its line or not."""
    return secrets(TOKENS)


def _seeds() -> SearchStrategy[int]:
    return st.integers(0, 2**32 - 1)
