// What a fork takes from the node, each once and bounded. Storage needs its JSON-RPC.

import { bytesToHex } from '@noble/hashes/utils.js';
import { ParleyError } from '../../../core/errors.ts';
import { bytesOf } from '../../tokens/words.ts';
import { tronAddressOf } from '../address.ts';
import { type Http, TronRefusal } from '../http.ts';
import { accountOf, codeAt, storageAt } from '../node.ts';

/** Reads of one look at a token: one that touches more is no plain token. */
export const mostReads = 400;
/** Code of all contracts together. java-tron takes 500 kB in a transaction at the most. */
const mostCodeBytes = 2 ** 20;

/** What is asked for cannot be known here: it says nothing against a token, nor for it. */
export class ForkLimit extends Error {
  constructor(words: string) {
    super(words);
    this.name = 'ForkLimit';
  }
}

export type Source = {
  /** Decimal sun, or undefined for an address that was never used. */
  account(address: string): Promise<string | undefined>;
  code(address: string): Promise<string | undefined>;
  storage(address: string, slot: string): Promise<string>;
};

export function nodeSource(http: Http, signal: AbortSignal): Source {
  let reads = 0;
  let codeBytes = 0;
  const known = new Map<string, Promise<unknown>>();
  const read = <T>(what: string, key: string, ask: () => Promise<T>): Promise<T> => {
    const before = known.get(key) as Promise<T> | undefined;
    const answer = before ?? readOnce(what, ask);
    known.set(key, answer);
    return answer;
  };
  const readOnce = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    reads += 1;
    if (reads > mostReads)
      throw new ForkLimit(`it reads more than ${mostReads} words and accounts`);
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof TronRefusal)) throw error;
      throw new ForkLimit(`the ${http.chain} node refuses to read ${what}: ${error.message}`);
    }
  };
  const shown = (address: string) => tronAddressOf(bytesOf(address));
  return {
    account: (address) =>
      read('an account', `account/${address}`, async () =>
        (await accountOf(http, shown(address), signal))?.balance.toString(),
      ),
    code: (address) =>
      read('code', `code/${address}`, async () => {
        const code = await codeAt(http, shown(address), signal);
        codeBytes += code?.length ?? 0;
        if (codeBytes <= mostCodeBytes) return code === null ? undefined : bytesToHex(code);
        throw new ForkLimit(`its contracts have more than ${mostCodeBytes} bytes of code`);
      }),
    storage: (address, slot) =>
      read('storage', `${address}/${slot}`, () => storageAt(http, address, slot, signal)),
  };
}

/** What a look that ran out of its time throws: nothing was learnt of the token. */
export function outOfTime(chain: string): ParleyError {
  const sentence = `a token on ${chain} could not be looked at in the time given`;
  return new ParleyError('chain_timeout', sentence, { chain });
}
