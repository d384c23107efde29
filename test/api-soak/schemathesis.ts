// `npm run soak -- schemathesis`: the published description, tried by schemathesis against a market
// with dev chains: examples, bounds, drawn requests, and links from an RFQ to the end of a swap.
// Nothing is left out. Two customers ask, and their wallets sign here (hooks.py).
// npm run -s node -- test/api-soak/schemathesis.ts [--seconds N]

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Material } from '../../chains/interface/material.ts';
import type { Family } from '../../core/families.ts';
import { Misused, parsed, understood, wholeNumber } from '../../scripts/command.ts';
import { newKeys, walletsOf } from '../../scripts/demo/people.ts';
import { signedBy } from '../../scripts/wallet-keys.ts';
import { walletIn } from '../../sdk/chains.ts';
import { linkMessage, mintMessage } from '../../sdk/keys.ts';
import { signedRefunds } from '../../sdk/scheduled-refunds.ts';
import { watchedOf } from '../../sdk/settle/record.ts';
import { sourceIn } from '../../sdk/trade.ts';
import { type Customer, newCustomer } from '../support/customers.ts';
import { agreed, amounts, type Deal, fund } from '../support/deals.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { environment } from './environment.ts';

const usage = `usage: npm run -s node -- test/api-soak/schemathesis.ts [--seconds N] [--seed N]
  --seconds  that drawn requests and links take, default 600
  --seed     of what is drawn`;

function understand(args: string[]) {
  const options = {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values, positionals } = parsed({ args, options, allowPositionals: true });
  if (values.help) return null;
  if (positionals.length > 0) throw new Misused(`"${positionals[0]}" is not understood`);
  const seconds = wholeNumber('--seconds', values.seconds, { most: 36_000 });
  return { seconds, seed: values.seed === undefined ? [] : ['--seed', values.seed] };
}

/** Of one request: the market ends it by then. */
const requestSeconds = 40;
/** With the seconds of a run a limit of its requests, which the chains' disks have to bear. */
const mostRequestsASecond = 50;
/** After its seconds a run is ended: what is under way by then, and the report. */
const graceSeconds = 300;
/** A signature, with what its wallet asks of a node. */
const signMs = 30_000;

type Desk = { readonly url: string; close(): void };
type Customers = Readonly<Record<'taker' | 'maker', Customer>>;
type Asked = {
  readonly who: keyof Customers;
  readonly material: Material;
  readonly secret: string;
  readonly family: Family;
};

