// Under which rules a swap is agreed: formula, contracts, and the policies of both chains.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { formulaVersion } from './deadlines.ts';
import { type ChainPolicy, depthNumbers, policyNumbers } from './policy.ts';
import type { LegName } from './trade.ts';
import { jsonOf } from './unchecked.ts';

/** The contract or program that holds the escrows of a chain. */
export type Contract = {
  /** The address of the contract or program; null where each escrow has a script of its own. */
  readonly address: string | null;
  /** The first 16 hex digits of a digest of its code, or of its script. */
  readonly version: string;
  /** Others of the same code that new escrows are spread over, in the order of their letters. */
  readonly shards?: readonly string[];
};

export type Rules = {
  /** `formulaVersion` of packages/core/deadlines.ts. */
  readonly formula: number;
  /** For each leg's chain: `contractId`. */
  readonly contract: Readonly<Record<LegName, string>>;
  /** For each leg's chain: `policyDigest`. */
  readonly policies: Readonly<Record<LegName, string>>;
};

/** The part of one chain in the rules. */
export type ChainRules = { readonly contract: string; readonly policies: string };

export type RulesDifference = {
  /** Such as `rules.policies.a`. */
  readonly field: string;
  readonly expected: string;
  readonly got: string;
};

const headDigits = 16;

/** The first 16 hex digits of a digest, with or without `0x` before them. */
export function digestHead(digest: string): string {
  return digest.replace(/^0x/, '').slice(0, headDigits);
}

/** `<address>:<version>`, or the version alone; with shards a digest of their list follows. */
export function contractId({ address, version, shards = [] }: Contract): string {
  const own = address === null ? version : `${address}:${version}`;
  return shards.length === 0 ? own : `${own}:${digestHead(digestOf(shards.join(' ')))}`;
}

function digestOf(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** The digest is the SHA-256 of its JSON: own fields alone, keys sorted, no space between. */
export function policyDigest(policy: ChainPolicy): string {
  return digestHead(digestOf(JSON.stringify(policyFields(policy))));
}

/** The fields of a policy and no other, in the order of their letters. */
export function policyFields(policy: ChainPolicy): ChainPolicy {
  const plain = policyNumbers.map((name) => [name, policy[name]] as const);
  const depths = (['normal', 'high'] as const).map((which) => {
    const numbers = depthNumbers.map((name) => [name, policy[which][name]] as const);
    return [which, sorted(numbers)] as const;
  });
  return sorted([...plain, ...depths, ['windowSeconds', policy.windowSeconds]]) as ChainPolicy;
}

function sorted(fields: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The rules of this version, between the chains of two legs. */
export function rulesOf({ a, b }: Readonly<Record<LegName, ChainRules>>): Rules {
  return {
    formula: formulaVersion,
    contract: { a: a.contract, b: b.contract },
    policies: { a: a.policies, b: b.policies },
  };
}

/** Where the rules that somebody says differ from these; `said` may be anything. */
export function rulesDifferences(own: Rules, said: unknown): RulesDifference[] {
  const at = (value: unknown, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((inside, key) => {
      return typeof inside === 'object' && inside !== null ? Reflect.get(inside, key) : undefined;
    }, value);
  const paths = [
    ['formula'],
    ...(['contract', 'policies'] as const).flatMap((part) => [
      [part, 'a'],
      [part, 'b'],
    ]),
  ];
  return paths.flatMap((path) => {
    const expected = at(own, ...path);
    const got = at(said, ...path);
    if (expected === got) return [];
    return [{ field: ['rules', ...path].join('.'), expected: text(expected), got: text(got) }];
  });
}

/** A text that anybody may have made up is cut. */
function text(value: unknown): string {
  const whole = typeof value === 'string' ? value : (jsonOf(value) ?? 'nothing');
  return whole.slice(0, 200);
}

export function sameRules(one: Rules | null, other: Rules | null): boolean {
  return one !== null && other !== null && rulesDifferences(one, other).length === 0;
}
