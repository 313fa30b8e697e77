/**
 * The protocol of spec/protocol.md: JSON-RPC 2.0, one message a line, over standard input and output.
 *
 * Nothing here knows what a gate or a row is. Copy this file as it is, and hand `serve` your functions.
 */

import { Console } from "node:console";

/** The version of the protocol that this file speaks. */
export const PROTOCOL = "1.0";

const UNKNOWN_METHOD = -32601;
const BAD_PARAMS = -32602;
const UNREADABLE = -32700;
const RAISED = -32000;
const LINE_FEED = 0x0a;

/**
 * What the kit does for a call or an object while that runs. Each of them rejects when the kit wants it to fail.
 *
 * @typedef {object} Kit
 * @property {(payload: object[]) => Promise<object>} model one request to the model
 * @property {(prompt: string | object[]) => Promise<string | null>} summarize one request to the summariser
 * @property {{
 *   load: (session: string) => Promise<object[]>,
 *   append: (session: string, row: object) => Promise<number>,
 *   commit: (session: string, row: object, previous: number | null) => Promise<number | null>,
 * }} store
 * @property {() => Promise<number>} now seconds; the kit moves this clock, so ask no other
 * @property {(what: "row" | "summary") => Promise<void>} writing asked before a write; rejects when the write is to fail
 * @property {(chat: string, topic: string | null, text: string) => Promise<void>} send
 */

/**
 * Something that lives on between calls: a scheduler, a gateway.
 *
 * @typedef {object} Maker
 * @property {(params: object, kit: Kit) => object | Promise<object>} make
 * @property {string[]} calls the methods that the kit may call on what `make` returns
 */

/**
 * Answers the kit until it closes the input.
 *
 * @param {Object<string, (params: object, kit: Kit) => any>} methods by name; each takes the arguments of calls.json as one
 *   object and returns the result, or a promise of it. `describe` must be there.
 * @param {Object<string, Maker>} [objects] by name
 * @param {{input?: import("node:stream").Readable, output?: import("node:stream").Writable}} [streams] for tests
 * @returns {Promise<void>} resolves when the kit has closed the input
 */
export async function serve(methods, objects = {}, { input = process.stdin, output = process.stdout } = {}) {
  if (output === process.stdout) {
    // A stray console.log would be taken for a message, and the run would end there.
    globalThis.console = new Console(process.stderr);
  }
  const connection = new Connection(methods, objects, (message) => output.write(JSON.stringify(message) + "\n"));
  for await (const line of lines(input)) {
    connection.receive(line);
  }
  if (input === process.stdin) {
    // A timer or a pass that still waits must not keep the process: whom it would tell has gone.
    process.exit(0);
  }
}

/**
 * Lines end at a line feed and nowhere else. Node's readline would also break at U+2028, which JSON may hold as it is.
 *
 * @param {AsyncIterable<Buffer | string>} input
 * @returns {AsyncGenerator<string>}
 */
export async function* lines(input) {
  let pieces = [];
  for await (const chunk of input) {
    let rest = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      pieces.push(rest.subarray(0, end));
      // Decoded whole: a character may have been torn between two chunks.
      yield Buffer.concat(pieces).toString("utf8");
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    pieces.push(rest);
  }
}

/** A failure that the kit asked for: a model that is down, a store that is full. */
export class KitError extends Error {
  name = "KitError";
}

class BadParams extends Error {
  name = "BadParams";
}

class Connection {
  #methods;
  #makers;
  #send;
  #calls = new Map();
  #live = new Map();
  #waiting = new Map();
  #asked = 0;

