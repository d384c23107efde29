// Whatever is done to several escrows in whatever order: what went in comes out, to the right one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import * as instructions from './testing/instructions.ts';
import { AMOUNT, type Asset, assets, type Swap, secret, swapIn } from './testing/swaps.ts';
import { dust, patch, tokensOf } from './testing/tokens.ts';
import { balanceOf, createWorld, give, NOW, rentOf, SOL, send, setNow } from './testing/vm.ts';

const START_TOKENS = 100n * SOL;
const START_LAMPORTS = 100n * SOL;
const STRAY = 1_000_000n;
const hours = [1n, 2n, 3n].map((each) => each * 3_600n);

/** `gone`: refunded, or claimed and closed. */
type Status = 'new' | 'open' | 'left' | 'claimed' | 'gone';
type Model = {
  status: Status;
  /** Lamports and tokens sent there by nobody in particular. */
  lamports: bigint;
  tokens: bigint;
};
type Run = {
  readonly asset: Asset;
  readonly swaps: readonly Swap[];
  readonly models: readonly Model[];
  now: bigint;
  /** Tokens that came out of nothing. */
  dust: bigint;
  /** What the model says everyone gained or lost. */
  payee: { lamports: bigint; tokens: bigint };
  funder: { lamports: bigint; tokens: bigint };
};

const kinds = [
  'fund',
  'claim',
  'bare claim',
  'false claim',
  'refund',
  'close',
  'lamports',
  'dust',
] as const;
type Step =
  | { readonly kind: (typeof kinds)[number]; readonly which: number }
  | { readonly kind: 'wait'; readonly seconds: bigint };

const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom(...kinds), which: fc.nat(2) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        seconds: fc.constantFrom(1n, 1_799n, 1_800n, 3_599n, 3_600n),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

async function begin(asset: Asset): Promise<Run> {
  const world = await createWorld();
  const swaps: Swap[] = [];
  for (const each of hours) swaps.push(await swapIn(world, asset, { timelock: NOW + each }));
  const [first] = swaps;
  const { source, funder } = first!;
  if (asset !== 'SOL') patch(world, source, 64, instructions.word(START_TOKENS));
  give(world, funder.address, START_LAMPORTS - balanceOf(world, funder.address));
  const models = swaps.map((): Model => ({ status: 'new', lamports: 0n, tokens: 0n }));
  const nothing = { lamports: 0n, tokens: 0n };
  return {
    asset,
    swaps,
    models,
    now: NOW,
    dust: 0n,
    payee: { ...nothing },
    funder: { ...nothing },
  };
}

/** What an open escrow holds besides strays. */
function deposit({ world, asset }: Swap): { lamports: bigint; tokens: bigint } {
  const state = rentOf(world, 184n);
  if (asset === 'SOL') return { lamports: state + AMOUNT, tokens: 0n };
  return { lamports: state + rentOf(world, 165n), tokens: AMOUNT };
}

/** The model of one step: whether it works, and who has what then. */
function predict(run: Run, at: number, kind: (typeof kinds)[number]): boolean {
  const swap = run.swaps[at]!;
  const model = run.models[at]!;
  const { lamports, tokens } = deposit(swap);
  const { timelock } = swap.terms;
  const sol = run.asset === 'SOL' ? AMOUNT : 0n;
  const tombstone = rentOf(swap.world, 1n);
  const empty = (out: bigint) => {
    run.funder.lamports += out + model.lamports;
    model.lamports = 0n;
  };
  const isOver = run.now >= timelock;
  if (kind === 'fund') {
    if (model.status !== 'new' || timelock < run.now + 1_800n) return false;
    run.funder.lamports -= lamports;
    run.funder.tokens -= tokens;
    model.status = 'open';
    return true;
  }
  if (kind === 'claim' || kind === 'bare claim') {
    if (model.status !== 'open' || isOver) return false;
    run.payee.lamports += sol;
    run.payee.tokens += tokens + model.tokens;
    model.tokens = 0n;
    model.status = kind === 'claim' ? 'claimed' : 'left';
    if (kind === 'claim') empty(lamports - sol - tombstone);
    return true;
  }
  if (kind === 'close') {
    const held = { new: 0n, gone: 0n, open: 0n, left: lamports - sol, claimed: tombstone };
    const hasNone = held[model.status] + model.lamports === 0n;
    if (!isOver || model.status === 'open' || hasNone) return false;
    empty(held[model.status]);
    model.status = 'gone';
    return true;
  }
  if (kind === 'refund' && model.status === 'left') {
    empty(lamports - sol - (isOver ? 0n : tombstone));
    model.status = isOver ? 'gone' : 'claimed';
    return true;
  }
  if (kind !== 'refund' || model.status !== 'open' || !isOver) return false;
  run.funder.tokens += tokens + model.tokens;
  model.tokens = 0n;
  empty(lamports);
  model.status = 'gone';
  return true;
}

