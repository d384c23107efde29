// What comes from a socket: its first frame, then quotes and pings. Frames are answered side by
// side, but those on one RFQ in turn, so that the price sent last is the one that stands.

import type { WebSocket } from 'ws';
import { overBudgetOf } from '../access.ts';
import { whenKnown } from '../budgets.ts';
import { refusalOf } from '../errors.ts';
import { pingFrame, quoteFrame } from '../schemas/feed.ts';
import { frameCheck } from '../validate.ts';
import { callerOf, type Greeting, parseFrame, type Rejected, readGreeting } from './first-frame.ts';
import type { Manner } from './frames.ts';
import { begin, createMaker, endKey, type Feed, type Maker } from './maker.ts';
import { closeCodes, mostFrameBytes, type Peer } from './peer.ts';

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

type Came = { readonly data: Buffer; readonly isBinary: boolean };

/** Reads the socket until it is closed. */
export function openInbox(feed: Feed, ws: WebSocket, peer: Peer, client: string): Inbox {
  let maker: Maker | null = null;
  let greetings = 0;
  let looking = false;
  let turn = Promise.resolve();
  const waiting: Came[] = [];
  let inHand = 0;
  let held = false;
  /** Whoever is over its budget is not read for a moment. */
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
  const timer = setTimeout(() => {
    const sentence = `no valid first frame within ${greetingMs / 1_000} s`;
    // A look-up that takes as long says by itself how it ended.
    if (maker === null && !looking) peer.end(closeCodes.noKey, sentence);
  }, greetingMs);
  timer.unref();

  const greet = async (data: Buffer, isBinary: boolean): Promise<void> => {
    if (!peer.isOpen()) return;
    looking = true;
    const answer = await tryGreeting(feed, data, isBinary, client);
    looking = false;
    if (!peer.isOpen()) return;
    if ('caller' in answer) {
      maker = createMaker(feed, peer, answer);
      feed.uses.note(answer.caller, client);
      clearTimeout(timer);
      feed.hub.join(maker);
      // Not waited for: frames that come meanwhile are heard.
      void begin(feed, maker, answer.since);
      return;
    }
    greetings += 1;
    const { sentence, close, ...more } = answer;
    if (close !== undefined) peer.end(close, sentence, more);
    else if (greetings >= mostGreetings) peer.end(closeCodes.noKey, sentence, more);
    else peer.say({ type: 'error', error: sentence, ...more });
  };

  const answer = ({ data, isBinary }: Came): Promise<void> => {
    if (maker !== null) return hears(maker, data, isBinary);
    const next = () => (maker === null ? greet(data, isBinary) : hears(maker, data, isBinary));
    const own = turn.then(next);
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
      answer(came).then(done, done);
    }
  };
  const readOn = () => {
    if (!held && inHand < mostInHand && ws.isPaused) ws.resume();
  };

  ws.on('message', (data: Buffer, isBinary) => {
    if (!peer.isOpen()) return;
    if (data.length > mostFrameBytes) {
      const sentence = `a frame has ${data.length} bytes, more than ${mostFrameBytes}`;
      peer.end(closeCodes.tooLarge, sentence);
      return;
    }
    waiting.push({ data, isBinary });
    take();
    if (inHand >= mostInHand) ws.pause();
  });
  ws.on('close', () => clearTimeout(timer));
  return { maker: () => maker };
}

async function tryGreeting(
  feed: Feed,
  data: Buffer,
  isBinary: boolean,
  client: string,
): Promise<Greeting | Rejected> {
  try {
    return await readGreeting(feed, parseFrame(data, isBinary), client);
  } catch (error) {
    const { sentence, code } = sentenceOf(feed, error);
    // Not its fault: it is to come again, not to mend its key.
    const isOurs = code === 'unavailable' || code === 'internal';
    return isOurs ? { sentence, close: closeCodes.restart } : { sentence };
  }
}

/** What is said of anything thrown, and its code. */
function sentenceOf({ deps }: Feed, error: unknown): { sentence: string; code: string } {
  const refusal = refusalOf(error, deps.settings.shortName);
  if (refusal !== null) return refusal;
  deps.log.error({ err: error }, 'a frame failed');
  return { sentence: 'something failed on our side; it has been logged', code: 'internal' };
}

type Quote = { rfqId: string; quoteAmount: string; idempotencyKey?: string };

const checkQuote = frameCheck(quoteFrame);
const checkPing = frameCheck(pingFrame);

