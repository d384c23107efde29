// The bridge to the driver of the Python package: one process of Python, which has no time and no
// network. JSON lines over its standard streams carry all that it asks of nodes, market, wallet,
// store and clock. While it computes, the simulation's time stands still.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChainAdapter } from '@parley/chains/adapter.ts';
import type { Material } from '@parley/chains/interface/material.ts';
import type { WatchedEscrow } from '@parley/chains/interface/reading.ts';
import { ParleyError } from '@parley/core/errors.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { LegName } from '@parley/core/trade.ts';
import { ParleyApiError, SettleError } from '@parley/sdk/errors.ts';
import type { Outcome, SettleInput } from '@parley/sdk/settle.ts';
import type { OwnTrade } from '@parley/sdk/trade.ts';
import { pythonEnv, pythonTree } from '../../support/python.ts';
import { releaseWord } from '../chain.ts';
import type { Driver } from './drivers.ts';
import { cancelOf, fundingIn, type SimWallet, spendIn, stateOf } from './hands.ts';
import { checkReleased, checkSent } from './oracle.ts';
import { escrowOf } from './plans.ts';
import { heldBy, keptBy } from './python-store.ts';
import { later, nowMs, outside, type Timer } from './time.ts';
import { legNames } from './world.ts';

type Json = Readonly<Record<string, unknown>>;
type Args = readonly never[];
/** Number of the call, of the life that makes it, its name and arguments. */
type Call = readonly [number, number, string, Args];

/** All that Python says when it has nothing more to do by itself. */
type Idle = {
  readonly calls: readonly Call[];
  readonly cancelled: readonly number[];
  readonly told: readonly (readonly [number, never])[];
  readonly ended: readonly (readonly [number, Json])[];
  /** Virtual milliseconds of its next timer. */
  readonly wakes: number | null;
};
type Said = { readonly idle?: Idle; readonly sync?: readonly [number, string, Args] };

type Life = {
  readonly input: SettleInput;
  readonly by: SimWallet;
  readonly end: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
};

type News = {
  done: unknown[];
  start: unknown[];
  kill: number[];
  reset: boolean;
  wakes: boolean;
};
const noNews = (): News => ({ done: [], start: [], kill: [], reset: false, wakes: false });

const program = fileURLToPath(new URL('party.py', import.meta.url));
const atMostTogether = 1 << 30;

export async function openPython(): Promise<Driver> {
  const { python, path } = await pythonTree();
  // Hash tables of texts have one order in every process then: a seed is a seed.
  const env = { ...(await pythonEnv()), PYTHONPATH: path, PYTHONHASHSEED: '0' };
  const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const reading = lines[Symbol.asyncIterator]();
  // It has begun, and waits.
  await reading.next();
  return bridgeTo(child, reading);
}

function bridgeTo(child: ChildProcess, reading: AsyncIterator<string>): Driver {
  const lives = new Map<number, Life>();
  const open = new Map<number, AbortController>();
  let news = noNews();
  let alarm: Timer | null = null;
  let number = 0;
  const write = (value: unknown) => child.stdin?.write(`${JSON.stringify(value)}\n`);
  const walls = async () => {
    const all = [...lives].map(async ([id, { input }]) => [id, await input.now?.()] as const);
    return Object.fromEntries(await Promise.all(all));
  };
  const exchange = async (): Promise<void> => {
    const { wakes: _, ...given } = news;
    news = noNews();
    write({ now: nowMs(), walls: await walls(), ...given });
    for (;;) {
      const { value, done } = await reading.next();
      if (done) throw new Error('the Python process has ended');
      const said = JSON.parse(value) as Said;
      if (said.idle !== undefined) return take(said.idle);
      if (said.sync !== undefined) write({ value: answered(said.sync) });
    }
  };
  const answered = ([id, name, args]: NonNullable<Said['sync']>): unknown => {
    const life = lives.get(id);
    if (name === 'plan') return escrowOf(termsIn(args[0] as unknown as TermsSaid));
    return name === 'gives up' && (life?.input.givesUp?.() ?? false);
  };
  const take = ({ calls, cancelled, told, ended, wakes }: Idle) => {
    for (const [id, progress] of told) lives.get(id)?.input.onProgress?.(progress);
    for (const each of cancelled) open.get(each)?.abort(new DOMException('', 'TimeoutError'));
    for (const each of calls) begin(each);
    for (const [id, said] of ended) finish(id, said);
    if (alarm !== null) alarm.work = null;
    alarm =
      wakes === null
        ? null
        : later(wakes - nowMs(), () => {
            news.wakes = true;
          });
  };
  const begin = ([call, id, name, args]: Call) => {
    const life = lives.get(id);
    if (life === undefined) return;
    const over = new AbortController();
    open.set(call, over);
    const answer = (said: Json) => {
      if (!open.delete(call) || !lives.has(id)) return;
      news.done.push([call, said]);
    };
    asked(life, name, args, over.signal).then(
      (value) => answer({ ok: value ?? null }),
      (error: unknown) => answer({ error: errorOf(error) }),
    );
  };
  const finish = (id: number, said: Json) => {
    const life = lives.get(id);
    lives.delete(id);
    if ('outcome' in said) life?.end(said.outcome as Outcome);
    else life?.fail(errorFrom(said.error as Json));
  };
  outside(() => {
    const { done, start, kill, reset, wakes } = news;
    const has = done.length + start.length + kill.length > 0 || reset || wakes;
    return has ? exchange() : null;
  });
  return {
    settle: (input) =>
      new Promise((resolve, reject) => {
        number = (number + 1) % atMostTogether;
        const id = number;
        lives.set(id, { input, by: walletOf(input), end: resolve, fail: reject });
        news.start.push([id, startOf(input)]);
        input.signal?.addEventListener('abort', () => {
          if (!lives.delete(id)) return;
          news.kill.push(id);
          reject(input.signal?.reason);
        });
      }),
    reset: () => {
      lives.clear();
      open.clear();
      alarm = null;
      news = { ...noNews(), reset: true };
    },
  };
}

