// The chains of a dev network as an operator of a market of one's own would name them.

import { devnetClient } from '@parley/dev/devnet/client.ts';
import { devAssets, devChains } from '@parley/market/start/dev-network.ts';

const askMs = 30_000;

/** `control`: its address. Each is the text of the setting. */
export async function chainsOf(control: string) {
  const devnet = await devnetClient(control).chains(AbortSignal.timeout(askMs));
  const chains = devChains(devnet);
  const assets = devAssets(chains, devnet);
  return { PARLEY_CHAINS: JSON.stringify(chains), assets: JSON.stringify(assets) };
}
