// The wallets behind one file of keys, and what `npm run -s wallet` does with them (wallet.ts).

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import type { Material } from '../chains/interface/material.ts';
import type { Secret } from '../core/hashlock.ts';
import { parleyClient } from '../sdk/client.ts';
import { linkWallet, mintKey } from '../sdk/keys.ts';
import { bitcoinWallet } from '../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../sdk/wallets/coins.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import { solanaWallet } from '../sdk/wallets/solana.ts';
import { tronWallet } from '../sdk/wallets/tron.ts';
import { brandOf } from './demo/brand.ts';

/** Signing and onboarding are a few requests; a node that hangs ends them. */
const limitMs = 30_000;
const unusedNode = 'http://127.0.0.1:1';

type Keys = {
  readonly evmKey: string;
  readonly btcKey: string;
  readonly tronKey: string;
  readonly solanaKey: string;
};

/** What the file holds, as JSON. */
export type Purse = Keys & {
  readonly apiKey: string;
  readonly evmAddress: string;
  readonly btcAddress: string;
  readonly btcPubkey: string;
  readonly tronAddress: string;
  readonly solanaAddress: string;
};

function walletsOf(keys: Keys, nodeUrl: string, chainId: number) {
  const chain = 'the chain';
  return {
    evm: evmWallet({ rpcUrl: nodeUrl, chainId, privateKey: keys.evmKey }),
    bitcoin: bitcoinWallet({
      privateKey: keys.btcKey,
      network: bitcoinNetworks.regtest,
      source: coreCoins(nodeUrl),
    }),
    tron: tronWallet({ chain, sources: [{ url: nodeUrl }], privateKey: keys.tronKey }),
    solana: solanaWallet({
      chain,
      rpcUrls: [nodeUrl],
      secretKey: Uint8Array.from(Buffer.from(keys.solanaKey, 'hex')),
    }),
  };
}

/** Makes the wallets and the account that they trade as. */
export async function join(file: string, baseUrl: string): Promise<void> {
  const fresh = () => randomBytes(32).toString('hex');
  const keys: Keys = {
    evmKey: `0x${fresh()}`,
    btcKey: fresh(),
    tronKey: fresh(),
    solanaKey: fresh(),
  };
  const { evm, ...others } = walletsOf(keys, unusedNode, 31_337);
  const options = { baseUrl, ...(await brandOf(baseUrl)) };
  const { key } = await mintKey(options, evm, { name: 'tour' });
  const client = parleyClient({ ...options, key });
  for (const each of Object.values(others)) await linkWallet(client, each, evm);
  const { bitcoin, tron, solana } = others;
  const purse: Purse = {
    apiKey: key,
    ...keys,
    evmAddress: evm.address,
    btcAddress: bitcoin.address,
    btcPubkey: bitcoin.pubkey,
    tronAddress: tron.address,
    solanaAddress: solana.address,
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(purse, null, 2)}\n`, { mode: 0o600 });
  const addresses = [evm, bitcoin, tron, solana].map(({ address }) => address);
  console.log(`${addresses.join(', ')} trade as one account; keys in ${file}`);
}

/** Prints the body for POST /v1/tx/broadcast that signs what is on standard input. */
export async function sign(file: string, nodeUrl: string, index: number, secret: Secret) {
  const purse = JSON.parse(readFileSync(file, 'utf8')) as Purse;
  const material = JSON.parse(readFileSync(0, 'utf8')) as Material;
  const answer = await signed(purse, material, nodeUrl, index);
  const takesSecret = material.sign === 'btc-sighash' && secret !== '';
  const signedWithSecret =
    takesSecret && typeof answer !== 'string' ? { ...answer, preimageHex: secret } : answer;
  console.log(JSON.stringify({ chain: material.chain, signed: signedWithSecret }));
}

async function signed(purse: Purse, material: Material, nodeUrl: string, index: number) {
  const signal = AbortSignal.timeout(limitMs);
  switch (material.sign) {
    case 'evm-tx': {
      const call = material.txs[index];
      if (call === undefined) throw new Error(`there are ${material.txs.length} transactions`);
      const { evm } = walletsOf(purse, nodeUrl, material.chainId);
      return (await evm.sign(material.chainId, call, signal)).raw;
    }
    case 'btc-payment': {
      const { bitcoin } = walletsOf(purse, nodeUrl, 0);
      return (await bitcoin.signPayment(material.payTo, BigInt(material.amountSats), signal)).raw;
    }
    case 'btc-sighash': {
      const { bitcoin } = walletsOf(purse, nodeUrl, 0);
      const signaturesHex = await bitcoin.signSighashes(material.sighashHexes, signal);
      return { psbtBase64: material.psbtBase64, signaturesHex };
    }
    case 'solana-tx':
      return (await walletsOf(purse, nodeUrl, 0).solana.sign(material, signal)).raw;
    case 'tron-txid': {
      const transaction = material.transactions[index];
      if (transaction === undefined) {
        throw new Error(`there are ${material.transactions.length} transactions`);
      }
      return (await walletsOf(purse, nodeUrl, 0).tron.sign(transaction, signal)).raw;
    }
  }
}

/** The swap, the leg, and the secret. */
export type Relayed = readonly [swapId: string, leg: 'a' | 'b', secret: Secret];

/** Prints what the market says of a claim that it is to send. */
export async function relay(file: string, baseUrl: string, [swapId, leg, secret]: Relayed) {
  const { apiKey: key } = JSON.parse(readFileSync(file, 'utf8')) as Purse;
  const client = parleyClient({ baseUrl, key });
  console.log(JSON.stringify(await client.relayClaim(swapId, leg, secret)));
}
