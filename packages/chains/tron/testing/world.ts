// The chain of a test file, with adapters over its node and over nodes that lie.

import { after } from 'node:test';
import { untilTested } from '../../testing/nodes.ts';
import type { TronAdapter } from '../adapter.ts';
import type { TronAdapterOptions } from '../watch.ts';
import { adapterOn, startTron } from './chain.ts';
import { type Lie, lyingNode } from './nodes.ts';

export async function tronWorld() {
  const chain = await startTron();
  after(() => chain.stop());
  const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));
  const urlOf = async (lie: Lie): Promise<string> => (await lying(lie)).url;
  return {
    chain,
    /** The URL of a node that lies until the test has ended. */
    urlOf,
    adapterOf: (...urls: string[]): TronAdapter => adapterOn(chain, urls),
    adapterOver: async (lie: Lie, over: Partial<TronAdapterOptions> = {}): Promise<TronAdapter> =>
      adapterOn(chain, [await urlOf(lie)], over),
  };
}
