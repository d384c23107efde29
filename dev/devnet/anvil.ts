// One anvil and its state on disk, which we write every few seconds against a kill -9.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { foundryBinary } from '@parley/contracts/evm/anvil.ts';
import { DevnetError } from '@parley/host/failure.ts';
import type { NodeInfo } from './dev-chain.ts';
import { endOrphans, keptPort, loopback, type Running, startProgram } from './processes.ts';
import { type Rpc, rpcTo } from './rpc.ts';

const unzip = promisify(gunzip);
const readyLimitMs = 30_000;
/** Each of the ten well-known accounts; the faucet is the first. */
const balanceEther = 100_000_000;

export type AnvilNode = {
  readonly rpcUrl: string;
  readonly rpc: Rpc;
  readonly node: NodeInfo;
  readonly running: Running;
  /** Writes the state as it is now; a kill -9 cannot take this file away. */
  save(): Promise<void>;
};

export async function startAnvil(folder: string, chainId: number): Promise<AnvilNode> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const savedFile = join(folder, 'saved-state.json');
  const exitFile = join(folder, 'exit-state.json');
  // Its value names our folder: it finds processes that an earlier run of ours left behind.
  const exitArgument = `--dump-state=${exitFile}`;
  await endOrphans(exitArgument);
  const state = await newestState([savedFile, exitFile]);
  const port = await keptPort(folder);
  const rpcUrl = `http://${loopback}:${port}`;
  const rpc = rpcTo(rpcUrl);
  const program = {
    name: 'anvil',
    file: foundryBinary('anvil'),
    args: [
      '--host',
      loopback,
      '--port',
      String(port),
      '--chain-id',
      String(chainId),
      '--balance',
      String(balanceEther),
      '--quiet',
      // Its final block is two epochs behind.
      '--slots-in-an-epoch',
      '1',
      '--cache-path',
      join(folder, 'cache'),
      exitArgument,
      ...(state === null ? [] : ['--load-state', state]),
    ],
    folder,
  };
  const ask = () => rpc<string>('eth_chainId');
  const { running, found } = await startProgram(program, readyLimitMs, ask);
  if (Number(found) !== chainId) {
    await running.stop();
    throw new DevnetError(`anvil runs chain ${Number(found)} and not ${chainId}`, { found });
  }
  const version = await rpc<string>('web3_clientVersion');
  return {
    rpcUrl,
    rpc,
    node: { name: 'anvil', version: version.replace(/^anvil\/v?/, '') },
    running,
    save: () => saveState(rpc, savedFile),
  };
}

async function saveState(rpc: Rpc, file: string): Promise<void> {
  const dump = await rpc<string>('anvil_dumpState');
  const state = await unzip(Buffer.from(dump.slice(2), 'hex'));
  await writeWhole(file, state);
}

async function writeWhole(file: string, content: string | Buffer): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, content);
  await rename(unfinished, file);
}

/** The newest file that is whole: anvil may have been killed while it wrote its own. */
async function newestState(files: readonly string[]): Promise<string | null> {
  const found: { file: string; savedAt: number }[] = [];
  for (const file of files) {
    const about = await stat(file).catch(() => null);
    if (about !== null && about.size > 0) found.push({ file, savedAt: about.mtimeMs });
  }
  for (const { file } of found.sort((a, b) => b.savedAt - a.savedAt)) {
    const state = parsed(await readFile(file, 'utf8'));
    if (state === null) continue;
    const blocks = withOneFirst(state.blocks);
    if (blocks.length < state.blocks.length) {
      await writeWhole(file, JSON.stringify({ ...state, blocks }));
    }
    return file;
  }
  return null;
}

type Block = { readonly header: { readonly number: string; readonly timestamp: string } };

/**
 * Anvil makes a first block at each start, saves it too, and may read it instead of the chain's
 * own: block 1 would have another parent, and no follower would go on from there.
 */
function withOneFirst(blocks: readonly Block[]): readonly Block[] {
  const isFirst = ({ header }: Block) => Number(header.number) === 0;
  const times = blocks.filter(isFirst).map(({ header }) => Number(header.timestamp));
  const own = Math.min(...times);
  return blocks.filter((each) => !isFirst(each) || Number(each.header.timestamp) === own);
}

function parsed(text: string): { readonly blocks: readonly Block[] } | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
