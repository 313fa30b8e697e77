/** References to attachments: spec/media.md. */

const WORDS = { image: "image", voice: "voice note", audio: "audio", document: "document", video: "video" };

/** What would end a reference or its line (MED-3). */
const BREAKING = /[[\]\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Names of parameters that sign or authorise a request (MED-4). */
const CREDENTIAL =
  /^(?:.*[-_.])?(?:access[-_]?token|auth(?:orization)?|bearer|code|credentials?|hmac|hash|jwt|key|api[-_]?key|access[-_]?key(?:[-_]?id)?|key[-_]pair[-_]id|pass(?:word|wd)?|policy|pwd|secret|session|sid|sig|sign|signature|ticket|token|hm)$|token$|secret$|password$|^x-(?:amz|goog)-|accesskeyid$|apikey$/i;

/**
 * One line for one attachment (MED-1, MED-2, MED-5). The file name that its sender chose has no part in it.
 *
 * @param {{kind: string, path: string | null, url: string | null, error: string | null}} medium
 */
export function reference({ kind, path, url }) {
  const place = path || (url && withoutCredentials(url));
  return place ? `[${WORDS[kind]}: ${harmless(place)}]` : `[${WORDS[kind]} (unavailable: download failed)]`;
}

const harmless = (place) => place.replace(BREAKING, (character) => encodeURIComponent(character.toWellFormed()));

/**
 * The URL without user name, password, and parameters that sign or authorise (MED-4).
 *
 * @param {string} url
 */
function withoutCredentials(url) {
  const [, base, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/su.exec(url);
  return base.replace(/^([^/]*\/\/)[^/]*@/su, "$1") + innocent(query) + innocent(fragment);
}

/** The part of a URL that begins with "?" or "#", without parameters of which the name says that they are a key. */
function innocent(part) {
  if (!part) {
    return "";
  }
  const pairs = part.slice(1).split("&");
  const kept = pairs.filter((pair) => !(pair.includes("=") && CREDENTIAL.test(decoded(pair.split("=")[0]))));
  return kept.length === 0 ? "" : part[0] + kept.join("&");
}

function decoded(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