/** Answers the frames of one socket. */
function createHearing(feed: Feed, client: string, hold: () => void) {
  const turns = new Map<string, Promise<void>>();
  const free = createAllowance();

  const quote = async (maker: Maker, { rfqId: given, quoteAmount, idempotencyKey }: Quote) => {
    // As REST shows it, whose keys are kept by path.
    const rfqId = given.toLowerCase();
    const caller = await callerOf(feed.keys, maker.shown);
    if (caller === null) return endKey(maker);
    feed.uses.note(caller, client);
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    // Half a surrogate pair has no place in a URL.
    const url = `/v1/rfqs/${encodeURIComponent(rfqId.toWellFormed())}/quotes`;
    const asked = { method: 'POST', url, headers, params: { id: rfqId }, query: {} };
    const answer = await feed.quote({ ...asked, body: { quoteAmount } }, caller);
    const body = answer.body as { error?: string; thread?: { id: string; rfqId: string } };
    if (body.thread === undefined) {
      maker.refuse(body.error ?? '', { code: answer.code ?? '', rfqId, ...keyed(idempotencyKey) });
      return;
    }
    const { rfqId: asStored, id: threadId } = body.thread;
    maker.quoted({ rfqId: asStored, threadId }, keyed(idempotencyKey));
  };

  /** After those on the same RFQ that came before. */
  const inTurn = (maker: Maker, wanted: Quote): Promise<void> => {
    const { rfqId } = wanted;
    const name = rfqId.toLowerCase();
    const own = (turns.get(name) ?? Promise.resolve()).then(() =>
      quote(maker, wanted).catch((error: unknown) => {
        const { sentence, code } = sentenceOf(feed, error);
        maker.refuse(sentence, { code, rfqId, ...keyed(wanted.idempotencyKey) });
      }),
    );
    turns.set(name, own);
    return own.then(() => {
      if (turns.get(name) === own) turns.delete(name);
    });
  };

  return async (maker: Maker, data: Buffer, isBinary: boolean): Promise<void> => {
    if (feed.isClosing()) return;
    const frame = read(feed, maker, data, isBinary);
    if (isPing(frame)) {
      if (free()) maker.say({ type: 'pong', pong: frame.ping });
      return;
    }
    const spent = await whenKnown(feed.budgets.spendCaller(maker, client), (known) => known);
    if (!spent.allowed) {
      const { sentence, code } = overBudgetOf(spent);
      if (free()) maker.refuse(sentence, { code, ...named(frame) });
      hold();
      return;
    }
    const { fault } = frame;
    if (fault !== undefined) maker.refuse(fault.sentence, { code: fault.code, ...named(frame) });
    else await inTurn(maker, frame.quote as Quote);
  };
}

type Read = {
  readonly quote?: Quote;
  readonly ping?: string;
  readonly fault?: { sentence: string; code: string };
};

function isPing(frame: Read): frame is { ping: string } {
  return frame.ping !== undefined;
}

/** Which quote a refused frame was, where that can be read. */
function named({ quote }: Read): { rfqId?: string; idempotencyKey?: string } {
  const { rfqId, idempotencyKey } = quote ?? {};
  return { ...(typeof rfqId === 'string' ? { rfqId } : {}), ...keyed(idempotencyKey) };
}

function keyed(idempotencyKey: unknown): { idempotencyKey?: string } {
  return typeof idempotencyKey === 'string' ? { idempotencyKey } : {};
}

function read(feed: Feed, { manner }: Maker, data: Buffer, isBinary: boolean): Read {
  let quote: Quote | undefined;
  try {
    const frame = parseFrame(data, isBinary);
    if (manner === 'resume' && checkPing(frame) === null) return frame as { ping: string };
    quote = (frame as { quote?: Quote } | null)?.quote;
    const fault = checkQuote(frame);
    if (fault === null) return { quote: quote as Quote };
    const hint = quote === undefined ? whatIsTaken(manner) : '';
    return {
      ...(quote ? { quote } : {}),
      fault: { sentence: `${hint}${fault}`, code: 'bad_field' },
    };
  } catch (error) {
    return { ...(quote ? { quote } : {}), fault: sentenceOf(feed, error) };
  }
}

function whatIsTaken(manner: Manner): string {
  const ping = manner === 'resume' ? ' or {"ping": "<at most 64 characters>"}' : '';
  return `the frame must be {"quote": {"rfqId", "quoteAmount"}}${ping}: `;
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
