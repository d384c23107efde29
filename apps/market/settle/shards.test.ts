// Several contracts on one EVM chain, over HTTP with a keeper: a swap lies in one of them from its
// agreement on, and what befalls one contract leaves the swaps of the others alone.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { EvmContracts } from '@parley/chains/evm/plan.ts';
import { compileTestContracts } from '@parley/chains/evm/testing/compile.ts';
import type { Lanes } from '@parley/chains/interface/lanes.ts';
import { deployContracts } from '@parley/contracts/escrows/deploy.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import { startCommands } from '@parley/verify/test/support/commands.ts';
import {
  agree,
  anotherDesk,
  claimOwn,
  type Deal,
  type Desk,
  deepen,
  ether,
  fundBoth,
  hurry,
  keep,
  type Loose,
  startDesk,
  swapOf,
} from '@parley/watchtower/testing/desk.ts';
import { type Abi, encodeFunctionData, getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { setBlocked } from '../db/accounts.ts';
import type { Asset } from '../db/assets.ts';
import { mustKnowContracts } from './lanes.ts';
import { insertAsset } from './testing/rows.ts';
import { evm, newParty, type Party } from './testing/world.ts';

const limits = { timeout: 120_000 };
const amount = 650_000_000n;
const token = `0x${randomBytes(20).toString('hex')}` as const;
const { abi, runtime } = compileTestContracts('Zoo.sol').get('Governed')!;
const commands = startCommands();
let desk: Desk;
let contracts: EvmContracts;
let lanes: Lanes;
let dollar: Asset;
/** The contract of every market, and the shard. */
let first = '';
let second = '';

before(async () => {
  contracts = { shards: [shardOf(1).address] };
  desk = await startDesk({ contracts });
  await deployShard();
  await desk.rpc(evm)('anvil_setCode', [token, runtime]);
  dollar = await insertAsset(desk.deps, evm, getAddress(token), null);
  lanes = desk.deps.adapters.get(evm)?.lanes as Lanes;
  [first, second] = lanes.open as [string, string];
}, limits);
after(() => Promise.all([desk?.close(), commands.stop()]));

async function deployShard(): Promise<void> {
  const { rpcUrl } = desk.infos.evm;
  const account = privateKeyToAccount(`0x${desk.key}`);
  await desk.dev.mining(evm, true);
  await deployContracts({ rpcUrl, account }, 1);
  await desk.dev.mining(evm, false);
}

async function tell(from: string, functionName: string, ...args: unknown[]): Promise<void> {
  const data = encodeFunctionData({ abi: abi as Abi, functionName, args });
  const rpc = desk.rpc(evm);
  await rpc('anvil_impersonateAccount', [from]);
  await rpc('eth_sendTransaction', [{ from, to: token, data }]);
  await rpc('anvil_stopImpersonatingAccount', [from]);
  await desk.dev.mine(evm, 1);
}

/** The party whose new escrows go to this contract. */
async function traderOf(contract: string, on: Desk = desk): Promise<Party> {
  for (;;) {
    const party = await newParty(on);
    const { address } = party.evmAccount;
    if (lanes.contractFor(address) !== contract) continue;
    await tell(desk.gasAddress, 'mint', address, 10n * amount);
    return party;
  }
}

/** The taker gives the token, in the contract that its address goes to. */
async function dealOf(taker: Party, on: Desk = desk): Promise<Deal> {
  const deal = await agree(on, { long: dollar, longAmount: amount, taker });
  const ether_ = { chain: evm, address: taker.evmAccount.address, amount: ether };
  await desk.dev.faucet(ether_);
  return deal;
}

async function isOver({ id }: Deal): Promise<boolean> {
  const text = 'select 1 from escrows where swap_id = $1 and not done';
  return (await desk.deps.db.rows({ name: '', text, values: [id] })).length === 0;
}

const longOf = async (deal: Deal) => (await swapOf(deal)).legs.b;
const contractOf = async (deal: Deal) => (await longOf(deal)).escrow.split(':')[0];

/** The keeper claims what a public secret opens. */
async function settled(...deals: Deal[]) {
  const gas = desk.deps.gas.get(evm) as Loose;
  const { dailyCap } = gas;
  gas.dailyCap = 0n;
  for (const deal of deals) await claimOwn(desk, deal);
  await deepen(desk);
  await keep(desk);
  gas.dailyCap = dailyCap;
  for (let pass = 0; pass < 3; pass += 1) {
    await hurry(desk);
    await keep(desk);
    await deepen(desk);
  }
  return Promise.all(deals.map(longOf));
}

/** `npm run ops -- contracts` with these settings of the chain. */
async function contractsSaid(more: object, ...args: string[]) {
  const { chainId, rpcUrl } = desk.infos.evm;
  const node = { family: 'evm', chain: evm, chainId, rpcUrls: [rpcUrl], policy: 'evm-dev' };
  const { code, out, err } = await commands.run('apps/market/ops.ts', ['contracts', ...args], {
    DATABASE_URL: desk.urls.database,
    PARLEY_CHAINS: JSON.stringify([{ ...node, ...more }]),
  });
  assert.equal(err, '');
  return { code, lines: out.trim().split('\n') };
}

test(
  'the drill of leaving a contract, with a taker that is blocked meanwhile',
  limits,
  async () => {
    const formerContracts = [second];
    const taker = await traderOf(second);
    const deal = await dealOf(taker);
    assert.equal(await contractOf(deal), second);
    await setBlocked(desk.deps.db, { id: taker.accountId, reason: 'drill', at: new Date() });
    desk.app.edge.keys.forget(taker.accountId);
    // Step 1: it is named as a former one. New swaps go elsewhere; the open one goes on.
    const retired = await anotherDesk(desk, { contracts: { contract: first, formerContracts } });
    await mustKnowContracts(retired.deps);
    const later = await dealOf(await traderOf(second, retired), retired);
    assert.equal(await contractOf(later), first);
    // Step 2: the report names the open swaps in it, and it may not be left.
    await fundBoth(desk, deal);
    await deepen(desk);
    const held = await contractsSaid({ formerContracts });
    assert.equal(held.code, 0);
    const last = new Date((await longOf(deal)).timelock * 1_000).toISOString();
    const own = `1 escrows of open swaps, 1 of them funded, the last timelock ends ${last}`;
    assert.ok(held.lines.includes(`${evm}  ${second}  former   ${own}`), held.lines.join('\n'));
    assert.equal((await contractsSaid({ formerContracts }, '--leave', second)).code, 1);
    const early = await contractsSaid({}, '--json');
    const unnamed = early.lines
      .map((line) => JSON.parse(line))
      .find(({ role }) => role === 'unnamed');
    assert.deepEqual([early.code, unnamed?.contract], [1, second]);
    // Step 3: the swap settles in every part, whoever is blocked.
    const [{ status }] = (await settled(deal)) as [{ status: string }];
    assert.equal(status, 'claimed');
    for (let pass = 0; pass < 10 && !(await isOver(deal)); pass += 1) await deepen(desk);
    // Step 4: it may be left, and a start without it is accepted.
    const free = await contractsSaid({ formerContracts }, '--leave', second);
    assert.equal(free.code, 0, free.lines.join('\n'));
    assert.match(free.lines[0] ?? '', /former +0 escrows of open swaps, .*; may be taken out$/);
    const without = await anotherDesk(desk, { contracts: { contract: first } });
    await mustKnowContracts(without.deps);
    await Promise.all([retired.close(), without.close()]);
  },
);
