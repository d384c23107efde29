// The input of a socket: its first frame, then quotes and pings. Frames are answered side by side,
// but those on one RFQ in turn, so that the price sent last is the one that stands.

import type { FeedTopic } from '@parley/core/events.ts';
import type { WebSocket } from 'ws';
import { blocked } from '../../db/accounts.ts';
import { isTicket, useTicket } from '../../people/feed-tickets.ts';
import { type Cause, causedBy } from '../../ports/cause.ts';
import type { Credential } from '../auth.ts';
import { Malformed, parseBody } from '../body.ts';
import { overBudget } from '../budgets.ts';
import { inputCheck, type Run } from '../command.ts';
import { fault as faultOfOurs, HttpError, refusalOf } from '../errors.ts';
import type { Asked } from '../idempotency/once.ts';
import { withoutNulls } from '../schemas/common.ts';
import {
  firstFrame,
  levelsFrame,
  pingFrame,
  quoteFrame,
  quotesFrame,
  switchFrame,
} from '../schemas/feed.ts';
import type { Manner } from './frames.ts';
import type { Maker } from './maker.ts';
import {
  begin,
  callerOf,
  createMaker,
  endBlocked,
  endKey,
  type Feed,
  type Greeting,
} from './maker.ts';
import { closeCodes, mostFrameBytes, type Peer } from './peer.ts';

/** A socket that has not signed in after this time, or these tries, is closed with 4401. */
const greetingMs = 10_000;
const mostGreetings = 3;
/**
 * Frames of a socket that are being answered. More wait: in the network, but for those that came
 * together with these, 64 KiB at most.
 */
const mostInHand = 64;
/** Answers in a second that no budget pays for: pongs, and that a budget is out. */
const mostFree = 200;
const heldMs = 250;

export type Inbox = {
  /** The maker, once its first frame was taken. */
  maker(): Maker | null;
};

/** The maker of the socket. */
export type From = {
  readonly client: string;
  readonly cause: Cause;
  /** Origin of a page that may show no ticket; null = it may. */
  readonly stranger: string | null;
};

type Came = { readonly data: Buffer; readonly isBinary: boolean };

/** Reads the socket until it is closed. */
export function openInbox(feed: Feed, ws: WebSocket, peer: Peer, from: From): Inbox {
  const { client, cause } = from;
  let maker: Maker | null = null;
  let greetings = 0;
  let isFinding = false;
  let turn = Promise.resolve();
  const waiting: Came[] = [];
  let inHand = 0;
  let held = false;
  /** A client that is over its budget is not read for a moment. */
  const hold = () => {
    if (held) return;
    held = true;
    ws.pause();
    setTimeout(() => {
      held = false;
      readOn();
    }, heldMs).unref();
  };
  const hears = createHearing(feed, client, hold);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    const sentence = `no valid first frame within ${greetingMs / 1_000} s`;
    // A look-up that takes as long says by itself how it ended.
    if (maker === null && !isFinding) peer.end(closeCodes.noKey, sentence);
  }, greetingMs);
  timer.unref();

  const greet = async (came: Came): Promise<void> => {
    if (!peer.isOpen()) return;
    isFinding = true;
    const answer = await readGreeting(feed, came, from).catch((error: unknown): Rejected => {
      const { sentence, code } = refused(feed, error);
      // Not its fault: it is to come again, not to mend its key.
      const isOurs = code === 'unavailable' || code === 'internal';
      return isOurs ? { sentence, close: closeCodes.restart } : { sentence };
    });
    isFinding = false;
    if (!peer.isOpen()) return;
    if ('caller' in answer) {
      maker = createMaker(feed, peer, answer, client);
      feed.uses.note(answer.caller, client);
      clearTimeout(timer);
      feed.hub.join(maker);
      // Not waited for: frames that come meanwhile are heard.
      void begin(feed, maker, answer);
      return;
    }
    greetings += 1;
    const last = isLate || greetings >= mostGreetings ? closeCodes.noKey : undefined;
    const { sentence, close = last, ...more } = answer;
    if (close !== undefined) peer.end(close, sentence, more);
    else peer.say({ type: 'error', error: sentence, ...more });
  };

  const answer = (came: Came): Promise<void> => {
    if (maker !== null) return hears(maker, came);
    const own = turn.then(() => (maker === null ? greet(came) : hears(maker, came)));
    turn = own.catch(() => {});
    return own;
  };
  const done = () => {
    inHand -= 1;
    take();
    readOn();
  };
  const take = () => {
    if (!peer.isOpen()) waiting.length = 0;
    while (inHand < mostInHand) {
      const came = waiting.shift();
      if (came === undefined) return;
      inHand += 1;
      causedBy(cause, () => answer(came)).then(done, done);
    }
  };
  const readOn = () => {
    if (!held && inHand < mostInHand && ws.isPaused) ws.resume();
  };

  ws.on('message', (data: Buffer, isBinary) => {
    if (!peer.isOpen()) return;
    if (data.length > mostFrameBytes) {
      const sentence = `a frame has ${data.length} bytes, more than ${mostFrameBytes}`;
      return peer.end(closeCodes.tooLarge, sentence);
    }
    waiting.push({ data, isBinary });
    take();
    if (inHand >= mostInHand) ws.pause();
  });
  ws.on('close', () => clearTimeout(timer));
  return { maker: () => maker };
}