/** Signs what a customer was given, as its wallet would, and proves new wallets. */
async function openDesk(stage: Stage, customers: Customers, safe: Deal): Promise<Desk> {
  const actions: Readonly<Record<string, (asked: Asked) => Promise<unknown>>> = {
    '/sign': async ({ who, material, secret }) => {
      const { rpcUrl } = stage.place[material.family];
      const signed = await signedBy(customers[who].keys, material, rpcUrl, 0);
      const takesSecret = material.sign === 'btc-sighash' && secret !== '';
      const whole =
        takesSecret && typeof signed !== 'string' ? { ...signed, preimageHex: secret } : signed;
      return { chain: material.chain, signed: whole };
    },
    '/refunds': async () => {
      const { taker } = customers;
      const record = await taker.store.getSwap(safe.id);
      assert.ok(record !== null);
      const { chain } = stage.place.bitcoin;
      const source = sourceIn(taker.chains, chain);
      const wallet = walletIn(taker.chains, chain);
      assert.ok(wallet.family === 'bitcoin');
      const signal = AbortSignal.timeout(signMs);
      const made = await signedRefunds({ escrow: watchedOf(record, 'b'), source, wallet, signal });
      const transactions = made.map(({ raw }) => raw);
      return { who: 'taker', swapId: safe.id, leg: 'b', transactions };
    },
    '/prove': async ({ who, family }) => {
      const wallet = walletsOf(stage.place, newKeys())[family];
      const { nonce } = await customers[who].client.walletNonce('link');
      const message = linkMessage({ address: wallet.address, nonce });
      return { address: wallet.address, message, signature: await wallet.signMessage(message) };
    },
    '/mint': async () => {
      const { address, family, ...wallet } = walletsOf(stage.place, newKeys()).evm;
      const { nonce } = await customers.taker.client.mintNonce();
      const message = mintMessage({ address, nonce });
      return { rail: family, address, message, signature: await wallet.signMessage(message) };
    },
  };
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const action = actions[request.url ?? ''];
      action?.(JSON.parse(Buffer.concat(parts).toString()) as Asked).then(
        (body) => response.writeHead(200).end(JSON.stringify(body)),
        (error: unknown) => response.writeHead(400).end(String(error)),
      );
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

type Begun = { readonly secrets: Readonly<Record<string, string>>; readonly safe: Deal };

/**
 * Swaps in the middle, where a walk may begin: one that is to be refunded, one that is to be
 * claimed, and two that the maker is to fund. Their secrets by hashlock; `safe`: its leg b is
 * Bitcoin, funded for good.
 */
async function begun(stage: Stage, { taker, maker }: Customers): Promise<Begun> {
  const pair = [taker, maker] as const;
  const late = await agreed(stage, pair, 'BTC', 'ETH');
  await fund(stage, late, 'initiator');
  const { refundAt } = (await taker.client.swap(late.id)).deadlines;
  await stage.move(Math.max(refundAt.a, refundAt.b) - stage.now() + 7_200);
  const deals = [
    await agreed(stage, pair, 'TRX', 'ETH'),
    await agreed(stage, pair, 'SOL', 'EVM dollar'),
    await agreed(stage, pair, 'BTC', 'TRON dollar'),
  ] as const;
  await fund(stage, deals[0], 'both');
  await fund(stage, deals[1], 'initiator');
  await fund(stage, deals[2], 'initiator');
  const secrets = await Promise.all(
    deals.map(async ({ hashlock }) => {
      const kept = await Promise.all([taker, maker].map(({ store }) => store.getSecret(hashlock)));
      return [hashlock, kept.find((each) => typeof each === 'string') ?? ''] as const;
    }),
  );
  return { secrets: Object.fromEntries(secrets), safe: deals[2] };
}

/** Who asks, and what a trade is of: the first asset is sold for the second. */
function given(stage: Stage, customers: Customers) {
  const keys = Object.entries(customers).map(([name, { key, evm, bitcoin, tron, solana }]) => {
    const { place } = stage;
    const addresses = {
      [place.bitcoin.chain]: bitcoin.pubkey,
      [place.evm.chain]: evm.address,
      [place.tron.chain]: tron.address,
      [place.solana.chain]: solana.address,
    };
    return [name, { key, addresses }];
  });
  const { taker } = customers;
  const traded = (['BTC', 'ETH'] as const).map((coin) => ({
    id: taker.assets[coin].id,
    amount: `${amounts[coin]}`,
  }));
  return { keys: Object.fromEntries(keys), traded };
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<number> {
  const signal = AbortSignal.timeout(limitMs);
  const child: ChildProcess = spawn(command, args, { cwd, env, signal, stdio: 'inherit' });
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** How often each answer was given, by operation and status; and to what its schema takes, why. */
type Counts = Readonly<Record<'answers' | 'stateful' | 'refusals', Record<string, number>>>;

/** Of every operation of the description: those that no request, and no link, has done. */
async function summary(counts: Counts, url: string): Promise<{ line: string; never: string[] }> {
  const { paths } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
  };
  const all = Object.values(paths).flatMap((each) => Object.values(each));
  const ids = all.map(({ operationId }) => operationId);
  const undone = (of: Counts['answers']) =>
    ids.filter((id) => !Object.keys(of).some((each) => each.startsWith(`${id} 2`)));
  const requests = Object.values(counts.answers).reduce((sum, each) => sum + each, 0);
  const never = undone(counts.answers);
  const byLinks = ids.length - undone(counts.stateful).length;
  const done = `${ids.length - never.length} of ${ids.length} operations done, ${byLinks} by links`;
  return { line: `${requests} requests, ${done}`, never };
}

/** How the swaps stand, those that requests agreed on and those that were there before. */
async function ends({ client }: Customer, before: ReadonlySet<string>) {
  const { swaps } = await client.swaps({ limit: 100 });
  const counted = (of: readonly { readonly status: string }[]) => {
    const all = Object.entries(Object.groupBy(of, ({ status }) => status));
    return all.map(([status, each = []]) => `${status} ${each.length}`).join(', ') || 'none';
  };
  const own = swaps.filter(({ hashlock }) => !before.has(hashlock));
  const wanted = { claimed: /_claimed$/, refunded: /^refunded$/ };
  return {
    line: `swaps: ${counted(swaps)}; of them agreed by requests: ${counted(own)}`,
    missing: Object.entries(wanted)
      .filter(([, form]) => !swaps.some(({ status }) => form.test(status)))
      .map(([what]) => what),
  };
}

async function main({ seconds, seed }: NonNullable<ReturnType<typeof understand>>) {
  const dir = await mkdtemp(join(tmpdir(), 'parley-schemathesis-'));
  const stage = await startStage();
  try {
    const bin = await environment(join(dir, 'environment'));
    await stage.startServer();
    const taker = await newCustomer(stage, 'taker', 'evm');
    const maker = await newCustomer(stage, 'maker', 'evm');
    const customers = { taker, maker };
    const { secrets, safe } = await begun(stage, customers);
    const desk = await openDesk(stage, customers, safe);
    stage.undo(desk.close);
    const { keys, traded } = given(stage, customers);
    const counts = join(dir, 'counts.json');
    const env = {
      ...process.env,
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      PARLEY_TEST_KEYS: JSON.stringify(keys),
      PARLEY_TEST_SECRETS: JSON.stringify(secrets),
      PARLEY_TEST_MARKET: stage.url,
      PARLEY_TEST_DESK: desk.url,
      PARLEY_TEST_COUNTS: counts,
      PARLEY_TEST_ASSETS: JSON.stringify(traded),
    };
    const config = join(import.meta.dirname, 'schemathesis.toml');
    const url = `${stage.url}/v1/openapi.json`;
    const args = ['--config-file', config, 'run', url, '--no-color', ...seed];
    const limits = [
      '--continue-on-failure',
      '--max-time',
      `${seconds}`,
      '--request-timeout',
      `${requestSeconds}`,
      '--rate-limit',
      `${mostRequestsASecond}/s`,
    ];
    const limitMs = (seconds + graceSeconds) * 1_000;
    const code = await run(join(bin, 'schemathesis'), [...args, ...limits], dir, env, limitMs);
    const counted = JSON.parse(await readFile(counts, 'utf8')) as Counts;
    const { line, never } = await summary(counted, stage.url);
    const swaps = await ends(taker, new Set(Object.keys(secrets)));
    console.log(`schemathesis: ${line}; ${swaps.line}`);
    if (never.length > 0) console.error(`never answered 2xx: ${never.join(' ')}`);
    if (swaps.missing.length > 0) console.error(`no swap is ${swaps.missing.join(', none ')}`);
    return code === 0 && never.length === 0 && swaps.missing.length === 0 ? 0 : 1;
  } finally {
    await stage.close();
    await rm(dir, { recursive: true, force: true });
  }
}

process.exitCode = await main(understood({ usage, understand }));
