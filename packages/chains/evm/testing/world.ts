// The chain of a test file, with adapters over its node and over nodes that lie. Changes that the
// file made to the chain are undone behind it.

import { after, before } from 'node:test';
import type { Hex } from 'viem';
import { type Lie, lyingNode, untilTested } from '../../testing/nodes.ts';
import type { EvmAdapter, EvmAdapterOptions } from '../adapter.ts';
import { sharedAnvil } from './anvil.ts';
import { adapterOn } from './swap.ts';

export async function evmWorld() {
  const chain = await sharedAnvil();
  const { client } = chain;
  let begun: Hex;
  before(async () => {
    begun = await client.snapshot();
  });
  after(async () => {
    await client.setAutomine(true);
    await client.revert({ id: begun });
  });
  const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));
  const urlOf = async (lie: Lie): Promise<string> => (await lying(lie)).url;
  const adapterOf = (over: Partial<EvmAdapterOptions> = {}): EvmAdapter => adapterOn(chain, over);
  return {
    chain,
    /** The URL of a node that lies until the test has ended. */
    urlOf,
    adapterOf,
    adapterOver: async (lie: Lie, over: Partial<EvmAdapterOptions> = {}): Promise<EvmAdapter> =>
      adapterOf({ rpcUrls: [await urlOf(lie)], ...over }),
    signal: () => AbortSignal.timeout(60_000),
    mine: (blocks = 1): Promise<void> => client.mine({ blocks }),
  };
}
