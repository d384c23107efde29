// Fundings that are signed and sent by the keeper, for its tests: a dollar that is paid by
// signature on the desk's second chain, and swaps whose maker gives of it without a coin for gas.

import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { authorizationOf } from '../../chains/evm/testing/authorization.ts';
import devCoin from '../../contracts/escrows/artifacts/DevCoin.json' with { type: 'json' };
import type { Asset } from '../../server/db/assets.ts';
import { escrowAt, termsOf } from '../../server/db/escrows.ts';
import { upsertConfigured } from '../../server/db/listing.ts';
import { uuidv7 } from '../../server/ports/ids.ts';
import { evm, evm2, must } from '../../server/settle/testing/world.ts';
import type { FundAsking, Relayed } from '../port.ts';
import { agree, type Deal, type Desk, deepen, ether, legOf, sendOwn, swapOf } from './desk.ts';

const amount = ether / 10n;

/** A transaction of one of the chain's own accounts, mined. */
async function sendAs(desk: Desk, call: { to?: string; data: string }): Promise<string> {
  const rpc = desk.rpc(evm2);
  const [from] = (await rpc('eth_accounts', [])) as string[];
  const hash = await rpc('eth_sendTransaction', [{ from, ...call }]);
  await desk.dev.mine(evm2, 1);
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as {
    status: string;
    contractAddress: string | null;
  };
  if (receipt.status !== '0x1') throw new Error('it reverted');
  return receipt.contractAddress ?? '';
}

/** Lists a dollar on the second chain that is paid by signature. */
export async function listDollar(desk: Desk): Promise<Asset> {
  const { db, now, randomBytes: random, adapters } = desk.deps;
  const deployed = await sendAs(desk, { data: devCoin.bytecode });
  const asset = {
    id: uuidv7(now(), random),
    chain: evm2,
    symbol: 'USDV',
    address: adapters.get(evm2)?.parseAddress(deployed) ?? '',
    decimals: 6,
    highValueFrom: null,
  };
  await db.transaction((tx) => upsertConfigured(tx, asset, new Date(now())));
  return asset as unknown as Asset;
}

/** The taker has funded the long leg; the maker has dollars, and no coin. */
export async function dollarDeal(
  desk: Desk,
  dollar: Asset,
  on: { maker?: Deal['maker'] } = {},
): Promise<Deal> {
  const deal = await agree(desk, { short: dollar, ...on });
  const { taker, maker } = deal;
  await desk.dev.faucet({ chain: evm, address: taker.evmAccount.address, amount: 2n * amount });
  await mintDollars(desk, dollar, maker);
  await sendOwn(desk, taker, must(await taker.post(legOf(deal, 'b', 'fund'))));
  await deepen(desk);
  return deal;
}

/** As many as a leg takes. */
export async function mintDollars(desk: Desk, dollar: Asset, to: Deal['maker']): Promise<void> {
  const args = [to.evmAccount.address, amount] as const;
  const data = encodeFunctionData({ abi: devCoin.abi, functionName: 'mint', args });
  await sendAs(desk, { to: dollar.address ?? '', data });
}

export async function escrowOf(deal: Deal): Promise<string> {
  return (await swapOf(deal)).legs.a.escrow;
}

/** What the maker signs for the leg as it stands. */
export async function signatureOf(
  desk: Desk,
  deal: Deal,
  by: Deal['maker'] = deal.maker,
): Promise<Hex> {
  const row = await escrowAt(desk.deps.db, evm2, await escrowOf(deal));
  if (row === null) throw new Error('it has no escrow');
  const { chainId } = desk.deps.adapters.get(evm2) as unknown as { chainId: number };
  return by.evmAccount.signTypedData(authorizationOf(termsOf(row.terms), chainId));
}

/** Asks for the funding of the short leg to be sent, as the route does. */
export async function askFunding(
  desk: Pick<Desk, 'keeper'>,
  deal: Deal,
  more: Partial<FundAsking> & { readonly signature: string; readonly escrow: string },
): Promise<Relayed> {
  const request: FundAsking = {
    accountId: deal.maker.accountId,
    swapId: deal.id,
    leg: 'a',
    signal: AbortSignal.timeout(20_000),
    admit: async () => {},
    ...more,
  };
  return desk.keeper.desk.fund(request);
}

export async function fundBySignature(
  desk: Desk,
  deal: Deal,
  more: Partial<FundAsking> = {},
): Promise<Relayed> {
  const signature = await signatureOf(desk, deal);
  return askFunding(desk, deal, { signature, escrow: await escrowOf(deal), ...more });
}

export async function dollarsOf(desk: Desk, dollar: Asset, who: string): Promise<bigint> {
  const read = { abi: erc20Abi, functionName: 'balanceOf', args: [who as Hex] } as const;
  return desk.client(evm2).readContract({ address: dollar.address as Hex, ...read });
}
