import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import gasSnapshot from '../../contracts/escrows/gas.snapshot.json' with { type: 'json' };
import type { EscrowTerms } from '../../core/terms.ts';
import type { Spend } from '../interface/gas.ts';
import { answerOf, type Lie, lyingNode, untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import type { EvmAdapterOptions } from './adapter.ts';
import { escrowGas, untriedGas } from './gas-policy.ts';
import { evmChains } from './policy.ts';
import { startAnvil } from './testing/anvil.ts';
import {
  adapterOn,
  anyone,
  claim,
  deployToken,
  fund,
  funder,
  type Leg,
  mint,
  newLeg,
} from './testing/swap.ts';

const signal = () => AbortSignal.timeout(60_000);
const chain = await startAnvil();
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.rpcUrl, lie));

const adapterOf = (over: Partial<EvmAdapterOptions> = {}) => adapterOn(chain, over);

const answerOn = (method: string, params: readonly unknown[]) =>
  answerOf(chain.rpcUrl, method, params);

const limitsOf = (terms: EscrowTerms) =>
  untriedGas(31_337, terms.token === null ? 'native' : 'token', 'prague');

test('gas of a claim is tried without its secret, and is what the claim takes', async () => {
  const heard: string[] = [];
  const ear = await lying(({ method, params }, forward) => {
    heard.push(`${method} ${JSON.stringify(params)}`);
    return forward();
  });
  const adapter = adapterOf({ rpcUrls: [ear.url] });
  const token = await deployToken(chain, 'DevTether');
  await mint(chain, token, funder.address, 10_000n);
  for (const asset of [null, token]) {
    const leg = await newLeg(chain, { token: asset });
    await fund(chain, leg);
    const { terms, secret } = leg;
    const spend: Spend = { verb: 'claim', terms, secret: null };
    const tried = (await adapter.spendGas?.(spend, anyone.address, signal())) ?? 0n;
    assert.ok(heard.some((each) => each.startsWith('eth_estimateGas')));
    assert.ok(heard.every((each) => !each.includes(secret)));
    const open = await adapter.spendGas?.({ ...spend, secret }, anyone.address, signal());
    const hash = await claim(chain, leg);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash });
    for (const gas of [tried, open ?? 0n]) {
      assert.ok((gas * 5n) / 4n >= gasUsed && gas <= 2n * gasUsed, `${gas} for ${gasUsed}`);
      assert.ok((gas * 5n) / 4n <= limitsOf(terms), `${gas} where nothing can be tried`);
    }
  }
});

test('an escrow that is not open is not tried with the money of others', async () => {
  const others = await newLeg(chain, {});
  await fund(chain, others);
  const [empty, claimed] = [await newLeg(chain, {}), await newLeg(chain, {})];
  await fund(chain, claimed);
  await claim(chain, claimed);
  for (const { terms } of [empty, claimed]) {
    const spend: Spend = { verb: 'claim', terms, secret: null };
    const asked = adapterOf().spendGas?.(spend, anyone.address, signal()) ?? assert.fail();
    await assert.rejects(asked, refuses('nothing_there', /"(never|claimed)"/));
  }
});

test('a node that lends nothing to an estimate, and does not say so, is found out', async () => {
  const node = await lying(async ({ method, params }, forward) =>
    method === 'eth_estimateGas' && params.length > 2
      ? answerOn(method, params.slice(0, 2))
      : forward(),
  );
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  const spend: Spend = { verb: 'claim', terms: leg.terms, secret: null };
  const asked = adapterOf({ rpcUrls: [node.url] }).spendGas?.(spend, anyone.address, signal());
  await assert.rejects(asked ?? assert.fail(), refuses('chain_unavailable', /lends no state/));
});