const walletOf = ({ chains }: SettleInput) =>
  Object.values(chains)[0]?.wallet as unknown as SimWallet;

const sourceIn = ({ chains }: SettleInput, chain: string) => {
  const found = chains[chain];
  if (found === undefined) throw new Error(`no chain ${chain}`);
  return found.source;
};

function startOf(input: SettleInput): Json {
  const { world, person } = walletOf(input);
  const chains = Object.values(input.chains).map(({ source: { view, adapter, nodes = [] } }) => {
    const { chain, family, policy } = view;
    const nodeCount = Math.max(1, nodes.length);
    const { blockSeconds } = adapter;
    const byHand = chain === world.chains[person.gives].chain && person.byHand;
    return { chain, family, policy, nodeCount, blockSeconds, byHand };
  });
  return { swapId: input.swapId, trade: tradeOf(person.trade), chains };
}

function tradeOf(trade: OwnTrade): Json {
  const asset = ({ id, chain, token, decimals }: OwnTrade['base']) => ({
    id,
    chain,
    token,
    decimals,
  });
  return {
    party: trade.party,
    rfq_id: trade.rfqId,
    thread_id: trade.threadId,
    maker_id: trade.makerId,
    taker_id: trade.takerId,
    direction: trade.direction,
    base: asset(trade.base),
    base_amount: Number(trade.baseAmount),
    quote: asset(trade.quote),
    quote_amount: Number(trade.quoteAmount),
    hashlock: trade.hashlock,
    accepted_at: trade.acceptedAt,
    refund_to: trade.refundTo,
    pay_to: trade.payTo,
  };
}

type TermsSaid = Omit<EscrowTerms, 'amount'> & { readonly amount: string };

/** Its address is a hash of all of it, so that the order of its fields counts. */
function termsIn({
  amount,
  payout,
  refund,
  fundBefore,
  lane,
  form,
  ...rest
}: TermsSaid): EscrowTerms {
  const to = ({ address, pubkey, form: asked }: typeof payout) => {
    return { address, pubkey, ...(asked && { form: asked }) };
  };
  return {
    ...rest,
    amount: BigInt(amount),
    payout: to(payout),
    refund: to(refund),
    ...(form && { form }),
    ...(lane && { fundBefore, lane }),
  } as EscrowTerms;
}

function errorOf(error: unknown): Json {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ParleyApiError) {
    return { kind: 'api', status: error.status, code: error.code, message };
  }
  if (error instanceof ParleyError) return { kind: 'refusal', code: error.code, message };
  return { kind: 'other', message };
}

function errorFrom({ code, message }: Json): Error {
  // The story has its code and its words.
  return Object.assign(new SettleError('bad_record', String(message)), { code });
}

async function asked(life: Life, name: string, args: Args, signal: AbortSignal): Promise<unknown> {
  const [room, verb = ''] = name.split(' ');
  switch (room) {
    case 'pause':
      return life.input.pause?.(0, life.input.signal);
    case 'store':
      return ofStore(life, verb, args);
    case 'market':
      return ofMarket(life, verb, args, signal);
    case 'node':
      return plain(await ofNode(life, verb, args, signal));
    case 'wallet':
      return ofWallet(life, verb, args);
  }
  throw new Error(`no such call: ${name}`);
}

