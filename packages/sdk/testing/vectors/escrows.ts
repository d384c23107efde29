// Tests only: vectors of escrows, for varied terms of all four families, and terms that make none.

import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import { bitcoinEscrow } from '@parley/chains/bitcoin/plan.ts';
import { openContracts } from '@parley/chains/escrows/plan.ts';
import * as evm from '@parley/chains/evm/plan.ts';
import { solanaDeployment, solanaEscrow, vaultAddress } from '@parley/chains/solana/plan.ts';
import {
  associatedTokenAccount,
  systemProgram,
  tokenPrograms,
} from '@parley/chains/solana/programs.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import * as tron from '@parley/chains/tron/plan.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { shardOf } from '@parley/contracts/escrows/ids.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainView } from '../../trade.ts';
import { bitcoinView, evmOf, evmView, now } from '../honest.ts';
import { solanaView, someone, termsOn, tronView } from '../materials.ts';
import { faultOf } from './simple.ts';

/** The pinned facts of a chain, as JSON: Bitcoin's network by name, timelocks' policy left out. */
export function viewShown({ policy: _, ...view }: ChainView) {
  return view.family === 'bitcoin' ? { ...view, network: view.network.name } : view;
}

export function escrowOn(terms: EscrowTerms, view: ChainView) {
  switch (view.family) {
    case 'evm':
      return evm.evmEscrow(terms, view.deployment);
    case 'tron':
      return tron.tronEscrow(terms, view.deployment);
    case 'solana':
      return solanaEscrow(terms, view.deployment);
    case 'bitcoin':
      return bitcoinEscrow(terms, view.network);
  }
}

type Given = readonly [name: string, terms: EscrowTerms, view: ChainView];

const [first, second, third] = [0, 1, 2].map((each) => shardOf(each).address);
const spread = (contract: string, shards: string[], formerContracts: string[] = []) => ({
  ...evmView,
  deployment: evm.evmDeployment(31_337, { contract, shards, formerContracts }),
});
const sharded = spread(first as string, [second as string], [third as string]);
const tronAt = (byte: number) => tronAddressOfKey(someone(byte));
const solanaAt = (byte: number) => solanaAddressOfSeed(someone(byte));
const at = (address: string) => ({ address, pubkey: null });

function inLane(terms: EscrowTerms, lane: Partial<EscrowTerms['lane']>): EscrowTerms {
  return { ...terms, lane: { number: '5a'.repeat(12), counter: 3, ...lane } };
}

function given(): Given[] {
  const coin = termsOn('evm', false);
  const token = termsOn('evm', true);
  const trx = termsOn('tron', false);
  const trc = termsOn('tron', true);
  const sol = termsOn('solana', false);
  const spl = termsOn('solana', true);
  const btc = termsOn('bitcoin', false);
  const most = { number: `7${'f'.repeat(23)}`, counter: 2 ** 30 - 1 };
  const onMainnet = { ...bitcoinView, chain: 'bitcoin', network: bitcoinNetworks.mainnet };
  const onTestnet = { ...bitcoinView, chain: 'bitcoin', network: bitcoinNetworks.testnet };
  const lower = { ...coin, payout: at(coin.payout.address.toLowerCase()) };
  return [
    ['EVM coin', coin, evmView],
    ['EVM token', token, evmView],
    ['EVM, an address in lower case', lower, evmView],
    ['EVM, the largest numbers', inLane({ ...token, amount: 2n ** 256n - 1n }, most), evmView],
    [
      'EVM, the smallest numbers',
      inLane({ ...coin, amount: 1n }, { number: '0'.repeat(24), counter: 1 }),
      evmView,
    ],
    ['EVM, a lane of the payee', inLane(token, { number: 'f'.repeat(24), counter: 1 }), evmView],
    ['EVM, another chain', coin, { ...evmView, chainId: 1, deployment: evm.evmDeployment(1) }],
    ['EVM, the contract of a shard', inLane(coin, { contract: second as string }), sharded],
    ['EVM, a former contract', inLane(coin, { contract: third as string }), sharded],
    ['TRON coin', trx, tronView],
    ['TRON token', trc, tronView],
    ['TRON, the most sun', { ...trx, amount: BigInt(Number.MAX_SAFE_INTEGER) }, tronView],
    ['TRON, a token beyond 64 bits', { ...trc, amount: 2n ** 200n }, tronView],
    ['Solana coin', sol, solanaView],
    ['Solana token', spl, solanaView],
    ['Solana, the largest amount', { ...spl, amount: 2n ** 64n - 1n }, solanaView],
    [
      'Solana, another program',
      sol,
      { ...solanaView, deployment: { ...solanaDeployment, program: solanaAt(8) } },
    ],
    ['Bitcoin on regtest', btc, bitcoinView],
    ['Bitcoin on mainnet', btc, onMainnet],
    ['Bitcoin on testnet', btc, onTestnet],
    ['Bitcoin, the first time', { ...btc, timelock: 500_000_000 }, bitcoinView],
    ['Bitcoin, four bytes of time', { ...btc, timelock: 2 ** 31 - 1 }, bitcoinView],
    ['Bitcoin, five bytes of time', { ...btc, timelock: 2 ** 31 }, bitcoinView],
    ['Bitcoin, the last time', { ...btc, timelock: 2 ** 32 - 1 }, bitcoinView],
    [
      'Bitcoin, keys in upper case',
      { ...btc, payout: { ...btc.payout, pubkey: btc.payout.pubkey?.toUpperCase() ?? null } },
      bitcoinView,
    ],
  ];
}

