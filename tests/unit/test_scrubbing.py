"""Secrets go, and everything around them stays."""

from __future__ import annotations

import logging
import re
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oort_flows.errors import ConfigurationError, InvalidInputError
from oort_flows.scrubbing import Rule, Scrubber, builtin_rules, marker, scrub
from oort_flows.scrubbing.checks import lower
from tests.unit.secrets_made_up import ALNUM, BASE64, HEX, Mint

MINT = Mint(seed=2)
TOKENS = [(kind, token) for seed in (1, 2, 3) for kind, tokens in Mint(seed).tokens().items() for token in tokens]
CONTEXTS = [case for seed in (1, 2, 3) for case in Mint(seed).in_context()]
WORD = "hunter" + "2"
PLAIN = "let" + "mein"

BEGIN, END = (f"-----{word} RSA PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
KEY_LINE = MINT.some(60, BASE64) + "aB1/"
# Whole, cut, short, on one line, commented, encrypted, and line by line in code.
KEY_BLOCKS = [
    f"{BEGIN}\n{KEY_LINE}\n{END}",
    f"{BEGIN}\r\n{KEY_LINE}\r\n{END}",
    f"{BEGIN} {KEY_LINE} {END}",
    f"{BEGIN}{KEY_LINE}{END}",
    f"{BEGIN}\\n{KEY_LINE}\\n{END}",
    f"{BEGIN}\nabc\n{END}",
    f"{BEGIN} abc {END}",
    f"{BEGIN}\nMIIE_x\n{END}",
    f"{BEGIN}\nMIIE...\n{END}",
    f"{BEGIN}\n{KEY_LINE[:20]}[...]\n{END}",
    f"{BEGIN}\n{KEY_LINE}...(cut)\n{END}",
    f"{BEGIN}\n" + f"{KEY_LINE}\n" * 100 + END,
    f"{BEGIN}' + LINE_END + '{KEY_LINE}' + LINE_END + '{END}",
    f"{BEGIN}\n# made up\n{KEY_LINE}\n{END}",
    f"{BEGIN}\n-----snip-----\n{KEY_LINE}\n{END}",
    f"{BEGIN}\n{KEY_LINE}\n{END[:12]}",
    f"{BEGIN}\n{KEY_LINE}\n-----END",
    f"{BEGIN}\n{KEY_LINE}",
    f"{BEGIN}\n{KEY_LINE}\n{KEY_LINE}\nab1/==",
    f"{BEGIN}\nMIIEab1",
    f"{BEGIN} MIIEab1",
    f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{KEY_LINE}",
    f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00FF\n\n{KEY_LINE}\n{END}",
    f"{BEGIN}\nVersion: GnuPG v2 (GNU/Linux)\n\n{KEY_LINE}\n=aBcD\n{END}".replace("RSA", "PGP").replace(
        "KEY--", "KEY BLOCK--"
    ),
    f"{BEGIN}' + '\\n' + '{KEY_LINE}' + '\\n{END}",
    f'{BEGIN}", "{KEY_LINE}", "{END}',
    f'{BEGIN}", "abc", "{END}',
]
KEY_MENTIONS = [
    BEGIN,
    f"{BEGIN}\n",
    f"{BEGIN}\n{END}",
    f"{BEGIN}\n...\n{END}",
    f"{BEGIN}\n<your key>\n{END}",
    f"{BEGIN}, {END}",
    f"A file with {BEGIN} in it holds a key.",
    f"It begins with `{BEGIN}`.\nRSA2048 is common, see page 3.",
    f"`{BEGIN}` begins it and `{END}` ends it (see there)",
    f"a key stands between {BEGIN} and {END}",
    f"{BEGIN}\nThe header above starts a key.",
    f"{BEGIN}\nREADME.md says more",
    f"{BEGIN} was found in commit 9f1c2ab",
    f"grep -rl '{BEGIN}' . | wc -l",
    f"HEADER = '{BEGIN}'\nsize=3",
    f"HEADER = '{BEGIN}'\nimplementationDetails = 1",
    f"HEADER = '{BEGIN}'\nFOOTER = '{END}'",
    f'key = f"{BEGIN}\\n{{body}}\\n{END}"',
    f"{BEGIN}\n" + "Words about keys, line after line. " * 200 + f"\n{END}",
]

FRAMES = [
    "{}",
    "we rotated {} yesterday.",
    '{{"note": "{}"}}',
    "- value: {}\n- next: 1",
    "`{}` and more",
    "```\n{}\n```\n",
    "KEY={}\nOTHER=1",
    "run --with {} now",
    "日本語{}です",
    "(see {} there), then",
    "https://example.org/?x={}&y=1",
]


class TestKnownForms:
    @pytest.mark.parametrize(("kind", "token"), TOKENS, ids=[kind for kind, _ in TOKENS])
    @pytest.mark.parametrize("frame", FRAMES)
    def test_token_goes_and_its_frame_stays(self, kind: str, token: str, frame: str) -> None:
        """A token of a published form is replaced whole, and every character around it stays."""
        scrubbed = Scrubber().scrub(frame.format(token))
        assert scrubbed.text == frame.format(marker(kind))
        assert scrubbed.found == {kind: 1}

    @pytest.mark.parametrize(("kind", "text", "secret"), CONTEXTS, ids=[kind for kind, _, _ in CONTEXTS])
    def test_secret_known_by_its_context(self, kind: str, text: str, secret: str) -> None:
        """A secret known by what stands around it goes; the words before and behind it stay."""
        scrubbed = Scrubber().scrub(text)
        assert dict(scrubbed.found) == {kind: 1}
        if secret:
            assert scrubbed.text == text.replace(secret, marker(kind))

    def test_at_least_25_kinds(self) -> None:
        """The rules of the package know more than 25 kinds."""
        assert len({rule.kind for rule in builtin_rules()}) >= 25

    def test_secret_next_to_its_key_id(self) -> None:
        """An AWS secret that follows its key id in a table row goes with it."""
        key_id, key = MINT.tokens()["aws-access-key-id"][0], MINT.aws_secret()
        assert scrub(f"{key_id},{key}") == "[secret: aws-access-key-id],[secret: aws-secret-key]"

    def test_private_key_in_json_and_diff(self) -> None:
        """A key block goes where its lines are joined by escapes, and where each has a mark in front."""
        pem = MINT.pem("RSA ")
        assert scrub('{"key": "' + pem.replace("\n", "\\n") + '\\n"}') == '{"key": "[secret: private-key]\\n"}'
        assert scrub("+" + pem.replace("\n", "\n+") + "\n+after") == "+[secret: private-key]\n+after"
        assert scrub("-" + pem.replace("\n", "\n-") + "\n-after") == "-[secret: private-key]\n-after"

    @pytest.mark.parametrize("block", KEY_BLOCKS)
    def test_block_of_a_key_goes_whole(self, block: str) -> None:
        """From its first line to its last one a key is one secret, however short or cut it is."""
        for frame in ("{}", "see\n{}\nbelow", "> {}", "key: {}"):
            scrubbed = Scrubber().scrub(frame.format(block))
            assert scrubbed.text == frame.format("[secret: private-key]")
            assert dict(scrubbed.found) == {"private-key": 1}

    def test_words_behind_a_key_without_an_end_stay(self) -> None:
        """Where the last line is missing, the key ends where words begin."""
        for tail in ("\nplease keep it", " and more", "\n\n## 2026-11-30", "\nREADME.md", "\n- 9f1c2ab Fix it"):
            assert scrub(f"{BEGIN}\n{KEY_LINE}{tail}") == f"[secret: private-key]{tail}"

    @pytest.mark.parametrize("text", KEY_MENTIONS)
    def test_mention_of_a_key_stays(self, text: str) -> None:
        """The first and last line of a key are no secret where there is no key between them."""
        assert scrub(text) == text

    def test_several_in_one_text(self) -> None:
        """Each kind is counted, and equal kinds add up."""
        tokens = MINT.tokens()
        text = " and ".join([*tokens["github-token"], *tokens["npm-token"]])
        assert Scrubber().scrub(text).found == {"github-token": len(tokens["github-token"]), "npm-token": 1}

    def test_more_specific_kind_gives_the_name(self) -> None:
        """A GitHub token assigned to a password is called a GitHub token, and counted once."""
        token = MINT.tokens()["github-token"][0]
        assert Scrubber().scrub(f"password: {token}").text == "password: [secret: github-token]"

    def test_no_end_of_an_overlapping_secret_is_left(self) -> None:
        """Where two rules see different ends, the union of both goes."""
        text = f"password={MINT.tokens()['npm-token'][0]}-and-{WORD}"
        assert scrub(text) == "password=[secret: npm-token]"

    def test_long_secrets_go_to_their_end(self) -> None:
        """A value is replaced whole however long it is, bare or quoted."""
        long = MINT.some(5_000)
        assert scrub(f"token={long} end") == "token=[secret: credential] end"
        assert scrub(f'password="{long}" end') == 'password="[secret: password]" end'
        assert scrub(f"the password is {long}, end") == "the password is [secret: password], end"


ASSIGNED = [
    ('{{"password": "{}", "user": "ada"}}', PLAIN),
    ('{{"password":"{}"}}', PLAIN),
    ('{{"body": "{{\\"password\\": \\"{}\\"}}"}}', PLAIN),
    ("password: {}\nuser: ada", WORD),
    ("password: '{}'", "correct horse battery staple"),
    ("db:\n  passwd: {} # rotate", WORD),
    ("password: |\n  {}\nnext: 1", WORD),
    ("DB_PASSWORD={}\nDEBUG=1", PLAIN),
    ('export PGPASSWORD="{}"', "two words"),
    ("- name: DB_PASSWORD\n  value: {}", WORD),
    ("password = {}", "Zeit&Raum"),
    ('password: str = "{}"', PLAIN),
    ('os.environ["DB_PASSWORD"] = "{}"', PLAIN),
    ("deploy --password={} --force", PLAIN),
    ("deploy --db-password {} --force", PLAIN),
    ("sshpass -p {} ssh ada@host", PLAIN),
    ("curl -u ada:{} https://example.org", PLAIN),
    ("mysql -uroot -p{} shop", PLAIN),
    ("machine example.org login ada password {}", PLAIN),
    ("<password>{}</password>", PLAIN),
    ("Server=db;User=ada;Password={};Database=shop", PLAIN),
    ("https://example.org/login?user=ada&password={}&next=1", PLAIN),
    ("the password is {}.", WORD),
    ("my password for the staging box is {}, do not lose it", WORD),
    ("Password (staging): {}", WORD),
    ("I set the password to {}!", "S3cure-pw"),
    ("use password {} there", WORD),
    ("our passphrase is “{}”", "Zeit-1848"),
    ("das Passwort lautet nicht mehr alt; Passwort: {}", WORD),
    ("salasana: {}", WORD),
    ("пароль: {}", WORD),
    ("密码：{}。", WORD),
    ("パスワードは {} です", WORD),
    ("pin: 1\npassword: {}", "12345678"),
    ("SECRET_KEY='{}'", "django-insecure-" + "x7" * 10),
    ("API_TOKEN={}", "supersecretvalue"),
]


class TestAssignments:
    @pytest.mark.parametrize(("frame", "word"), ASSIGNED)
    def test_assigned_value_goes(self, frame: str, word: str) -> None:
        """A password or key that is assigned goes; name, quotes and neighbours stay."""
        scrubbed = scrub(frame.format(word))
        assert word not in scrubbed
        kind = "credential" if "SECRET_KEY" in frame or "API_TOKEN" in frame else "password"
        assert scrubbed.rstrip("!.,") == frame.format(marker(kind)).rstrip("!.,")

    def test_change_from_one_to_another(self) -> None:
        """Both passwords of a change go."""
        assert (
            scrub(f"changed the password from {WORD}x to {WORD}y today")
            == "changed the password from [secret: password] to [secret: password] today"
        )


DIGEST_40, DIGEST_64 = MINT.some(40, HEX), MINT.some(64, HEX)
INNOCENT = [
    f"fixed in commit {DIGEST_40}",
    f"fixed the leaked token {DIGEST_40}",
    f"the secret 123e4567-e89b-12d3-a456-426614174000 was a UUID all along: {DIGEST_64}",
    "id 550e8400-e29b-41d4-a716-446655440000",
    f"sha256:{DIGEST_64}",
    f"token: sha256:{DIGEST_64}",
    "integrity sha512-" + MINT.some(86, BASE64) + "==",
    "![](data:image/png;base64," + "Ab1/" * 400 + ")",
    '{"token": "data:image/png;base64,' + "Ab1/" * 400 + '"}',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + MINT.some(40) + " ada@host",
    "-----BEGIN CERTIFICATE-----\n" + MINT.some(64, BASE64) + "\n-----END CERTIFICATE-----",
    f"BEGIN = '-----BEGIN RSA PRIVATE {'KEY'}-----'\nthen_more = 1\nEND = '-----END RSA PRIVATE {'KEY'}-----'",
    "def sign(private_key: PKCS7PrivateKeyTypes, token: crypto.Ed25519Token) -> bytes: ...",
    "git://[path-to-repo[:]][ref@]path/to/file",
    "give it by the --username and --password options",
    "version 1.2.3, port: 8080, 2026-11-30T12:00:00Z",
    "password: required",
    "Password: (optional)",
    "The password must be at least 8 characters and hold 1 digit.",
    '{"password": "This field is required."}',
    '{"password": "Wrong password"}',
    "password is SHA256-hashed; the token is RS256-signed",
    "the password for the account is stored in 1Password",
    "password = os.environ['DB_PASSWORD']",
    "password=None, token=null",
    "def login(user: str, password: str, token: SecretStr | None = None) -> bool:",
    "login(password=password, token=settings.api_token)",
    "token = get_token(1)",
    "max_token=4096, token: 128000, tokens: 99",
    "PASSWORD_FILE=/run/secrets/db_password",
    "password: /run/secrets/db",
    "secretName: my-app-secret-2",
    "secret: my-app-secret-2",
    "token_url: https://auth.example.org/oauth2/token",
    "token: https://auth.example.org/oauth2/token2",
    "the secret to good code is simplicity",
    "basic training, bearer of bad news, the token bucket algorithm",
    "$PWD=/home/ada",
    "docker run -u 1000:1000 -p 8080:80 image",
    "primary_key: user_id2, cache_key=a1b2c3d4e5f6",
    "password: ${DB_PASSWORD}",
    "password: {{ vault.password }}",
    "token: <your-token>",
    "API_KEY=YOUR_API_KEY",
    "deploy --password $DB_PASSWORD --token-file /tmp/t1",
    "Authorization: Bearer $TOKEN",
    "postgres://ada:${DB_PASSWORD}@db/shop",
    "http://localhost:8080/x@y https://localhost:4200/@vite/a1",
    "https://{host}:{port}/users/@me",
    "git@github.com:team/app.git",
    "task-risk-123, sk-learn, hf_hub_download, npm_config_registry, pypi-publish",
    "password changed: 2026-11-30",
    "password reset email v2",
    "a normal sentence with numbers like 42 and names like utf8mb4",
    "",
    "\x00\x07",
    "🛰️ \ud800",
]


class TestInnocents:
    @pytest.mark.parametrize("text", INNOCENT)
    def test_text_without_secret_is_unchanged(self, text: str) -> None:
        """Hashes, UUIDs, digests, image data, versions, ports, references and prose stay as they are."""
        scrubbed = Scrubber().scrub(text)
        assert scrubbed.text == text
        assert scrubbed.found == {}

    def test_secret_behind_image_data_goes(self) -> None:
        """Image data is no hiding place for what stands behind it."""
        image = "data:image/png;base64," + "Ab1/" * 100
        assert scrub(f"![]({image}) password: {WORD}") == f"![]({image}) password: [secret: password]"


FRAGMENTS = st.sampled_from(
    [token for _, token in TOKENS if len(token) < 200]
    + [text for _, text, _ in CONTEXTS]
    + [frame.format(word) for frame, word in ASSIGNED]
    + [literal for rule in builtin_rules() for literal in rule.near]
    + [
        "[secret: ",
        "[secret: jwt]",
        "password=",
        "token: ",
        '"',
        "'",
        "\\",
        "\n",
        " ",
        "://",
        "@",
        ":",
        "=",
        "data:a/b;base64,",
        "İ",
        "K",
        "ſ",
    ]
)


class TestAnyText:
    @settings(max_examples=300, deadline=None)
    @given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join))
    def test_scrubbing_twice_changes_nothing(self, text: str) -> None:
        """What has been scrubbed is left as it is, whatever stands beside whatever."""
        once = scrub(text)
        assert scrub(once) == once

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from([token for _, token in TOKENS if "\n" not in token]), min_size=1, max_size=5))
    def test_no_token_survives_among_others(self, tokens: list[str]) -> None:
        """Several tokens in one text all go."""
        scrubbed = scrub(" ".join(tokens))
        assert not any(token in scrubbed for token in tokens)

    @given(st.text())
    def test_any_text_is_taken(self, text: str) -> None:
        """Any Unicode goes in, half surrogate pairs too, and what is found is counted."""
        scrubbed = Scrubber().scrub(text)
        assert (scrubbed.text == text) == (not scrubbed.found)

    @given(st.text(alphabet="bcdfhjlmnqruvwz .,\n", max_size=400))
    def test_text_without_any_literal_is_the_same(self, text: str) -> None:
        """A text without a literal of any rule is returned as it is."""
        assert scrub(text) == text

    def test_lower_case_keeps_places(self) -> None:
        """No character changes the length of a text in lower case."""
        assert all(len(lower(chr(code))) == 1 for code in range(sys.maxunicode + 1))

    @pytest.mark.parametrize("value", [None, b"bytes", 1, ["a"]])
    def test_no_string_is_refused(self, value: object) -> None:
        """Anything but a string is refused without being repeated."""
        with pytest.raises(InvalidInputError, match="text: must be a string"):
            scrub(value)  # type: ignore[arg-type]

    def test_nothing_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        """Scrubbing writes to no log."""
        with caplog.at_level(logging.DEBUG):
            for _, token in TOKENS[:10]:
                scrub(token)
        assert caplog.records == []


