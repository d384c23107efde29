// Tests only: a page that lists wallets, links them, and funds with them what it is told to. It
// builds by its own nodes, checks what it built, and sends by them, as a settlement does.

import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Material, Signed } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { tronDevPolicy } from '@parley/chains/tron/policy.ts';
import { type ChainSource, evmSource, solanaSource, tronSource } from '@parley/sdk/sources.ts';
import { verifyMaterial } from '@parley/sdk/verify-material.ts';
import { asking } from '@parley/sdk/wallets/asking.ts';
import type { Wallet } from '@parley/sdk/wallets/wallet.ts';
import type { FoundWallet, Link, Place } from '../types.ts';
import { browserWallets } from '../wallets.ts';

type TraderSettings = {
  readonly places: readonly (Place & { readonly deployment?: object })[];
};

const found: FoundWallet[][] = [];
const wallets = browserWallets('regtest');
wallets.listen((now) => found.push([...now]));

let settings: TraderSettings = { places: [] };
const placeOf = (chain: string) => settings.places.find((each) => each.chain === chain) ?? null;
const links = new Map<string, Link>();
const asks = asking();
const gone: string[] = [];
const signal = () => AbortSignal.timeout(20_000);

async function linked(name: string) {
  const { id = '' } = found.at(-1)?.find((each) => each.name === name) ?? {};
  const link = await wallets.connect(id);
  links.set(`${link.family} ${link.signer.address}`, link);
  link.onGone(() => gone.push(name));
  return link;
}

function sourceOf(place: TraderSettings['places'][number]): ChainSource {
  const { chain } = place;
  switch (place.family) {
    case 'evm':
      return evmSource({ chain, chainId: place.chainId, rpcUrls: place.rpcUrls });
    case 'tron': {
      const { sources, deployment } = place;
      return tronSource({ chain, sources, deployment: deployment as never, policy: tronDevPolicy });
    }
    case 'solana':
      return solanaSource({ chain, rpcUrls: place.rpcUrls });
  }
}

async function fund(chain: string, escrow: WatchedEscrow): Promise<string> {
  const place = placeOf(chain);
  if (place === null) throw new Error(`no place ${chain}`);
  const { adapter, view } = sourceOf(place);
  const built = await adapter.buildFund({ escrow, feeRateSatPerVbyte: null }, signal());
  verifyMaterial(built, { verb: 'fund' }, escrow.terms, view);
  const link = links.get(`${place.family} ${escrow.terms.refund.address}`);
  if (link === undefined || link.family === 'bitcoin') throw new Error('no wallet is linked');
  const wallet = link.on(place, asks);
  let txid = '';
  for (const sign of signings(wallet, built)) txid = await sent(adapter, await sign());
  return txid;
}

function signings(wallet: Wallet, built: Material): (() => Promise<{ raw: string }>)[] {
  if (wallet.family === 'evm' && built.sign === 'evm-tx') {
    return built.txs.map((call) => () => wallet.sign(built.chainId, call, signal()));
  }
  if (wallet.family === 'tron' && built.sign === 'tron-txid') {
    return built.transactions.map((each) => () => wallet.sign(each, signal()));
  }
  if (wallet.family === 'solana' && built.sign === 'solana-tx') {
    return [() => wallet.sign(built, signal())];
  }
  throw new Error(`${built.sign} is not for ${wallet.family}`);
}

async function sent(adapter: ChainAdapter, { raw }: { raw: string }): Promise<string> {
  const read = await adapter.readSigned(raw as Signed, signal());
  await adapter.broadcast(read, signal());
  return read.txid;
}

/** As texts, which a test outside of the page can compare. */
async function said<T>(work: () => Promise<T>): Promise<T | { code: string; message: string }> {
  try {
    return await work();
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    return { code, message };
  }
}

const trader = {
  found: () => found.at(-1) ?? [],
  gone: () => gone,
  set: (given: TraderSettings) => {
    settings = given;
  },
  link: (name: string) => said(async () => (await linked(name)).signer.address),
  sign: (name: string, text: string) =>
    said(async () => (await linked(name)).signer.signMessage(text)),
  fund: (chain: string, escrow: WatchedEscrow) => said(() => fund(chain, escrow)),
  pay: (name: string, payTo: string, amountSats: bigint) =>
    said(async () => {
      const link = await linked(name);
      if (link.family !== 'bitcoin') throw new Error('no wallet of Bitcoin');
      return link.pay({ payTo, amountSats, withinMs: 20_000 });
    }),
};

export type Trader = typeof trader;
Object.assign(globalThis, { trader });