/** The socket is ended with `close`, where there is one; otherwise it may try again. */
type Rejected = {
  readonly sentence: string;
  readonly close?: number;
  /** The code of the refusal, for who asked for `resume`. */
  readonly code?: string;
};

const checkFirst = inputCheck(firstFrame, 'the frame');
const example = 'the first frame must be {"apiKey": "<key>"}';

type First = {
  readonly resume?: boolean;
  readonly since?: number;
  readonly events?: readonly FeedTopic[];
  readonly sinceEvent?: number;
  readonly cancelOnDisconnect?: number;
  readonly minSettled?: number;
};

/** Throws what a look-up throws. */
async function readGreeting(
  { keys, budgets, deps }: Feed,
  came: Came,
  { client, stranger }: From,
): Promise<Greeting | Rejected> {
  const frame = parseFrame(came);
  // Before all else that may be wrong with the frame: a ticket that was shown is used up.
  const shown = await credentialIn(deps, frame, stranger);
  const fault = checkFirst(frame);
  if (fault !== null) return { sentence: `${example}: ${fault}` };
  const first = withoutNulls(firstFrame, frame) as First;
  const { resume = false, since = null, events, sinceEvent = null } = first;
  const { cancelOnDisconnect: graceSeconds = null, minSettled = null } = first;
  const coded = (code: string) => (resume ? { code } : {});
  if (since !== null && !resume) return { sentence: '"since" goes with "resume": true only' };
  if (sinceEvent !== null && events === undefined) {
    return { sentence: '"sinceEvent" goes with "events" only', ...coded('bad_field') };
  }
  const caller = shown === null ? null : await callerOf(keys, shown);
  if (shown === null || caller === null) {
    // As a request with such a key would.
    const spent = await budgets.spendClient(client);
    if (spent.allowed) return { sentence: notTaken(shown), ...coded('key_invalid') };
    const { message: sentence, code } = overBudget(spent);
    return { sentence, close: closeCodes.tooMany, ...coded(code) };
  }
  // The frame costs the same in any case: it is one request, and so is the book that answers it.
  const spent = await budgets.spendCaller(caller, client);
  if (!spent.allowed) {
    const { message: sentence, code } = overBudget(spent);
    return { sentence, close: closeCodes.tooMany, ...coded(code) };
  }
  if (!caller.scopes.includes('maker')) {
    const held = caller.scopes.join(', ');
    const sentence = `the feed needs a key with the scope "maker"; this key has ${held}`;
    return { sentence, close: closeCodes.noScope, ...coded('scope_missing') };
  }
  if (caller.isBlocked) {
    const { code, message: sentence } = blocked();
    return { sentence, close: closeCodes.noScope, ...coded(code) };
  }
  const asked = events === undefined ? null : { names: events, since: sinceEvent };
  const manner = resume ? 'resume' : 'plain';
  return { shown, caller, manner, since, minSettled, asked, graceSeconds };
}