async function act(run: Run, at: number, kind: (typeof kinds)[number]): Promise<void> {
  const swap = run.swaps[at]!;
  const model = run.models[at]!;
  const { world, escrow } = swap;
  if (kind === 'lamports') {
    // What may stay at an address that is no account yet.
    give(world, escrow.escrow, STRAY);
    model.lamports += STRAY;
    return;
  }
  if (kind === 'dust') {
    if (run.asset === 'SOL' || model.status !== 'open') return;
    dust(world, escrow.vault, 10n);
    model.tokens += 10n;
    run.dust += 10n;
    return;
  }
  const isLeft = model.status === 'left';
  const works = predict(run, at, kind);
  const wrong = Buffer.alloc(32, 1);
  const made = {
    fund: swap.fund,
    claim: swap.claim,
    'bare claim': instructions.claim(escrow, secret, { refund: false }),
    'false claim': instructions.claim(escrow, wrong),
    refund: isLeft || run.asset === 'SOL' ? instructions.refund(escrow) : swap.refund,
    close: swap.close,
  }[kind];
  const { error } = await send(world, [made], kind === 'fund' ? [swap.funder] : []);
  assert.equal(error === undefined, works, `${kind} of ${at} at ${run.now - NOW}: ${error}`);
}

function compare(run: Run): void {
  const { world, funder, payee, source, destination } = run.swaps[0]!;
  const lamports = balanceOf(world, funder.address);
  assert.equal(lamports, START_LAMPORTS + run.funder.lamports, 'lamports of the funder');
  assert.equal(balanceOf(world, payee.address), 10n * SOL + run.payee.lamports, 'of the payee');
  if (run.asset === 'SOL') return;
  assert.equal(tokensOf(world, source), START_TOKENS + run.funder.tokens, 'tokens of the funder');
  assert.equal(tokensOf(world, destination), run.payee.tokens, 'tokens of the payee');
}

for (const asset of assets) {
  test(`${asset}: in any order of deeds everyone has what the rules say, and it all comes out`, async () => {
    const property = fc.asyncProperty(steps, async (list: readonly Step[]) => {
      const run = await begin(asset);
      for (const step of list) {
        if (step.kind === 'wait') {
          run.now += step.seconds;
          setNow(run.swaps[0]!.world, run.now);
        } else await act(run, step.which, step.kind);
        compare(run);
      }
      run.now = NOW + 4n * 3_600n;
      setNow(run.swaps[0]!.world, run.now);
      for (const [at, model] of run.models.entries()) {
        if (model.status === 'open') await act(run, at, 'refund');
        else await act(run, at, 'close');
      }
      compare(run);
      for (const { escrow, world } of run.swaps) {
        assert.equal(balanceOf(world, escrow.escrow), 0n);
        assert.equal(balanceOf(world, escrow.vault), 0n);
      }
      assert.equal(run.payee.tokens + run.funder.tokens, run.dust);
    });
    await fc.assert(property, { numRuns: runs(40) });
  });
}
