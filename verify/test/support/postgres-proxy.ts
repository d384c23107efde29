// A way to PostgreSQL on which a test stops the traffic at a chosen message, so that a process can
// be killed at that very point of its work. Reads as much of the wire protocol as that takes:
// https://www.postgresql.org/docs/current/protocol-message-formats.html

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Point = {
  /** The name of a prepared statement, or the whole text of a simple query; without it, any. */
  readonly statement?: string;
  /** The so-many-th of them from now on, 1 = the next. */
  readonly nth?: number;
  /** `before`: it never arrives. `after`: it is carried out, and its answer never arrives. */
  readonly when: 'before' | 'after';
  /** Only where this statement came before it on the same connection, since the last `begin`. */
  readonly having?: string;
  /** Only once a transaction with this statement was committed, on any connection. */
  readonly since?: string;
};

export type PostgresProxy = {
  readonly url: string;
  /** Stops the first connection that comes to the point; resolves when it has. */
  stopAt(point: Point): Promise<void>;
  /** The statements that clients asked for since the last point was chosen: as `Point` names it. */
  asked(): readonly string[];
  /** Ends every connection, as the death of the clients would. */
  cut(): void;
  close(): Promise<void>;
};

type Armed = Point & {
  left: number;
  readonly reached: () => void;
  readonly failed: (why: Error) => void;
};

/** The work of one connection. */
type Line = {
  readonly client: Socket;
  readonly server: Socket;
  /** Commands sent, and those of them that the server has finished. */
  sent: number;
  finished: number;
  stopped: Armed | null;
  /** The messages of a statement that is still carried out: how many are sent with it. */
  last: number;
  /** The names since the last `begin`. */
  names: Set<string>;
};

export async function postgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  let armed: Armed | null = null;
  /** Since the last point was chosen. */
  const committed = new Set<string>();
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const line: Line = {
      client,
      server: upstream,
      sent: 0,
      finished: 0,
      stopped: null,
      last: 0,
      names: new Set(),
    };
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.on(
      'data',
      messages(true, (type, bytes) => fromClient(line, type, bytes)),
    );
    upstream.on(
      'data',
      messages(false, (type, bytes) => fromServer(line, type, bytes)),
    );
  });

  function fromClient(line: Line, type: string, bytes: Buffer): void {
    // The rest of a prepared statement that is carried out goes through, up to its Sync.
    if (line.stopped !== null && line.sent >= line.last) return;
    const name = names(type, bytes);
    if (name === 'begin') line.names.clear();
    else if (name !== null) line.names.add(name);
    if (name !== null) asked.push(name);
    if (name === 'commit') for (const each of line.names) committed.add(each);
    const isHad =
      (armed?.having === undefined || line.names.has(armed.having)) &&
      (armed?.since === undefined || committed.has(armed.since));
    const isNamed = name !== null && (armed?.statement ?? name) === name && isHad;
    if (armed !== null && isNamed) armed.left -= 1;
    if (armed !== null && isNamed && armed.left === 0) {
      const point = armed;
      armed = null;
      line.stopped = point;
      line.last = line.sent + (point.when === 'before' ? 0 : 1);
      if (point.when === 'before') {
        point.reached();
        return;
      }
    }
    // The server says that it is ready after each of these.
    if (['startup', 'Q', 'S'].includes(type)) line.sent += 1;
    line.server.write(bytes);
  }

  function fromServer(line: Line, type: string, bytes: Buffer): void {
    const { stopped } = line;
    if (stopped?.when !== 'after') line.client.write(bytes);
    else if (type === 'E') stopped.failed(new Error(bytes.toString('latin1')));
    if (type !== 'Z') return;
    line.finished += 1;
    if (stopped?.when === 'after' && line.finished === line.last) stopped.reached();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    stopAt: (point) =>
      new Promise((reached, failed) => {
        committed.clear();
        asked.length = 0;
        armed = { ...point, left: point.nth ?? 1, reached, failed };
      }),
    asked: () => [...asked],
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Cuts what arrives into messages; a client's first one has no type. */
function messages(client: boolean, take: (type: string, bytes: Buffer) => void) {
  let rest = Buffer.alloc(0);
  let first = client;
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const start = first ? 0 : 1;
      if (rest.length < start + 4) return;
      const length = start + rest.readUInt32BE(start);
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(first ? 'startup' : String.fromCharCode(bytes[0] as number), bytes);
      first = false;
    }
  };
}

/** The statement that a client's message asks for; null where it runs none. */
function names(type: string, bytes: Buffer): string | null {
  const strings = bytes.subarray(5).toString('utf8').split('\0');
  if (type === 'Q') return strings[0] ?? null;
  // Bind: the portal, then the statement.
  return type === 'B' ? (strings[1] ?? null) : null;
}
