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
import { solanaWallet } from '../sdk/wallets/solana.ts';
import { tronWallet } from '../sdk/wallets/tron.ts';
import { Misused, understood, wholeNumber } from './command.ts';
import { brandOf } from './demo/brand.ts';

const usage = `usage: npm run -s wallet -- <command>
  join <file> <market url>   makes wallets of EVM, Bitcoin, TRON and Solana, mints a key with the
                             first, links and authorises the others; writes all to <file>
  show <file> <name>         prints one of: apiKey evmAddress btcAddress btcPubkey tronAddress
                             solanaAddress
  secret                     prints a new secret and its hashlock, as JSON
  sign <file> <node url> [n] [secret]
                             signs the answer of a fund, claim or refund builder on standard
                             input (its n-th transaction, from 0; a Bitcoin claim needs the
                             secret) and prints the body for POST /v1/tx/broadcast
  relay <file> <market url> <swap id> <leg> <secret>
                             asks the market to send your claim with its gas key (not on
                             Bitcoin): from then on it knows the secret`;

/** Signing and onboarding are a few requests; a node that hangs ends them. */
const limitMs = 30_000;
const unusedNode = 'http://127.0.0.1:1';

type Keys = {
  readonly evmKey: string;
  readonly btcKey: string;
  readonly tronKey: string;
  readonly solanaKey: string;
};

type Purse = Keys & {
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

async function join(file: string, baseUrl: string): Promise<void> {
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

async function sign(file: string, nodeUrl: string, index: number, secret: string) {
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

function printSecret(): void {
  const value = randomBytes(32).toString('hex');
  console.log(JSON.stringify({ secret: value, hashlock: hashlockOf(value) }));
}

async function relay(file: string, baseUrl: string, [swapId, leg, secret]: Relayed) {
  const { apiKey: key } = JSON.parse(readFileSync(file, 'utf8')) as Purse;
  const client = parleyClient({ baseUrl, key });
  console.log(JSON.stringify(await client.relayClaim(swapId, leg, secret)));
}

/** The swap, the leg, and the secret. */
type Relayed = readonly [swapId: string, leg: 'a' | 'b', secret: string];

type Asked = {
  readonly command: 'join' | 'show' | 'secret' | 'sign' | 'relay';
  readonly file: string;
  /** The market, the node, or what is shown. */
  readonly place: string;
  readonly index: number;
  readonly secret: string;
  readonly relayed: Relayed | null;
};

/** How many arguments each takes, at least and at most. */
const takes = { join: [2, 2], show: [2, 2], secret: [0, 0], sign: [2, 4], relay: [5, 5] } as const;
const mostIndex = 99;

function understand(args: string[]): Asked | null {
  if (args.includes('--help')) return null;
  const [command = '', file = '', place = ''] = args;
  const known = Object.keys(takes).find((each) => each === command) as Asked['command'] | undefined;
  if (known === undefined) {
    throw new Misused(command === '' ? 'which command?' : `"${command}" is no command`);
  }
  const given = args.slice(1);
  const [least, most] = takes[known];
  if (given.length < least) throw new Misused(`"${args.join(' ')}" wants ${least} arguments`);
  if (given.length > most) throw new Misused(`"${given[most]}" is more than ${known} takes`);
  const relayed = known === 'relay' ? relayedOf(given.slice(2)) : null;
  const [index = '0', secret = ''] = known === 'sign' ? given.slice(2) : [];
  return {
    command: known,
    file,
    place,
    index: wholeNumber('n', index, { least: 0, most: mostIndex }),
    secret,
    relayed,
  };
}

function relayedOf([swapId = '', leg = '', secret = '']: readonly string[]): Relayed {
  if (leg !== 'a' && leg !== 'b') throw new Misused(`a leg is a or b, not "${leg}"`);
  return [swapId, leg, secret];
}

async function main({ command, file, place, index, secret, relayed }: Asked): Promise<void> {
  switch (command) {
    case 'join':
      return join(file, place);
    case 'sign':
      return sign(file, place, index, secret);
    case 'secret':
      return printSecret();
    case 'relay':
      if (relayed !== null) await relay(file, place, relayed);
      return;
    case 'show': {
      const purse = JSON.parse(readFileSync(file, 'utf8')) as Purse;
      const value = purse[place as keyof Purse];
      if (value === undefined) throw new Error(`there is no "${place}" in ${file}`);
      console.log(value);
    }
  }
}

main(understood({ usage, understand })).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
