// Tests only: unsigned transactions of a market that lies well. Each is consistent in itself: its
// payment, ids and hashes fit together, and only the terms tell that it is false.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { parseBitcoinAddress } from '@parley/chains/bitcoin/networks.ts';
import { escrowBytes, replaceableSequence } from '@parley/chains/bitcoin/plan.ts';
import type { Material, SolanaMaterial, TronMaterial } from '@parley/chains/interface/material.ts';
import { readTransaction, unsignedTransaction } from '@parley/chains/solana/message.ts';
import { systemProgram } from '@parley/chains/solana/programs.ts';
import { solanaAddressOfSeed } from '@parley/chains/solana/proof.ts';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { base64 } from '@scure/base';
import { SigHash, Transaction } from '@scure/btc-signer';
import type { Asked } from '../../verify-material.ts';
import { bitcoinOf, bitcoinView } from '../honest.ts';
import {
  blockhash,
  built,
  callsOn,
  outputs,
  someone,
  termsOn,
  tronMaterial,
} from '../materials.ts';
import { type Change, replace } from './format.ts';

export type Lie = { readonly why: string; readonly change: readonly Change[] };
const lie = (why: string, ...change: Change[]): Lie => ({ why, change });

type BtcHow = {
  readonly version?: number;
  readonly lockTime?: number;
  readonly sequence?: number;
  /** Paid beside the destination, satoshis. */
  readonly extra?: bigint;
  readonly to?: string;
  readonly sighash?: number;
  readonly outpoint?: { readonly txid: string; readonly vout: number; readonly amount: bigint };
  readonly terms?: EscrowTerms;
  readonly path?: boolean;
};

/** The PSBT of a spend with something else than its terms say, and the hashes that belong to it. */
function psbtOf(terms: EscrowTerms, verb: 'claim' | 'refund', how: BtcHow): Change[] {
  const { network } = bitcoinView;
  const { script, branches } = escrowBytes(how.terms ?? terms, network);
  const witnessScript = branches.claim.script;
  const side = verb === 'claim' ? terms.payout : terms.refund;
  const lockTime = how.lockTime ?? (verb === 'refund' ? terms.timelock : 0);
  const tx = new Transaction({ version: how.version ?? 2, lockTime, allowUnknownInputs: true });
  const { txid, vout, amount } = how.outpoint ?? (outputs[0] as (typeof outputs)[number]);
  const own = bitcoinOf('taker').pubkey ?? '';
  tx.addInput({
    txid: hexToBytes(txid),
    index: vout,
    sequence: how.sequence ?? replaceableSequence,
    witnessUtxo: { script, amount },
    witnessScript,
    sighashType: how.sighash ?? SigHash.ALL,
    ...(how.path === true && {
      bip32Derivation: [[hexToBytes(own), { fingerprint: 1, path: [0] }]] as never,
    }),
  });
  const extra = how.extra ?? 0n;
  const to = parseBitcoinAddress(how.to ?? side.address, network);
  tx.addOutput({ script: to.script, amount: amount - 400n - extra });
  if (extra > 0n) {
    const other = parseBitcoinAddress(
      bitcoinOf(verb === 'claim' ? 'taker' : 'maker').address,
      network,
    );
    tx.addOutput({ script: other.script, amount: extra });
  }
  const hash = tx.preimageWitnessV0(0, witnessScript, SigHash.ALL, amount);
  return [
    replace('/material/psbtBase64', base64.encode(tx.toPSBT(0))),
    replace('/material/sighashHexes', [bytesToHex(hash)]),
  ];
}

