// Requests of the gateway protocol in a closed loop with npm's `ws`, written as a client would be: what the
// lab's own client is compared with.
//
//   node ws_loop.mjs MODULES PORT CONNECTIONS IN_FLIGHT    MODULES holds ws; IN_FLIGHT is of each connection
//
// For every line on stdin it asks for that many milliseconds and prints "<answers> <microseconds of processor time>".

import { join, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, port, connections, inFlight] = process.argv.slice(2);
const { WebSocket } = await import(pathToFileURL(join(resolve(modules), "ws/wrapper.mjs")));

class Client {
  #socket;
  #waiting = new Map();
  #last = 0;

  static open() {
    return new Promise((done, failed) => {
      const client = new Client();
      client.#socket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
      client.#socket.on("error", failed);
      client.#socket.on("message", (data) => {
        const frame = JSON.parse(data);
        if (frame.type === "event") {
          if (frame.event === "connect.challenge") client.ask("connect", {}, () => done(client));
          return;
        }
        const answered = client.#waiting.get(frame.id);
        client.#waiting.delete(frame.id);
        if (!frame.ok) throw new Error("a request was refused");
        answered(frame.payload);
      });
    });
  }

  ask(method, params, answered) {
    const id = String(++this.#last);
    this.#waiting.set(id, answered);
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
  }

  close() {
    this.#socket.close();
  }
}

const clients = await Promise.all(Array.from({ length: Number(connections) }, Client.open));

function block(ms) {
  return new Promise((done) => {
    const end = performance.now() + ms;
    let answers = 0;
    let open = 0;
    const ask = (client) => {
      open += 1;
      client.ask("health", {}, () => {
        open -= 1;
        answers += 1;
        if (performance.now() < end) ask(client);
        else if (open === 0) done(answers);
      });
    };
    for (const client of clients) for (let i = 0; i < Number(inFlight); ++i) ask(client);
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  const answers = await block(Number(line));
  const { user, system } = process.cpuUsage(before);
  console.log(`${answers} ${user + system}`);
}
for (const client of clients) client.close();