/**
 * The key of the frame, or the session that its ticket stood for; null = one that is not good. A
 * ticket comes of a cookie, so no page of another site may show one. A key is held by whoever
 * shows it.
 */
async function credentialIn(
  deps: Feed['deps'],
  frame: unknown,
  stranger: string | null,
): Promise<Credential | null> {
  const { apiKey } = (frame ?? {}) as { apiKey?: unknown };
  if (typeof apiKey !== 'string') return null;
  if (!isTicket(deps.settings, apiKey)) return apiKey;
  const digest = await useTicket(deps, apiKey);
  if (stranger !== null) {
    const from = JSON.stringify(stranger.slice(0, 100));
    throw new HttpError('cross_site', `pages of ${from} may show no ticket here, only an API key`);
  }
  return digest && { kind: 'session-hash', digest: digest.toString('base64') };
}

function notTaken(shown: Credential | null): string {
  if (typeof shown === 'string') return 'the API key is invalid, revoked or expired';
  if (shown !== null) return 'the session has ended';
  return 'the ticket is unknown, was used, or is older than 30 s: ask for a new one';
}

/** JSON of a text frame. Throws `bad_field` and `malformed_json`. */
function parseFrame({ data, isBinary }: Came): unknown {
  if (isBinary) throw new HttpError('bad_field', 'frames are JSON in text, not binary');
  const value = parseBody(data.toString(), 'the frame');
  if (value instanceof Malformed) throw new HttpError('malformed_json', value.sentence);
  return value === undefined ? {} : value;
}

/** The sentence for anything thrown, and its code. */
function refused({ deps }: Feed, error: unknown): { sentence: string; code: string } {
  const refusal = refusalOf(error, deps.settings.shortName);
  if (refusal === null) deps.log.error({ err: error }, 'a frame failed');
  return refusal ?? faultOfOurs();
}

type Quote = { rfqId: string; idempotencyKey?: string; [field: string]: unknown };
type Quotes = { quotes: readonly { rfqId: string }[]; idempotencyKey?: string };
type Levels = { baseAssetId: string; quoteAssetId: string; idempotencyKey?: string };

const checkPing = inputCheck(pingFrame, 'the frame');
const checkSwitch = inputCheck(switchFrame, 'the frame');

