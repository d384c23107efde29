// The log: one JSON object a line on standard output. It is given facts, never objects of the SDK
// or settings, so that no key, secret or address with a password can be in it.

import type { Writable } from 'node:stream';

export type Level = 'debug' | 'info' | 'warn' | 'error';
export type Fact = string | number | bigint | boolean | null | undefined;
export type Facts = Readonly<Record<string, Fact>>;

export type Log = Readonly<Record<Level, (event: string, facts?: Facts) => void>>;

const longest = 1_000;

/** Errors of others may quote an address: user and password in it are left out. */
export function withoutLogin(text: string): string {
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return cut.replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/@]+@/gi, '$1…@');
}

export function openLog(out: Writable, now: () => number): Log {
  const at = (level: Level) => {
    return (event: string, facts: Facts = {}) => {
      const plain = Object.entries(facts).map(([name, value]) => {
        if (typeof value === 'bigint') return [name, value.toString()];
        return [name, typeof value === 'string' ? withoutLogin(value) : value];
      });
      const line = { at: new Date(now()).toISOString(), level, event };
      out.write(`${JSON.stringify({ ...line, ...Object.fromEntries(plain) })}\n`);
    };
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
