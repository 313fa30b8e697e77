/**
 * Redaction: spec/redaction.md. What a secret looks like is in secrets.mjs; this is how a text is looked at, and how what was
 * found is taken out.
 */

import { secrets, tokens } from "./secrets.mjs";

/** Stands for a secret. It reads as a placeholder, so that it is never redacted itself (RED-8). */
export const MASK = "<redacted>";

/** Taking one secret out may uncover another beside it. Each round leaves less to find. */
const MOST_ROUNDS = 6;

/** Shows nothing, and parts a token for whoever compares bytes: format characters, soft hyphens, variation selectors. */
const INVISIBLE = /[\p{Cf}\u034f\u115f\u1160\u3164\ufe00-\ufe0f]/u;

/**
 * The text without its secrets (RED-1, RED-6), and with everything else as it was (RED-7).
 *
 * @param {string} text
 * @returns {string}
 */
export function redact(text) {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = mask(text, found(text));
    if (next === text) {
      break;
    }
    text = next;
  }
  return text;
}

/** @returns {[number, number][]} places in the text, from start to end */
function found(text) {
  const seen = normalised(text);
  return [
    ...secrets(seen.text).map(seen.origin),
    ...disguised(seen.text).flatMap((view) => tokens(view.text).map(view.origin).map(seen.origin)),
    ...encoded(seen.text).map(seen.origin),
  ];
}

function mask(text, spans) {
  const sorted = spans.toSorted((one, other) => one[0] - other[0]);
  let result = "";
  let done = 0;
  for (const [start, end] of sorted) {
    if (end <= done) {
      continue;
    }
    // A span that touches the one before it is part of it.
    result += start > done || done === 0 ? text.slice(done, start) + MASK : "";
    done = end;
  }
  return result + text.slice(done);
}

/**
 * @typedef {object} View a text derived from another
 * @property {string} text
 * @property {(span: [number, number]) => [number, number]} origin where a place of it came from
 */

/** @returns {View} with every match replaced */
function derived(text, pattern, replacement) {
  const pieces = [];
  const starts = []; // of each piece: where it begins here, where it came from, and how long it was there
  let at = 0;
  let done = 0;
  const add = (piece, from, long) => {
    if (piece !== "") {
      pieces.push(piece);
      starts.push([at, from, long]);
      at += piece.length;
    }
  };
  for (const match of text.matchAll(pattern)) {
    add(text.slice(done, match.index), done, match.index - done);
    add(replacement(match), match.index, match[0].length);
    done = match.index + match[0].length;
  }
  add(text.slice(done), done, text.length - done);

  const pieceAt = (place) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      [low, high] = starts[middle][0] <= place ? [middle, high] : [low, middle];
    }
    return [pieces[low], ...starts[low]];
  };
  const from = (place, end) => {
    const [piece, here, there, long] = pieceAt(place);
    // A piece that was replaced by one of another length came from its whole origin.
    return piece.length === long ? there + place - here + end : there + end * long;
  };
  return { text: pieces.join(""), origin: ([start, end]) => [from(start, 0), from(end - 1, 1)] };
}

/** Letters in their plain form, and nothing that is not seen. */
const normalised = (text) =>
  text.normalize("NFKC") === text && !INVISIBLE.test(text)
    ? { text, origin: (span) => span }
    : derived(text, /[^\x00-\x7f]/gu, ([character]) => (INVISIBLE.test(character) ? "" : character.normalize("NFKC")));

/** Other ways to look at a text in which a token may hide. */
function disguised(text) {
  return [
    [/(?<![ \t])[ \t]*\r?\n[ \t>|]*/g, () => ""], // wrapped
    [/(?<=(?<!\S)\S) (?=\S(?!\S))/g, () => ""], // s p a c e d
    [/%([0-9a-f]{2})|\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})|\\([_*~.\-])/gi, unescaped],
  ]
    .map(([pattern, replacement]) => derived(text, pattern, replacement))
    .filter((view) => view.text !== text);
}

const unescaped = ([, percent, unicode, hex, escaped]) =>
  escaped ?? String.fromCharCode(Number.parseInt(percent ?? unicode ?? hex, 16));

/** Runs of base64 or hexadecimal digits that hold a token. */
function encoded(text) {
  return [...text.matchAll(/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}/g)]
    .filter(([run]) => {
      const hex = /^(?:[0-9a-f]{2})+$/i.test(run);
      return tokens(Buffer.from(run, hex ? "hex" : "base64").toString("latin1")).length > 0;
    })
    .map(({ 0: run, index }) => [index, index + run.length]);
}