/** Answers the frames of one socket. */
function createHearing(feed: Feed, client: string, hold: () => void) {
  const turns = new Map<string, Promise<void>>();
  const free = createAllowance();

  /** The answer that REST gives; null where the key is good no more. */
  const ask = async (maker: Maker, run: Run, asked: Pick<Asked, 'url' | 'params' | 'body'>) => {
    const { idempotencyKey, ...body } = asked.body as Partial<Quotes>;
    const caller = await callerOf(feed.keys, maker.shown);
    if (caller === null) {
      endKey(maker);
      return null;
    }
    if (caller.isBlocked) {
      endBlocked(maker);
      return null;
    }
    feed.uses.note(caller, client);
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return run({ ...asked, method: 'POST', headers, query: {}, body }, caller);
  };

  const quote = async (maker: Maker, { rfqId: given, ...body }: Quote) => {
    // As REST writes it, whose keys are kept by path.
    const rfqId = given.toLowerCase();
    // Half a surrogate pair has no place in a URL.
    const url = `/v1/rfqs/${encodeURIComponent(rfqId.toWellFormed())}/quotes`;
    const answer = await ask(maker, feed.commands.one, { url, params: { id: rfqId }, body });
    if (answer === null) return;
    const { error = '', thread } = answer.body as Answered;
    const more = keyed(body.idempotencyKey);
    if (thread === undefined) return refuse(maker, error, answer.code ?? '', { rfqId, ...more });
    maker.say({ type: 'quoted', rfqId: thread.rfqId, threadId: thread.id }, more);
  };

  const quotes = async (maker: Maker, body: Quotes) => {
    const answer = await ask(maker, feed.commands.many, { url: '/v1/quotes', params: {}, body });
    if (answer === null) return;
    const { error = '', outcomes } = answer.body as Answered;
    const more = keyed(body.idempotencyKey);
    if (outcomes === undefined) return refuse(maker, error, answer.code ?? '', more);
    maker.say({ type: 'outcomes', outcomes, ...more });
  };

  const levels = async (maker: Maker, body: Levels) => {
    const answer = await ask(maker, feed.commands.levels, { url: '/v1/levels', params: {}, body });
    if (answer === null) return;
    const { error, ...told } = answer.body as Answered;
    if (error !== undefined) return refuse(maker, error, answer.code ?? '', named(body));
    maker.say({ type: 'levels', ...told, ...keyed(body.idempotencyKey) });
  };

  const run = (maker: Maker, read: Read): Promise<void> => {
    if (read.quote !== undefined) return quote(maker, read.quote);
    if (read.levels !== undefined) return levels(maker, read.levels);
    return quotes(maker, read.quotes as Quotes);
  };

  /** After those on the same RFQs or the same pair that came before. */
  const inTurn = async (maker: Maker, read: Read): Promise<void> => {
    const names = turnsOf(read);
    const before = Promise.all(names.map((name) => turns.get(name)));
    const own = before
      .then(() => run(maker, read))
      .catch((error: unknown) => {
        const { sentence, code } = refused(feed, error);
        refuse(maker, sentence, code, named(wantedIn(read)));
      });
    for (const name of names) turns.set(name, own);
    await own;
    for (const name of names) if (turns.get(name) === own) turns.delete(name);
  };

  const arm = (maker: Maker, graceSeconds: number | null) =>
    feed.switches.set(maker, graceSeconds).catch((error: unknown) => {
      const { sentence, code } = refused(feed, error);
      refuse(maker, sentence, code, {});
    });

  return async (maker: Maker, came: Came): Promise<void> => {
    if (feed.isClosing()) return;
    const read = readFrame(feed, maker, came);
    const { ping, fault, cancelOnDisconnect } = read;
    const wanted = wantedIn(read);
    if (ping !== undefined) {
      if (free()) maker.say({ type: 'pong', pong: ping });
      return;
    }
    const spent = await feed.budgets.spendCaller(maker, client);
    if (!spent.allowed) {
      const { message, code } = overBudget(spent);
      if (free()) refuse(maker, message, code, named(wanted));
      return hold();
    }
    if (fault !== undefined) refuse(maker, fault.sentence, fault.code, named(wanted));
    else if (cancelOnDisconnect !== undefined) await arm(maker, cancelOnDisconnect);
    else await inTurn(maker, read);
  };
}

const wantedIn = ({ quote, quotes, levels }: Read) => quote ?? quotes ?? levels;

/** The keys of operations that must not run side by side. */
function turnsOf({ quote, quotes, levels }: Read): string[] {
  if (levels !== undefined) {
    return [[levels.baseAssetId, levels.quoteAssetId].sort().join(' ').toLowerCase()];
  }
  const wanted = quote === undefined ? (quotes?.quotes ?? []) : [quote];
  return [...new Set(wanted.map(({ rfqId }) => rfqId.toLowerCase()))];
}

type Answered = {
  error?: string;
  thread?: { id: string; rfqId: string };
  outcomes?: readonly unknown[];
};

