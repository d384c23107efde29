// Tests only: vectors of the Taproot form of a Bitcoin escrow: its parts, spends by a leaf, and a
// spend that both sides sign together, each step of it.

import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { escrowTree } from '@parley/chains/bitcoin/escrow-tree.ts';
import { signLeaves } from '@parley/chains/bitcoin/keys.ts';
import { answer, ask, finish } from '@parley/chains/bitcoin/musig.ts';
import { bitcoinNetworks } from '@parley/chains/bitcoin/networks.ts';
import {
  buildSpend,
  destination,
  type EscrowOutput,
  type Verb,
} from '@parley/chains/bitcoin/plan.ts';
import { assemble } from '@parley/chains/bitcoin/signed-psbt.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { bitcoinView, keys, secret } from '../honest.ts';
import { outputs, termsOn } from '../materials.ts';
import { faultOf } from './simple.ts';

const { network } = bitcoinView;
const terms: EscrowTerms = { ...termsOn('bitcoin', false), form: 'p2tr' };
const many = [...outputs, { txid: 'ab'.repeat(32), vout: 0, amount: 70_000n }];

function partsOf(of: EscrowTerms, on = network) {
  const { address, script, internalKey, root, leaves, descriptor } = escrowTree(
    {
      hashlock: of.hashlock,
      claimer: of.payout.pubkey ?? '',
      funder: of.refund.pubkey ?? '',
      timelock: of.timelock,
    },
    on,
  );
  const shown = ({ script: leaf, control }: typeof leaves.claim) => ({
    script: bytesToHex(leaf),
    control: bytesToHex(control),
  });
  return {
    terms: of,
    network: on.name,
    address,
    script: bytesToHex(script),
    internalKey: bytesToHex(internalKey),
    root: bytesToHex(root),
    leaves: { claim: shown(leaves.claim), refund: shown(leaves.refund) },
    descriptor,
  };
}

function byLeaf(verb: Verb, coins: readonly EscrowOutput[], feeSats: bigint) {
  const privateKey = keys[verb === 'claim' ? 'maker' : 'taker'];
  const built = buildSpend(terms, network, verb, coins, feeSats);
  const { psbtBase64, sighashHexes } = built;
  const signaturesHex = signLeaves(hexToBytes(privateKey), sighashHexes);
  const signed = {
    psbtBase64,
    signaturesHex,
    ...(verb === 'claim' && { preimageHex: secret }),
  };
  return { verb, outputs: coins, privateKey, ...built, ...signed, ...assemble(signed) };
}

async function byBoth(verb: Verb) {
  const [own, other] = verb === 'claim' ? ['maker', 'taker'] : ['taker', 'maker'];
  const keyOf = (name: string | undefined) => keys[name as keyof typeof keys];
  const kept: { id: string; secrets: readonly string[] }[] = [];
  const store = {
    put: async (id: string, secrets: readonly string[]) => void kept.push({ id, secrets }),
    take: async () => kept[0]?.secrets ?? null,
  };
  const asking = { terms, network, privateKey: hexToBytes(keyOf(own)) };
  const answering = { ...asking, privateKey: hexToBytes(keyOf(other)) };
  const draws = many.map((_, at) => new Uint8Array(32).fill(at + 1));
  const paysTo = destination(terms, network, verb).address;
  const spend = { verb, outputs: many, feeSats: 900n, paysTo };
  const random = [...draws];
  const request = await ask(asking, spend, store, () => random.shift() ?? new Uint8Array(32));
  const answered = answer(answering, request);
  const { sighashHexes, vsize } = buildSpend(terms, network, verb, many, 900n, 'key');
  return {
    request,
    draws: draws.map(bytesToHex),
    secretNonces: kept[0]?.secrets,
    askingKey: keyOf(own),
    answeringKey: keyOf(other),
    sighashHexes,
    answer: answered,
    vsize,
    ...(await finish(asking, request, answered, store)),
  };
}

export async function taprootVectors() {
  const claim = byLeaf('claim', outputs, 400n);
  const { psbtBase64, signaturesHex } = claim;
  const other = signLeaves(hexToBytes(keys.taker), claim.sighashHexes);
  const faults: [string, Parameters<typeof assemble>[0]][] = [
    ['a signature of another key', { psbtBase64, signaturesHex: other, preimageHex: secret }],
    ['another preimage', { psbtBase64, signaturesHex, preimageHex: '00'.repeat(32) }],
    ['the leaf of a claim as a refund', { psbtBase64, signaturesHex }],
  ];
  return {
    escrows: [
      partsOf(terms),
      partsOf(terms, bitcoinNetworks.mainnet),
      partsOf({ ...terms, payout: terms.refund, refund: terms.payout }),
      partsOf({ ...terms, timelock: 2 ** 32 - 1 }),
    ],
    byLeaf: [claim, byLeaf('refund', outputs, 400n), byLeaf('refund', many, 900n)],
    refused: faults.map(([why, signed]) => ({
      why,
      signed,
      ...faultOf(why, () => assemble(signed)),
    })),
    byBoth: [await byBoth('claim'), await byBoth('refund')],
  };
}
