// A chain in a process of its own, for a test that kills it: pays once, and says so.

import { solanaChain } from '../../../devnet/solana-chain.ts';
import { signer } from './chain.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const chain = await solanaChain({
  chain: 'solana-dev',
  dir: process.argv[2]!,
  clock: { now: () => Math.floor(Date.now() / 1_000) },
  log: quiet,
});
const { address } = await signer('to');
const { txid } = await chain.give({ address, token: null, amount: 1_000_000_000n });
const { height } = await chain.head();
console.log(JSON.stringify({ id: txid, slot: height }));
setInterval(() => void chain.tick(), 20);