function refuse(maker: Maker, error: string, code: string, about: object): void {
  maker.say({ type: 'error', error }, { code, ...about });
}

/** Which quote, quotes or levels a refused frame was, where that can be read. */
function named(wanted: object = {}): Readonly<Record<string, string>> {
  const { idempotencyKey, ...fields } = wanted as Readonly<Record<string, unknown>>;
  const texts = ['rfqId', 'baseAssetId', 'quoteAssetId'].flatMap((name) => {
    const text = fields[name];
    return typeof text === 'string' ? [[name, text] as const] : [];
  });
  return { ...Object.fromEntries(texts), ...keyed(idempotencyKey) };
}

function keyed(idempotencyKey: unknown): { idempotencyKey?: string } {
  return typeof idempotencyKey === 'string' ? { idempotencyKey } : {};
}

type Read = {
  readonly quote?: Quote;
  readonly quotes?: Quotes;
  readonly levels?: Levels;
  readonly ping?: string;
  /** Null = no more. */
  readonly cancelOnDisconnect?: number | null;
  readonly fault?: { sentence: string; code: string };
};

type Named = { quote?: Quote; quotes?: unknown; levels?: Levels };
const kinds = {
  quote: { form: quoteFrame, check: inputCheck(quoteFrame, 'the frame') },
  quotes: { form: quotesFrame, check: inputCheck(quotesFrame, 'the frame') },
  levels: { form: levelsFrame, check: inputCheck(levelsFrame, 'the frame') },
};

function readFrame(feed: Feed, { manner }: Maker, came: Came): Read {
  let about: Pick<Read, 'quote' | 'quotes' | 'levels'> = {};
  try {
    const frame = parseFrame(came);
    if (manner === 'resume' && checkPing(frame) === null) return frame as { ping: string };
    if (isSwitch(frame)) {
      const fault = checkSwitch(frame);
      return fault === null ? frame : { fault: { sentence: fault, code: 'bad_field' } };
    }
    const { quote, quotes, levels } = (frame ?? {}) as Named;
    const kind = quote !== undefined ? 'quote' : quotes !== undefined ? 'quotes' : 'levels';
    const isNone = kind === 'levels' && levels === undefined;
    if (quote) about = { quote };
    else if (kind === 'quotes') about = { quotes: frame as Quotes };
    else if (levels) about = { levels };
    const { check, form } = kinds[isNone ? 'quote' : kind];
    const fault = check(frame);
    if (fault === null && kind === 'quotes') return { quotes: withoutNulls(form, frame) as Quotes };
    if (fault === null) return withoutNulls(form, frame) as Pick<Read, 'quote' | 'levels'>;
    const hint = isNone ? whatIsTaken(manner) : '';
    return { ...about, fault: { sentence: `${hint}${fault}`, code: 'bad_field' } };
  } catch (error) {
    return { ...about, fault: refused(feed, error) };
  }
}

const isSwitch = (frame: unknown): frame is { cancelOnDisconnect: number | null } =>
  typeof frame === 'object' && frame !== null && 'cancelOnDisconnect' in frame;

function whatIsTaken(manner: Manner): string {
  const ping = manner === 'resume' ? ' or {"ping": "<at most 64 characters>"}' : '';
  const quotes = '{"quote": {"rfqId", "quoteAmount"}}, {"quotes": [{"rfqId", "quoteAmount"}]}';
  const levels = '{"levels": {"baseAssetId", "quoteAssetId", "levels": […]}}';
  const grace = '{"cancelOnDisconnect": <5 to 60 or null>}';
  return `the frame must be ${quotes}, ${levels} or ${grace}${ping}: `;
}

/** So many a second. */
function createAllowance(): () => boolean {
  let second = 0;
  let given = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) given = 0;
    second = now;
    given += 1;
    return given <= mostFree;
  };
}
