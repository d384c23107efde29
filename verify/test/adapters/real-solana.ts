// A driver over a Solana validator that the dev network runs: slots come by themselves, nobody
// moves its clock, nothing is taken back.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { solanaAdapter } from '@parley/chains/solana/adapter.ts';
import { solanaDeployment } from '@parley/chains/solana/plan.ts';
import { solanaDevPolicy as policy } from '@parley/chains/solana/policy.ts';
import type { DevnetClient } from '@parley/dev/devnet/client.ts';
import type { ChainInfo, DevChain } from '@parley/dev/devnet/dev-chain.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { solanaWallet } from '@parley/sdk/wallets/solana.ts';
import type { Driver } from './driver.ts';
import { lies } from './lies.ts';
import { NotHere } from './remote-tron.ts';

const pollMs = 200;
/** On a busy machine slots come late, and the clock goes by them. */
const busySeconds = 1_800;
const soon = () => AbortSignal.timeout(30_000);
const wall = () => Math.floor(Date.now() / 1_000);

export async function realSolana(info: ChainInfo, dev: DevnetClient): Promise<Driver> {
  const { chain, rpcUrl: url, genesisHash = null, tokens = [] } = info;
  const dollar = tokens[0]?.address ?? null;
  const wallet = () => solanaWallet({ chain, rpcUrls: [url], secretKey: randomBytes(32) });
  const wallets = { funder: wallet(), receiver: wallet() };
  for (const { address } of Object.values(wallets)) {
    await dev.faucet({ chain, address });
    if (dollar !== null) await dev.faucet({ chain, address, asset: dollar });
  }
  const rpc = rpcTo(url);
  const slot = (commitment: string) => rpc<number>('getSlot', [{ commitment }]);
  const until = async (commitment: string, more: number) => {
    const wanted = (await slot('processed')) + more;
    while ((await slot(commitment)) < wanted) await sleep(pollMs);
  };
  const never = (what: string) => async () => {
    throw new NotHere(what);
  };
  const party = ({ address }: { readonly address: string }) => ({ address, pubkey: null });
  const handles = {
    info,
    mine: (blocks: number) => until('processed', blocks),
    give: never('there is no faucet'),
    moveTo: never('its clock is its own'),
  };
  return {
    ...lies.solana,
    family: 'solana',
    dev: handles as unknown as DevChain,
    url,
    coins: dollar === null ? ['native'] : ['native', 'token'],
    token: (kind) => (kind === 'token' ? dollar : null),
    amount: () => 2_000_000_000n,
    parties: { funder: party(wallets.funder), receiver: party(wallets.receiver) },
    depth: policy.normal.confirmations,
    adapter: (rpcUrls = [url], attemptTimeoutMs = 10_000) =>
      solanaAdapter({
        chain,
        rpcUrls,
        policy,
        mostDriftSeconds: busySeconds,
        genesisHash,
        now: wall,
        deployment: solanaDeployment,
        rpc: { attemptTimeoutMs, rounds: 1 },
      }),
    sign: async (by, material) => {
      if (material.sign !== 'solana-tx') throw new Error(`${material.sign} is not for Solana`);
      return (await wallets[by].sign(material, soon())).raw;
    },
    now: wall,
    pass: never('its clock is its own'),
    show: () => until('confirmed', 1),
    deepen: () => until('finalized', 2),
    takeBack: never('its blocks are not ours to take back'),
    isSlow: true,
    noToken: 'DyRkUpQxYG2VnP2SkMdQs5BTsVPeKCpSHLxzByc2Sxvj',
    foreign: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    spelt: [solanaDeployment.program, solanaDeployment.program],
    stop: async () => {},
  };
}
