/** The protocol, as spec/protocol.md shows it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import test from "node:test";

import { lines, serve } from "../serve.mjs";

/** A kit at the other end: it writes messages and reads them. */
function kit(methods, objects) {
  const input = new PassThrough();
  const output = new PassThrough();
  const done = serve(methods, objects, { input, output });
  const read = lines(output);
  return {
    done,
    write: (message) => input.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"),
    raw: (text) => input.write(text),
    read: async () => JSON.parse((await read.next()).value),
    close: () => input.end(),
  };
}

const DESCRIBE = { describe: () => ({ name: "test" }) };

test("the handshake names calls, objects, their calls, and settle", async () => {
  const { write, read } = kit({ ...DESCRIBE, limits: () => null }, { scheduler: { make: () => ({}), calls: ["appended", "drain"] } });
  write({ id: 1, method: "initialize", params: { protocol: "1.7", spec: "1.0", kit: {} } });
  assert.deepEqual(await read(), {
    jsonrpc: "2.0",
    id: 1,
    result: { protocol: "1.0", methods: ["describe", "limits", "scheduler", "scheduler.appended", "scheduler.drain", "settle"] },
  });
});

test("a protocol of another major version is refused", async () => {
  const { write, read } = kit(DESCRIBE);
  write({ id: 1, method: "initialize", params: { protocol: "2.0" } });
  assert.match((await read()).error.message, /1\.0, not 2\.0/);
});

test("an unknown method has the code of JSON-RPC", async () => {
  const { write, read } = kit(DESCRIBE);
  write({ id: 1, method: "row", params: {} });
  assert.equal((await read()).error.code, -32601);
});

test("what raises is answered with kind and place", async () => {
  const { write, read } = kit({
    limits: ({ config }) => config.gateway.value,
  });
  write({ id: 7, method: "limits", params: { config: {} } });
  const { id, error } = await read();
  assert.equal(id, 7);
  assert.equal(error.data.kind, "TypeError");
  assert.match(error.data.where, /^serve\.test\.mjs:\d+ in/);
});

test("a result that is missing is null", async () => {
  const { write, read } = kit({ row: () => undefined });
  write({ id: 1, method: "row" });
  assert.deepEqual(await read(), { jsonrpc: "2.0", id: 1, result: null });
});

test("infinity arrives", async () => {
  const { raw, read } = kit({ limits: ({ config }) => config.value === Infinity });
  raw('{"jsonrpc":"2.0","id":1,"method":"limits","params":{"config":{"value":1e999}}}\n');
  assert.equal((await read()).result, true);
});

test("a line ends at a line feed alone, and a character may come in two pieces", async () => {
  const { raw, read } = kit({ redact: ({ text }) => text });
  const line = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"redact","params":{"text":"a\u2028b\u2029c👍"}}\n');
  raw(line.subarray(0, -7));
  await new Promise((resolve) => setImmediate(resolve));
  raw(line.subarray(-7));
  assert.equal((await read()).result, "a\u2028b\u2029c👍");
});

test("half a surrogate pair goes through", async () => {
  const { raw, read } = kit({ redact: ({ text }) => text });
  raw('{"jsonrpc":"2.0","id":1,"method":"redact","params":{"text":"\\ud83d"}}\n');
  assert.equal((await read()).result, "\ud83d");
});

test("a callback names its call, and its error is raised", async () => {
  const { write, read } = kit({
    turn: async (_, { model }) => {
      try {
        return await model(["first"]);
      } catch (error) {
        return `${error.name}: ${error.message}`;
      }
    },
  });
  write({ id: 9, method: "turn", params: {} });
  const asked = await read();
  assert.deepEqual(asked, { jsonrpc: "2.0", id: "a1", method: "model", params: { for: 9, payload: ["first"] } });
  write({ id: "a1", error: { code: -32000, message: "the provider is down" } });
  assert.equal((await read()).result, "KitError: the provider is down");
});

test("calls overlap, and answers come in any order", async () => {
  const { write, read } = kit({ turn: (_, { model }) => model([]), wrap: () => "at once" });
  write({ id: 1, method: "turn", params: {} });
  assert.equal((await read()).params.for, 1);
  write({ id: 2, method: "turn", params: {} });
  assert.equal((await read()).params.for, 2);
  write({ id: 3, method: "wrap", params: {} });
  assert.equal((await read()).id, 3);
  write({ id: "a2", result: "two" });
  assert.deepEqual(await read(), { jsonrpc: "2.0", id: 2, result: "two" });
  write({ id: "a1", result: "one" });
  assert.deepEqual(await read(), { jsonrpc: "2.0", id: 1, result: "one" });
});

test("an object lives on, is found by its name, and asks under it", async () => {
  const make = ({ limits }, { store }) => ({ appended: ({ session }) => void store.load(session + limits) });
  const { write, read } = kit(DESCRIBE, { scheduler: { make, calls: ["appended"] } });
  write({ id: 1, method: "scheduler", params: { object: "one", limits: 1 } });
  assert.deepEqual(await read(), { jsonrpc: "2.0", id: 1, result: null });
  write({ id: 2, method: "scheduler.appended", params: { object: "one", session: "s" } });
  assert.deepEqual((await read()).params, { for: "one", session: "s1" });
  assert.deepEqual(await read(), { jsonrpc: "2.0", id: 2, result: null });
  write({ id: 3, method: "scheduler.appended", params: { object: "another", session: "s" } });
  assert.equal((await read()).error.code, -32602);
});

test("a forgotten object is gone, and no notification is answered", async () => {
  const { write, read } = kit(DESCRIBE, { scheduler: { make: () => ({ drain: () => 5 }), calls: ["drain"] } });
  write({ id: 1, method: "scheduler", params: { object: "one" } });
  write({ method: "forget", params: { object: "one" } });
  write({ method: "of another time" });
  write({ id: 2, method: "scheduler.drain", params: { object: "one" } });
  assert.equal((await read()).id, 1);
  assert.equal((await read()).error.code, -32602);
});

test("settle is answered after all that can be asked has been asked", async () => {
  const make = (_, { store, now }) => ({
    appended: () =>
      void (async () => {
        await now();
        await Promise.resolve();
        await store.load("s");
      })(),
  });
  const { write, read } = kit(DESCRIBE, { scheduler: { make, calls: ["appended"] } });
  write({ id: 1, method: "scheduler", params: { object: "one" } });
  write({ id: 2, method: "scheduler.appended", params: { object: "one" } });
  write({ id: 3, method: "settle", params: {} });
  const before = [await read(), await read(), await read(), await read()].map((message) => message.method ?? message.id);
  assert.deepEqual(before, [1, "now", 2, 3]);
  write({ id: "a1", result: 5 });
  write({ id: 4, method: "settle", params: {} });
  assert.equal((await read()).method, "store.load");
  assert.equal((await read()).id, 4);
});

test("serving ends when the kit closes the input", async () => {
  const { done, close } = kit(DESCRIBE);
  close();
  await done;
});

test("as a process: what is printed does not reach the output, and the process leaves although a call waits", async () => {
  const source = `
    import { serve } from ${JSON.stringify(new URL("../serve.mjs", import.meta.url).href)};
    await serve({ turn: (_, kit) => { console.log("chatter"); setTimeout(() => {}, 60_000); return kit.model([]); } });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], { stdio: ["pipe", "pipe", "pipe"] });
  const read = lines(child.stdout);
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"turn","params":{}}\n');
  assert.equal(JSON.parse((await read.next()).value).method, "model");
  child.stdin.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
