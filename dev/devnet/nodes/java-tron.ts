// A real java-tron in the place of the TRON simulator, where PARLEY_JAVA_TRON is its class path.
// It begins anew at each start, makes a block every three seconds, and its clock is this machine's:
// a test cannot move it or take a block back.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { initCode } from '@parley/contracts/escrows/artifacts/abi.ts';
import devDollar from '@parley/contracts/evm/artifacts/DevDollar.json' with { type: 'json' };
import { DevnetError, RefusedRequest } from '@parley/host/failure.ts';
import { freePort } from '@parley/host/free-port.ts';
import type { Log } from '@parley/host/log.ts';
import type { Block } from '../../simulators/tron/blocks.ts';
import {
  type ContractKind,
  deployedAddress,
  transactionBytes,
} from '../../simulators/tron/messages.ts';
import { base58Address, type Message, parseAddress } from '../../simulators/tron/protobuf.ts';
import { addressOfKey, faucetAddress, faucetKey, signed } from '../../simulators/tron/simulator.ts';
import type { DevChain, DevToken, Gift } from '../dev-chain.ts';
import { mintCall } from '../faucet.ts';
import { closeServer, listen } from '../listening.ts';
import { loopback, programOnPath, startProgram } from '../processes.ts';
import { javaTronConf } from './java-tron.conf.ts';

export type JavaTronOptions = {
  readonly classPath: string;
  readonly dir: string;
  readonly log: Log;
  /** The parent hash of the first block, hex: its hash ends with the chain id. Default: zeros. */
  readonly parentHash?: string;
};

const readyLimitMs = 180_000;
const minedLimitMs = 300_000;
const pollMs = 500;
/** A node that was too slow for its block forgets what waited for it. */
const againMs = 10_000;
const witnessKey = sha256(utf8ToBytes('the one witness of a java-tron that is alone'));
/** The life of a sent transaction, longer than the wait for it. */
const lifeMs = 600_000;
const defaultGiftSun = 10_000_000_000n;
const defaultGiftTokens = 1_000_000_000_000n;

// biome-ignore lint/suspicious/noExplicitAny: answers of a node
type Ask = (path: string, body?: object) => Promise<any>;

