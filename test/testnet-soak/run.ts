// `npm run soak -- testnet`: a test market out of ops/testnet and docs/testnet.md, on stand-ins of
// its networks. bitcoind on a signet of its own and geth are real; TRON and Solana are simulators,
// or real too where PARLEY_JAVA_TRON and PARLEY_SOLANA_VALIDATOR say so (docs/settings.md).
// A faucet fills two customers and is killed, the house maker quotes, swaps of every family settle.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hexToBytes } from '@noble/hashes/utils.js';
import { encodeFunctionData, formatUnits, type Hex, parseAbi } from 'viem';
import { tronAddressOfKey } from '../../chains/tron/proof.ts';
import { deployDevTokens, pinnedDevTokens } from '../../contracts/evm/dev-tokens.ts';
import { freePort } from '../../host/free-port.ts';
import { startMarketProcess } from '../support/market.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Configured, configured } from './configured.ts';
import { startGeth } from './geth.ts';
import { startSolana, startTron } from './others.ts';
import { npm, ownNodes, type Person, person, started } from './programs.ts';
import { startSignet } from './signet.ts';

const say = (line: string) => console.log(line);
const tronDeployer = '11'.repeat(32);
const gifts = 7;
/** Blocks of signet take seconds of work each, on a machine that has more to do. */
const slow = { everyMs: 1_000, mostMs: 600_000 } as const;