ADVERSARIAL = [
    "password=",
    'password="',
    "password='",
    'password=\\"',
    "password is ",
    "password for a ",
    "password from a to ",
    "password=data:a/b;base64,",
    "x" * 41 + ",password=data:a/b;base64,",
    "token ",
    "secret secret ",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa.aaaaaaaa",
    "://a:",
    "postgres://:a",
    "postgres://a:b@",
    "-----BEGIN PRIVATE" + " KEY-----\n",
    "-----BEGIN PRIVATE" + " KEY-----AAAAAAAAAAAAAAAA\n",
    "-----BEGIN PRIVATE" + " KEY-----\nAb: c\n",
    "-----BEGIN PRIVATE" + " KEY-----\nab1 ",
    "-----END -----BEGIN PRIVATE" + " KEY-----",
    "private-lines: 1\naaaa",
    "aws ",
    "AKIA",
    "ghp_",
    "xoxb-",
    "sk-",
    "sk",
    "SG.",
    "bearer ",
    "basic ",
    "authorization: bearer ",
    "curl -u a:",
    "mysql -pa",
    "login a password ",
    "密码是",
    "[secret: ",
    "data:image/png;base64,",
    "a",
    "\\",
    '"',
    "\n",
    "İ",
    ":AA",
    "password (a",
    "password=,",
    "password=a&",
    "password=<",
    " for" * 3,
]


