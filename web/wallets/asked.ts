// One question to a wallet: with a limit, and with an answer or a WalletError.

import { messageOf, WalletError, type WalletFault } from '../../sdk/errors.ts';
import { wordsOf } from './plain.ts';

/** A person unlocks a wallet, chooses an account, or reads what is to be signed. */
export const personMs = 120_000;
/** What a wallet answers by itself. */
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

function isDeclined(code: unknown, words: string): boolean {
  return declinedCodes.includes(code) || declinedWords.some((each) => each.test(words));
}

/** What a wallet threw or answered in place of a result, as a WalletError of our own words. */
export function refusalOf(name: string, said: unknown): WalletError {
  if (said instanceof WalletError) return said;
  const inner = fieldOf(said, 'error') ?? said;
  const code = fieldOf(inner, 'code');
  const words = wordsOf(typeof inner === 'string' ? inner : fieldOf(inner, 'message'));
  if (isDeclined(code, words)) return declined(name);
  if (code === -32_002) {
    return failed('failed', `${name} has a request open already: answer it there, then try again`);
  }
  const number =
    typeof code === 'number' || typeof code === 'string' ? ` (${wordsOf(`${code}`)})` : '';
  return failed('failed', `${name} could not do it${number}: ${messageOf(words)}`);
}

export function failed(code: WalletFault, sentence: string): WalletError {
  return new WalletError(code, sentence);
}

/** Within the limit; what the wallet answers later is nobody's. */
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

/** Whether an account is still the one that was linked, told to whoever listens. */
export function gone() {
  const listeners = new Set<() => void>();
  let isGone = false;
  return {
    onGone: (listener: () => void) => {
      if (isGone) queueMicrotask(listener);
      else listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    leave: () => {
      if (isGone) return;
      isGone = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
    /** Throws `wrong_account`. */
    mustBeHere: (name: string, address: string) => {
      if (!isGone) return;
      const sentence = `${name} is on another account now, and not on ${address}: connect it again`;
      throw failed('wrong_account', sentence);
    },
  };
}

export type Gone = ReturnType<typeof gone>;
