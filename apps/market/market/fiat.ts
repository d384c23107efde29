// Prices of coins in a currency, by an operator's own source: a hint beside amounts, for people. The
// market decides nothing by them.

import Type from 'typebox';
import type { Deps, FiatPrice, FiatPrices } from '../ports/deps.ts';
import { type Service, service } from '../ports/service.ts';
import { checkOf } from '../settings/check.ts';

const everyMs = 60_000;
/** From the first byte asked for to the last one of the answer. */
const tryMs = 8_000;
const mostBytes = 262_144;
const mostPrices = 1_000;
/** A price that is older is none. */
export const staleMs = 600_000;

const answer = Type.Object({
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  prices: Type.Record(
    Type.String({ pattern: '^[a-z0-9-]{1,32}:[A-Za-z0-9]{1,128}$' }),
    Type.String({ pattern: '^[0-9]{1,15}(\\.[0-9]{1,18})?$' }),
    { maxProperties: mostPrices, additionalProperties: false },
  ),
});
const check = checkOf(answer, 'the answer');

type Told = Type.Static<typeof answer>;

/** Asks `url` every minute. `prices`: those it has told of late, else null. */
export function createFiat(
  deps: Pick<Deps, 'db' | 'log' | 'metrics' | 'randomBytes' | 'now'>,
  url: string,
): Service & { prices(): FiatPrices | null; ask(signal: AbortSignal): Promise<void> } {
  let known: FiatPrices | null = null;
  const ask = async (signal: AbortSignal) => {
    const { currency, prices } = await askSource(url, signal);
    const source = new URL(url).host;
    const at = new Date(deps.now());
    known = { currency, source, at, prices: Object.entries(prices).map(priceOf) };
  };
  const pass = async (signal: AbortSignal) => {
    await ask(signal);
    return undefined;
  };
  return {
    ...service(deps, { name: 'fiat', pass, everyMs, failureMs: { least: everyMs, most: everyMs } }),
    ask,
    prices: () => (known !== null && deps.now() - known.at.getTime() <= staleMs ? known : null),
  };
}

async function askSource(url: string, signal: AbortSignal): Promise<Told> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(tryMs)]),
  });
  const text = await textOf(response);
  if (response.status !== 200) {
    throw new Error(`PARLEY_FIAT_URL answers with status ${response.status}`);
  }
  const told = parsed(text);
  const wrong = check(told);
  if (wrong !== null) throw new Error(`PARLEY_FIAT_URL: ${wrong}`);
  return told as Told;
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > mostBytes) {
      throw new Error(`PARLEY_FIAT_URL answers with more than ${mostBytes} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('PARLEY_FIAT_URL answers with no JSON');
  }
}

function priceOf([name, price]: [string, string]): FiatPrice {
  const [chain = '', token = ''] = name.split(':');
  return { chain, token: token === 'native' ? '' : canonical(token), price };
}

/** Capitals of hex are a checksum; those of base58 are the address. */
const canonical = (token: string) => (token.startsWith('0x') ? token.toLowerCase() : token);
