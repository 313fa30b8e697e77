/** Limits: spec/limits.md. */

/** @typedef {{max_chars: number, max_rows: number}} Limits 0 switches one off */

const KEYS = [
  { key: "observed_context_max_chars", limit: "max_chars", standard: 512_000 },
  { key: "observed_context_max_rows", limit: "max_rows", standard: 4_000 },
];

/**
 * The limits that a configuration sets, each key by itself (LIM-1, LIM-2, LIM-4).
 *
 * @param {any} config whatever the configuration file holds
 * @param {(warning: string) => void} [warn]
 * @returns {Limits}
 */
export function limits(config, warn = console.warn) {
  const section = own(config, "gateway");
  return Object.fromEntries(
    KEYS.map(({ key, limit, standard }) => {
      const value = own(section, key);
      const number = read(value);
      if (number === null && value !== undefined) {
        warn(`gateway.${key}: not a number of digits, the default of ${standard} holds`);
      }
      return [limit, number ?? standard];
    }),
  );
}

/** A property that was written there, not one that every object or list inherits. */
function own(thing, key) {
  return typeof thing === "object" && thing !== null && Object.hasOwn(thing, key) ? thing[key] : undefined;
}

/**
 * A non-negative integer or a string of digits; anything else is null, and never "unlimited" (LIM-3).
 *
 * @returns {number | null}
 */
function read(value) {
  if (typeof value === "string" && /^[0-9]+$/.test(value)) {
    return bounded(Number(value));
  }
  if (Number.isInteger(value) && value >= 0) {
    return bounded(value);
  }
  return null;
}

/** No block is as long as 2^53, and a larger number would travel as a fraction. Adding 0 makes 0 of -0. */
function bounded(number) {
  return Math.min(number, Number.MAX_SAFE_INTEGER) + 0;
}