test('an estimate above what a transaction may have is none', async () => {
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  for (const [gas, isTold] of [
    [2n ** 24n, true],
    [2n ** 24n + 1n, false],
  ] as const) {
    const answer = { result: `0x${gas.toString(16)}` };
    const node = await lying(({ method }, forward) =>
      method === 'eth_estimateGas' ? answer : forward(),
    );
    const { terms, secret } = leg;
    const asked = adapterOf({ rpcUrls: [node.url] }).spendGas?.(
      { verb: 'claim', terms, secret },
      anyone.address,
      signal(),
    );
    if (isTold) assert.equal(await asked, gas);
    else
      await assert.rejects(
        asked ?? assert.fail(),
        refuses('chain_unavailable', /above the 16777216/),
      );
  }
});

test('only an error of the escrow itself says that a claim would fail', async () => {
  const leg = await newLeg(chain, {});
  await fund(chain, leg);
  const claimed = await newLeg(chain, {});
  await fund(chain, claimed);
  await claim(chain, claimed);
  const ask = ({ terms, secret }: Leg, rpcUrl: string) =>
    adapterOf({ rpcUrls: [rpcUrl] }).spendGas?.(
      { verb: 'claim', terms, secret },
      anyone.address,
      signal(),
    ) ?? assert.fail();
  await assert.rejects(ask(claimed, chain.rpcUrl), refuses('payout_would_fail', /NotOpen/));
  const args = ['20', '2'].map((word) => word.padStart(64, '0'));
  // Error("no").
  const data = `0x08c379a0${args.join('')}${'6e6f'.padEnd(64, '0')}`;
  for (const error of [
    { code: -32_601, message: 'the method does not exist' },
    { code: 3, message: 'execution reverted', data },
    { code: -32_000, message: 'gas required exceeds allowance' },
  ]) {
    const node = await lying(({ method }, forward) =>
      method === 'eth_estimateGas' ? { error } : forward(),
    );
    await assert.rejects(ask(leg, node.url), refuses('chain_unavailable', /eth_estimateGas/));
  }
});

test('the limits where nothing can be tried do on their fork, whatever a settlement makes', () => {
  const { figures } = gasSnapshot;
  // An account takes 25 000 by Prague's rules, and 120 bytes of state at 1 530 by Amsterdam's.
  const makes = {
    prague: { account: 25_000, word: 17_100 },
    amsterdam: { account: 183_600, word: 97_920 },
  };
  for (const { chainId } of Object.values(evmChains)) {
    for (const [fork, rules] of [
      ['prague', 'prague'],
      ['prague', 'either'],
      ['amsterdam', 'amsterdam'],
      ['amsterdam', 'either'],
    ] as const) {
      const native = Number(untriedGas(chainId, 'native', rules));
      const token = Number(untriedGas(chainId, 'token', rules));
      for (const verb of ['claim', 'refund'] as const) {
        const settles = (asset: 'native' | 'token') => figures[`${asset} ${verb}`][fork].gas;
        assert.ok(native >= 1.25 * (settles('native') + makes[fork].account), `${native} ${fork}`);
        assert.ok(token >= 2 * (settles('token') + makes[fork].word), `${token} ${fork}`);
        assert.ok(token >= 3.5 * settles('token'));
      }
    }
  }
});

test('the gas of our own transactions is what was measured on each fork', () => {
  const { figures } = gasSnapshot;
  for (const fork of ['prague', 'amsterdam'] as const) {
    const at = (row: keyof typeof figures) => figures[row][fork].gas;
    const gas = escrowGas(fork);
    for (const [kept, measured] of [
      [gas.native.fund, at('native fund')],
      [gas.native.settle, Math.max(at('native claim'), at('native refund'))],
      [gas.token.fund, at('token fund, allowance standing')],
      [gas.token.settle, Math.max(at('token claim'), at('token refund'))],
      [gas.approve, at('token approval of the amount')],
      [gas.authorized, at("token fund by authorization, a lane's first")],
      [gas.native.fund + gas.newWord, at("native fund, a lane's first")],
      [gas.native.settle + gas.newAccount, at('native claim, payout never used')],
      [gas.token.settle + gas.newWord, at('token claim, payout holds none')],
    ] as const) {
      assert.equal(Number(kept), measured, fork);
    }
  }
});