/** Terms that would lose money, or that no escrow holds. */
function lost(): Given[] {
  const coin = termsOn('evm', false);
  const token = termsOn('evm', true);
  const trx = termsOn('tron', false);
  const trc = termsOn('tron', true);
  const sol = termsOn('solana', false);
  const spl = termsOn('solana', true);
  const btc = termsOn('bitcoin', false);
  const zero = `0x${'0'.repeat(40)}`;
  const { contract } = evmView.deployment;
  const text = coin.payout.address;
  const upper = coin.payout.address.replace('3', '3');
  const flipped = [...upper].map((each) =>
    /[a-z]/.test(each) ? each.toUpperCase() : each.toLowerCase(),
  );
  const offCurve = solanaEscrow(sol, solanaDeployment).address;
  return [
    ['EVM, to the zero address', { ...coin, payout: at(zero) }, evmView],
    ['EVM, to the token', { ...token, payout: at(token.token ?? '') }, evmView],
    ['EVM, to the contract', { ...coin, refund: at(contract) }, evmView],
    ['EVM, a token that is zero', { ...token, token: zero }, evmView],
    ['EVM, a wrong checksum', { ...coin, payout: at(`0x${flipped.slice(2).join('')}`) }, evmView],
    ['EVM, a short address', { ...coin, payout: at(text.slice(0, -1)) }, evmView],
    [
      'EVM, an unknown contract',
      inLane(coin, { contract: third as string }),
      spread(first as string, [second as string]),
    ],
    ['EVM, no amount', { ...coin, amount: 0n }, evmView],
    ['EVM, a counter of nothing', inLane(coin, { counter: 0 }), evmView],
    ['EVM, a counter beyond its word', inLane(coin, { counter: 2 ** 30 }), evmView],
    ['EVM, a timelock that no funding reaches', { ...coin, timelock: now + 40 * 86_400 }, evmView],
    ['TRON, to the token', { ...trc, refund: at(trc.token ?? '') }, tronView],
    ['TRON, to the contract', { ...trx, payout: at(tronView.deployment.contract) }, tronView],
    ['TRON, too much sun', { ...trx, amount: BigInt(Number.MAX_SAFE_INTEGER) + 1n }, tronView],
    ['TRON, a wrong checksum', { ...trx, payout: at(tronAt(1).replace(/.$/, 'x')) }, tronView],
    ['TRON, an EVM address', { ...trx, payout: at(text) }, tronView],
    ['Solana, nothing', { ...sol, amount: 0n }, solanaView],
    ['Solana, beyond 64 bits', { ...sol, amount: 2n ** 64n }, solanaView],
    ['Solana, to the mint', { ...spl, payout: at(spl.token ?? '') }, solanaView],
    ['Solana, to the program', { ...sol, payout: at(solanaDeployment.program) }, solanaView],
    ['Solana, to the system program', { ...sol, refund: at(systemProgram) }, solanaView],
    ['Solana, to an address that no key signs for', { ...sol, payout: at(offCurve) }, solanaView],
    ['Solana, both sides one', { ...sol, payout: sol.refund }, solanaView],
    ['Solana, a token that is the system program', { ...spl, token: systemProgram }, solanaView],
    ['Solana, a short address', { ...sol, payout: at('1'.repeat(31)) }, solanaView],
    ['Bitcoin, a height for a time', { ...btc, timelock: 499_999_999 }, bitcoinView],
    ['Bitcoin, beyond 32 bits', { ...btc, timelock: 2 ** 32 }, bitcoinView],
    ['Bitcoin, no key', { ...btc, payout: { ...btc.payout, pubkey: null } }, bitcoinView],
    [
      'Bitcoin, a key off the curve',
      { ...btc, payout: { ...btc.payout, pubkey: `02${'00'.repeat(31)}05` } },
      bitcoinView,
    ],
    [
      'Bitcoin, an uncompressed key',
      { ...btc, payout: { ...btc.payout, pubkey: `04${'11'.repeat(64)}` } },
      bitcoinView,
    ],
  ];
}

export function escrowVectors() {
  const sol = termsOn('solana', false);
  const spl = termsOn('solana', true);
  const funders = [evmOf('maker').address, evmOf('taker').address, evmView.deployment.contract];
  return {
    escrows: given().map(([name, terms, view]) => {
      return { name, view: viewShown(view), terms, escrow: escrowOn(terms, view) };
    }),
    refused: lost().map(([name, terms, view]) => {
      const fault = faultOf(name, () => escrowOn(terms, view));
      return { name, view: viewShown(view), terms, ...fault };
    }),
    /** Which contract of several a funder's new escrows are in. */
    contractFor: funders.map((funder) => {
      const { deployment } = sharded;
      return {
        open: openContracts(deployment),
        funder,
        contract: evm.contractFor(funder, deployment),
      };
    }),
    /** Where the tokens of an escrow and of a wallet are. */
    holdings: tokenPrograms.map((program) => ({
      program,
      mint: spl.token,
      wallet: spl.payout.address,
      account: associatedTokenAccount(spl.payout.address, spl.token ?? '', program),
      escrow: solanaEscrow(sol, solanaDeployment).address,
      vault: vaultAddress(solanaEscrow(sol, solanaDeployment).address, program),
    })),
  };
}
