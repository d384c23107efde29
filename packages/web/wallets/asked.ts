// One question to a wallet: with a limit, and with an answer or a WalletError.

import { messageOf, WalletError, type WalletFault } from '@parley/sdk/errors.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import type { Asks } from '@parley/sdk/wallets/wallet.ts';
import type { Wallet } from '@wallet-standard/base';
import type { AccountFamily, AccountLink, FoundWallet, Place, SdkWallet } from './types.ts';

/** A person unlocks a wallet, chooses an account, or reads what is to be signed. */
export const personMs = 120_000;
/** The limit for answers that a wallet gives without its person. */
export const machineMs = 10_000;

/** EIP-1193; Bitcoin wallets answer -32000, as EVM nodes do to anything: their words count. */
const declinedCodes: readonly unknown[] = [4001, 'ACTION_REJECTED'];
/** TronLink and some wallets of Solana give words alone. */
const declinedWords: readonly RegExp[] = [
  /\b(?:user|confirmation|request)\b.{0,24}\b(?:rejected|denied|declined|cancel+ed)\b/i,
  /\b(?:rejected|denied|declined|cancel+ed)\b.{0,12}\bby\b.{0,6}\buser\b/i,
];

/** Reads a field of an object that may be anything, and may throw. */
export function fieldOf(value: unknown, name: string): unknown {
  try {
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    return isObject ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

/** Where wallets and the libraries between put the error of another layer. */
const layers = ['error', 'data', 'originalError', 'cause', 'info'] as const;
const mostLayers = 4;

/** An error and those inside it, as MetaMask on phones has them in `data.originalError`. */
function errorsIn(said: unknown, depth = 0): unknown[] {
  const isDeep = depth >= mostLayers || typeof said !== 'object' || said === null;
  const inside = isDeep ? [] : layers.map((name) => fieldOf(said, name)).filter(Boolean);
  return [said, ...inside.flatMap((each) => errorsIn(each, depth + 1))];
}

function codesIn(said: unknown): unknown[] {
  return errorsIn(said).map((each) => fieldOf(each, 'code'));
}

/** Whether a code stands somewhere in what a wallet has thrown. */
export function hasCode(error: unknown, code: number): boolean {
  return codesIn(error).some((each) => each === code || each === `${code}`);
}

/**
 * An error that a wallet threw or answered in place of a result, as a WalletError of our own words.
 */
export function refusalOf(name: string, said: unknown): WalletError {
  if (said instanceof WalletError) return said;
  const inner = fieldOf(said, 'error') ?? said;
  const codes = codesIn(said);
  const words = wordsOf(typeof inner === 'string' ? inner : fieldOf(inner, 'message'));
  const isDeclined =
    codes.some((each) => declinedCodes.includes(each)) ||
    declinedWords.some((each) => each.test(words));
  const options = { cause: said };
  if (isDeclined) return declined(name);
  if (codes.includes(-32_002)) {
    const sentence = `${name} has a request open already: answer it there, then try again`;
    return new WalletError('failed', sentence, options);
  }
  const code = codes.find((each) => typeof each === 'number' || typeof each === 'string');
  const number = code === undefined ? '' : ` (${wordsOf(`${code}`)})`;
  const sentence = `${name} could not do it${number}: ${messageOf(words)}`;
  return new WalletError('failed', sentence, options);
}

/** Wallets say that they have switched before they have: asked again so often, so long. */
const switchMs = 3_000;
const lookEveryMs = 100;

/** The answer of `look`, as soon as it is what is wanted or the time is over. */
export async function settled<T>(look: () => Promise<T>, wanted: T, withinMs: number): Promise<T> {
  const until = performance.now() + Math.min(switchMs, withinMs);
  for (;;) {
    const now = await look();
    if (now === wanted || performance.now() >= until) return now;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

export function failed(code: WalletFault, sentence: string): WalletError {
  return new WalletError(code, sentence);
}

/** Within the limit; a later answer of the wallet is dropped. */
export async function asked(
  name: string,
  ask: () => unknown,
  limitMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  signal?.throwIfAborted();
  const late = Promise.withResolvers<never>();
  const seconds = Math.round(limitMs / 1_000);
  const silent = () => {
    const sentence = `${name} has not answered within ${seconds} s: look whether it still asks you`;
    late.reject(failed('silent', sentence));
  };
  const timer = setTimeout(silent, limitMs);
  signal?.addEventListener('abort', silent, { once: true });
  try {
    return await Promise.race([Promise.resolve().then(ask), late.promise]);
  } catch (error) {
    throw refusalOf(name, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', silent);
  }
}

export function declined(name: string): WalletError {
  return failed('declined', `you declined it in ${name}`);
}

export function lied(name: string, what: string): WalletError {
  return failed('lied', `${name} ${what}`);
}

/**
 * Whether an account is still the one that was linked, told to whoever listens. `isHere` asks its
 * wallet, and throws as `asked`.
 */
export function presenceOf(name: string, address: string, isHere: () => unknown) {
  const listeners = new Set<() => void>();
  let isGone = false;
  const look = async () => {
    if (isGone || (await isHere())) return;
    isGone = true;
    for (const listener of listeners) listener();
    listeners.clear();
  };
  return {
    onGone: (listener: () => void) => {
      if (isGone) queueMicrotask(listener);
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** At each of its events. One without events is looked for before each prompt. */
    watch: (on: unknown, provider: unknown, event: string) => {
      try {
        // The account of some changes a moment after the event.
        const heard = () => setTimeout(() => void look().catch(() => {}), 0);
        if (typeof on === 'function') Reflect.apply(on, provider, [event, heard]);
      } catch {}
    },
    /** Throws `wrong_account`. */
    mustBeHere: async () => {
      await look();
      if (!isGone) return;
      const sentence = `${name} is on another account now, and not on ${address}: connect it again`;
      throw failed('wrong_account', sentence);
    },
  };
}

type Linking<F extends AccountFamily> = Pick<AccountLink, 'onGone'> & {
  readonly address: string;
  readonly signMessage: MessageSigner['signMessage'];
  /** The account on one network, for `settle`. */
  readonly on: (place: Extract<Place, { readonly family: F }>, asks: Asks) => object;
};

export function accountLink<F extends AccountFamily>(
  family: F,
  found: FoundWallet,
  { address, signMessage, onGone, on }: Linking<F>,
): AccountLink {
  return {
    family,
    found,
    signer: { family, address, signMessage },
    onGone,
    on: <P extends Place>(at: P, asks: Asks) => {
      if (at.family === family) return on(at as never, asks) as SdkWallet<P>;
      throw new Error(`${found.name} has accounts of ${family}, not ${at.family}`);
    },
  };
}

const mostNameCharacters = 40;
/** Announced icons are a few KiB; a page keeps each as long as it is open. */
const mostIconCharacters = 131_072;
const mostWordsCharacters = 160;

/** Control, zero-width and bidirectional marks: with them one name looks like another. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]+/gu;

function plain(said: unknown, most: number): string {
  if (typeof said !== 'string') return '';
  // Cut first: the next steps take time by its length.
  const text = said
    .slice(0, most * 4)
    .replace(invisible, '')
    .replace(/\s+/g, ' ')
    .trim();
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

export function nameOf(said: unknown): string {
  return plain(said, mostNameCharacters) || 'Unnamed wallet';
}

/** Words of a wallet in a sentence of ours. */
function wordsOf(said: unknown): string {
  return plain(said, mostWordsCharacters) || 'no reason given';
}

const rasters = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;
const drawing = /^data:image\/svg\+xml(?:;charset=[\w-]+|;utf8)?(?:;base64)?,[\x21-\x7e ]+$/i;

/** For `<img src>` alone, where a drawing runs no script and loads nothing. */
export function iconOf(said: unknown): string | null {
  if (typeof said !== 'string' || said.length > mostIconCharacters) return null;
  const text = said.trim();
  return rasters.test(text) || drawing.test(text) ? text : null;
}

export const signsTransactions = 'solana:signTransaction';
export const signsMessages = 'solana:signMessage';
export const connects = 'standard:connect';

export function isOfSolana(wallet: unknown): wallet is Wallet {
  const chains = fieldOf(wallet, 'chains');
  const features = fieldOf(wallet, 'features');
  const isThere = (name: string) => fieldOf(features, name) !== undefined;
  const isSolana = Array.isArray(chains) && chains.some((each) => `${each}`.startsWith('solana:'));
  return isSolana && [connects, signsTransactions, signsMessages].every(isThere);
}
