// The connection to the feed: resumed where it was lost, after a random wait that grows.

import type { ParleyClient } from '../client.ts';
import { messageOf, ParleyApiError } from '../errors.ts';
import type { Rfq, Frame as ServerFrame } from '../generated.ts';
import { type HttpOptions, keyText } from '../http.ts';

export type { Frame as ServerFrame } from '../generated.ts';

export type LinkState = 'connecting' | 'live' | 'closed';

/** How one connects. */
export type LinkTo = {
  /** Instead of a key with the scope `maker`: asks for a ticket, of whoever `fetch` signs in. */
  readonly ticket?: () => Promise<string>;
  /** From 0 to 1: the part of its longest wait after which it connects again. */
  readonly random?: () => number;
  /** Instead of the runtime's WebSocket. */
  readonly open?: (url: string) => WebSocket;
};

export type LinkOptions = {
  /** `ws:` or `wss:`. */
  readonly url: string;
  /** A key, or what asks for a ticket: each connection has one of its own. */
  readonly key: string | (() => Promise<string>);
  /** Further fields of the first frame of each connection. */
  readonly greeting?: () => object;
  readonly heard: (frame: ServerFrame) => void;
  readonly changed: (state: LinkState) => void;
  /** A connection was lost, or could not be had. */
  readonly troubled: (sentence: string) => void;
  /** It is given up: the key is not, or no longer, good for the feed. */
  readonly ended: (sentence: string) => void;
  readonly random?: (() => number) | undefined;
  readonly open?: ((url: string) => WebSocket) | undefined;
};

/** Silence that is broken by a ping, and what is waited for its answer. */
const quietMs = 15_000;
const answerMs = 10_000;
const waitFirstMs = 250;
const waitMostMs = 30_000;
/** Characters of a frame; the newest 200 RFQs are a tenth of it. */
const mostFrameLength = 8_388_608;
const tooLongCode = 1_009;
/** A connection that lived as long as this was a good one. */
const provenMs = 10_000;
/** The session has ended: the market gives no ticket, however often one asks. */
const signedOut = (error: unknown) => error instanceof ParleyApiError && error.status === 401;
/**
 * Codes of errors that end the feed: the key is wrong, has ended, or lacks the scope. A close alone
 * says less.
 */
const fatalCodes = new Map<string, string>([
  ['key_invalid', 'the API key is not valid'],
  ['scope_missing', 'the API key lacks the scope maker'],
]);
const tooManyCode = 4429;

type Told = { readonly onError?: ((sentence: string) => void) | undefined };

/**
 * The link of these options. The socket cannot tell why it does not open, so the first time a
 * request finds out: the address may be of something else than a market.
 */
export function linkOf(options: HttpOptions & LinkTo & Told, client: ParleyClient) {
  const { baseUrl, key = '', ticket, random, open, onError = () => {} } = options;
  if (ticket === undefined && key.trim() === '') {
    throw new TypeError('the feed needs an API key with the scope `maker`: none was given');
  }
  let isExplained = false;
  return {
    url: `${baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '')}/v1/ws`,
    key: ticket ?? keyText(key),
    random,
    open,
    troubled: (sentence: string) => {
      onError(sentence);
      if (isExplained) return;
      isExplained = true;
      client.status().catch((error: unknown) => onError(messageOf(error)));
    },
  };
}

/**
 * Knows what is sent again: a client that resumes from an entry's number gets all private RFQs
 * under it anew.
 */
function createRepeats() {
  /** Private RFQs under one number; beyond it one that is sent again is heard again. */
  const mostCounted = 20_000;
  /** Frames heard under the newest number, by RFQ; and how many of them are still to come again. */
  const counts = new Map<string, number>();
  let due = new Map<string, number>();
  return {
    forget: () => {
      counts.clear();
      due.clear();
    },
    isOne: (frame: ServerFrame): boolean => {
      if (frame.type === 'resumed') due = new Map(counts);
      if (frame.type !== 'rfq' && frame.type !== 'gone') return false;
      const id = frame.type === 'rfq' ? frame.rfq.id : frame.rfqId;
      const left = due.get(id) ?? 0;
      if (left > 0) due.set(id, left - 1);
      else counts.set(id, (counts.get(id) ?? 0) + 1);
      if (counts.size > mostCounted) counts.clear();
      return left > 0;
    },
  };
}

export type Link = ReturnType<typeof createLink>;

