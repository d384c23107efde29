// The common parts of the adapters of EVM, TRON and Solana: check nodes, watch escrows, offer
// signed bytes.

import type { ChainAdapter } from '../adapter.ts';
import type { Changes, Look, WatchedEscrow } from '../interface/reading.ts';
import type { ReadTransaction } from '../interface/sending.ts';
import { offersTo } from '../nodes/offers.ts';
import { opening, type Told, told, type Works } from '../nodes/opened.ts';
import { type Client, oneSource } from '../nodes/sources.ts';
import type { Watching } from './watch.ts';
import { watching } from './watching.ts';

type Sent = Pick<ReadTransaction, 'raw' | 'txid'>;

export type Sending<Node, Watch> = {
  readonly name: string;
  /** Gives it to one node. Throws `refused_by_node`; a node that has it already takes it. */
  give(node: Node, sent: Sent, signal: AbortSignal): Promise<void>;
  /** The watched escrows that it touches; learns a secret in it. */
  touched(watch: Watch, raw: string): Iterable<string>;
};

export type Parts<Node extends Client, Watch> = Pick<ChainAdapter, 'policy'> & {
  readonly watch: Watch;
  readonly node: Node;
  readonly rounds: number | undefined;
  /** Throws where the nodes are not of the configured chain, or hold another contract. */
  check(watch: NoInfer<Watch>, signal: AbortSignal): Promise<void>;
  /** As if all that is remembered were watched. */
  changes(watch: NoInfer<Watch>, signal: AbortSignal): Promise<Changes>;
  look(
    watch: NoInfer<Watch>,
    escrows: readonly WatchedEscrow[],
    signal: AbortSignal,
  ): Promise<Look>;
  remember(watch: NoInfer<Watch>, escrow: WatchedEscrow): void;
  forget(watch: NoInfer<Watch>, address: string): void;
  readonly sending: Sending<Node, NoInfer<Watch>>;
};

/** `asked`: members that ask nodes, each told of a watch and begun when the nodes are checked. */
export function kitOf<
  Node extends Client,
  Watch extends Pick<Watching, 'chain' | 'owed' | 'closed'>,
>(parts: Parts<Node, Watch>) {
  const { watch, node, policy, sending } = parts;
  const { chain } = watch;
  const offers = offersTo({ chain, sources: node.sources, rounds: parts.rounds });
  const { open, opened } = opening((signal) => parts.check(watch, signal));
  const broadcast = async ({ raw, txid }: ReadTransaction, signal: AbortSignal) => {
    const give = (at: number, until: AbortSignal) =>
      sending.give(oneSource(node, at), { raw, txid }, until);
    await offers.toAll({ name: sending.name, txid, give }, signal);
    // A node has it, so a secret in it is public from now on, in a block or not.
    for (const address of sending.touched(watch, raw)) watch.owed.add(address);
    return txid;
  };
  return {
    opened,
    asked: <Members extends object>(members: Works<Watch, Members>, of = watch): Told<Members> =>
      told(of, opened, members),
    kept: {
      chain,
      policy,
      node,
      open,
      ...watching(
        {
          keep: (escrow) => parts.remember(watch, escrow),
          drop: (address) => parts.forget(watch, address),
          owe: (address) => watch.owed.add(address),
        },
        {
          changes: opened((signal) => parts.changes(watch, signal)),
          look: opened((escrows: readonly WatchedEscrow[], signal) =>
            parts.look(watch, escrows, signal),
          ),
        },
      ).methods,
      broadcast: opened(broadcast),
      close: async () => {
        watch.closed.abort();
        offers.close();
      },
    },
  };
}
