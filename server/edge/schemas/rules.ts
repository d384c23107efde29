// Shapes of the rules that a swap is agreed under, and of those of each chain.

import Type, { type TProperties } from 'typebox';
import { families } from '../../../core/families.ts';
import { input, named, nullable, oneOf } from './common.ts';

const formula = Type.Integer({ description: 'version of the formula of all times' });
const id = Type.String({
  description:
    '`<address>:<version>` of what holds the escrows; on Bitcoin the version alone. With shards ' +
    '`:` and the first 16 hex digits of the SHA-256 of their list, a space between',
});
const digest = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description:
    "of the policy: the first 16 hex digits of the SHA-256 of it as JSON, keys in their letters' " +
    'order, no space between',
});

export const rules = named(
  'Rules',
  Type.Object({
    formula,
    contract: Type.Object({ a: id, b: id }, { description: "of each leg's chain" }),
    policies: Type.Object({ a: digest, b: digest }, { description: "of each leg's chain" }),
  }),
);

const longest = 200;
const said = Type.String({ maxLength: longest });
const bothLegs = input({ a: said, b: said });

export const rulesInput = {
  ...input({ formula: Type.Integer(), contract: bothLegs, policies: bothLegs }),
  description: 'those of the thread as you read it: accepts under no others',
};

const seconds = (description: string) => Type.Integer({ description: `seconds: ${description}` });
const depthFields: TProperties = {
  confirmations: Type.Integer({ description: 'blocks, its own included' }),
  settleSeconds: seconds('from broadcast to that depth, at the 99.9th percentile'),
  outageSeconds: seconds('for which the chain may stand still or be full'),
};

export const policy = named(
  'ChainPolicy',
  Type.Object({
    floorSeconds: seconds('least timelock, from the agreement'),
    normal: Type.Object(depthFields),
    high: Type.Object(depthFields, { description: 'for amounts of high value' }),
    lateClaimSeconds: seconds('after its timelock, for which a claim may still land'),
    windowSeconds: nullable(seconds('for which its clock may trail after a standstill')),
    driftSeconds: seconds('by which its clock may be ahead'),
    reactSeconds: seconds('for a party to react'),
    signSeconds: seconds('between asking for a transaction and sending it'),
    detectSeconds: seconds('to notice a transaction'),
  }),
);

export const marketRules = named(
  'MarketRules',
  Type.Object({
    formula,
    chains: Type.Array(
      Type.Object({
        chain: Type.String({ description: 'chain key, such as `bitcoin`' }),
        family: oneOf(families),
        contract: Type.Object({
          id,
          address: nullable(Type.String()),
          version: Type.String({
            description: 'the first 16 hex digits of a digest of its code or script',
          }),
          shards: Type.Array(Type.String(), {
            description: 'others of its code that new escrows are spread over',
          }),
        }),
        policy,
        policyDigest: digest,
      }),
    ),
  }),
);
