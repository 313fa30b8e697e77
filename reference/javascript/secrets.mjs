/**
 * What a secret looks like: the kinds of spec/redaction.md. Every repetition is bounded, or begins where nothing like it stands
 * before, so that no text is searched twice (RED-8).
 */

/** Ends of words in which no secret begins or goes on. */
const EDGE = "(?<![A-Za-z0-9_-])";

/** Tokens with a published prefix. The prefix says it all, so that a broken end is found too (RED-6). */
const PREFIXED = [
  /gh[oprsu]_[A-Za-z0-9]{10,}/gi,
  /github_pat_\w{10,}/gi,
  /gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[\w-]{10,}/g,
  /xox[abeoprs]-[\w-]{8,}/gi,
  /xapp-\d-[\w-]{10,}/g,
  /sk-(?:ant|proj|or|svcacct|admin)-[\w-]{10,}/gi,
  /sk-[\w-]{8,120}T3BlbkFJ[\w-]{8,}/g,
  new RegExp(`${EDGE}sk-(?=[a-z-]{0,60}[A-Z0-9])[\\w-]{24,}`, "g"),
  /xai-[A-Za-z0-9]{16,}/g,
  new RegExp(`${EDGE}hf_[A-Za-z0-9]{12,}`, "g"),
  /AIza[\w-]{20,}/g,
  /GOCSPX-[\w-]{10,}/g,
  /ya29\.[\w-]{20,}/g,
  /[rs]k_(?:live|test)_[A-Za-z0-9]{8,}/g,
  /whsec_[A-Za-z0-9+/=]{16,}/g,
  /(?<![A-Za-z0-9])SG\.[\w-]{12,}(?:\.[\w-]{6,})?/g,
  /npm_[A-Za-z0-9]{16,}/g,
  /pypi-[\w-]{20,}/g,
  /dckr_(?:pat|oat)_[\w-]{10,}/g,
  /do[opr]_v1_[a-f0-9]{16,}/g,
  /(?<!\d)\d{6,12}:AA[\w-]{20,}/g,
  new RegExp(`${EDGE}[\\w-]{23,32}\\.[\\w-]{6}\\.[\\w-]{27,}`, "g"),
  new RegExp(`${EDGE}eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]{0,})?`, "g"),
  /shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{16,}/g,
  /ntn_[A-Za-z0-9]{16,}/g,
  /lin_(?:api|oauth)_[A-Za-z0-9]{12,}/g,
  /gl(?:sa|c)_[A-Za-z0-9]{16,}(?:_[a-f0-9]{1,8})?/g,
  new RegExp(`${EDGE}dp\\.(?:audit|ct|pt|sa|scim|st)\\.[\\w.-]{12,}`, "g"),
  /ops_eyJ[\w+/=-]{12,}/g,
  /tskey-[a-z]{3,12}-[\w-]{8,}/g,
  /NRA[AK]-[A-Z0-9]{12,}/g,
  /sntry[su]_[\w+/=-]{12,}/g,
  new RegExp(`${EDGE}[A-Za-z0-9]{8,32}\\.atlasv1\\.[\\w-]{12,}`, "g"),
  /hvs\.[\w-]{20,}/g,
  /AGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  /(?<![A-Za-z0-9])xprv[1-9A-HJ-NP-Za-km-z]{60,}/g,
  /(?<![A-Za-z0-9])[5KL][1-9A-HJ-NP-Za-km-z]{50,51}(?![A-Za-z0-9])/g,
];

/**
 * Kinds that something beside them gives away. Every group of a pattern is a secret, if the function beside the pattern takes it
 * for one.
 */