def seconds_for(text: str) -> float:
    start = time.process_time()
    scrub(text)
    return time.process_time() - start


class TestTime:
    @pytest.mark.parametrize("piece", ADVERSARIAL)
    def test_hostile_text_takes_linear_time(self, piece: str) -> None:
        """100 KB of the same beginning over and over take no longer than their length explains."""
        assert seconds_for(piece * (100_000 // len(piece))) < 5

    @pytest.mark.parametrize("piece", ["password", "eyJ", "://a:", "a b "])
    def test_two_megabytes(self, piece: str) -> None:
        """2 MB are scrubbed in seconds."""
        assert seconds_for(piece * (2_000_000 // len(piece))) < 20

    @pytest.mark.slow
    @pytest.mark.parametrize("piece", ADVERSARIAL)
    def test_two_hostile_megabytes(self, piece: str) -> None:
        """2 MB of any hostile beginning take less than a minute, which no quadratic pattern would."""
        assert seconds_for(piece * (2_000_000 // len(piece))) < 60


class TestOwnRules:
    def test_rule_of_the_user(self) -> None:
        """A rule of the user's own is used beside those of the package, and its last group is what goes."""
        rule = Rule("acme-key", ("acme:",), r"acme:([0-9a-f]{8})")
        scrubber = Scrubber([*builtin_rules(), rule])
        assert scrubber.scrub("ACME:1 acme:00c0ffee!").text == "ACME:1 acme:[secret: acme-key]!"
        assert scrubber.rules[-1] is rule
        assert scrub("acme:00c0ffee") == "acme:00c0ffee"

    def test_check_of_the_user(self) -> None:
        """A check sees the match and may let it through."""
        rule = Rule("even", ("n",), r"n(\d+)", check=lambda found: found.span(1) if int(found[1]) % 2 == 0 else None)
        assert Scrubber([rule]).scrub("n1 n2 n3 n44").text == "n1 n[secret: even] n3 n[secret: even]"

    def test_no_rules_find_nothing(self) -> None:
        """A scrubber without rules changes nothing."""
        assert Scrubber([]).scrub(f"password: {WORD}").text == f"password: {WORD}"

    @pytest.mark.parametrize(
        ("make", "field"),
        [
            (lambda: Rule("Acme Key", ("a",), "a"), "kind"),
            (lambda: Rule("", ("a",), "a"), "kind"),
            (lambda: Rule("a" * 65, ("a",), "a"), "kind"),
            (lambda: Rule("a", (), "a"), "near"),
            (lambda: Rule("a", "abc", "a"), "near"),  # type: ignore[arg-type]
            (lambda: Rule("a", ("",), "a"), "near"),
            (lambda: Rule("a", ("A",), "a"), "near"),
            (lambda: Rule("a", ("a",), 1), "pattern"),  # type: ignore[arg-type]
            (lambda: Rule("a", ("a",), "a", check="x"), "check"),  # type: ignore[arg-type]
            (lambda: Scrubber([Rule("a", ("a",), "(")]), "pattern"),
            (lambda: Scrubber([Rule("a", ("a",), "a*")]), "pattern"),
            (lambda: Scrubber("abc"), "rules"),  # type: ignore[arg-type]
            (lambda: Scrubber([1]), "rules"),  # type: ignore[list-item]
        ],
    )
    def test_unusable_rule_is_refused(self, make: object, field: str) -> None:
        """An unusable rule is a configuration error that names the field."""
        with pytest.raises(ConfigurationError, match=f"^{field} "):
            make()  # type: ignore[operator]

    def test_every_pattern_of_the_package_compiles(self) -> None:
        """All patterns compile, none matches nothing, and every literal can begin a match."""
        for rule in builtin_rules():
            rule.validate()
            assert not re.search(r"@[a-z_]+@", rule.pattern)


class TestSecondOpinion:
    def test_another_scanner_finds_nothing_more(self) -> None:
        """What detect-secrets finds in made-up texts it no longer finds once they are scrubbed."""
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import transient_settings

        detectors = [
            "AWSKeyDetector",
            "AzureStorageKeyDetector",
            "BasicAuthDetector",
            "DiscordBotTokenDetector",
            "GitHubTokenDetector",
            "GitLabTokenDetector",
            "JwtTokenDetector",
            "NpmDetector",
            "OpenAIDetector",
            "PrivateKeyDetector",
            "PypiTokenDetector",
            "SendGridDetector",
            "SlackDetector",
            "StripeDetector",
            "TelegramBotTokenDetector",
            "TwilioKeyDetector",
        ]
        texts = [token for _, token in TOKENS] + [text for _, text, _ in CONTEXTS]

        def finds(text: str) -> bool:
            return any(list(scan_line(line)) for line in text.splitlines())

        with transient_settings({"plugins_used": [{"name": name} for name in detectors]}):
            flagged = [text for text in texts if finds(text)]
            left = [scrub(text) for text in flagged if finds(scrub(text))]
        assert len(flagged) >= 60
        assert left == []

    def test_lengths_of_made_up_secrets(self) -> None:
        """The made-up secrets have the lengths their issuers publish."""
        tokens = MINT.tokens()
        assert len(tokens["aws-access-key-id"][0]) == 20
        assert len(tokens["github-token"][0]) == 40
        assert len(tokens["github-token"][-1]) == 93
        assert len(tokens["sendgrid-key"][0]) == 69
        assert set(tokens["npm-token"][0][4:]) <= set(ALNUM)