function onBitcoin(terms: EscrowTerms, verb: 'claim' | 'refund'): Lie[] {
  const of = (why: string, how: BtcHow) => lie(why, ...psbtOf(terms, verb, how));
  const other = bitcoinOf(verb === 'claim' ? 'taker' : 'maker').address;
  const [paid = { txid: '', vout: 0, amount: 0n }] = outputs;
  return [
    of('it pays another address', { to: other }),
    of('an output more', { extra: 500_000n }),
    of('another lock time', { lockTime: verb === 'claim' ? terms.timelock : terms.timelock + 1 }),
    of('a height for a lock time', { lockTime: 1 }),
    of('a final sequence', { sequence: 0xffff_ffff }),
    of('version 1', { version: 1 }),
    of('SIGHASH_SINGLE', { sighash: SigHash.SINGLE }),
    of('a coin that the escrow was not paid', { outpoint: { ...paid, vout: 0 } }),
    of('another amount of the coin', { outpoint: { ...paid, amount: paid.amount + 1n } }),
    of('another escrow', { terms: { ...terms, hashlock: 'ab'.repeat(32) } }),
    of('another entry in the PSBT', { path: true }),
    lie('a hash of another transaction', psbtOf(terms, verb, { to: other })[1] as Change),
    lie('no PSBT', replace('/material/psbtBase64', 'cHNidP8=')),
    lie(
      'a fee beyond bounds',
      ...fieldsOf(built('bitcoin', terms, asked(verb), { fee: 300_000n })),
    ),
    lie(
      'a fee below what is relayed',
      ...fieldsOf(built('bitcoin', terms, asked(verb), { fee: 10n })),
    ),
    lie('payments that nobody knows', replace('/limits/outputs', [])),
    lie('payments that were not asked for', replace('/limits/outputs', null)),
    lie('an own bound of fees', replace('/view/mostFeeRateSatPerVbyte', 1)),
  ];
}

const asked = (verb: Asked['verb']): Asked =>
  verb === 'claim' ? { verb, secret: '5e'.repeat(32) } : { verb };

/** All of a material in the place of the honest one. */
const fieldsOf = (material: Material): Change[] => [replace('/material', material)];

function onEvm(material: Material & { sign: 'evm-tx' }, verb: Asked['verb']): Lie[] {
  const last = material.txs.length - 1;
  const call = material.txs[last] ?? { to: '', data: '', value: '' };
  const at = `/material/txs/${last}`;
  const other = `0x${'11'.repeat(20)}`;
  const further = ['gas', 'nonce', 'type', 'accessList', 'authorizationList'].map((field) =>
    lie(`a field more: ${field}`, { op: 'add', path: `${at}/${field}`, value: '0x1' }),
  );
  const sender: Change =
    verb === 'fund'
      ? { op: 'replace', path: '/material/from', value: other }
      : { op: 'add', path: '/material/from', value: other };
  return [
    lie('another contract', replace(`${at}/to`, other)),
    lie('a transaction more', { op: 'add', path: '/material/txs/-', value: call }),
    lie('a value', replace(`${at}/value`, '0x1')),
    lie('a byte more of calldata', replace(`${at}/data`, `${call.data}00`)),
    lie('another chain', replace('/material/chainId', 1)),
    lie('another sender', sender),
    ...further,
  ];
}

function onTron(material: TronMaterial, terms: EscrowTerms, what: Asked): Lie[] {
  const calls = callsOn(terms, what);
  const stranger = tronAddressOfKey(someone(5));
  const put = (why: string, call: object) => {
    const all = calls.map((each, at) => (at === calls.length - 1 ? { ...each, ...call } : each));
    const { transactions } = tronMaterial(terms, all) as TronMaterial;
    const last = transactions.length - 1;
    return lie(why, replace(`/material/transactions/${last}`, transactions[last]));
  };
  const [one] = material.transactions;
  const more = [
    ['a memo', '520161'],
    ['a second contract', '5a020801'],
    ['an authority', '4a0161'],
  ].map(([why = '', field]) => {
    const raw = `${one?.raw_data_hex}${field}`;
    return lie(
      `${why} in its bytes`,
      replace('/material/transactions/0/raw_data_hex', raw),
      replace('/material/transactions/0/txID', bytesToHex(sha256(hexToBytes(raw)))),
    );
  });
  const envelope = (why: string, how: object) =>
    lie(why, ...fieldsOf(built('tron', terms, what, { envelope: how })));
  const { expiration = 0 } = one?.raw_data ?? {};
  return [
    put('another contract', { to: stranger }),
    put('another sender', { from: stranger }),
    put('a value', { value: 1n }),
    put('other calldata', { data: 'a9059cbb' }),
    ...more,
    envelope('more than 500 TRX to burn', { feeLimitSun: 500_000_001n }),
    envelope('more than an hour to live', { expiration: expiration + 3_000_001 }),
    lie('an own bound of energy', { op: 'add', path: '/view/mostFeeLimitSun', value: '1000' }),
    lie('a transaction more', { op: 'add', path: '/material/transactions/-', value: one }),
  ];
}

