// New tokens of launchpads: by a factory's event (EVM, TRON) or a program's instruction (Solana).

import type { AbiEvent, AbiParameter } from 'viem';
import { parseAbiItem, toEventSelector } from 'viem/utils';

export type EventSource = {
  readonly factory: string;
  /** As Solidity declares it: `TokenCreated(address indexed token, address creator)`. */
  readonly event: string;
  /** The argument that is the token. */
  readonly token: string;
};

export type InstructionSource = {
  readonly program: string;
  /** The bytes that its data begins with, hex. */
  readonly discriminator: string;
  /** Which of the instruction's accounts is the mint, from 0 on. */
  readonly mintAccount: number;
  /** The account whose transactions are read: each launch names it, and little else should. */
  readonly account: string;
};

export type LaunchSource = (EventSource | InstructionSource) & {
  /** The deployment's name for it, for logs. */
  readonly launchpad?: string;
};

/** All launches up to here were read. */
export type LaunchPosition = {
  /** A block's; on Solana a slot. */
  readonly height: number;
  /** The block's; on Solana the id of the last transaction, '' where there was none. */
  readonly hash: string;
};

export type LaunchPage = {
  /** Canonical addresses in the order of their launches, each once. */
  readonly tokens: readonly string[];
  readonly skipped: number;
  readonly position: LaunchPosition;
  /** Whether that is all for now; else the next page can be asked for at once. */
  readonly isWhole: boolean;
};

export type LaunchReader = {
  /**
   * The next launches at depth behind a position; null begins at the newest. Older than
   * `mostSeconds` is left out. After an unknown position tokens may come again.
   */
  read(
    source: LaunchSource,
    after: LaunchPosition | null,
    mostSeconds: number,
    signal: AbortSignal,
  ): Promise<LaunchPage>;
  /** Those of them that are a contract (Solana: a mint) now. */
  existing(tokens: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
};

export type LaunchEvent = {
  /** The first topic, hex in lower case without 0x. */
  readonly topic: string;
  /** The token's 20 bytes in hex; null: no address, or another event. Hex without 0x. */
  tokenIn(topics: readonly string[], data: string): string | null;
};

/** Throws an Error in a sentence for whoever wrote the event. */
export function launchEvent({ event, token }: Pick<EventSource, 'event' | 'token'>): LaunchEvent {
  const { inputs, ...parsed } = parsedEvent(event);
  const at = inputs.findIndex(({ name }) => name === token);
  const input = inputs[at];
  if (input === undefined) throw new Error(`the event has no argument "${token}"`);
  if (input.type !== 'address') throw new Error(`its "${token}" is ${input.type}, not an address`);
  const before = inputs.slice(0, at);
  const indexed = inputs.filter((each) => each.indexed).length;
  const topic = toEventSelector({ ...parsed, inputs }).slice(2);
  const topicAt = 1 + before.filter((each) => each.indexed).length;
  const words = before.filter((each) => !each.indexed).map(headWords);
  const from = words.reduce((sum, each) => sum + each, 0) * wordHex;
  return {
    topic,
    tokenIn: (topics, data) => {
      if (topics[0] !== topic || topics.length !== 1 + indexed) return null;
      const word = input.indexed ? topics[topicAt] : data.slice(from, from + wordHex);
      const address = /^0{24}([0-9a-f]{40})$/.exec(word ?? '')?.[1];
      return address === undefined || /^0+$/.test(address) ? null : address;
    },
  };
}

const wordHex = 64;

function parsedEvent(event: string): AbiEvent {
  let item: unknown;
  try {
    item = parseAbiItem(`event ${event}`);
  } catch {
    throw new Error(`"${event}" is no event such as TokenCreated(address indexed token)`);
  }
  const parsed = item as AbiEvent;
  if (parsed.inputs.filter(({ indexed }) => indexed).length <= 3) return parsed;
  throw new Error('an event has at most three indexed arguments');
}

type Parameter = AbiParameter & { readonly components?: readonly Parameter[] };

function isDynamic({ type, components = [] }: Parameter): boolean {
  return /^(string|bytes)(\[|$)|\[\]/.test(type) || components.some(isDynamic);
}

/** Words that an argument takes where the arguments begin. */
function headWords(parameter: Parameter): number {
  if (isDynamic(parameter)) return 1;
  const { type, components } = parameter;
  const lengths = [...type.matchAll(/\[(\d+)\]/g)].map(([, length]) => Number(length));
  const one = components?.map(headWords).reduce((sum, each) => sum + each, 0) ?? 1;
  return lengths.reduce((product, each) => product * each, one);
}
