"""
Made-up secrets in the forms their issuers publish, put together at run time so that no file holds one.
"""

from __future__ import annotations

import base64
import json
import random
import string

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = string.ascii_letters + DIGITS
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


class Mint:
    """Makes secrets from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, size: int, alphabet: str = ALNUM) -> str:
        """Characters of *alphabet*; with at least one digit, upper and lower case where it has them."""
        needed = [kind for kind in (DIGITS, UPPER, LOWER) if set(kind) <= set(alphabet)]
        made = [self._random.choice(kind) for kind in needed][:size]
        made += [self._random.choice(alphabet) for _ in range(size - len(made))]
        self._random.shuffle(made)
        return "".join(made)

    def encoded(self, value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    def tokens(self) -> dict[str, list[str]]:
        """Secrets that are known by their own form, by kind."""
        some = self.some
        jwt = ".".join((self.encoded({"alg": "HS256", "typ": "JWT"}), self.encoded({"sub": some(12)}), some(43, URLSAFE)))
        return {
            "aws-access-key-id": ["AK" + "IA" + some(16, UPPER + "234567"), "AS" + "IA" + some(16, UPPER + "234567")],
            "github-token": [
                *("gh" + letter + "_" + some(36) for letter in "pousr"),
                "github" + "_pat_" + some(22) + "_" + some(59),
            ],
            "gitlab-token": [
                "gl" + "pat-" + some(20, URLSAFE),
                "gl" + "pat-" + some(27, URLSAFE) + ".01." + some(7, LOWER + DIGITS),
            ],
            "slack-token": [
                "xo" + "xb-" + some(12, DIGITS) + "-" + some(12, DIGITS) + "-" + some(24),
                "xo" + "xp-" + "-".join(some(12, DIGITS) for _ in range(3)) + "-" + some(32, HEX),
                "xa" + "pp-1-A" + some(10, UPPER + DIGITS) + "-" + some(13, DIGITS) + "-" + some(64, HEX),
            ],
            "stripe-key": [
                *(word + "_live_" + some(24) for word in ("sk", "rk")),
                "sk" + "_test_" + some(99),
                "wh" + "sec_" + some(32),
            ],
            "google-api-key": ["AI" + "za" + some(35, URLSAFE)],
            "google-oauth": ["GOC" + "SPX-" + some(28, URLSAFE), "ya" + "29." + some(120, URLSAFE)],
            "npm-token": ["np" + "m_" + some(36)],
            "pypi-token": ["py" + "pi-AgEIcHlwaS5vcmc" + some(140, URLSAFE)],
            "anthropic-key": ["sk-" + "ant-api03-" + some(93, URLSAFE) + "AA"],
            "openai-key": [
                "sk-" + some(20) + "T3Bl" + "bkFJ" + some(20),
                "sk-" + "proj-" + some(74, URLSAFE) + "T3Bl" + "bkFJ" + some(74, URLSAFE),
            ],
            "openrouter-key": ["sk-" + "or-v1-" + some(64, HEX)],
            "huggingface-token": ["hf" + "_" + some(34, string.ascii_letters)],
            "sendgrid-key": ["SG" + "." + some(22, URLSAFE) + "." + some(43, URLSAFE)],
            "twilio-key": ["S" + "K" + some(32, HEX)],
            "digitalocean-token": ["do" + "p_v1_" + some(64, HEX)],
            "databricks-token": ["da" + "pi" + some(32, HEX)],
            "vault-token": ["hv" + "s." + some(90, URLSAFE)],
            "docker-token": ["dck" + "r_pat_" + some(27, URLSAFE)],
            "prefect-key": ["pn" + "u_" + some(36)],
            "shopify-token": ["shp" + "at_" + some(32, HEX)],
            "groq-key": ["gs" + "k_" + some(52)],
            "jwt": [jwt],
            "private-key": [self.pem("RSA "), self.pem("OPENSSH "), self.pem(""), self.pem("EC ", ended=False)],
        }

    def pem(self, name: str, *, ended: bool = True) -> str:
        lines = [self.some(64, BASE64) for _ in range(6)] + [self.some(30, BASE64) + "=="]
        begin, end = (f"-----{word} {name}PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
        return "\n".join([begin, *lines, end] if ended else [begin, *lines[:-1]])

    def aws_secret(self) -> str:
        return self.some(40, BASE64)

    def in_context(self) -> list[tuple[str, str, str]]:
        """Triples of kind, text and the secret in it, for secrets that are known by what stands around them."""
        some, key = self.some, self.aws_secret()
        word, pair = self.password(), base64.b64encode(f"ada:{self.password()}".encode()).decode()
        telegram, hook, azure, sas = some(35 - 2, URLSAFE), some(24), some(86, BASE64) + "==", some(44, ALNUM) + "%3D"
        bearer, hex40 = some(32, URLSAFE), some(40, HEX)
        return [
            ("aws-secret-key", f"aws_secret_access_key = {key}", key),
            ("aws-secret-key", f"AWS secret key: {key}", key),
            ("aws-secret-key", f'{{"SecretAccessKey": "{key}"}}', key),
            ("slack-webhook", "https://hooks.slack" + f".com/services/T{some(8)}/B{some(8)}/{hook}", hook),
            ("telegram-bot-token", f"bot {some(10, '123456789')}:AA{telegram} answers", f"AA{telegram}"),
            ("azure-storage-key", f"DefaultEndpointsProtocol=https;AccountKey={azure};EndpointSuffix=core", azure),
            ("azure-sas", f"https://a.blob.core.windows.net/c?sv=2024-11-04&sig={sas}", sas),
            ("url-password", f"postgresql+psycopg://app:{word}@db.internal:5432/orders", word),
            ("url-password", f"redis://:{word}@cache:6379/0", word),
            ("url-password", f"https://ada:{word}@example.org/private", word),
            ("url-password", f"mongodb+srv://u:a/b@{word}#c@cluster0.example.net/x", f"a/b@{word}#c"),
            ("authorization", f"Authorization: Bearer {bearer}", bearer),
            ("authorization", f"Authorization: Basic {pair}", pair),
            ("authorization", f"curl -H 'authorization: token {hex40}' https://api.example.org", hex40),
            ("authorization", f"send it as Bearer {bearer} please", bearer),
            ("authorization", f'headers = {{"Authorization": "Bearer {bearer}"}}', bearer),
            ("credential", f"api_key = '{some(32)}'", ""),
            ("credential", f"X-Api-Key: {hex40}", hex40),
            ("credential", f"CLIENT_SECRET={some(40)}", ""),
            ("credential", f"the token is {some(24)}", ""),
        ]

    def password(self) -> str:
        """A password of the kind people make: a word, digits, a mark."""
        word = self._random.choice(["hunter", "Winter", "tr0ub4dor", "Kaivo", "orbit"])
        return word + self._random.choice("!%&*") + self.some(3, DIGITS)