/** The instructions of the honest transaction with others, written again. */
function onSolana(material: SolanaMaterial, terms: EscrowTerms, what: Asked): Lie[] {
  const shown = readTransaction(material.transaction);
  const payer = shown.keys[0] ?? '';
  const key = (at: number) => shown.keys[at] ?? '';
  const bytes = base64.decode(material.transaction);
  const [, readonlySigned = 0, readonlyUnsigned = 0] = bytes.subarray(65, 68);
  const writes = (at: number) =>
    at < shown.signers
      ? at < shown.signers - readonlySigned
      : at < shown.keys.length - readonlyUnsigned;
  const own = shown.instructions.map(({ program, accounts, data }) => ({
    program: program ?? '',
    accounts: accounts.map((at) => {
      return { address: key(at), signs: at < shown.signers, writes: writes(at) };
    }),
    data,
  }));
  const stranger = solanaAddressOfSeed(someone(5));
  const put = (why: string, instructions: typeof own, by = payer) => {
    const transaction = base64.encode(unsignedTransaction(by, instructions, blockhash));
    return lie(why, replace('/material/transaction', transaction));
  };
  const transfer = {
    program: systemProgram,
    accounts: [
      { address: payer, signs: true, writes: true },
      { address: stranger, signs: false, writes: true },
    ],
    data: Uint8Array.of(2, 0, 0, 0, 0, 202, 154, 59, 0, 0, 0, 0),
  };
  const last = own.at(-1) as (typeof own)[number];
  const before = own.slice(0, -1);
  const moved = last.accounts.map((each, at) => (at === 1 ? { ...each, address: stranger } : each));
  const filled = Uint8Array.from(bytes);
  filled.fill(1, 1, 65);
  const versioned = Uint8Array.of(...bytes.subarray(0, 65), 0x80, ...bytes.subarray(65), 0);
  const text = (why: string, value: Uint8Array) =>
    lie(why, replace('/material/transaction', base64.encode(value)));
  const price = (why: string, unitPrice: bigint) =>
    lie(why, ...fieldsOf(built('solana', terms, what, { unitPrice })));
  const limit = BigInt(terms.token === null ? 30_000 : 120_000);
  return [
    put('an instruction more', [...own, transfer]),
    put('an instruction less', before),
    put('another account', [...before, { ...last, accounts: moved }]),
    put('other data', [...before, { ...last, data: Uint8Array.of(...last.data.slice(0, -1), 9) }]),
    put('another program', [...before, { ...last, program: stranger }]),
    put('another payer', own, stranger),
    text('a filled signature', filled),
    text('another version', versioned),
    text('a byte more', Uint8Array.of(...bytes, 0)),
    text('a byte less', bytes.subarray(0, -1)),
    price('a price beyond 0.01 SOL', (10_000_000n * 1_000_000n) / limit + 1n),
  ];
}

export function liesOf(material: Material, terms: EscrowTerms, what: Asked): Lie[] {
  switch (material.sign) {
    case 'evm-tx':
      return onEvm(material, what.verb);
    case 'tron-txid':
      return onTron(material, terms, what);
    case 'solana-tx':
      return onSolana(material, terms, what);
    case 'btc-sighash':
      return onBitcoin(terms, what.verb as 'claim' | 'refund');
    case 'btc-payment':
      return [
        lie('an address of the other side', replace('/material/payTo', terms.payout.address)),
      ];
  }
}

/** Lies for all: the agreed thing is another one than the thing to be signed. */
export function otherTerms({ family }: Material, terms: EscrowTerms, { verb }: Asked): Lie[] {
  const of = (field: string, value: unknown) =>
    lie(`other terms: ${field}`, replace(`/terms/${field}`, value));
  const isBitcoin = family === 'bitcoin';
  const { token, payout, refund, amount, timelock, lane, fundBefore } = terms;
  const anyToken = termsOn(family, !isBitcoin).token;
  return [
    of('payout', refund),
    of('refund', payout),
    of('timelock', timelock + 1),
    ...(isBitcoin ? [] : [of('token', token === null ? anyToken : null)]),
    ...(isBitcoin && verb === 'refund' ? [] : [of('amount', `${amount + 1n}`)]),
    ...(verb === 'claim' ? [] : [of('hashlock', 'ab'.repeat(32))]),
    ...(lane === undefined ? [] : [of('lane', { ...lane, counter: lane.counter + 1 })]),
    ...(fundBefore === undefined ? [] : [of('fundBefore', fundBefore + 1)]),
  ];
}