  constructor(methods, makers, send) {
    this.#methods = methods;
    this.#makers = makers;
    this.#send = send;
    for (const [name, method] of Object.entries(methods)) {
      this.#calls.set(name, (params, id) => method(params, this.#kit(id)));
    }
    for (const [kind, maker] of Object.entries(makers)) {
      this.#calls.set(kind, (params) => this.#make(maker, params));
      for (const call of maker.calls) {
        this.#calls.set(`${kind}.${call}`, ({ object, ...params }) => this.#object(object)[call](params));
      }
    }
    if (Object.keys(makers).length > 0) {
      this.#calls.set("settle", () => this.#settle());
    }
    this.names = [...this.#calls.keys()];
    this.#calls.set("initialize", (params) => this.#initialize(params));
  }

  /** @param {string} line */
  receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.#send({ jsonrpc: "2.0", id: null, error: { code: UNREADABLE, message: "a line that is no JSON" } });
      return;
    }
    if (message.method === undefined) {
      this.#answered(message);
    } else if (message.id === undefined) {
      this.#noticed(message);
    } else {
      this.#answer(message);
    }
  }

  async #answer({ id, method, params }) {
    const call = this.#calls.get(method);
    if (!call) {
      this.#send({ jsonrpc: "2.0", id, error: { code: UNKNOWN_METHOD, message: `unknown method ${method}` } });
      return;
    }
    try {
      const result = await call(params ?? {}, id);
      this.#send({ jsonrpc: "2.0", id, result: result ?? null });
    } catch (error) {
      this.#send({ jsonrpc: "2.0", id, error: described(error) });
    }
  }

  /** A notification is never answered, not even one that says nothing to us. */
  #noticed({ method, params }) {
    if (method === "forget") {
      // What it still runs goes on into the void: the kit refuses its callbacks.
      this.#live.delete(params?.object);
    }
  }

  #answered({ id, result, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) {
      waiting?.reject(new KitError(error.message));
    } else {
      waiting?.resolve(result);
    }
  }

  /** @returns {Kit} the callbacks of one call, or of one object */
  #kit(owner) {
    const ask = (method, params) =>
      new Promise((resolve, reject) => {
        this.#asked += 1;
        const id = `a${this.#asked}`;
        this.#waiting.set(id, { resolve, reject });
        this.#send({ jsonrpc: "2.0", id, method, params: { for: owner, ...params } });
      });
    return {
      model: (payload) => ask("model", { payload }),
      summarize: (prompt) => ask("summarize", { prompt }),
      store: {
        load: (session) => ask("store.load", { session }),
        append: (session, row) => ask("store.append", { session, row }),
        commit: (session, row, previous) => ask("store.commit", { session, row, previous }),
      },
      now: () => ask("now", {}),
      writing: (what) => ask("writing", { what }),
      send: (chat, topic, text) => ask("send", { chat, topic, text }),
    };
  }

  #initialize({ protocol }) {
    if (String(protocol).split(".")[0] !== PROTOCOL.split(".")[0]) {
      throw new BadParams(`this adapter speaks protocol ${PROTOCOL}, not ${protocol}`);
    }
    return { protocol: PROTOCOL, methods: this.names };
  }

  async #make(maker, { object, ...params }) {
    this.#live.set(object, await maker.make(params, this.#kit(object)));
  }

  #object(name) {
    const object = this.#live.get(name);
    if (!object) {
      throw new BadParams(`no object ${name}`);
    }
    return object;
  }

  /**
   * Everything that the lines before this one set off has run when the event loop comes round, and what it had to ask has
   * been asked. An adapter that does work of its own in between, such as writing files, brings a `settle` that awaits it.
   */
  async #settle() {
    await this.#methods.settle?.({});
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function described(error) {
  const kind = error?.name ?? "Error";
  if (error instanceof BadParams) {
    return { code: BAD_PARAMS, message: error.message };
  }
  // "    at read (file:///…/limits.mjs:12:5)" becomes "limits.mjs:12 in read".
  const at = /^\s*at (?:(.+?) \()?.*?([^/\\]+?):(\d+):\d+\)?$/m.exec(error?.stack ?? "");
  const where = at ? `${at[2]}:${at[3]}${at[1] ? ` in ${at[1]}` : ""}` : undefined;
  return { code: RAISED, message: String(error?.message ?? error), data: { kind, where } };
}
