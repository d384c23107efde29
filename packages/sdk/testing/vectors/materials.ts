// Tests only: vectors of unsigned transactions of all families, with what must be refused in them.

import { hexToBytes } from '@noble/hashes/utils.js';
import { digestOf } from '@parley/chains/escrows/typed-data.ts';
import * as evm from '@parley/chains/evm/plan.ts';
import { aliasesOf, aliasNames } from '@parley/chains/interface/aliases.ts';
import type { Batch } from '@parley/chains/interface/batches.ts';
import type { Material, TypedData } from '@parley/chains/interface/material.ts';
import * as solana from '@parley/chains/solana/plan.ts';
import { token2022Program, tokenProgram } from '@parley/chains/solana/programs.ts';
import { signTronTransaction } from '@parley/chains/tron/broadcast.ts';
import * as tron from '@parley/chains/tron/plan.ts';
import { type Family, families } from '@parley/core/families.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import type { ChainView } from '../../trade.ts';
import { type Asked, type Limits, verifyMaterial } from '../../verify-material.ts';
import { evmView, now, secret } from '../honest.ts';
import { blockhash, built, outputs, solanaView, termsOn, tronView, viewOf } from '../materials.ts';
import { viewShown } from './escrows.ts';
import { type Change, changed, fieldChanges, refusalOf, replace, textOf } from './format.ts';
import { type Lie, liesOf, otherTerms } from './lies.ts';

type Given = {
  readonly name: string;
  readonly asked: Asked;
  readonly terms: EscrowTerms;
  readonly view: ChainView;
  readonly limits: Limits;
  readonly material: Material & { validUntil?: number | null };
};

const plain = <T>(value: T): T => JSON.parse(textOf(value)) as T;

const fund: Asked = { verb: 'fund' };
const claim: Asked = { verb: 'claim', secret };
const refund: Asked = { verb: 'refund' };
const release: Asked = { ...refund, isReleased: true };

function given(): Given[] {
  const limits = { validUntil: now, outputs, now };
  const of = (
    family: Family,
    isToken: boolean,
    asked: Asked,
    how: Parameters<typeof built>[3] = {},
  ) => {
    const terms = termsOn(family, isToken);
    const view = viewOf[family];
    const what = isToken ? 'token' : 'coin';
    const material = { ...built(family, terms, asked, how), validUntil: now };
    return { name: `${family}, ${asked.verb} of a ${what}`, asked, terms, view, limits, material };
  };
  const all = families.flatMap((family) =>
    (family === 'bitcoin' ? [false] : [false, true]).flatMap((isToken) =>
      [fund, claim, refund].map((asked) => of(family, isToken, asked)),
    ),
  );
  const standing = { ...fund, allowance: 'standing' } as const;
  return [
    ...all,
    { ...of('evm', true, fund, { allowed: 5n }), name: 'evm, fund of a token after a reset' },
    {
      ...of('evm', true, fund, { allowed: 2n ** 40n }),
      name: 'evm, fund of a token that is allowed',
    },
    {
      ...of('evm', true, standing, { standing: true }),
      name: 'evm, fund with a standing allowance',
    },
    { ...of('tron', true, fund, { allowed: 5n }), name: 'tron, fund of a token after a reset' },
    ...(['evm', 'tron'] as const).flatMap((family) => consents(family, limits)),
    ...solanaForms(limits),
    { ...of('solana', false, release), name: 'solana, release of a coin' },
    { ...of('solana', true, release), name: 'solana, release of a token' },
  ];
}

/** Private keys of the payout addresses: anvil's third, and 01 in every byte. */
const payeeKeys = {
  evm: '5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  tron: '01'.repeat(32),
};

/** Material that needs a signature of the payee's beside the funder's. */
function consents(family: 'evm' | 'tron', limits: Limits): Given[] {
  const view = viewOf[family];
  const { deployment } = view;
  const { releaseText, laneText } = family === 'evm' ? evm : tron;
  const signed = (text: TypedData) => {
    const txID = digestOf(text).slice(2);
    return `0x${signTronTransaction(hexToBytes(payeeKeys[family]), { txID }).signature[0]}`;
  };
  const form = (name: string, terms: EscrowTerms, asked: Asked): Given => {
    const material = { ...built(family, terms, asked), validUntil: now };
    return { name: `${family}, ${name}`, asked, terms, view, limits, material };
  };
  const coin = termsOn(family, false);
  const token = termsOn(family, true);
  const inLane = { ...token, lane: { number: 'f'.repeat(24), counter: 1 } };
  const laneSignature = signed(laneText(inLane, deployment));
  return [
    form('refund by a release', coin, {
      verb: 'refund',
      release: signed(releaseText(coin, deployment)),
    }),
    form('fund in a lane of the payee', inLane, { verb: 'fund', laneSignature }),
  ];
}

type Apart = { readonly owner: typeof tokenProgram; readonly missingRent: bigint };

/** The forms of a Solana spend that pay nobody else. */
function solanaForms(limits: Limits): Given[] {
  const sol = termsOn('solana', false);
  const spl = termsOn('solana', true);
  const form = (
    name: string,
    asked: Asked,
    terms: EscrowTerms,
    wanted: solana.Wanted,
    { owner = tokenProgram, missingRent = 0n }: Partial<Apart> = {},
  ) => {
    const circumstances = {
      blockhash,
      unitPrice: 0n,
      missingRent,
      tokenProgram: terms.token === null ? null : owner,
    };
    const transaction = solana.solanaTransaction(
      terms,
      solanaView.deployment,
      wanted,
      circumstances as never,
    );
    const material = { ...built('solana', terms, asked), transaction } as Material;
    return { name: `solana, ${name}`, asked, terms, view: solanaView, limits, material };
  };
  return [
    form('claim without the funder’s account', claim, sol, {
      verb: 'claim',
      secret,
      withoutRefund: true,
    }),
    ...(['whole', 'bare'] as const).map((what) => {
      const wanted = { verb: 'claim', secret, withoutRefund: what === 'bare' } as const;
      const added = { missingRent: solana.mostRentLamports };
      return form(`${what} claim after the rent has risen`, claim, spl, wanted, added);
    }),
    form('refund of what a claim left', refund, spl, { verb: 'refund', afterClaim: true }),
    form('close in place of a refund', refund, sol, { verb: 'close' }),
    form(
      'fund of a Token-2022 mint',
      fund,
      spl,
      { verb: 'fund' },
      {
        owner: token2022Program as never,
      },
    ),
  ];
}

