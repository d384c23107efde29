// New tokens of launchpads: by a factory's event (EVM, TRON) or a program's instruction (Solana).

import type { AbiEvent, Hex } from 'viem';
import { decodeEventLog, parseAbiItem, toEventSelector } from 'viem/utils';

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
  const item = parsedEvent(event);
  const at = item.inputs.findIndex(({ name }) => name === token);
  const input = item.inputs[at];
  if (input === undefined) throw new Error(`the event has no argument "${token}"`);
  if (input.type !== 'address') throw new Error(`its "${token}" is ${input.type}, not an address`);
  return {
    topic: toEventSelector(item).slice(2),
    tokenIn: (topics, data) => {
      const named = argumentOf(item, at, topics, data)?.slice(2).toLowerCase() ?? null;
      return named === null || /^0+$/.test(named) ? null : named;
    },
  };
}

/** Null where it is another event, or is not written as this one. */
function argumentOf(
  item: AbiEvent,
  at: number,
  topics: readonly string[],
  data: string,
): string | null {
  try {
    const [first, ...more] = topics.map((each): Hex => `0x${each}`);
    if (first === undefined) return null;
    const { args } = decodeEventLog({ abi: [item], topics: [first, ...more], data: `0x${data}` });
    // An event with arguments that have no name is read as a list.
    const given = args as unknown as Readonly<Record<string, string>>;
    return given[Array.isArray(args) ? at : (item.inputs[at]?.name ?? '')] ?? null;
  } catch {
    return null;
  }
}

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
