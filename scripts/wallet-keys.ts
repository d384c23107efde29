// The work of `npm run -s wallet` with the wallets behind one file of keys (wallet.ts).

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Material } from '@parley/chains/interface/material.ts';
import type { Secret } from '@parley/core/hashlock.ts';
import { brandOf } from '@parley/dev/demo/market.ts';
import { joined, type Keys, newKeys, walletsOf } from '@parley/dev/demo/people.ts';
import { parleyClient } from '@parley/sdk/client.ts';

type KeyFile = Readonly<
  Record<
    'apiKey' | 'evmAddress' | 'btcAddress' | 'btcPubkey' | 'tronAddress' | 'solanaAddress',
    string
  >
> & { readonly keys: Keys };
type Relayed = readonly [swapId: string, leg: 'a' | 'b', secret: Secret];

/** Signing and onboarding are a few requests; a node that hangs ends them. */
const limitMs = 30_000;
const unusedNode = 'http://127.0.0.1:1';

const walletsAt = (rpcUrl: string, keys: Keys, chainId = 31_337) => {
  const node = { chain: 'the chain', rpcUrl };
  return walletsOf({ bitcoin: node, evm: { ...node, chainId }, tron: node, solana: node }, keys);
};

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as KeyFile;

export async function join(file: string, url: string): Promise<void> {
  const keys = newKeys();
  const wallets = walletsAt(unusedNode, keys);
  const { key: apiKey } = await joined({ url, brand: await brandOf(url) }, wallets, 'evm', 'tour');
  const { evm, bitcoin, tron, solana } = wallets;
  const kept: KeyFile = {
    apiKey,
    evmAddress: evm.address,
    btcAddress: bitcoin.address,
    btcPubkey: bitcoin.pubkey,
    tronAddress: tron.address,
    solanaAddress: solana.address,
    keys,
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  const addresses = [evm, bitcoin, tron, solana].map(({ address }) => address);
  console.log(`${addresses.join(', ')} trade as one account; keys in ${file}`);
}

/** Prints the body for POST /v1/tx/broadcast that signs what is on standard input. */
export async function sign(file: string, nodeUrl: string, index: number, secret: Secret) {
  const material = JSON.parse(readFileSync(0, 'utf8')) as Material;
  const signed = await signedBy(read(file).keys, material, nodeUrl, index);
  const takesSecret = material.sign === 'btc-sighash' && secret !== '';
  const whole =
    takesSecret && typeof signed !== 'string' ? { ...signed, preimageHex: secret } : signed;
  console.log(JSON.stringify({ chain: material.chain, signed: whole }));
}

export async function signedBy(keys: Keys, material: Material, nodeUrl: string, index: number) {
  const signal = AbortSignal.timeout(limitMs);
  const at = <T>(all: readonly T[]): T => {
    const one = all[index];
    if (one === undefined) throw new Error(`there are ${all.length} transactions`);
    return one;
  };
  const { bitcoin, solana, tron } = walletsAt(nodeUrl, keys);
  switch (material.sign) {
    case 'evm-tx': {
      const { chainId, txs } = material;
      return (await walletsAt(nodeUrl, keys, chainId).evm.sign(chainId, at(txs), signal)).raw;
    }
    case 'btc-payment':
      return (await bitcoin.signPayment(material.payTo, BigInt(material.amountSats), signal)).raw;
    case 'btc-sighash': {
      const signaturesHex = await bitcoin.signSighashes(material.sighashHexes, signal);
      return { psbtBase64: material.psbtBase64, signaturesHex };
    }
    case 'solana-tx':
      return (await solana.sign(material, signal)).raw;
    case 'tron-txid':
      return (await tron.sign(at(material.transactions), signal)).raw;
  }
}

/** Prints what the market says of a claim that it is to send. */
export async function relay(file: string, baseUrl: string, [swapId, leg, secret]: Relayed) {
  const client = parleyClient({ baseUrl, key: read(file).apiKey });
  console.log(JSON.stringify(await client.relayClaim(swapId, leg, secret)));
}
