/** The operator's mention patterns: compiled once, reported once when they are no good, and never stalling (GATE-11, GATE-12). */

import vm from "node:vm";

/** How long one pattern may search one text, in milliseconds. */
const PATIENCE = 100;

/** A search that V8 can be made to stop: a script with a time limit also stops a regular expression in the middle. */
const context = vm.createContext({ pattern: null, text: "" });
const search = new vm.Script("pattern.test(text)");

/** @type {Map<string, RegExp | null>} */
const compiled = new Map();
const stalled = new Set();

/**
 * @param {string} source
 * @returns {RegExp | null} null for a pattern that is no regular expression
 */
export function compile(source) {
  if (!compiled.has(source)) {
    compiled.set(source, parse(source));
  }
  return compiled.get(source);
}

function parse(source) {
  // Case is ignored anyway; operators who write it down mean no more than that.
  const body = source.replace(/^\(\?i\)/, "");
  for (const flags of ["iu", "i"]) {
    try {
      return new RegExp(body, flags);
    } catch {
      // With the flag u, escapes such as \! are refused that are harmless without it.
    }
  }
  console.warn(`mention pattern ${JSON.stringify(source)} is no regular expression and is skipped`);
  return null;
}

/**
 * @param {RegExp} pattern
 * @param {string} text
 * @returns {boolean} false, too, when the search takes too long
 */
export function matches(pattern, text) {
  if (!/[*+?{]/.test(pattern.source)) {
    return pattern.test(text); // no repetition, no long search
  }
  try {
    Object.assign(context, { pattern, text });
    return search.runInContext(context, { timeout: PATIENCE });
  } catch {
    if (!stalled.has(pattern.source)) {
      stalled.add(pattern.source);
      console.warn(`mention pattern ${JSON.stringify(pattern.source)} searches too long and is given up`);
    }
    return false;
  }
}
