// What of the crash matrix outlives a process: the database, the chains, the receivers of webhooks,
// the clock.

import type { Inspection } from '../../chains/tokens/inspection.ts';
import type { Database } from '../../server/db/database.ts';
import type { Outgoing } from '../../server/messages/courier.ts';
import type { SimChain } from '../sim/chain.ts';
import type { Chance } from '../sim/chance.ts';
import type { Node } from '../sim/facts.ts';
import type { Receiver } from '../sim/receiver.ts';
import type { Party } from '../sim/state.ts';
import type { TestDatabase } from '../support/database.ts';

export const tokenChain = 'sim-evm';
export const gasKey = `0x${'9a'.repeat(20)}`;
export const gasFunds = 10n ** 12n;

/** What outlives every process of a world. */
export type Parts = {
  readonly database: TestDatabase;
  readonly real: Database;
  readonly nodes: readonly Node[];
  readonly parties: Party[];
  readonly receiver: Receiver;
  /** The secret of every path that receives. */
  readonly hooks: Map<string, string>;
  /** What the chain says of tokens. */
  readonly tokens: Map<string, Inspection>;
  /** What a launchpad has launched, oldest first. */
  readonly launched: string[];
  /** What people were sent, in order: by the same id the same. */
  readonly told: Outgoing[];
  /** Chats where nothing can be written any more. */
  readonly endedChats: Set<string>;
  /** What each chain shows of them since time was missing, oldest first. */
  readonly hashlocks: Map<string, string[]>;
  readonly chance: Chance;
  /** What nobody may find in a database or a log; `until` it is in a mempool or block. */
  readonly secrets: Map<string, 'shown' | 'never'>;
  readonly log: string[];
  nowMs: number;
  /** That the next process starts with. */
  encryptionKey: string;
  /** Processes so far: each draws what no other one draws. */
  processes: number;
};

export function chainNamed(world: Parts, name: string): SimChain {
  const node = world.nodes.find(({ chain }) => chain.chain === name);
  if (node === undefined) throw new Error(`no chain ${name}`);
  return node.chain;
}