export function createLink(options: LinkOptions) {
  const { url, key, heard, changed, troubled, ended, random = Math.random } = options;
  const open = options.open ?? ((address: string) => new WebSocket(address));
  let socket: WebSocket | null = null;
  let live = false;
  let closed = false;
  let since: number | null = null;
  const repeats = createRepeats();
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let quiet: NodeJS.Timeout | undefined;

  const listen = (own: WebSocket) => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      if (own !== socket) return;
      if (live) own.send(JSON.stringify({ ping: 'still there?' }));
      // The other end may not be there to answer a close either.
      quiet = setTimeout(() => lost(own, null), answerMs);
    }, quietMs);
  };

  const take = (own: WebSocket, data: unknown) => {
    if (own !== socket) return;
    if (typeof data === 'string' && data.length > mostFrameLength) {
      own.close();
      return lost(own, tooLongCode);
    }
    listen(own);
    const frame = parseFrame(data);
    if (frame === null) return;
    if (frame.seq !== undefined && frame.seq > (since ?? -1)) {
      since = frame.seq;
      repeats.forget();
    }
    // Not known of what was seen before: the book comes anew.
    if (frame.type === 'reset') {
      since = frame.seq;
      repeats.forget();
    }
    if (!repeats.isOne(frame)) heard(frame);
    if (frame.type === 'error') giveUp(own, frame.code);
    if (frame.type !== 'ready') return;
    live = true;
    changed('live');
  };

  const connect = () => {
    if (typeof key === 'string') return begin(key);
    key().then(
      (ticket) => closed || begin(ticket),
      (error: unknown) => {
        if (closed) return;
        if (signedOut(error)) return end('no account is signed in here any more');
        troubled(`no ticket for the feed (${messageOf(error)}): trying again`);
        timer = setTimeout(connect, waitMs(null));
      },
    );
  };

  const begin = (shown: string) => {
    const own = open(url);
    const began = Date.now();
    socket = own;
    listen(own);
    own.addEventListener('open', () => {
      const resume = { resume: true, ...(since === null ? {} : { since }) };
      own.send(JSON.stringify({ apiKey: shown, ...resume, ...options.greeting?.() }));
    });
    own.addEventListener('message', ({ data }) => take(own, data));
    own.addEventListener('error', () => {}); // `close` follows.
    own.addEventListener('close', ({ code }) => {
      if (Date.now() - began > provenMs) failures = 0;
      lost(own, code);
    });
  };

  const lost = (own: WebSocket, code: number | null) => {
    if (own !== socket || closed) return;
    socket = null;
    live = false;
    clearTimeout(quiet);
    if (code === null) own.close();
    changed('connecting');
    const why = code === null ? 'it says nothing' : `code ${code}`;
    troubled(`no connection to the feed (${why}): trying again`);
    timer = setTimeout(connect, waitMs(code));
  };

  const giveUp = (own: WebSocket, code: string | undefined) => {
    // A ticket ends with its sign-in, and the next one tells whether anybody is signed in.
    const sentence = typeof key === 'string' ? fatalCodes.get(code ?? '') : undefined;
    if (sentence === undefined) return;
    own.close();
    end(sentence);
  };

  const end = (sentence: string) => {
    closed = true;
    live = false;
    clearTimeout(quiet);
    changed('closed');
    ended(sentence);
  };

  /** Anywhere within a span that doubles: those who were cut off together come back apart. */
  const waitMs = (code: number | null): number => {
    const span = Math.min(waitFirstMs * 2 ** failures, waitMostMs);
    failures += 1;
    return (code === tooManyCode ? waitMostMs : span) * random();
  };

  connect();
  return {
    /** False where nothing can be sent now. */
    send: (frame: object): boolean => {
      if (!live || socket === null) return false;
      socket.send(JSON.stringify(frame));
      return true;
    },
    isLive: (): boolean => live,
    close: (): void => {
      if (closed) return;
      closed = true;
      live = false;
      clearTimeout(timer);
      clearTimeout(quiet);
      socket?.close();
      changed('closed');
    },
  };
}

/** Null for what is no frame, or one of a kind not known here. */
export function parseFrame(data: unknown): ServerFrame | null {
  if (typeof data !== 'string') return null;
  let frame: Record<string, unknown> | null;
  try {
    frame = JSON.parse(data) as typeof frame;
  } catch {
    return null;
  }
  if (typeof frame !== 'object' || frame === null) return null;
  return isWhole(frame) ? (frame as ServerFrame) : null;
}

const refusedFields = ['code', 'rfqId', 'idempotencyKey', 'baseAssetId', 'quoteAssetId'];

function isWhole(frame: Record<string, unknown>): boolean {
  const isText = (name: string) => typeof frame[name] === 'string';
  const isTextOrNone = (name: string) => frame[name] === undefined || isText(name);
  const isList = (list: unknown) => Array.isArray(list) && list.every(isRfq);
  switch (frame.type) {
    case 'rfq':
      return isRfq(frame.rfq) && (frame.kind === 'created' || frame.kind === 'cancelled');
    case 'snapshot':
      return isList(frame.rfqs) && (frame.addressed === undefined || isList(frame.addressed));
    case 'gone':
      return isId(frame.rfqId) && (frame.reason === 'expired' || frame.reason === 'agreed');
    case 'quoted':
      return isText('rfqId') && isText('threadId') && isTextOrNone('idempotencyKey');
    case 'error':
      return isText('error') && refusedFields.every(isTextOrNone);
    case 'levels':
      return ['baseAssetId', 'quoteAssetId'].every(isText) && Number.isSafeInteger(frame.published);
    case 'subscribed':
      return typeof frame.resumed === 'boolean' && Number.isSafeInteger(frame.eventSeq);
    case 'cancelOnDisconnect':
      return frame.seconds === null || typeof frame.seconds === 'number';
    case 'quote.created':
    case 'thread.proposed':
    case 'thread.accepted':
    case 'thread.closed':
      return isText('threadId') && isText('rfqId') && Number.isSafeInteger(frame.eventSeq);
    case 'ready':
    case 'resumed':
    case 'reset':
    case 'pong':
      return true;
    default:
      return false;
  }
}

/** As long as the market makes them. */
const mostIdLength = 64;
/** Characters of an RFQ, eight times what it has: a book is bounded by their number. */
const mostRfqLength = 16_384;

const isId = (value: unknown) => typeof value === 'string' && value.length <= mostIdLength;

/** An RFQ in a frame or a page: a market that invents them must not fill the memory. */
export function isRfq(value: unknown): value is Rfq {
  return isId((value as Rfq | null)?.id) && JSON.stringify(value).length <= mostRfqLength;
}
