// Faults of nodes and chains: silent, behind, on a fork, slow, gone; blocks that are taken back.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { foundryBinary } from '@parley/contracts/evm/anvil.ts';
import { rpcTo } from '@parley/dev/devnet/rpc.ts';
import { freePort } from '@parley/host/free-port.ts';
import { agreed, fund, probe, runUntil, shows, until } from '../support/deals.ts';
import { portOf, type Stage } from '../support/stage.ts';
import { bitcoinRpc, invalidate, otherBlocks } from './bitcoin-blocks.ts';
import { asking, type Fault, type Scene } from './scene.ts';

export const chainFaults: readonly Fault[] = [
  {
    name: 'the second node of TRON is gone',
    alerts: [{ alertname: 'ParleyNodeSilent', chain: 'tron-dev', node: '2' }],
    breaks: async ({ stage }) => {
      stage.nodes.tron[1].fail({ kind: 'cut' });
      return async () => stage.nodes.tron[1].heal();
    },
  },
  {
    name: 'the second EVM node stands still',
    alerts: [{ alertname: 'ParleyNodeFault', chain: 'evm-dev', node: '2', fault: 'behind' }],
    // The doctor bears with 60 blocks.
    breaks: ({ stage }) => secondNode(stage, { own: 0, others: 70 }),
  },
  {
    name: 'the second EVM node is on a fork',
    alerts: [{ alertname: 'ParleyNodesDisagree', chain: 'evm-dev' }],
    // More than the doctor leaves out at the top.
    breaks: ({ stage }) => secondNode(stage, { own: 20, others: 20 }),
  },
  {
    name: 'the first EVM node is slow, then it comes second',
    alerts: [{ alertname: 'ParleySlow', route: '/v1/swaps/:id/legs/:leg/fund' }],
    breaks: slowNode,
  },
  {
    name: 'both ways to Bitcoin are gone',
    alerts: [
      { alertname: 'ParleyChangeUnreconciled', chain: 'bitcoin-regtest' },
      { alertname: 'ParleyChainLate', chain: 'bitcoin-regtest' },
    ],
    breaks: async ({ stage }) => {
      for (const way of stage.nodes.bitcoin) way.fail({ kind: 'cut' });
      return async () => {
        for (const way of stage.nodes.bitcoin) way.heal();
        await stage.dev.mine('bitcoin-regtest', 1);
      };
    },
  },
  {
    name: 'bitcoind goes over to a longer chain, in which a funding is not',
    alerts: [{ alertname: 'ParleyReorganisation' }],
    breaks: reorganisation,
  },
  {
    name: 'an operator halts TRON',
    alerts: [{ alertname: 'ParleyChainHalted', chain: 'tron-dev' }],
    breaks: async ({ admin }) => {
      await admin.query(`insert into halts (chain, reason, at) values ('tron-dev', 'soak', now())`);
      await admin.query(`select pg_notify('parley_work', 'halts')`);
      return () => admin.query(`delete from halts where chain = 'tron-dev'`);
    },
  },
];

type Blocks = { readonly own: number; readonly others: number };

/** Another node with the same chain so far, which from now on has blocks of its own, or none. */
async function secondNode(stage: Stage, { own, others }: Blocks): Promise<() => Promise<unknown>> {
  const [, second] = stage.nodes.evm;
  const { rpcUrl } = stage.place.evm;
  const port = await freePort();
  const args = ['--host', '127.0.0.1', '--port', String(port), '--fork-url', rpcUrl];
  const anvil = spawn(foundryBinary('anvil'), [...args, '--quiet', '--no-storage-caching'], {
    stdio: 'ignore',
  });
  const rpc = rpcTo(`http://127.0.0.1:${port}`);
  await until('the forked anvil answers', () => rpc('eth_chainId'));
  if (own > 0) await rpc('anvil_mine', [`0x${own.toString(16)}`]);
  await stage.dev.mine('evm-dev', others);
  second.pointTo(port);
  return async () => {
    second.pointTo(portOf(rpcUrl));
    anvil.kill('SIGTERM');
    await once(anvil, 'exit');
  };
}

/** The delay of each piece, both ways: a call takes twice as long, and far less than it may. */
const slowMs = 700;

/** Somebody asks for a funding there again and again; the mending is what the runbook says. */
async function slowNode({ stage, pair }: Scene): Promise<() => Promise<unknown>> {
  const deal = await agreed(stage, pair, 'ETH', 'SOL');
  const sides = (['maker', 'taker'] as const).map((side) =>
    runUntil(stage, deal, side, ({ step }) => step === 'verified'),
  );
  await Promise.all(sides);
  const [first] = stage.nodes.evm;
  first.fail({ kind: 'delay', ms: slowMs });
  const over = new AbortController();
  const path = `/v1/swaps/${deal.id}/legs/b/fund`;
  const asked = asking(over.signal, () => probe(stage, pair[0], path, {}));
  return async () => {
    await stage.servers[0]?.kill();
    await stage.startServer({ env: { PARLEY_CHAINS: otherFirst(stage) } });
    return async () => {
      over.abort();
      await asked;
      first.heal();
    };
  };
}

function otherFirst(stage: Stage): string {
  const chains = JSON.parse(stage.env.PARLEY_CHAINS ?? '') as { rpcUrls?: string[] }[];
  const turned = chains.map((each) =>
    'family' in each && each.family === 'evm'
      ? { ...each, rpcUrls: [...(each.rpcUrls ?? [])].reverse() }
      : each,
  );
  return JSON.stringify(turned);
}

async function reorganisation({ stage, pair }: Scene): Promise<() => Promise<unknown>> {
  const { chain } = stage.place.bitcoin;
  const rpc = bitcoinRpc(stage);
  const deal = await agreed(stage, pair, 'BTC', 'ETH');
  await fund(stage, deal, 'initiator');
  await shows(deal, 'it is final', ({ status }) => status === 'initiator_funded');
  await stage.dev.mining(chain, false);
  await invalidate(rpc, 6);
  await otherBlocks(rpc, 9);
  await shows(deal, 'it is taken back', ({ status }) => status === 'agreed');
  return () => stage.dev.mining(chain, true);
}
