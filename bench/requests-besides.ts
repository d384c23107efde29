// What is no request and takes the market's time all the same: frames of makers, a pass over what
// chains show, and a look at a stranger's token, of which only the thread that makes it has work.

import assert from 'node:assert/strict';
import type { ChainAdapter } from '../chains/adapter.ts';
import { defaultPowerRules } from '../chains/tokens/inspection.ts';
import { openFeed } from '../server/edge/testing/feed-client.ts';
import { apartLimits, createApart } from '../server/listing/apart.ts';
import { evm, look, newParty, type World } from '../server/settle/testing/world.ts';
import type { Meter } from './requests-meter.ts';
import type { TokenOn } from './tron-token.ts';

/** By the names that they are measured under; the limit of processor time, where it is its own. */
export const besides: Readonly<Record<string, { readonly is: string; readonly mostMs?: number }>> =
  {
    frame: { is: 'a frame on /v1/ws' },
    follow: { is: 'a pass over what chains show' },
    look: { is: 'a look at a token', mostMs: apartLimits.workMs },
  };

export async function askBesides(
  world: World,
  tron: TokenOn,
  measure: Meter['measure'],
): Promise<void> {
  await measure('follow: with a swap that has ended', () => look(world));
  await askFrames(world, measure);
  await askLooks(world, tron, measure);
}

const frames = {
  '5 000 lists': { lists: Array.from({ length: 5_000 }, () => []) },
  '1 500 names': Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`k${at}`, 0])),
} as const;

async function askFrames(world: World, measure: Meter['measure']): Promise<void> {
  const { key } = await newParty(world);
  const url = await listening(world);
  for (const [what, frame] of Object.entries(frames)) {
    const client = await openFeed(url);
    client.send({ apiKey: key });
    await client.of('ready');
    const answered = client.frame(({ type }) => type === 'error');
    await measure(`frame: ${what}`, async () => {
      client.send(frame);
      await Promise.race([answered.catch(() => {}), client.closed]);
    });
    client.close();
    await client.closed;
  }
}

async function listening({ app }: World): Promise<string> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const at = app.server.address();
  assert.ok(typeof at === 'object' && at !== null);
  return `http://127.0.0.1:${at.port}`;
}

/** On TRON a transfer is tried in a VM of the thread. */
async function askLooks(world: World, tron: TokenOn, measure: Meter['measure']): Promise<void> {
  const { infos, deps, assets } = world;
  const { chainId = 0, rpcUrl } = infos.evm;
  const on = { family: 'evm', chain: evm, chainId, rpcUrls: [rpcUrl], policy: evm } as const;
  const adapter = deps.adapters.get(evm);
  assert.ok(adapter);
  await askLook('an EVM token', { on, token: assets.usd.address as string }, adapter, measure);
  await askLook('a TRON token', tron, adapter, measure);
}

async function askLook(
  what: string,
  { on, token }: TokenOn,
  adapter: ChainAdapter,
  measure: Meter['measure'],
): Promise<void> {
  const { chain } = on;
  const apart = createApart({ chains: [on], chainTimeoutMs: 60_000 });
  const there = apart.adapters(new Map([[chain, { ...adapter, chain }]])).get(chain);
  const looked = async () => {
    const signal = AbortSignal.timeout(60_000);
    const { findings = [] } = (await there?.inspect?.(token, defaultPowerRules, signal)) ?? {};
    assert.deepEqual(
      findings.filter(({ check }) => check === 'transfer').map(({ outcome }) => outcome),
      ['pass'],
    );
  };
  try {
    await measure(`look: ${what} in a new thread`, looked);
    await measure(`look: ${what} in a thread that is there`, looked);
  } finally {
    await apart.close();
  }
}
