// The dev network's inbox: a real SMTP server that takes mail for anybody and delivers none of it,
// and a page that shows what came. Loopback only.

import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { RefusedRequest } from '@parley/host/failure.ts';
import type { Log } from '@parley/host/log.ts';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { mustBeLocal, mustNameThisMachine, reply } from '../control.ts';
import { closeServer, listenOnLoopback } from '../listening.ts';
import { loopback } from '../processes.ts';
import { type Mail, readMail } from './mail.ts';
import { html, sendPage } from './pages.ts';

/** The newest are kept: with `mostTextChars` a text, 13 MB at the very most. */
export const mostMails = 200;
export const mostMailBytes = 256 * 1024;
export const mostRecipients = 20;
/** A market sends over a handful of connections. */
const mostConnections = 20;
const connectionIdleMs = 10_000;
const requestLimitMs = 10_000;

export type ReceivedMail = Mail & {
  /** Counts from 1 at each start. */
  readonly id: number;
  readonly receivedAt: string;
  /** Whom SMTP named, which is who got it; lower case. */
  readonly recipients: readonly string[];
};

export type Inbox = {
  readonly smtpUrl: string;
  readonly smtpPort: number;
  /** The page. */
  readonly url: string;
  readonly port: number;
  /** Newest first; those of one recipient where one is given. */
  mails(to?: string): readonly ReceivedMail[];
  stop(): Promise<void>;
};

export type InboxOptions = {
  readonly log: Log;
  /** Each: the port of the last run. */
  readonly smtpPort?: number | undefined;
  readonly port?: number | undefined;
  /** Default `mostMails`. */
  readonly keeps?: number;
};

type State = {
  readonly keeps: number;
  received: number;
  mails: ReceivedMail[];
};

export async function startInbox(options: InboxOptions): Promise<Inbox> {
  const { log, smtpPort, port, keeps = mostMails } = options;
  const state: State = { keeps, received: 0, mails: [] };
  const smtp = listener(smtpServer(state));
  const http = createHttpServer((request, response) => void answer(state, log, request, response));
  http.requestTimeout = requestLimitMs;
  http.maxConnections = 4 * mostConnections;
  const smtpTaken = await listenOnLoopback(smtp.server, smtpPort);
  try {
    const taken = await listenOnLoopback(http, port);
    return {
      smtpUrl: `smtp://${loopback}:${smtpTaken}`,
      smtpPort: smtpTaken,
      url: `http://${loopback}:${taken}/`,
      port: taken,
      mails: (to) => mailsTo(state, to),
      stop: async () => {
        await Promise.all([smtp.stop(), closeServer(http)]);
      },
    };
  } catch (error) {
    await smtp.stop();
    throw error;
  }
}

/** It ends at once, whoever is connected. */
function listener({ server }: SMTPServer) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  server.maxConnections = mostConnections;
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { server, stop };
}

function smtpServer(state: State): SMTPServer {
  const server = new SMTPServer({
    name: 'inbox.localhost',
    banner: 'mail to anybody stays here',
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    size: mostMailBytes,
    maxClients: mostConnections,
    socketTimeout: connectionIdleMs,
    onRcptTo: (_address, { envelope }, callback) => {
      const isFull = envelope.rcptTo.length >= mostRecipients;
      callback(isFull ? refusal(452, `a mail may have ${mostRecipients} recipients`) : null);
    },
    onData: (stream, session, callback) => {
      receive(state, stream, session).then(
        (refused) => callback(refused),
        (error: Error) => callback(error),
      );
    },
  });
  // A client that hangs up in the middle is no news, and must not end the market.
  server.on('error', () => undefined);
  return server;
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

async function receive(state: State, stream: SMTPServerDataStream, session: SMTPServerSession) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Read to its end all the same: SMTP answers after the last byte.
    if (size <= mostMailBytes) chunks.push(chunk);
  }
  if (size > mostMailBytes || stream.sizeExceeded) {
    return refusal(552, `a mail may have ${mostMailBytes} bytes`);
  }
  state.received += 1;
  const mail: ReceivedMail = {
    id: state.received,
    receivedAt: new Date().toISOString(),
    recipients: session.envelope.rcptTo.map(({ address }) => address.toLowerCase()),
    ...readMail(Buffer.concat(chunks)),
  };
  state.mails = [mail, ...state.mails].slice(0, state.keeps);
  return null;
}

function mailsTo(state: State, to: string | undefined): readonly ReceivedMail[] {
  if (to === undefined) return state.mails;
  return state.mails.filter(({ recipients }) => recipients.includes(to.toLowerCase()));
}

async function answer(state: State, log: Log, request: IncomingMessage, response: ServerResponse) {
  try {
    await route(state, request, response);
  } catch (error) {
    const refused = error instanceof RefusedRequest;
    if (!refused) log.error({ err: error, url: request.url }, 'a request to the inbox failed');
    const message = error instanceof Error ? error.message : String(error);
    reply(response, refused ? error.status : 500, { error: message });
  }
}

async function route(state: State, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://inbox');
  const to = searchParams.get('to') ?? undefined;
  switch (`${request.method} ${pathname}`) {
    case 'GET /':
      // A link on the market's page leads here, and no other page can read it.
      mustNameThisMachine(request);
      return sendInbox(state, to, response);
    case 'GET /mails.json':
      mustBeLocal(request);
      return reply(response, 200, { mails: mailsTo(state, to) });
    default:
      throw new RefusedRequest(404, 'There is GET / and GET /mails.json.');
  }
}

function sendInbox(state: State, to: string | undefined, response: ServerResponse): void {
  const mails = mailsTo(state, to);
  const here = to === undefined ? '/' : `/?to=${encodeURIComponent(to)}`;
  const whose = to === undefined ? html`` : html` to ${to} (<a href="/">all</a>)`;
  const articles = mails.map(
    (mail) => html`
<article><h2>${mail.subject || '(no subject)'}</h2>
<p class="facts">${mail.receivedAt} · from ${mail.from} · to ${mail.recipients.join(', ')}</p>
<pre>${mail.text}</pre></article>`,
  );
  sendPage(response, 200, {
    title: 'Inbox of the dev network',
    // A page that waits for a first mail reloads by itself; a page that is read stays still.
    head: mails.length === 0 ? html`<meta http-equiv="refresh" content="2">` : html``,
    body: html`<p>${String(mails.length)} of at most ${String(state.keeps)} mails${whose}.
<a href="${here}">Look again</a></p>${articles}`,
  });
}