export async function javaTronChain(chain: string, options: JavaTronOptions): Promise<DevChain> {
  const { dir, log } = options;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { running, door, ask } = await startNode(options);
  const stop = async () => {
    await door.close();
    await running.stop();
  };
  try {
    const node = nodeOf(ask);
    const escrows = await node.deploy('ParleyEscrows', initCode);
    const dollar = await node.deploy('DevDollar', devDollar.bytecode);
    const genesis = await ask('wallet/getblockbynum', { num: 0 });
    const { configNodeInfo } = await ask('wallet/getnodeinfo');
    return {
      info: {
        chain,
        family: 'tron',
        rpcUrl: door.url,
        chainId: Number.parseInt(genesis.blockID.slice(-8), 16),
        node: { name: 'java-tron', version: String(configNodeInfo?.codeVersion) },
        hasOwnClock: true,
        escrows: escrows.address,
        escrowsCreation: escrows.txid,
        tokens: [dollarAt(dollar.address)],
      },
      nativeSymbol: 'TRX',
      head: async () => {
        const { number, timestamp } = (await node.tip()).header;
        const time = Math.floor(timestamp / 1_000);
        return { height: number, time, medianTime: time };
      },
      mine: async (blocks) => node.until((await node.tip()).header.number + blocks),
      give: (gift) => give(node, dollar.address, gift),
      moveTo: async () => log.warn({ chain }, 'the clock of a real node is its own'),
      tick: async () => undefined,
      setAutomatic: async () => undefined,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode({ classPath, dir, parentHash }: JavaTronOptions) {
  const java = programOnPath('java');
  if (java === null) throw new DevnetError('there is no java on PATH');
  const [http, solidity, jsonRpc, p2p, backup] = (await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  )) as [number, number, number, number, number];
  const witness = {
    address: base58Address(hexToBytes(addressOfKey(witnessKey))),
    key: bytesToHex(witnessKey),
  };
  const ports = { http, solidity, jsonRpc, p2p, backup };
  const rich = base58Address(hexToBytes(faucetAddress));
  const conf = javaTronConf(ports, rich, witness, parentHash);
  await writeFile(join(dir, 'node.conf'), conf, { mode: 0o600 });
  // No name is looked up: it would ask the network for its own address.
  await writeFile(join(dir, 'hosts'), `127.0.0.1 localhost ${hostname()}\n`);
  const open = ['java.base/java.lang', 'java.base/java.nio', 'java.base/sun.nio.ch'];
  const program = {
    name: 'java-tron',
    file: java,
    args: [
      '-Xmx1g',
      '-XX:+UseSerialGC',
      '-Djdk.net.hosts.file=hosts',
      ...open.flatMap((each) => ['--add-opens', `${each}=ALL-UNNAMED`]),
      '-cp',
      classPath,
      'org.tron.program.FullNode',
      '-c',
      'node.conf',
      '-d',
      'data',
      '-w',
      '--debug',
      '--p2p-disable',
      'true',
    ],
    folder: dir,
  };
  const door = await oneDoor({ wallet: http, walletsolidity: solidity, jsonrpc: jsonRpc });
  const ask: Ask = async (path, body = {}) => {
    const answer = await fetch(`${door.url}/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  const { running } = await startProgram(program, readyLimitMs, async () => {
    const { block_header } = await ask('wallet/getnowblock');
    if (!(block_header.raw_data.number > 1)) throw new Error('no block yet');
  }).catch(async (error: unknown) => {
    await door.close();
    throw error;
  });
  return { running, door, ask };
}

type RealNode = ReturnType<typeof nodeOf>;

function nodeOf(ask: Ask) {
  const tip = async (): Promise<Pick<Block, 'id' | 'header'>> => {
    const { blockID: id, block_header } = await ask('wallet/getnowblock');
    return { id, header: block_header.raw_data };
  };
  const until = async (number: number) => {
    for (const end = performance.now() + minedLimitMs; performance.now() < end; ) {
      if ((await tip()).header.number >= number) return;
      await sleep(pollMs);
    }
    throw new DevnetError(`java-tron made no block ${number}`);
  };
  /** By the account that owns all; waits for its block. */
  const send = async (kind: ContractKind, contract: Message): Promise<string> => {
    const owner_address = hexToBytes(faucetAddress);
    const whole = { owner_address, ...contract };
    const tx = signed(await tip(), faucetKey, kind, whole, Date.now(), lifeMs);
    const transaction = bytesToHex(transactionBytes(tx));
    let sentAt = Number.NEGATIVE_INFINITY;
    for (const end = performance.now() + minedLimitMs; performance.now() < end; ) {
      if (performance.now() - sentAt > againMs) {
        const { result, code, message } = await ask('wallet/broadcasthex', { transaction });
        const isTaken = result === true || code === 'DUP_TRANSACTION_ERROR';
        if (!isTaken) throw new RefusedRequest(409, `java-tron says: ${message}`);
        sentAt = performance.now();
      }
      const info = await ask('wallet/gettransactioninfobyid', { value: tx.txid });
      const ended = info.receipt?.result ?? 'SUCCESS';
      if (info.id !== undefined && ended === 'SUCCESS') return tx.txid;
      if (info.id !== undefined) throw new RefusedRequest(409, `${tx.txid} ended with ${ended}`);
      await sleep(pollMs);
    }
    throw new DevnetError(`${tx.txid} came into no block`);
  };
  const deploy = async (name: string, code: string) => {
    const origin_address = hexToBytes(faucetAddress);
    const bytecode = hexToBytes(code.replace(/^0x/, ''));
    const consume_user_resource_percent = 100n;
    const new_contract = {
      origin_address,
      bytecode,
      consume_user_resource_percent,
      name,
      origin_energy_limit: 10_000_000n,
    };
    const txid = await send('CreateSmartContract', { new_contract });
    return { address: base58Address(deployedAddress(txid, origin_address)), txid };
  };
  return { tip, until, send, deploy };
}

function dollarAt(address: string): DevToken {
  return { contract: 'DevDollar', symbol: 'USDD', name: 'Dev Dollar', decimals: 6, address };
}

async function give(node: RealNode, dollar: string, { address, token, amount }: Gift) {
  const to = parseAddress(address, true);
  if (token === null) {
    const sun = amount ?? defaultGiftSun;
    const txid = await node.send('TransferContract', { to_address: to, amount: sun });
    return { txid, amount: sun };
  }
  if (token !== dollar) throw new RefusedRequest(400, `The faucet has no token ${token}.`);
  const units = amount ?? defaultGiftTokens;
  const data = hexToBytes(mintCall(bytesToHex(to.subarray(1)), units));
  const contract = { contract_address: parseAddress(token, true), data };
  return { txid: await node.send('TriggerSmartContract', contract), amount: units };
}

/** One address for all ports, by the first part of a path; another path is the wallet's. */
async function oneDoor(portOf: Readonly<Record<string, number>>) {
  const server = createServer((asked, answer) => {
    const [, room = ''] = (asked.url ?? '/').split(/[/?]/);
    const port = portOf[room] ?? portOf.wallet;
    const { method, url: path, headers } = asked;
    const to = { host: loopback, port, method, path, headers };
    const onward = request(
      { ...to, headers: { ...headers, host: `${loopback}:${port}` } },
      (got) => {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  const port = await listen(server, loopback, 0);
  return { url: `http://${loopback}:${port}`, close: () => closeServer(server) };
}