/** JSON has no word for a bigint. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null, (_, each) => (typeof each === 'bigint' ? each.toString() : each)),
  );

async function ofStore({ input: { store }, by }: Life, verb: string, args: Args): Promise<unknown> {
  const [one, two] = args as readonly string[] as [string, string];
  switch (verb) {
    case 'put_secret':
      return store.putSecret(one, two);
    case 'get_secret':
      return store.getSecret(one);
    case 'put_trade':
      return store.putTrade({ threadId: one, python: two } as unknown as OwnTrade);
    case 'get_trade':
      return ((await store.getTrade(one)) as { python?: string } | null)?.python;
    case 'put_swap':
      return store.putSwap(keptBy(by, two));
    case 'get_swap':
      return heldBy(await store.getSwap(one));
    case 'swap_ids':
      return store.swapIds();
  }
  throw new Error(`no such call of a store: ${verb}`);
}

async function ofMarket(
  { input: { client, swapId }, by: { world, person } }: Life,
  verb: string,
  args: Args,
  signal: AbortSignal,
): Promise<unknown> {
  if (client === null) throw new Error('no market');
  const [one, two] = args as readonly string[] as [LegName, string];
  const how = { signal };
  switch (verb) {
    case 'swap':
      return plain(await client.swap(swapId, how));
    case 'fund':
      return plain(await client.fund(swapId, one, how));
    case 'announce':
      return plain(await client.announceClaim(swapId, one, how));
    case 'release':
      return plain(await client.release(swapId, one, two === null ? {} : { signature: two }, how));
    case 'broadcast':
      checkSent(world, person, two);
      return plain(await client.broadcast(one, two, how));
  }
  throw new Error(`no such call of a market: ${verb}`);
}

type Watched = readonly [address: string, required: number];

async function ofNode(
  { input, by: { world, person } }: Life,
  verb: string,
  args: Args,
  signal: AbortSignal,
): Promise<unknown> {
  const [chain, place, ...rest] = args as unknown as [string, number, ...unknown[]];
  const { adapter, nodes = [adapter] } = sourceIn(input, chain);
  const node = nodes[place] as ChainAdapter;
  const sim = legNames.map((each) => world.chains[each]).find((each) => each.chain === chain);
  const watched = ([address, requiredConfirmations]: Watched): WatchedEscrow => {
    const terms = sim?.plans.get(address) as EscrowTerms;
    return { address, terms, requiredConfirmations, since: world.agreedAt };
  };
  const escrow = () => watched(rest[0] as Watched);
  const spend = () => ({ escrow: escrow(), feeRateSatPerVbyte: null, isPublic: rest[2] === true });
  switch (verb) {
    case 'heads':
      return node.heads(signal);
    case 'look':
      return node.look((rest[0] as readonly Watched[]).map(watched), signal);
    case 'block_hash':
      return node.blockHash?.(rest[0] as number, signal);
    case 'preflight':
      return node.preflight(escrow().terms, rest[1] as 'claim', signal);
    case 'build_claim':
      return node.buildClaim(spend(), rest[1] as string, signal);
    case 'build_refund': {
      const release = rest[1] as string | null;
      return node.buildRefund(release === null ? spend() : { ...spend(), release }, signal);
    }
    case 'build_release':
      return node.consent?.buildRelease(spend(), signal);
    case 'check_release':
      return node.consent?.checkRelease?.(escrow().terms, rest[1] as string, signal);
    case 'broadcast': {
      const raw = rest[0] as string;
      checkSent(world, person, raw);
      return node.broadcast(await node.readSigned(raw, signal), signal);
    }
  }
  throw new Error(`no such call of a node: ${verb}`);
}

async function ofWallet(
  { by: { world, person } }: Life,
  verb: string,
  args: Args,
): Promise<unknown> {
  const [leg, given, more] = args as unknown as [LegName, string, number];
  const chain = world.chains[leg];
  switch (verb) {
    case 'fund':
      return fundingIn(world, leg, given, JSON.parse(String(more)) as Material);
    case 'spend':
      return spendIn(JSON.parse(given) as Material);
    case 'release': {
      checkReleased(world, person);
      const terms = chain.plans.get(given) as EscrowTerms;
      return releaseWord(terms.payout.address, given);
    }
    case 'outcome':
      return stateOf(chain, given, more);
    case 'cancel':
      return cancelOf(given);
  }
  throw new Error(`no such call of a wallet: ${verb}`);
}
