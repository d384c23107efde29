// Giving: the refusals, and the order of the steps. A gift is counted before it is sent, so neither
// a crash nor a node that is silent makes a second one.

import { ParleyError } from '@parley/core/errors.ts';
import { type Queue, queue } from '@parley/core/queue.ts';
import type { Log } from '@parley/maker/log.ts';
import type { Kept } from '@parley/sdk/stores/store.ts';
import type { Payment } from '@parley/trader/paying/payment.ts';
import { type Book, daySeconds, type Who } from './book.ts';
import type { Gift } from './settings.ts';

/** The payer on one chain: it holds the key. */
export type Payer = {
  readonly chain: string;
  readonly address: string;
  /** In its one spelling. Throws ParleyError. */
  parse(address: string): string;
  /** Signs, and sends nothing. */
  sign(pay: Payment, signal: AbortSignal): Promise<Kept>;
  /** It is never sent, or no node took it: its coins are free again. */
  forget?(signed: Kept): void;
  /**
   * To all nodes. Throws ParleyError: `refused_by_node` where no node took it, `chain_unavailable`
   * where it reached none.
   */
  send(kept: Kept, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

export type Refusal =
  | 'no_gift'
  | 'bad_address'
  | 'own_address'
  | 'address_limit'
  | 'client_limit'
  | 'daily_cap'
  | 'busy'
  | 'unavailable';

export class Refused extends Error {
  readonly code: Refusal;
  readonly facts: Readonly<Record<string, string | number>>;

  constructor(code: Refusal, sentence: string, facts: Refused['facts'] = {}, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Refused';
    this.code = code;
    this.facts = facts;
  }
}

export type Asked = {
  readonly chain: string;
  /** null: the chain's own coin. */
  readonly token: string | null;
  readonly address: string;
  readonly client: string;
};

export type Answer = {
  readonly chain: string;
  readonly symbol: string;
  readonly amount: string;
  readonly address: string;
  readonly txid: string;
};

/** On one chain: each waits for those before it, and a node may take seconds. */
export const mostWaiting = 20;
/** For signing and for sending, each: a node's answer takes a second where all is well. */
const nodeMs = 30_000;

export type FaucetParts = {
  readonly gifts: readonly Gift[];
  readonly payers: readonly Payer[];
  readonly book: Book;
  readonly perClient: number;
  readonly log: Log;
  /** Unix seconds. */
  readonly now: () => number;
};

export function createFaucet(parts: FaucetParts) {
  const { gifts, payers, book, log, now } = parts;
  const queues = new Map(payers.map(({ chain }) => [chain, turns()]));
  const payerOf = (chain: string) => payers.find((each) => each.chain === chain);
  const give = async (gift: Gift, payer: Payer, who: Asked, address: string): Promise<Answer> => {
    mustBeAllowed(parts, gift, { address, client: who.client });
    const { chain, token, symbol, decimals, amount } = gift;
    const payment = { to: address, token, decimals, amount };
    const unavailable = (error: unknown) => {
      log.error('cannot_give', { chain, symbol, why: sentenceOf(error) });
      return new Refused('unavailable', `no ${symbol} of ${chain} can be given now`, {}, error);
    };
    const kept = await payer.sign(payment, AbortSignal.timeout(nodeMs)).catch((error: unknown) => {
      const isAddress = error instanceof ParleyError && error.code === 'bad_address';
      throw isAddress ? new Refused('bad_address', error.message) : unavailable(error);
    });
    const { txid } = kept;
    const given = { txid, chain, token, address, client: who.client, amount, at: now() };
    try {
      book.keep(given);
    } catch (error) {
      payer.forget?.(kept);
      throw error;
    }
    await payer.send(kept, AbortSignal.timeout(nodeMs)).catch((error: unknown) => {
      const refusal = unavailable(error);
      if (!isUntaken(error)) {
        const sentence = `a node may have taken ${txid}, a gift of ${symbol}, and did not say so`;
        throw new Refused('unavailable', sentence, { txid }, refusal);
      }
      payer.forget?.(kept);
      book.refused(txid);
      throw refusal;
    });
    const { given: today } = book.counted(gift, nobody, now() - daySeconds);
    log.info('gave', { chain, symbol, amount, address, txid, today, dailyCap: gift.dailyCap });
    return { chain, symbol, amount: `${amount}`, address, txid };
  };

  return {
    gifts,
    /** Base units that may still be given of each in this day. */
    left: (gift: Gift): bigint => {
      const { given } = book.counted(gift, nobody, now() - daySeconds);
      return given >= gift.dailyCap ? 0n : gift.dailyCap - given;
    },
    /** Throws Refused: then nothing is given. */
    give: async (asked: Asked): Promise<Answer> => {
      const gift = gifts.find((each) => each.chain === asked.chain && each.token === asked.token);
      const payer = payerOf(asked.chain);
      if (gift === undefined || payer === undefined) {
        throw new Refused('no_gift', `the faucet has no such coin or token on "${asked.chain}"`);
      }
      const address = addressOf(payer, asked.address);
      const turn = queues.get(gift.chain) as Queue;
      return turn(() => give(gift, payer, asked, address));
    },
    close: async (): Promise<void> => {
      await Promise.all(payers.map((each) => each.close()));
      book.close();
    },
  };
}

export type Faucet = ReturnType<typeof createFaucet>;

/** After any other error, such as a silence, a node may have the bytes. */
function isUntaken(error: unknown): boolean {
  if (!(error instanceof ParleyError)) return false;
  return error.code === 'refused_by_node' || error.code === 'chain_unavailable';
}

const nobody = { address: '', client: '' };

function addressOf(payer: Payer, given: string): string {
  let address: string;
  try {
    address = payer.parse(given);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    throw new Refused('bad_address', error.message);
  }
  if (address !== payer.address) return address;
  throw new Refused('own_address', `${address} is the faucet's own: send coins back to it`);
}

function mustBeAllowed({ book, perClient, now }: FaucetParts, gift: Gift, who: Who): void {
  const at = now();
  const { symbol, amount, dailyCap } = gift;
  const found = book.counted(gift, who, at - daySeconds);
  const { toAddress, toClient, oldestToClient, given } = found;
  if (toAddress !== null) {
    const seconds = toAddress.at + daySeconds - at;
    throw new Refused('address_limit', `${who.address} has had its ${symbol} of this day`, {
      txid: toAddress.txid,
      seconds,
    });
  }
  if (toClient >= perClient) {
    const seconds = (oldestToClient ?? at) + daySeconds - at;
    const sentence = `your network has had ${toClient} gifts of ${symbol} in 24 hours`;
    throw new Refused('client_limit', `${sentence}, and the most is ${perClient}`, { seconds });
  }
  if (given + amount > dailyCap) {
    const sentence = `${given} of ${dailyCap} base units of ${symbol} are given in 24 hours`;
    throw new Refused('daily_cap', sentence, { seconds: 3_600 });
  }
}

/** The sentence repeats no error of a library: it may quote the node's address, and a key in it. */
function sentenceOf(error: unknown): string {
  if (error instanceof ParleyError) return error.message;
  return error instanceof Error ? error.name : 'unreadable';
}

/** One after the other; throws `busy` where too many wait. */
function turns(): Queue {
  const inTurn = queue();
  let waiting = 0;
  return (task) => {
    if (waiting >= mostWaiting) {
      throw new Refused('busy', `${waiting} others wait for this chain`, { waiting });
    }
    waiting += 1;
    return inTurn(task).finally(() => {
      waiting -= 1;
    });
  };
}
