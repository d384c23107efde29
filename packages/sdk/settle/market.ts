// Questions to the market, each with a limit: the chains are read again soon.

import { ParleyError } from '@parley/core/errors.ts';
import { type ChainKey, has } from '@parley/core/families.ts';
import { opens, type Secret } from '@parley/core/hashlock.ts';
import { codeOf, messageOf, ParleyApiError, SettleError } from '../errors.ts';
import { type GivenUp, keptNow, mayBeFunded } from '../stores/store.ts';
import type { Swap } from '../types.ts';
import { inTime } from '../waiting.ts';
import type { Context } from './context.ts';
import { ownSides, type SetLeg } from './record.ts';

type How = { readonly signal: AbortSignal };

/** For the retries too. Far less than any deadline leaves: the shortest time to react is 30 min. */
export const marketLimitMs = 20_000;

/** Throws ParleyApiError `no_answer` when the limit is reached; the caller's signal ends it too. */
export async function asked<T>(
  context: Pick<Context, 'signal'>,
  ask: (how: How) => Promise<T>,
  limitMs = marketLimitMs,
): Promise<T> {
  const limit = new AbortController();
  const message = `the market took longer than ${limitMs} ms`;
  const late = new ParleyApiError({ status: 0, code: 'no_answer', message });
  const timer = setTimeout(() => limit.abort(late), limitMs);
  const signals = context.signal === undefined ? [] : [context.signal];
  const signal = AbortSignal.any([limit.signal, ...signals]);
  try {
    return await inTime(() => ask({ signal }), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the market may be asked to send the claim of this leg. */
export function isRelaying({ relay = false, client }: Context, { family }: SetLeg): boolean {
  return relay !== false && client !== null && has(family, 'gasKeys');
}

/** Whether the market is to send the claim of this leg, if the wallet cannot pay for it. */
export async function willRelay(context: Context, leg: SetLeg): Promise<boolean> {
  if (!isRelaying(context, leg)) return false;
  return context.relay === true || sendsClaims(context, leg.chain);
}

const sendingMs = 30_000;

/**
 * The market's own word on whether it sends claims. It is asked seldom, and one that is silent
 * sends none.
 */
export async function sendsClaims(context: Context, chain: ChainKey): Promise<boolean> {
  const { client, sending } = context;
  if (client !== null && performance.now() - sending.askedAtMs > sendingMs) {
    try {
      const { chains } = await asked(context, (how) => client.status(how));
      sending.chains = new Set(chains.filter((each) => each.sendsClaims).map((each) => each.chain));
    } catch {
      context.signal?.throwIfAborted();
      sending.chains = new Set();
    }
    sending.askedAtMs = performance.now();
  }
  return sending.chains.has(chain);
}

/** Between two questions for the secret, in pauses between questions to the market. */
const pausesBetween = 5;

/** A preimage proves itself: no trust is needed. The market's answer counts in a later pass. */
export function heardSecret(context: Context): Secret | null {
  const { client, heard, swapId, record } = context;
  const now = performance.now();
  const isDue = now - heard.askedAtMs > context.marketPollMs * pausesBetween;
  const mayHoldMoney = mayBeFunded(record) || record.restored === true;
  if (client === null || !mayHoldMoney || heard.secret !== null || !isDue) {
    return heard.secret;
  }
  // Not again before it has answered, or the limit has passed.
  heard.askedAtMs = Infinity;
  const answered = asked(context, (how) => client.swap(swapId, how)).then((swap) => {
    const { secret } = swap;
    heard.isSilent = false;
    noteReleases(context, swap);
    if (secret === null) return;
    if (isHex32(secret) && opens(secret, record.swap.hashlock)) heard.secret = secret;
    else context.emit('market_lied', null, 'the secret that the market shows opens nothing');
  });
  answered
    .catch((error: unknown) => {
      heard.isSilent = error instanceof ParleyApiError && error.silent;
      if (!context.signal?.aborted)
        context.emit('market_refused', null, messageOf(error), null, codeOf(error));
    })
    .finally(() => {
      heard.askedAtMs = performance.now();
    });
  return null;
}

/** Both sides' words as the market shows them. */
export function noteReleases({ heard, record }: Context, { legs }: Pick<Swap, 'legs'>): void {
  const { gives, gets } = ownSides(record);
  heard.release = legs[gives].release ?? heard.release;
  heard.own = legs[gets].release ?? heard.own ?? null;
}

/** The word of another device, as the market has it. It binds this one until the secret is public. */
export async function takeOwnWord(context: Context): Promise<void> {
  const { own } = context.heard;
  if (own) await keepOwnWord(context, own.at === null ? 'wish' : 'release');
}

/** That device releases. A market that lies gains no release by this one. */
export async function keepOwnWord(
  context: Context,
  told: NonNullable<GivenUp['told']>,
): Promise<void> {
  const { givenUp, publicSecret } = context.record;
  if (givenUp !== undefined || publicSecret !== null) return;
  await context.keep({ givenUp: { ...keptNow({ byPerson: false }), told } });
  context.emit('waiting', null, 'this swap was given up on another device of this account');
}

/** A swap that either side has given up is not funded, although the funding is signed. */
export async function heedWords(context: Context): Promise<void> {
  const { client, swapId, heard } = context;
  if (client === null) return;
  noteReleases(context, await asked(context, (how) => client.swap(swapId, how)));
  await takeOwnWord(context);
  const { givenUp, publicSecret } = context.record;
  if (heard.release === null || givenUp !== undefined || publicSecret !== null) return;
  await context.keep({ givenUp: keptNow({ byPerson: false }) });
}

function isHex32(said: unknown): said is Secret {
  return typeof said === 'string' && /^[0-9a-f]{64}$/.test(said);
}

/** Longer than any address: calldata, signed bytes, a secret, in whatever letters. */
const longWord = /\S{43,}/g;
const hexWord = /\b(?:0x)?[0-9a-f]{16,}\b/gi;
/** Bytes one by one, or in groups, quoted or not. */
const bytesInARow = /(?:["'`]?\b(?:0x)?[0-9a-f]{1,8}\b["'`]?[\s,:]*){8,}/gi;
/** Bytes as letters: no words at all. */
const isRaw = (words: string) => /(?![\t\n\r])\p{Cc}/u.test(words);

/** Does it, and lets it fail in words that hold no more than a few bytes; ours hold none. */
export async function unquoted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ParleyError || error instanceof SettleError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    // The rest of the error is dropped: stack, cause and fields may quote the same.
    if (isRaw(words)) throw new Error('it failed, and not in words');
    const cut = [longWord, hexWord, bytesInARow].reduce(
      (kept, each) => kept.replace(each, '…'),
      words,
    );
    throw new Error(cut);
  }
}
