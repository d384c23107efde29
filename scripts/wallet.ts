// A wallet for the tour and for trying things by hand on a dev network: keys in a file, signatures
// on standard output. Not for real money: the keys lie in the clear.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bitcoinNetworks } from '../chains/bitcoin/networks.ts';
import type { Material } from '../chains/material.ts';
import { hashlockOf } from '../core/hashlock.ts';
import { parleyClient } from '../sdk/client.ts';
import { linkWallet, mintKey } from '../sdk/keys.ts';
import { bitcoinWallet } from '../sdk/wallets/bitcoin.ts';
import { coreCoins } from '../sdk/wallets/coins.ts';
import { evmWallet } from '../sdk/wallets/evm.ts';
import { brandOf } from './demo/brand.ts';

const usage = `usage: npm run -s wallet -- <command>
  join <file> <market url>   makes an EVM and a Bitcoin wallet, mints a key with the first,
                             links and authorises the second; writes all to <file>
  show <file> <name>         prints one of: apiKey evmAddress btcAddress btcPubkey
  secret                     prints a new secret and its hashlock, as JSON
  sign <file> <node url> [n] [secret]
                             signs the answer of a fund, claim or refund builder on standard
                             input (its n-th transaction, from 0; a Bitcoin claim needs the
                             secret) and prints the body for POST /v1/tx/broadcast`;

/** Signing and onboarding are a few requests; a node that hangs ends them. */
const limitMs = 30_000;
const unusedNode = 'http://127.0.0.1:1';

type Purse = {
  readonly apiKey: string;
  readonly evmKey: string;
  readonly btcKey: string;
  readonly evmAddress: string;
  readonly btcAddress: string;
  readonly btcPubkey: string;
};

type Keys = Pick<Purse, 'evmKey' | 'btcKey'>;

function walletsOf(keys: Keys, nodeUrl: string, chainId: number) {
  return {
    evm: evmWallet({ rpcUrl: nodeUrl, chainId, privateKey: keys.evmKey }),
    bitcoin: bitcoinWallet({
      privateKey: keys.btcKey,
      network: bitcoinNetworks.regtest,
      source: coreCoins(nodeUrl),
    }),
  };
}

async function join(file: string, baseUrl: string): Promise<void> {
  const keys = {
    evmKey: `0x${randomBytes(32).toString('hex')}`,
    btcKey: randomBytes(32).toString('hex'),
  };
  const { evm, bitcoin } = walletsOf(keys, unusedNode, 31_337);
  const options = { baseUrl, ...(await brandOf(baseUrl)) };
  const { key } = await mintKey(options, evm, { name: 'tour' });
  await linkWallet(parleyClient({ ...options, key }), bitcoin, evm);
  const purse: Purse = {
    apiKey: key,
    ...keys,
    evmAddress: evm.address,
    btcAddress: bitcoin.address,
    btcPubkey: bitcoin.pubkey,
  };
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(purse, null, 2)}\n`, { mode: 0o600 });
  console.log(`${evm.address} and ${bitcoin.address} trade as one account; keys in ${file}`);
}

async function sign(file: string, nodeUrl: string, index: number, secret: string) {
  const purse = JSON.parse(readFileSync(file, 'utf8')) as Purse;
  const material = JSON.parse(readFileSync(0, 'utf8')) as Material;
  const answer = await signed(purse, material, nodeUrl, index);
  const signedWithSecret =
    typeof answer === 'string' || secret === '' ? answer : { ...answer, preimageHex: secret };
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
      throw new Error('this purse has no Solana key');
    case 'tron-txid':
      throw new Error('this purse has no TRON key');
  }
}

function printSecret(): void {
  const value = randomBytes(32).toString('hex');
  console.log(JSON.stringify({ secret: value, hashlock: hashlockOf(value) }));
}

async function main(args: string[]): Promise<void> {
  const [command, file = '', place = '', index = '0', secret = ''] = args;
  if (command === 'join' && place !== '') return join(file, place);
  if (command === 'sign' && place !== '') return sign(file, place, Number(index), secret);
  if (command === 'secret') return printSecret();
  if (command === 'show' && place !== '') {
    const purse = JSON.parse(readFileSync(file, 'utf8')) as Purse;
    const value = purse[place as keyof Purse];
    if (value === undefined) throw new Error(`there is no "${place}" in ${file}`);
    console.log(value);
    return;
  }
  console.error(usage);
  process.exit(2);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
