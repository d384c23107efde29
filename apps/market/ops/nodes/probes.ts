// The parts of a check of a node: probes, each with a time limit, a verdict and the numbers. No
// probe sends a transaction, and no word of a node leaves with a secret of its address in it.

import { turnsAway } from '@parley/chains/nodes/exchange.ts';
import { type NodeMethod, type Rpc, RpcError } from '@parley/chains/nodes/rpc.ts';
import { ParleyError } from '@parley/core/errors.ts';
import { onOneLine } from '@parley/host/command.ts';
import { inTime } from '../../doctor/parts.ts';
import type { ChainSettings } from '../../settings/chains.ts';

/**
 * `fits`; `lacks`: the market does not work, or not safely, with it; `weak`: it works, without
 * something; `unseen`: the result is unknown, since its subject was not there.
 */
export type Verdict = 'fits' | 'lacks' | 'weak' | 'unseen';

export type Said = {
  readonly says: string;
  readonly verdict?: Verdict;
  readonly todo?: string;
  readonly facts?: Facts;
};
export type Facts = Readonly<Record<string, string | number | boolean | null>>;

export type Probe = {
  /** The market's state where it fails. */
  readonly without: string;
  /** Where its failure is no more than a weakness. */
  readonly isSpare?: boolean;
  /** Milliseconds; default: those of a call. */
  readonly mostMs?: number;
  readonly ask: (signal: AbortSignal) => Promise<Said | string>;
};

export type Probes = Readonly<Record<string, Probe>>;

export type Node = {
  readonly source: ChainSettings;
  /** For people: which node it is, with its host. */
  readonly where: string;
  /** Escrow contracts are named by the settings, not guessed. */
  readonly isServed: boolean;
  /** The time of one call, milliseconds. */
  readonly callMs: number;
  /** Unix seconds. */
  readonly now: () => number;
  /** Takes what is secret in its addresses out of a text. */
  readonly hide: (text: string) => string;
};

/** How long a node must remember: the longest timelock is 30 days ahead (core/timelocks.ts). */
export const historySeconds = 31 * 86_400;

/** How much it is asked in a row; the questions of a market's busy second are `neededPerSecond`. */
export type Load = {
  readonly neededPerSecond: number;
  /** The questions asked in turn, as watching and building ask them. */
  readonly asks: readonly ((signal: AbortSignal) => Promise<unknown>)[];
};

export type Look = {
  /** Each method that the adapter calls. */
  readonly methods: Probes;
  /** The kind of the node and the data it keeps. */
  readonly properties: Probes;
  readonly load: Load;
};

export type Check = Required<Omit<Said, 'todo'>> & {
  readonly node: string;
  readonly what: string;
  readonly ms: number;
  readonly todo: string | null;
};

const mostWords = 300;

export async function probe(
  { where, callMs, hide }: Node,
  what: string,
  { without, isSpare = false, mostMs = callMs, ask }: Probe,
  ending: AbortSignal,
): Promise<Check> {
  const began = performance.now();
  const told = (said: Said): Check => {
    const { verdict = 'fits', todo = null, facts = {} } = said;
    const says = onOneLine(hide(said.says)).slice(0, mostWords);
    const ms = Math.round(performance.now() - began);
    return { node: where, what, verdict, says, todo, facts, ms };
  };
  try {
    const said = await inTime(mostMs, ending, ask);
    return told(typeof said === 'string' ? { says: said } : said);
  } catch (error) {
    if (ending.aborted) return told({ says: 'the time was over', verdict: 'unseen' });
    const verdict = isSpare ? 'weak' : 'lacks';
    return told({ says: wordsOf(error, mostMs), verdict, todo: `without it ${without}` });
  }
}

/** Never the words of a library, which may quote an address; a node's own go through `hide`. */
function wordsOf(error: unknown, ms: number): string {
  if (!(error instanceof Error)) return 'it failed without a word';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') {
    return `no answer within ${ms} ms`;
  }
  if (error instanceof ParleyError) return error.message.replace(/; nothing (was )?changed$/, '');
  const { code } = (error.cause ?? error) as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? `${error.message} (${code})` : error.message;
}

/** Asked for once; a failure too. */
export function once<T>(
  ask: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let asking: Promise<T> | null = null;
  return (signal) => {
    asking ??= ask(signal);
    return asking;
  };
}

/** Said of the method or of who asks, not of the bytes; nodes and gateways word it as they like. */
const notServed =
  /method.{0,80}(not|n't|un|disabled)|whitelist|forbidden|not allowed|unauthori[sz]ed|denied/i;
/** The code of JSON-RPC for an unknown method. */
const methodNotFound = -32_601;

/**
 * A method that would change the chain: bytes that are no transaction are given to it, so that its
 * own words of them show that it is served. Throws where they say that it is not.
 */
export async function refusesNonsense(giving: Promise<unknown>): Promise<Said> {
  try {
    await giving;
  } catch (error) {
    if (!isOfTheBytes(error)) throw error;
    return { says: `served: it refuses bytes that are no transaction (${error.message})` };
  }
  const todo = 'see what it is: a node that looks at bytes refuses these';
  return { says: 'it took bytes that are no transaction for one', verdict: 'weak', todo };
}

function isOfTheBytes(error: unknown): error is Error {
  if (!(error instanceof Error) || notServed.test(error.message)) return false;
  if (error instanceof ParleyError) return error.code === 'refused_by_node';
  return !(error instanceof RpcError && (error.code === methodNotFound || turnsAway(error.status)));
}

/** Whether several questions may leave in one exchange, tried with one that costs nothing. */
export const batchesOf = (rpc: Pick<Rpc, 'batch'>, method: NodeMethod): Probe => ({
  without: 'each question is an exchange of its own',
  isSpare: true,
  ask: async (signal) => {
    const question = { method, params: [], own: {} } as const;
    const answers = await rpc.batch([question, question, question], signal);
    const answered = answers.filter((each) => each !== null).length;
    if (answered === 3) return 'three questions in one exchange';
    return {
      says: `${answered} of 3 questions of a batch were answered`,
      verdict: 'weak',
      todo: 'each question is an exchange of its own: five times as many',
    };
  },
});

export const days = (seconds: number) => Math.round((seconds / 86_400) * 10) / 10;
