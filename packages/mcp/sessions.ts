// Sessions of streamable HTTP up to protocol 2025-11-25: one for each client that initializes, so
// that it can subscribe and take a call back. Newer clients need none.

import {
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** A person's clients; more of them end the session that was quiet for the longest time. */
export const mostSessions = 16;
/** A client that comes back later begins anew, as the protocol has it. */
const quietMs = 3_600_000;

type Session = {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  lastAt: number;
  /** The streams on which its client listens: one that listens is not quiet. */
  streams: number;
};

export type Sessions = {
  /** null: the request is of no session. */
  answer(request: Request): Promise<Response | null>;
  close(): Promise<void>;
};

type Made = {
  readonly serve: () => McpServer;
  readonly maxRequestBodySize: number;
  /** Milliseconds. */
  readonly now: () => number;
};

const header = 'mcp-session-id';

export function createSessions({ serve, maxRequestBodySize, now }: Made): Sessions {
  const sessions = new Map<string, Session>();
  const end = async (id: string) => {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  };
  const makeRoom = async () => {
    const heardAt = ({ lastAt, streams }: Session) => (streams > 0 ? now() : lastAt);
    const byQuiet = [...sessions].sort(([, a], [, b]) => heardAt(a) - heardAt(b));
    const tooMany = byQuiet.slice(0, Math.max(0, byQuiet.length - mostSessions + 1));
    const quiet = byQuiet.filter(([, each]) => now() - heardAt(each) > quietMs);
    for (const [id] of new Set([...tooMany, ...quiet])) await end(id);
  };
  const begun = async (request: Request) => {
    await makeRoom();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      maxRequestBodySize,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server, lastAt: now(), streams: 0 });
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    const server = serve();
    await server.connect(transport);
    endingStreams(transport);
    return transport.handleRequest(request);
  };
  return {
    answer: async (request) => {
      const id = request.headers.get(header);
      if (id === null)
        return (await isBeginning(request, maxRequestBodySize)) ? begun(request) : null;
      const session = sessions.get(id);
      if (session === undefined) return unknown();
      session.lastAt = now();
      if (request.method === 'GET') listening(session, request.signal);
      return session.transport.handleRequest(request);
    },
    close: async () => {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

/** The signal aborts when the stream has ended, however it did. */
function listening(session: Session, signal: AbortSignal): void {
  session.streams += 1;
  const ended = () => {
    session.streams -= 1;
  };
  signal.addEventListener('abort', ended, { once: true });
}

/** A call that was taken back gets no answer: its stream ends, or it would keep a connection. */
function endingStreams(transport: WebStandardStreamableHTTPServerTransport): void {
  const heard = transport.onmessage;
  transport.onmessage = (message, extra) => {
    heard?.(message, extra);
    if (!('method' in message) || message.method !== 'notifications/cancelled') return;
    const { requestId } = (message.params ?? {}) as { requestId?: string | number };
    if (requestId !== undefined) transport.closeSSEStream(requestId);
  };
}

async function isBeginning(request: Request, maxRequestBodySize: number): Promise<boolean> {
  if (request.method !== 'POST') return false;
  if (!(await isLegacyRequest(request, undefined, { maxRequestBodySize }))) return false;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null);
  return isInitializeRequest(body);
}

/** The client then begins a new session (MCP 2025-11-25, transports). */
function unknown(): Response {
  const error = { code: -32_001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
