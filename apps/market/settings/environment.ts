// The environment as settings are read from it: each is asked for by name, each wrong one becomes a
// sentence, and a name that nothing asks for is refused, which would else be ignored in silence.

import { dirname } from 'node:path';
import { readFile, readSecretFile } from './secret-file.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Reader = ReturnType<typeof readerOf>;

export function readerOf(given: Environment) {
  const read = new Set<string>();
  const wrong: string[] = [];
  /** null where it is missing or empty. */
  const text = (name: string): string | null => {
    read.add(name);
    return given[name] || null;
  };
  const refuse = (...sentences: readonly string[]) => void wrong.push(...sentences);
  return {
    text,
    refuse,
    whole(name: string, otherwise: number, least: number, most: number): number {
      const found = text(name);
      if (found === null) return otherwise;
      const value = /^\d+$/.test(found) ? Number(found) : Number.NaN;
      if (value >= least && value <= most) return value;
      refuse(`${name} must be a whole number from ${least} to ${most}; got "${found}"`);
      return otherwise;
    },
    /** The usable values between commas; `parse` gives null for others. */
    list<T>(name: string, parse: (each: string) => T | null, isNot: string): T[] {
      const all = (text(name) ?? '').split(',').map((each) => each.trim());
      return all.filter(Boolean).flatMap((each) => {
        const value = parse(each);
        if (value !== null) return [value];
        refuse(`${name} holds "${each}", which is no ${isNot}`);
        return [];
      });
    },
    /** JSON, or `@file` naming a file that holds it; `null` in it is a value, not an absent one. */
    json(name: string, otherwise?: unknown): unknown {
      const found = text(name);
      if (found === null) return otherwise;
      try {
        return JSON.parse(found.startsWith('@') ? textOf(found.slice(1)) : found) as unknown;
      } catch (error) {
        // Without the text around the fault, which may be the password in a URL.
        const { message } = error as Error;
        const fault = message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '');
        refuse(`${name} is not JSON nor @file: ${fault}`);
        return otherwise;
      }
    },
    /** The content of the file that the setting names; others may not reach it. */
    secret(setting: string, file: string): string {
      const isCredential = dirname(file) === given.CREDENTIALS_DIRECTORY;
      const read = readSecretFile(file, isCredential ? 'anybody' : 'group');
      if ('text' in read) return read.text;
      refuse(`${setting}: ${read.wrong}`);
      return '';
    },
    faults: (): readonly string[] => [...wrong, ...misspelt(given, read)],
  };
}

function textOf(file: string): string {
  const read = readFile(file);
  if ('text' in read) return read.text;
  throw new Error(read.wrong);
}

const prefix = 'PARLEY_';
/** The variables that tools, tests and the dev network read beside the settings. */
const tools = (
  'BITCOIND CALLED_AS CHROMIUM DEPLOYER_KEY ESCROW_SO FAULTS FRESH_DEBIAN FRESH_ROOT FROM_SOURCE JAVA_TRON' +
  ' NODES OPERATOR PAYER_KEY PICTURES POSTGRES PROMETHEUS PYTHON SMALL_DISK' +
  ' SOLANA_VALIDATOR'
).split(' ');
const ofTools = new RegExp(`^${prefix}(${tools.join('|')}|(CRASH|DRIVER|FUZZ|TEST)_\\w+)$`);
/** The variables that Kubernetes sets for a service called parley, or parley-postgres. */
const ofKubernetes = /^PARLEY_(\w+_)?(SERVICE_(HOST|PORT)\w*|PORT_\d+_\w+)$/;
const urlOfKubernetes = /^PARLEY_(\w+_)?PORT=(tcp|udp):\/\//;

/** Why each name that nothing reads is refused. */
function misspelt(given: Environment, read: ReadonlySet<string>): string[] {
  return Object.keys(given).flatMap((name) => {
    if (!name.startsWith(prefix) || read.has(name) || ofTools.test(name)) return [];
    if (urlOfKubernetes.test(`${name}=${given[name]}`) || ofKubernetes.test(name)) return [];
    const close = nearest(name, [...read, ...tools.map((each) => prefix + each)]);
    return [`${name} is no setting${close === null ? '' : `; the nearest name is ${close}`}`];
  });
}

/** null: every name shares less than half of its pairs of letters. */
function nearest(name: string, names: readonly string[]): string | null {
  // PARLEY_PORT is meant to be PORT.
  const pairsOf = (text: string) => {
    const word = `_${text.replace(prefix, '')}_`;
    return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
  };
  const own = pairsOf(name);
  const likeness = (other: string) => {
    const pairs = pairsOf(other);
    return (2 * own.filter((pair) => pairs.includes(pair)).length) / (own.length + pairs.length);
  };
  const best = names.reduce((one, other) => (likeness(other) > likeness(one) ? other : one));
  return likeness(best) < 0.5 ? null : best;
}