/** Changes of single fields that cost nobody anything: `path: how`. */
const harmless: readonly RegExp[] = [
  // Advice of later steps.
  /^ladder(: longer|\[0\]\.at: (more|absent))$/,
  // A number of the node's.
  /^lastValidBlockHeight: more$/,
  // Whether approvals are due is the token's state: without one it reverts.
  /^(txs|transactions): shorter$/,
  // Earlier than one's own is stricter, and an own one holds all the same.
  /^validUntil: absent$/,
];

/** The case as its JSON says, so that a change of it is read as others read it. */
function check(shown: ReturnType<typeof shownOf>, view: ChainView): void {
  const { terms, limits, material, asked } = shown;
  const { mostFeeLimitSun, mostFeeRateSatPerVbyte, ...own } = shown.view as Record<string, unknown>;
  const fees = {
    ...(mostFeeLimitSun === undefined ? {} : { mostFeeLimitSun: BigInt(String(mostFeeLimitSun)) }),
    ...(mostFeeRateSatPerVbyte === undefined ? {} : { mostFeeRateSatPerVbyte }),
  };
  const network = view.family === 'bitcoin' ? { network: view.network } : {};
  const amounts = limits.outputs?.map((each) => ({ ...each, amount: BigInt(each.amount) })) ?? null;
  verifyMaterial(
    material,
    asked,
    { ...terms, amount: BigInt(terms.amount) },
    { ...view, ...own, ...network, ...fees } as ChainView,
    { ...limits, outputs: amounts },
  );
}

function shownOf({ asked, terms, view, limits, material }: Given) {
  return plain({ asked, terms, view: viewShown(view) as object, limits, material });
}

/** Whether it is taken with this change. */
function believed(shown: ReturnType<typeof shownOf>, change: Change, view: ChainView): boolean {
  try {
    check(changed(shown, [change]), view);
    return true;
  } catch {
    return false;
  }
}

function vectorOf(of: Given) {
  const shown = shownOf(of);
  check(shown, of.view);
  const lies: Lie[] = [];
  const accepted: Lie[] = [];
  // The fields of a token's claim are those of a coin's, and a refund's on TRON those of a claim.
  const isAltered = /fund of a token$|claim of a coin$|^[^t].* of a coin$/.test(of.name);
  for (const { path, how, change } of isAltered ? fieldChanges(shown.material, '/material') : []) {
    const why = `${path}: ${how}`;
    const isFree = harmless.some((shape) => shape.test(why));
    (isFree && believed(shown, change, of.view) ? accepted : lies).push({ why, change: [change] });
  }
  lies.push(
    ...otherTerms(of.material, of.terms, of.asked),
    ...liesOf(of.material, of.terms, of.asked),
  );
  lies.push({ why: 'a later deadline', change: [replace('/material/validUntil', now + 1)] });
  if (of.asked.verb === 'claim') {
    lies.push({ why: 'a wrong secret', change: [replace('/asked/secret', '00'.repeat(32))] });
  }
  if (of.asked.verb === 'refund' && of.asked.isReleased) {
    lies.push({ why: 'a refund', change: [{ op: 'remove', path: '/asked/isReleased' }] });
  }
  const right = aliasesOf(of.material, of.asked.verb === 'claim' ? of.asked.secret : null);
  for (const name of aliasNames) {
    const path = `/material/${name}`;
    lies.push({ why: `another ${name}`, change: [{ op: 'add', path, value: 'another' }] });
    const value = right[name];
    const change: Change = { op: 'add', path, value };
    if (value === undefined) continue;
    check(changed(shown, [change]), of.view);
    accepted.push({ why: `the alias ${name}`, change: [change] });
  }
  const refused = lies.flatMap(({ why, change }) => {
    const lying = changed(shown, plain(change));
    const refusal = refusalOf(`${of.name}: ${why}`, () => check(lying, of.view));
    return [{ why, ...refusal, change }];
  });
  return { name: of.name, ...shown, accepted, refused };
}

export function materialVectors() {
  return { cases: given().map(vectorOf) };
}

/** Calls that settle many escrows at once. */
export function batchVectors() {
  const other = (terms: EscrowTerms): EscrowTerms => ({ ...terms, amount: 7n, timelock: now });
  const of = (family: 'evm' | 'tron', verb: 'claim' | 'refund') => {
    const terms = termsOn(family, true);
    const legs = [terms, other(terms)].map((each) => ({ terms: each, secret }));
    const batch: Batch = { verb, legs };
    const from = terms.payout.address;
    const call =
      family === 'evm'
        ? evm.batchCall(batch, evmView.deployment)
        : tron.batchCall(batch, tronView.deployment, from);
    return {
      view: viewShown(viewOf[family]),
      verb,
      legs,
      ...(family === 'tron' && { from }),
      call,
    };
  };
  return {
    batches: [of('evm', 'claim'), of('evm', 'refund'), of('tron', 'claim'), of('tron', 'refund')],
  };
}
