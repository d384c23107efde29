// A way to a TCP server, a node's or PostgreSQL's, that does what networks do: it is late, it cuts,
// it takes what is sent and says nothing. It alters no byte.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type Fault =
  /** Every piece, both ways, comes so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Connections are ended, new ones too. */
  | { readonly kind: 'cut' }
  /** Half-open: a request arrives, and its answer never does. */
  | { readonly kind: 'mute' };

export type FaultProxy = {
  readonly port: number;
  /** From now on. */
  fail(fault: Fault): void;
  /** Connections on which something was lost are ended: no client gets a gap for an answer. */
  heal(): void;
  /** From the next connection on; those that are there are ended. */
  pointTo(...ports: readonly number[]): void;
  /** Ends those that are there. */
  cut(): void;
  /** Connections that were taken so far. */
  taken(): number;
  close(): Promise<void>;
};

type Line = { readonly ends: readonly [Socket, Socket]; lost: boolean };

/** Several ports: connections go to them by turns, past those that refuse them. */
export async function faultProxy(...ports: readonly number[]): Promise<FaultProxy> {
  const lines = new Set<Line>();
  const state = { fault: null as Fault | null, ports, turn: 0, taken: 0 };
  let changed = Promise.withResolvers<void>();
  const become = (fault: Fault | null) => {
    state.fault = fault;
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const pause = (ms: number) =>
    Promise.race([sleep(ms, undefined, { ref: false }), changed.promise]);

  async function pass(line: Line, chunk: Buffer, to: Socket, isAnswer: boolean): Promise<void> {
    const { fault } = state;
    switch (fault?.kind) {
      case 'delay':
        await pause(fault.ms);
        to.write(chunk);
        return;
      case 'mute':
        if (isAnswer) line.lost = true;
        else to.write(chunk);
        return;
      default:
        to.write(chunk);
    }
  }

  async function carry(line: Line, from: Socket, to: Socket, isAnswer: boolean): Promise<void> {
    try {
      for await (const chunk of from) {
        if (line.lost && isAnswer) continue;
        await pass(line, chunk as Buffer, to, isAnswer);
      }
    } catch {
      // An end like any other.
    }
    for (const each of line.ends) each.destroy();
    lines.delete(line);
  }

  const server = createServer((client) => {
    client.on('error', () => {});
    state.taken += 1;
    if (state.fault?.kind === 'cut') {
      client.destroy();
      return;
    }
    reach(state.ports, state.turn++)
      .then((upstream) => {
        const line: Line = { ends: [client, upstream], lost: false };
        lines.add(line);
        void carry(line, client, upstream, false);
        void carry(line, upstream, client, true);
      })
      .catch(() => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endAll = (which: (line: Line) => boolean) => {
    for (const line of lines) if (which(line)) for (const each of line.ends) each.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    fail: (fault) => {
      become(fault);
      if (fault.kind === 'cut') endAll(() => true);
    },
    heal: () => {
      endAll(({ lost }) => lost);
      become(null);
    },
    pointTo: (...next) => {
      state.ports = next;
      endAll(() => true);
    },
    cut: () => endAll(() => true),
    taken: () => state.taken,
    close: async () => {
      become(null);
      endAll(() => true);
      server.close();
      await once(server, 'close');
    },
  };
}

/** The first that takes a connection, from this turn on. */
async function reach(ports: readonly number[], turn: number): Promise<Socket> {
  let failure: unknown = new Error('there is no port');
  for (const at of ports.keys()) {
    const socket = connect(ports[(turn + at) % ports.length] as number, '127.0.0.1');
    try {
      await once(socket, 'connect');
      socket.on('error', () => {});
      return socket;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