const BESIDE = [
  // Passwords and parameters in URLs.
  [/[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/?#:@"'`<>]{0,200}:([^\s/?#"'`<>]{1,400})@/gi, isValue],
  [/(?:mongodb|postgres|mysql|redis|amqp|ftp)[a-z+]{0,12}:\/\/[^\s:@/"'`<>]{0,200}:([^\s"'`<>@]{1,400})@/gi, isValue],
  [/https?:\/\/([A-Za-z0-9_-]{20,200})@/gi, isRandom],
  [/[?&#;](?:x-(?:amz|goog)-)?(?:sig|signature|hmac|jwt)=([^\s&#"'`<>)\]]{4,})/gi, isValue],
  [/[?&#;](?:key|code|auth|sid|session)=([^\s&#"'`<>)\]]{12,})/gi, isRandom],
  [/otpauth:\/\/[^\s"'`<>]{0,300}?[?&]secret=([^\s&"'`<>]{4,})/gi, isValue],
  [/discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/([\w-]{8,})/gi],
  [/IncomingWebhook\/([^\s"'`<>)\]]{8,})/gi],
  [/hooks\.slack\.com\/(?:services|workflows|triggers)\/([\w/-]{8,})/gi],
  [/(?:t\.me\/(?:\+|joinchat\/)|discord(?:app)?\.com\/invite\/|discord\.gg\/|chat\.whatsapp\.com\/|signal\.group\/#)([\w+/=-]{6,})/gi],
  // Headers.
  [/authorization\\?["'`]?[ \t]{0,3}[:=][ \t]{0,3}\\?["'`]?(?:Digest|OAuth|Hawk|AWS4-HMAC-SHA256)[ \t]{1,3}([^\r\n]{8,})/gi],
  [/authorization\\?["'`]?[ \t]{0,3}[:=][ \t]{0,3}\\?["'`]?(?:(?:Basic|Bearer|Token|Api-?Key|Key|Negotiate|NTLM|SSWS|DPoP|GenieKey)[ \t]{1,3})?([^\s"'`\\]{6,})/gi, isValue],
  [/(?<![A-Za-z])(?:Bearer|Basic)[ \t]{1,3}([A-Za-z0-9+/=_.~-]{12,})/gi, isRandom],
  [/(?<![A-Za-z0-9])((?:AKIA|ASIA)[A-Z0-9]{16})(?![A-Za-z0-9])/g, isValue],
  // Command lines.
  [/sshpass[ \t]{1,3}-p[ \t]{0,3}(?:"([^"\r\n]{1,200})"|'([^'\r\n]{1,200})'|([^\s"']{1,200}))/g, isValue],
  [/(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump|mycli)[ \t][^\r\n|;]{0,200}?(?<=\s)-p(?:"([^"\r\n]{1,200})"|'([^'\r\n]{1,200})'|([^\s"']{1,200}))/g, isValue],
  [/curl[ \t][^\r\n|]{0,400}?(?<=\s)(?:-u|--user)[ \t=]{0,3}(?:"[^":\r\n]{0,100}:([^"\r\n]{1,200})"|'[^':\r\n]{0,100}:([^'\r\n]{1,200})'|[^\s:"']{0,100}:([^\s"'`]{1,200}))/g, isValue],
  [/--(?:[a-z]{1,20}-)?(?:password|passwd|pass|token|secret|api-key|access-key)[ \t]{1,3}(?:"([^"\r\n]{1,200})"|'([^'\r\n]{1,200})'|([^\s"'-][^\s"']{0,200}))/g, isValue],
  [/machine\s{1,4}\S{1,200}\s{1,4}login\s{1,4}\S{1,200}\s{1,4}password\s{1,4}(\S{1,200})/gi, isValue],
  [/^[\w.*-]{1,200}:(?:\d{1,5}|\*):[^:\s]{1,100}:[^:\s]{1,100}:(\S{1,200})$/gm, isValue],
  // A word that says so, and something random behind it.
  [/(?<![A-Za-z])(?:secret|token|password|(?:api|access|secret|private|auth|signing)[ _-]?key)["'`*]{0,3}[ \t:=|]{0,4}(?:is|was|ist|es|=|->|→)?[ \t:=|"'`]{1,4}([A-Za-z0-9+/=_.~-]{16,})/gi, isRandom],
];

/** Words for passwords and codes, in the languages that we know a little of (RED-6). */
const PASSWORD_WORDS =
  "password|passwort|kennwort|mot de passe|contraseña|senha|palavra-passe|wachtwoord|parola|hasło|lösenord|adgangskode|şifre|пароль|пароля|密码|密碼|口令|パスワード|비밀번호|passphrase|passcode|pass";
const IS = "is|ist|lautet|es|é|est|è|jest|är|er|to|now|jetzt|ahora|agora|сейчас|теперь|是|为|為|は|:|：|=|-|–|—|→|->";

const SPOKEN = [
  [new RegExp(`(?:${PASSWORD_WORDS})(?:[ \\t]{1,2}(?:for|für|para|de|of|del|do|vom|от|к|на)[ \\t][^\\r\\n:=]{1,40}?)?[ \\t]{0,2}(?:(?:${IS})[ \\t]{0,2}){1,2}(?:"([^"\\r\\n]{3,80})"|'([^'\\r\\n]{3,80})'|“([^”\\r\\n]{3,80})”|«([^»\\r\\n]{3,80})»|\`([^\`\\r\\n]{3,80})\`)`, "giu"), isValue],
  [new RegExp(`(?:${PASSWORD_WORDS})(?:[ \\t]{1,2}(?:for|für|para|de|of|del|do|vom|от|к|на)[ \\t][^\\r\\n:=]{1,40}?)?[ \\t]{0,2}(?:(?:${IS})[ \\t]{0,2}){1,2}([^\\s"'\`“”«»，。、,;]{4,80})`, "giu"), isWordlike],
  [/(?:passphrase|mnemonic|(?:seed|recovery|secret)[ \t](?:phrase|words)|seed)[^\r\n:]{0,40}(?::|is|=)\s{0,3}((?:[a-z]{3,10}[ \t\r\n,]{1,3}){3,23}[a-z]{3,10})/gi],
  [/(?:verification|security|login|sign-?in|one-?time|auth\w{0,12}|confirmation|2fa|access|sms|backup)[ -](?:code|passcode|password)[^\d\r\n]{0,30}(\d{3}[ -]?\d{3}|\d{4,8})(?!\d)/gi],
  [/(?<![A-Za-z])(?:otp|tan|pin)(?![A-Za-z])[^\d\r\n]{0,30}(\d{3}[ -]?\d{3}|\d{4,8})(?!\d)/gi],
  [/(?:bestätigungscode|sicherheitscode|código|code de (?:vérification|sécurité|connexion)|код|验证码|認証コード|인증번호)[^\d\r\n]{0,30}(\d{3}[ -]?\d{3}|\d{4,8})(?!\d)/giu],
];

/** In a list of recovery codes each is one. */
const RECOVERY = /(?:recovery|backup|rescue|wiederherstellungs?)[ -]?codes?/gi;
const RECOVERY_CODE = /(?<![\w-])(?=[a-z-]{0,12}\d)[a-z0-9]{4,10}(?:-[a-z0-9]{4,10}){0,3}(?![\w-])/gi;

/**
 * Tokens that are recognised by themselves, in whatever view of a text.
 *
 * @param {string} text
 * @returns {[number, number][]}
 */
export const tokens = (text) =>
  PREFIXED.flatMap((pattern) => [...text.matchAll(pattern)].filter(([token]) => isDrawn(token)).map(whole));

/** Drawn at random, and not a name that begins like a token: behind its prefix are digits, or letters of both cases. */
const isDrawn = (token) => /\d|[a-z][A-Z]|[A-Z][a-z]+[A-Z]/.test(token.slice(8)) && !/EXAMPLE/.test(token);

/**
 * All secrets of a text.
 *
 * @param {string} text
 * @returns {[number, number][]}
 */
export function secrets(text) {
  return [
    ...tokens(text),
    ...keyBlocks(text),
    ...[...BESIDE, ...SPOKEN].flatMap(([pattern, accept]) => groups(text, pattern, accept)),
    ...cookies(text),
    ...assignments(text),
    ...recoveryCodes(text),
  ];
}

const whole = (match) => [match.index, match.index + match[0].length];

/** The places of the groups of each match, without the punctuation of the sentence around them. */
function groups(text, pattern, accept = () => true) {
  const spans = [];
  for (const match of text.matchAll(pattern)) {
    let from = match.index;
    for (const group of match.slice(1)) {
      if (group === undefined) {
        continue;
      }
      // The last place within the match: what stands before a secret may look like it.
      from = match.index + match[0].lastIndexOf(group);
      const secret = bare(group);
      if (accept(secret)) {
        spans.push([from, from + secret.length]);
      }
    }
  }
  return spans;
}

/** A value without the punctuation that the sentence or the program around it put behind it. */
function bare(value) {
  let end = value.length;
  for (; end > 0; end--) {
    const last = value[end - 1];
    const opening = { ")": "(", "]": "[", "}": "{" }[last];
    if (opening ? value.lastIndexOf(opening, end - 1) >= 0 : !".,;:!?|\"'*".includes(last)) {
      break;
    }
  }
  return value.slice(0, end);
}

/** PEM and PGP blocks of private keys, on many lines or on one, whole or with an end torn off. */
function keyBlocks(text) {
  const spans = [];
  const edge = /-----(BEGIN|END)[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  const body = /(?:\\[nr]|[A-Za-z0-9+/=\s>:,-])*/y;
  let open = null;
  let done = 0;
  for (const match of text.matchAll(edge)) {
    const [start, end] = whole(match);
    if (match[1] === "BEGIN") {
      if (open !== null) {
        spans.push([open, start]);
      }
      open = start;
    } else {
      spans.push([open ?? bodyBefore(text, start, done), end]);
      open = null;
    }
    done = end;
  }
  if (open !== null) {
    body.lastIndex = done;
    spans.push([open, body.exec(text) ? body.lastIndex : done]);
  }
  return spans;
}

/** Where the lines of base64 begin that lead up to an END line without a BEGIN. */
function bodyBefore(text, end, from) {
  let start = end;
  while (start > from && /[A-Za-z0-9+/=\r\n\\]/.test(text[start - 1])) {
    start -= 1;
  }
  return start;
}

/** Session cookies in the headers Cookie and Set-Cookie; what only describes a cookie stays. */
function cookies(text) {
  const header = /cookie\\?["'`]?[ \t]{0,3}[:=][ \t]{0,3}\\?["'`]?([^\r\n"'`]{3,4000})/gi;
  const described = /^(?:path|domain|expires|max-age|samesite|version|priority|lang|locale|theme|tz|timezone)$/i;
  return [...text.matchAll(header)].flatMap((match) => {
    const from = match.index + match[0].length - match[1].length;
    return [...match[1].matchAll(/([\w.%!#$*^~-]{1,100})=([^\s;,]{1,2000})/g)]
      .filter(([, name, value]) => !described.test(name) && isValue(value) && (value.length >= 8 || /sess|sid|auth|tok/i.test(name)))
      .map((pair) => {
        const start = from + pair.index + pair[1].length + 1;
        return [start, start + pair[2].replace(/[.)\]]{1,3}$/, "").length];
      });
  });
}

/** Recovery codes stand in lists behind the word. */
function recoveryCodes(text) {
  return [...text.matchAll(RECOVERY)].flatMap((match) => {
    const from = match.index + match[0].length;
    const codes = [...text.slice(from, from + 400).matchAll(RECOVERY_CODE)];
    return codes.map((code) => [from + code.index, from + code.index + code[0].length]);
  });
}

/** The end of a name that says that its value is a secret, and what stands between name and value. */
const NAME =
  /(passw(?:or)?d|passwd|passphrase|pwd|secret|token|(?:api|access|private|secret|signing|encryption|master|auth|account|shared|license)[-_. ]?key|pass)(\\?["'`])?\]?[ \t]{0,4}(=>|:=|=(?![=>])|:(?![:/=]))[ \t]{0,8}/gi;

/** Words that end with "pass" and mean something else. */
const PASSING = /(?:com|by|tres|sur|encom|over|under|im)pass$/i;

/** Values of names that say that they are secret, in environment files, JSON, YAML, connection strings, URLs. */
function assignments(text) {
  const spans = [];
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match; match = NAME.exec(text)) {
    const [start, end] = whole(match);
    if (match[1].toLowerCase() === "pass" && (PASSING.test(text.slice(Math.max(0, start - 10), start + 4)) || !/[A-Za-z_.-]/.test(text[start - 1] ?? ""))) {
      continue;
    }
    const value = valueAt(text, start, end);
    if (!value) {
      continue;
    }
    const { from, to, quoted } = value;
    const said = text.slice(from, to);
    if (quoted ? isValue(said) : isAssigned(said, match) && !isTalk(said, match, text.slice(to, to + 8))) {
      spans.push([from, to]);
      NAME.lastIndex = Math.max(end, to);
    }
  }
  return spans;
}

/** @returns {{from: number, to: number, quoted: boolean} | null} */
function valueAt(text, name, from) {
  const opening = /\\?["'`]|[“«]/y;
  opening.lastIndex = from;
  const quote = opening.exec(text)?.[0];
  if (quote) {
    const start = from + quote.length;
    const to = closing(text, start, quote);
    // A quote that is never closed may have closed one that was opened before the name.
    const stray = !text.startsWith(quote, to) && lineBefore(text, name).split(quote).length % 2 === 0;
    return to > start && !stray ? { from: start, to, quoted: true } : null;
  }
  const rest = unquotedEnd(text, name);
  rest.lastIndex = from;
  const found = rest.exec(text)?.[0] ?? "";
  const run = bare(found);
  if (/^[\w-]{0,12}(?:\.{3}|…)/.test(found)) {
    return null; // "sk-...": the beginning of one, for show
  }
  return run ? { from, to: from + run.length, quoted: false } : null;
}

/** Where a quoted value ends: at the same quote, which is not escaped; at the end of the line, when it is never closed. */
function closing(text, start, quote) {
  const ends = { "“": "”", "«": "»" }[quote] ?? quote;
  for (let at = start; at < text.length && at < start + 4096; at++) {
    if (text[at] === "\n" || text.startsWith(ends, at)) {
      return at;
    }
    if (text[at] === "\\") {
      at += 1;
    }
  }
  return Math.min(text.length, start + 4096);
}

const lineBefore = (text, at) => /[^\n]*$/.exec(text.slice(Math.max(0, at - 400), at))[0];

/** Where a bare value ends depends on what it is in: a URL, a connection string, or a line of its own. */
function unquotedEnd(text, name) {
  const line = lineBefore(text, name);
  const before = /[^\s"'`]*$/.exec(line)[0];
  if (/^[^?&#;]*jdbc:/i.test(before)) {
    return /[^\s"'`<>;]{1,4096}/y;
  }
  if (/[?&#][\w.%-]*$/.test(before) && /[:/]/.test(before)) {
    return /[^\s"'`<>&#)\]]{1,4096}/y;
  }
  if (/;[\w. ]*$/.test(line)) {
    return /[^\s"'`;]{1,4096}/y;
  }
  return /(?:<[^<>\r\n]{1,80}>|[^\s"`])(?:[^\s`]{0,4096})/y;
}

/** Says where the secret is, or that there is none (RED-7). */
const ELSEWHERE = [
  /^<[^<>]*>/, // a placeholder, the mask among them
  /^\$(?:\{[^}]*\}|\([^)]*\)?|[A-Z_][A-Z0-9_]*|[a-z][a-z_]*)$/, // a variable; what mixes both cases was drawn
  /^%[A-Za-z_]\w*%$/,
  /^\{\{.*/,
  /^\{[A-Za-z_][\w.]*\}$/,
  /^[*x•.…_-]{2,}$/i,
  /^%(?:\(\w+\))?s$/,
  /^\[?(?:redacted|hidden|masked|removed|secret|password|passwd|pass|pwd|token|key)\]?$/i,
  /EXAMPLE(?:KEY)?$/,
  /^(?:null|none|nil|undefined|true|false|string|str|text|bytes|int|integer|number|boolean|bool|any|object|required|optional|empty)\b[;,)|?[\]]*$/i,
  /^[[{]?(?:your|my|the|some|insert|enter|put|change|replace)[-_ ]?(?:me|here|own|api|secret|token|pass(?:word)?|key|in)?(?:[-_ ][\w-]*)*[\]}]?$/i,
  /^(?:example|placeholder|dummy|todo|tbd|n\/a|changeme)$/i,
  /^(?:op|vault|ssm|secretsmanager|file|arn|env|doppler):/i,
  /^(?:\/(?:run|etc|var|home|usr|opt|tmp|mnt|secrets)\/|~\/|\.{1,2}\/)/,
  /^(?:os|process|system|env|config|settings|self|this|args|options|opts|secrets|request|req|ctx|props|data|vault|var|local|params|st)\b[.[(]/i,
];

function isValue(value) {
  return value !== "" && !ELSEWHERE.some((pattern) => pattern.test(value));
}

/** Ordinary words that stand behind a colon in a sentence. */
const WORD =
  /^(?:a|an|and|are|as|at|await|be|can|does|don't|expired|for|from|get|has|have|how|i|if|in|invalid|is|it|its|it's|missing|must|need|new|no|not|of|ok|on|one|or|our|please|same|see|should|so|that|the|there|they|this|to|try|unknown|use|valid|was|we|what|when|where|which|who|why|will|with|wrong|yes|you)$/i;

/** A bare value behind a secret's name: not code that fetches it, not a word of a sentence. */
function isAssigned(value, [, name]) {
  return (
    isValue(value) &&
    !/^[A-Za-z_][\w.]*[([]/.test(value) &&
    value.toLowerCase() !== name.toLowerCase() &&
    !WORD.test(value.replace(/[.,;:!?]+$/, ""))
  );
}

/** "password: same as last year": behind a colon an ordinary word, and the sentence goes on. */
const isTalk = (value, [, , quote, sign], after) =>
  sign === ":" && quote === undefined && /^[\p{L}'’]+$/u.test(value) && /^[,.;]?[ \t]+\p{L}/u.test(after);

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Letters and digits in no order that words have. */
function isRandom(value) {
  return isValue(value) && value.length >= 12 && /\d/.test(value) && /[A-Za-z]/.test(value) && !UUID.test(value);
}

/** A word that is no ordinary one: with a digit or sign in it, or letters of both cases in disorder. */
function isWordlike(value) {
  return isValue(value) && !WORD.test(value) && (/[\d$%&#@!_+*^]/.test(value.slice(0, -1)) || /[a-z][A-Z]/.test(value));
}
