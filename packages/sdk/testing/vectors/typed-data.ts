// Tests only: vectors of texts that fund a token leg by a signature (EIP-712): EIP-2612 permits and
// EIP-3009 authorizations, what is signed, and what must be refused in them.

import { digestOf, separatorOf, typedDataToSign } from '@parley/chains/escrows/typed-data.ts';
import { laneText, releaseText } from '@parley/chains/evm/plan.ts';
import {
  authorizationAlternative,
  permitAlternative,
  type SigningView,
  signedCall,
  typedDataProblems,
} from '@parley/chains/evm/ways.ts';
import type { FundAlternative, TokenDomain } from '@parley/chains/interface/material.ts';
import type { EscrowTerms } from '@parley/core/terms.ts';
import { privateKeyToAccount } from 'viem/accounts';
import { evmView, now } from '../honest.ts';
import { termsOn } from '../materials.ts';
import { viewShown } from './escrows.ts';
import { changed, fieldChanges } from './format.ts';

const key = `0x${'59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'}` as const;
const account = privateKeyToAccount(key);
const terms: EscrowTerms = {
  ...termsOn('evm', true),
  refund: { address: account.address, pubkey: null },
};
const token = terms.token ?? '';
const { deployment } = evmView;
/** The key of the payout address: anvil's third. */
const payee = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
);
const inLane: EscrowTerms = { ...terms, lane: { number: 'f'.repeat(24), counter: 1 } };

const domains: readonly TokenDomain[] = [
  { name: 'USD Coin', version: '2', chainId: '31337', verifyingContract: token },
  { name: 'Grüße', chainId: '31337', verifyingContract: token },
  // As a bridge of Polygon makes them: the chain is in the salt.
  { name: 'Salted', version: '1', verifyingContract: token, salt: `0x${'0'.repeat(60)}7a69` },
];

type Honest = {
  readonly name: string;
  readonly alternative: FundAlternative;
  readonly view: SigningView;
  /** The terms where they are not those of all. */
  readonly own?: EscrowTerms;
};

/** The same in a lane of the payee's, by its signature. */
async function lent(): Promise<Honest[]> {
  const [domain] = domains;
  if (domain === undefined) return [];
  const abilities = { permit: domain, authorization: domain };
  const text = typedDataToSign(laneText(inLane, deployment));
  const laneSignature = await payee.signTypedData(text);
  const separator = separatorOf(domain);
  const view = { separator, latestDeadline: now + 600, allowance: 'exact', nonce: 7n } as const;
  const values = { nonce: 7n, value: terms.amount, deadline: now + 600 };
  return [
    permitAlternative(inLane, deployment, abilities, values, laneSignature),
    authorizationAlternative(inLane, deployment, abilities, laneSignature),
  ].flatMap((alternative) =>
    alternative === null
      ? []
      : [
          {
            name: `${alternative.way} in a lane of the payee`,
            alternative,
            view: { ...view, laneSignature },
            own: inLane,
          },
        ],
  );
}

function honest(): Honest[] {
  const values = { nonce: 7n, value: terms.amount, deadline: now + 600 };
  return domains.flatMap((domain, at) => {
    const abilities = { permit: domain, authorization: domain };
    const common = { separator: separatorOf(domain), latestDeadline: now + 600 };
    const of = (name: string, alternative: FundAlternative | null, view: SigningView) => {
      return alternative === null ? [] : [{ name: `${name}, ${domain.name}`, alternative, view }];
    };
    const exact = { ...common, allowance: 'exact', nonce: 7n } as const;
    const standing = { ...common, allowance: 'standing', nonce: 7n } as const;
    const all = { ...values, value: 2n ** 256n - 1n };
    return [
      ...of('authorization', authorizationAlternative(terms, deployment, abilities), exact),
      ...of('permit', permitAlternative(terms, deployment, abilities, values), exact),
      ...(at === 0
        ? of('standing permit', permitAlternative(terms, deployment, abilities, all), standing)
        : []),
    ];
  });
}

/** With values of one's own view that the market's text must fit. */
function viewLies({ way }: FundAlternative, view: SigningView) {
  return [
    ['the token’s separator', { ...view, separator: `0x${'ab'.repeat(32)}` }],
    ...(way === 'permit'
      ? [
          ['the token’s nonce', { ...view, nonce: 8n }],
          ['a deadline of one’s own', { ...view, latestDeadline: now + 599 }],
          [
            'the allowance',
            { ...view, allowance: view.allowance === 'exact' ? 'standing' : 'exact' },
          ],
        ]
      : []),
  ] as [string, SigningView][];
}

/** The two texts that a payee signs, and its signatures. */
async function consents() {
  const texts = [releaseText(terms, deployment), laneText(inLane, deployment)];
  return Promise.all(
    texts.map(async (typedData, at) => ({
      terms: at === 0 ? terms : inLane,
      typedData,
      digest: digestOf(typedData),
      signature: await payee.signTypedData(typedDataToSign(typedData)),
    })),
  );
}

export async function typedDataVectors() {
  const cases = await Promise.all(
    [...honest(), ...(await lent())].map(async ({ name, alternative, view, own }, index) => {
      const these = own ?? terms;
      const problems = typedDataProblems(alternative, these, deployment, view);
      if (problems.length > 0) throw new Error(`${name}: ${problems.join('; ')}`);
      const { typedData, call } = alternative;
      if (typedData === null || call === null) throw new Error(`${name} has no text`);
      const signature = await account.signTypedData(typedDataToSign(typedData));
      const isAltered = index < 2;
      const changes = isAltered ? fieldChanges(alternative, '/alternative') : [];
      const refused = changes
        // The sender says so, and each funding method is called by its name.
        .filter(({ path }) => path !== 'relay' && path !== 'way')
        .map(({ path, how, change }) => {
          const lying = changed({ alternative }, [change]).alternative;
          const found = typedDataProblems(lying, these, deployment, view);
          if (found.length === 0) throw new Error(`${name}, ${path} ${how}: was believed`);
          return { why: `${path}: ${how}`, problems: found, change: [change] };
        });
      const otherViews = viewLies(alternative, view).map(([why, other]) => {
        const found = typedDataProblems(alternative, these, deployment, other);
        if (found.length === 0) throw new Error(`${name}, ${why}: was believed`);
        return { why, signing: other, problems: found };
      });
      return {
        name,
        ...(own !== undefined && { terms: own }),
        signing: view,
        alternative,
        separator: separatorOf(typedData.domain),
        digest: digestOf(typedData),
        signature,
        call: signedCall(call, signature),
        refused,
        otherViews,
      };
    }),
  );
  return { privateKey: key, view: viewShown(evmView), terms, cases, consents: await consents() };
}