const work = await mkdtemp(join(tmpdir(), 'parley-testnet-soak-'));
const undo: (() => Promise<unknown>)[] = [];
undo.push(() => rm(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
try {
  await play();
} finally {
  for (const step of undo.reverse()) await step().catch((error: Error) => say(error.message));
}

async function play(): Promise<void> {
  const began = performance.now();
  const nodes = await startNodes();
  const settings = await deployed(nodes);
  const { market, env } = settings;
  const end = { after: (step: () => Promise<unknown>) => void undo.push(step) };
  const { ready } = await startMarketProcess(end, join(work, 'home'), env);
  say(`market: ${ready.url}, ${ready.chains.map(({ chain }) => chain).join(', ')}`);
  const faucet = await filledFaucet(nodes, settings);
  const maker = await filledMaker(nodes, settings);
  const people = new Map<string, Person>();
  for (const name of ['alice', 'bob']) {
    people.set(name, await joined(name, market, nodes));
  }
  await given(people, faucet, settings);
  const rounds = [
    [
      ['alice', 'sell', '0.0002', 'signet', 'sepolia:USDC'],
      ['bob', 'sell', '6', 'sepolia:USDC', 'nile:USDT'],
    ],
    [
      ['alice', 'sell', '0.05', 'solana-devnet', 'sepolia'],
      ['bob', 'sell', '60', 'nile', 'signet'],
    ],
    [
      ['alice', 'sell', '0.0002', 'signet', 'solana-devnet'],
      ['bob', 'sell', '5', 'sepolia:USDC', 'solana-devnet:USDC'],
    ],
  ] as const;
  const lines: string[] = [];
  for (const round of rounds) {
    lines.push(
      ...(await Promise.all(
        round.map(([name, ...ask]) => traded(people.get(name) as Person, name, ask)),
      )),
    );
  }
  const doctor = await npm('doctor', ['--json'], { ...env, PARLEY_HOME: join(work, 'home') });
  assert.match(doctor, /"danger":0/);
  say(
    [
      '',
      'who   gives                      takes                            seconds',
      ...lines,
      '',
    ].join('\n'),
  );
  assert.deepEqual(maker.errors(), []);
  const seconds = Math.round((performance.now() - began) / 1_000);
  say(`testnet: ${lines.length} swaps settled, ${2 * gifts} gifts and none twice, ${seconds} s`);
}

async function startNodes() {
  const signet = await startSignet(work, say);
  undo.push(signet.stop);
  const geth = await startGeth(work, say);
  undo.push(geth.stop);
  const tron = await startTron(work);
  undo.push(tron.stop);
  const solana = await startSolana(work);
  undo.push(solana.stop);
  say(`signet: ${signet.title}\nsepolia: ${geth.title}`);
  say(`nile: ${tron.title}\nsolana-devnet: ${solana.title}`);
  return { signet, geth, tron, solana };
}

type Nodes = Awaited<ReturnType<typeof startNodes>>;

/** Contracts by the commands of docs/testnet.md. Solana's program is there from the start. */
async function deployed({ signet, geth, tron, solana }: Nodes): Promise<Configured> {
  const records = ['--records', join(work, 'records')];
  const evm = ['--rpc', geth.rpcUrl, '--network', 'sepolia', ...records];
  await npm('deploy', evm, { PARLEY_DEPLOYER_KEY: geth.key });
  await npm('deploy', [...evm, '--verify']);
  await deployDevTokens({ rpcUrl: geth.rpcUrl, privateKey: geth.key }, ['DevDollar']);
  await tron.chain.give({
    address: tronAddressOfKey(hexToBytes(tronDeployer)),
    token: null,
    amount: 5_000_000_000n,
  });
  const onTron = ['--url', tron.rpcUrl, '--network', 'nile', ...records];
  const deployer = { PARLEY_DEPLOYER_KEY: tronDeployer, PARLEY_HOME: join(work, 'deployer') };
  await npm('deploy:tron', onTron, deployer);
  const record = JSON.parse(await readFile(join(work, 'records/nile.json'), 'utf8'));
  say(`contracts: sepolia as pinned, nile ${record.contract}`);
  return configured(work, {
    signet: signet.rpcUrl,
    sepolia: geth.rpcUrl,
    nile: tron.rpcUrl,
    solana: solana.rpcUrl,
    tron: { contract: record.contract, creation: record.creation ?? record.transaction },
    tokens: {
      sepolia: pinnedDevTokens().DevDollar.address,
      nile: tron.token,
      solana: solana.token,
    },
    port: await freePort(),
  });
}

type Addressed = Readonly<Record<'signet' | 'sepolia' | 'nile' | 'solana-devnet', string>>;

/** In whole coins: of the four coins, and of each token. `coins`: Bitcoin in so many. */
async function fill({ signet, geth, tron, solana }: Nodes, at: Addressed, coins: number) {
  await signet.pay(at.signet, 10_000_000n, coins);
  const mint = parseAbi(['function mint(address,uint256)']);
  const args = [at.sepolia as Hex, 10_000_000_000n] as const;
  const data = encodeFunctionData({ abi: mint, functionName: 'mint', args });
  await geth.send(at.sepolia as Hex, 10n ** 18n);
  await geth.send(pinnedDevTokens().DevDollar.address, 0n, data);
  for (const [token, amount] of [
    [null, 20_000_000_000n],
    [tron.token, 10_000_000_000n],
  ] as const) {
    await tron.chain.give({ address: at.nile, token, amount });
  }
  for (const [token, amount] of [
    [null, 20_000_000_000n],
    [solana.token, 10_000_000_000n],
  ] as const) {
    await solana.chain.give({ address: at['solana-devnet'], token, amount });
  }
}

async function filledFaucet(nodes: Nodes, { faucet: file, env }: Configured) {
  const said = await npm('faucet', [file, '--check'], env);
  const pays = said.split('\n').filter((line) => line.includes('"event":"pays"'));
  const at = Object.fromEntries(
    pays.map((line) => JSON.parse(line)).map(({ chain, address }) => [chain, address]),
  );
  await fill(nodes, at as Addressed, 20);
  const running = { program: started('scripts/faucet.ts', [file], env), url: '' };
  undo.push(() => running.program.kill('SIGTERM'));
  ({ url: running.url = '' } = await running.program.until('listening'));
  say(`faucet: ${running.url}`);
  return running;
}

async function filledMaker(nodes: Nodes, { maker: file }: Configured) {
  const said = await npm('maker', [file, 'check']);
  const at = Object.fromEntries(
    said.split('\n').flatMap((line) => {
      const [, chain, address] = /^([a-z-]+): (\S+)$/.exec(line) ?? [];
      return chain === undefined || address === undefined ? [] : [[chain, address]];
    }),
  );
  await fill(nodes, at as Addressed, 5);
  const program = started('scripts/maker.ts', [file]);
  undo.push(() => program.kill('SIGTERM'));
  return program;
}

async function joined(name: string, market: string, nodes: Nodes): Promise<Person> {
  const home = join(work, name);
  const each = await person(home);
  await each('init', '--market', market);
  await ownNodes(home, {
    signet: nodes.signet.rpcUrl,
    sepolia: nodes.geth.rpcUrl,
    nile: nodes.tron.rpcUrl,
    'solana-devnet': nodes.solana.rpcUrl,
  });
  await each('login', '--key-file', 'words', '--new');
  const { tokens } = await marketTokens(market);
  for (const [token, address] of tokens) await each('pin', token, '--address', address);
  return each;
}

async function marketTokens(market: string) {
  const response = await fetch(`${market}/market/assets`);
  type Listed = { chain: string; symbol: string; address: string | null };
  const { assets } = (await response.json()) as { assets: Listed[] };
  const tokens = assets.flatMap(({ chain, symbol, address }) =>
    address === null ? [] : [[`${chain}:${symbol}`, address] as const],
  );
  return { tokens };
}

type Holding = { readonly asset: string; readonly address: string; readonly amount: string | null };

async function holdings(each: Person): Promise<Holding[]> {
  return (await each('whoami')).held as Holding[];
}

/** By the faucet alone, which is killed after the first; asked again it gives nothing. */
async function given(
  people: ReadonlyMap<string, Person>,
  faucet: Awaited<ReturnType<typeof filledFaucet>>,
  { faucet: file, env }: Configured,
) {
  const listed = await (await fetch(`${faucet.url}/gifts`)).json();
  assert.equal(listed.gifts.length, gifts);
  let isFirst = true;
  for (const [name, each] of people) {
    const held = await holdings(each);
    for (const { chain, token } of listed.gifts) {
      const { address = '' } = held.find(({ asset }) => asset.split(':')[0] === chain) ?? {};
      const ask = () => post(`${faucet.url}/gifts`, { chain, token, address });
      const first = await ask();
      assert.ok(first.status === 200 || first.status === 202, JSON.stringify(first));
      if (isFirst) {
        await faucet.program.kill('SIGKILL');
        faucet.program = started('scripts/faucet.ts', [file], env);
        ({ url: faucet.url = '' } = await faucet.program.until('listening'));
        isFirst = false;
      }
      const again = await ask();
      assert.deepEqual([again.status, again.body.error?.code], [429, 'address_limit']);
      assert.equal(again.body.error?.txid, first.body.txid);
    }
    const wanted = listed.gifts.map(({ amount }: { amount: string }) => amount).sort();
    const has = async () => (await holdings(each)).map(({ amount }) => amount).sort();
    await waitUntil(async () => JSON.stringify(await has()) === JSON.stringify(wanted), slow);
    say(`faucet: ${name} has each of ${gifts} gifts once`);
  }
}

/** Comes again when it is told to: a machine may ask for all gifts within a minute. */
async function post(url: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  type Answered = { txid?: string; error?: { code: string; txid?: string } };
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const answered = (await response.json()) as Answered;
    if (answered.error?.code !== 'too_many') return { status: response.status, body: answered };
    await sleep(Number(response.headers.get('retry-after')) * 1_000);
  }
}

/** Asks, takes the maker's price, and settles; a line of the table. */
async function traded(each: Person, name: string, ask: readonly string[]): Promise<string> {
  const began = performance.now();
  const { rfq } = (await each('ask', ...ask)) as { rfq: { id: string } };
  type Thread = { id: string; quoteAmount: string; rfq: { quoteAssetId: string } };
  let quote: Thread | undefined;
  await waitUntil(async () => {
    const { threads } = (await each('threads', rfq.id)) as { threads: Thread[] };
    quote = threads[0];
    return quote !== undefined;
  }, slow);
  const { id, quoteAmount } = quote as unknown as Thread;
  const [, amount = '', base = '', taken = ''] = ask;
  const price = formatUnits(BigInt(quoteAmount), decimalsOf(taken));
  await each('accept', id, '--price', price, '--wait');
  const ended = await each('settle');
  assert.equal(ended.end, 'received', JSON.stringify(ended));
  const seconds = Math.round((performance.now() - began) / 1_000);
  const gives = `${amount} ${base}`;
  const takes = `${price} ${taken}`;
  const line = `${name.padEnd(6)}${gives.padEnd(27)}${takes.padEnd(33)}${seconds}`;
  say(`swap: ${line}`);
  return line;
}

function decimalsOf(asset: string): number {
  if (asset.includes(':')) return 6;
  return { signet: 8, sepolia: 18, nile: 6, 'solana-devnet': 9 }[asset] ?? 0;
}
