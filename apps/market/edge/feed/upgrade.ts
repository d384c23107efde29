// From HTTP to a socket: a request for one passes the same gate as every other, and is refused in
// the same form.

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { siteOf } from '../../people/site.ts';
import type { Settings } from '../../settings/config.ts';
import { type Access, causeOf } from '../access.ts';
import { HttpError } from '../errors.ts';
import { clientOf } from '../forwarded.ts';
import type { From } from './inbox.ts';
import { FeedSocket, socketLimits } from './peer.ts';

export const feedPath = '/v1/ws';

/** A socket that is open, the address it comes from, and the request that opened it. */
export type Opened = (ws: WebSocket, socket: Socket, from: From) => void;

/** Whether node is to hand the connection over, instead of treating it as any request. */
export function wantsSocket({ url = '', headers }: IncomingMessage): boolean {
  // In absolute form too (RFC 9112, 3.2.2).
  const [path] = url.replace(/^https?:\/\/[^/]*/i, '').split('?');
  return path === feedPath && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Declares the path, and calls `opened` for every socket that passes the gate. */
export function acceptSockets(app: FastifyInstance, settings: Sites, opened: Opened): void {
  const sockets = new WebSocketServer({
    ...socketLimits,
    noServer: true,
    clientTracking: false,
    WebSocket: FeedSocket,
  });
  const heads = new WeakMap<IncomingMessage, Buffer>();
  const named = new WeakMap<IncomingMessage, FastifyReply>();
  sockets.on('headers', (lines, request) => {
    for (const [name, value] of Object.entries(named.get(request)?.getHeaders() ?? {})) {
      // The header is that of a refused upgrade. Beside "Upgrade" a proxy takes it for the end
      // (Caddy, all of Go).
      if (name !== 'connection') lines.push(`${name}: ${value}`);
    }
  });

  app.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(request);
    response.assignSocket(socket);
    response.shouldKeepAlive = false;
    response.on('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    heads.set(request, head);
    app.routing(request, response);
  });

  app.get(
    feedPath,
    { config: { access: { kind: 'open', socket: true } satisfies Access } },
    async (request, reply) => {
      const { raw } = request;
      const head = heads.get(raw);
      if (head === undefined) {
        const sentence = 'this is a WebSocket: connect with Upgrade: websocket';
        throw new HttpError('upgrade_required', sentence, { upgrade: 'websocket' });
      }
      mustBeHandshake(request);
      const stranger = strangeOrigin(settings, request);
      const from = { client: clientOf(request), cause: causeOf(request), stranger };
      const socket = raw.socket;
      named.set(raw, reply);
      reply.hijack();
      reply.raw.detachSocket(socket);
      sockets.handleUpgrade(raw, socket, head, (ws) => opened(ws, socket, from));
      return reply;
    },
  );
}

type Sites = Pick<Settings, 'people' | 'network'>;

/**
 * The origin of a page that is neither ours nor named; null = any other client. Browsers let any
 * page open a socket anywhere. Some programs send an origin too.
 */
function strangeOrigin(
  { people, network }: Sites,
  { headers: { origin, host } }: FastifyRequest,
): string | null {
  if (origin === undefined || people.corsOrigins.includes(origin)) return null;
  const { publicUrl } = people;
  const ours = publicUrl ?? siteOf({ publicUrl, network }, host)?.origin;
  return origin === ours ? null : origin;
}

/** The checks that the library would answer in its own form (RFC 6455, 4.2.1). */
function mustBeHandshake({ headers }: FastifyRequest): void {
  const { 'sec-websocket-key': key, 'sec-websocket-version': version } = headers;
  if (version !== '13') {
    const said = { upgrade: 'websocket', 'sec-websocket-version': '13' };
    throw new HttpError('upgrade_required', 'Sec-WebSocket-Version must be 13', said);
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(key ?? '')) {
    throw new HttpError('bad_header', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
  const protocols = headers['sec-websocket-protocol'];
  if (protocols !== undefined && !/^[!-+\--~]+( *, *[!-+\--~]+)*$/.test(protocols)) {
    throw new HttpError('bad_header', 'Sec-WebSocket-Protocol must be a list of names');
  }
}
