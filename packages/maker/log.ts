// The log: one JSON object a line on standard output. It is given facts, never objects of the SDK
// or settings, so that no key, secret or address with a password can be in it.

import type { Writable } from 'node:stream';

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Fact = string | number | bigint | boolean | null | undefined;
export type Facts = Readonly<Record<string, Fact>>;

export type Log = Readonly<Record<Level, (event: string, facts?: Facts) => void>>;

/** A longer text in the log is cut. */
const longest = 1_000;

const address = /\b([a-z][a-z\d+.-]*:\/\/)([^\s/?#"'<>`\\)]*)([^\s"'<>`\\)]*)/gi;

/**
 * Errors of others may quote an address, and a key may be in any part of it: the text shows the
 * host and port alone. Cut after that, so that no half of an address is left.
 */
export function withoutKeys(text: string): string {
  const shown = text.replace(address, (_, scheme: string, login: string, rest: string) => {
    const host = login.slice(login.lastIndexOf('@') + 1);
    return `${scheme}${host}${rest.length > 1 ? '/…' : rest}`;
  });
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}

export function openLog(out: Pick<Writable, 'write'>, now: () => number): Log {
  const at = (level: Level) => {
    return (event: string, facts: Facts = {}) => {
      const plain = Object.entries(facts).map(([name, value]) => {
        if (typeof value === 'bigint') return [name, value.toString()];
        return [name, typeof value === 'string' ? withoutKeys(value) : value];
      });
      const line = { at: new Date(now()).toISOString(), level, event };
      out.write(`${JSON.stringify({ ...line, ...Object.fromEntries(plain) })}\n`);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The same, each line with these facts too. */
export function logWith(log: Log, more: Facts): Log {
  const at =
    (level: Level) =>
    (event: string, facts: Facts = {}) =>
      log[level](event, { ...more, ...facts });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const silent = () => {};
export const silentLog: Log = { debug: silent, info: silent, warn: silent, error: silent };
