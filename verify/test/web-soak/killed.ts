// The giver's tab is gone at each step. Before the payment the same browser goes on; after it
// another device does, by the phrase and what the market lists, or by the rescue file.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Family } from '@parley/core/families.ts';
import type { ParleyClient } from '@parley/sdk/client.ts';
import { newMaker } from './maker.ts';
import {
  agreed,
  type Group,
  isClean,
  mustEnd,
  once,
  person,
  type Scenario,
  tradeOf,
} from './scenario.ts';
import { says, signsIn, typesPhrase } from './screens.ts';
import { settles } from './settles.ts';
import { behaves, type Clock, type Ground, newTrader, promptsOf, type Trader } from './trader.ts';

type Step = {
  readonly name: string;
  /** The title at which the tab goes; null: as soon as both have accepted. */
  readonly at: RegExp | null;
  readonly goesOn: 'the same browser' | 'phrase and market' | 'phrase and file';
  /** This wallet shows its prompt then, and nobody answers. */
  readonly hangs?: Family;
};

const steps: readonly Step[] = [
  { name: 'after the acceptance', at: null, goesOn: 'the same browser' },
  { name: 'while the wallet asks', at: /^Lock/, goesOn: 'the same browser', hangs: 'evm' },
  { name: 'once the payment is seen', at: /on its way$|are locked$/, goesOn: 'phrase and market' },
  { name: 'once it is deep', at: /are locked$/, goesOn: 'phrase and file' },
  {
    name: 'while the wallet asks to collect',
    at: /^Collecting/,
    goesOn: 'phrase and market',
    hangs: 'tron',
  },
  { name: 'while it collects', at: /on their way to you$/, goesOn: 'phrase and market' },
];

export function killed(ground: Ground, clock: Clock): Group {
  const over = new AbortController();
  const maker = once(() => newMaker(ground, clock));
  const scenarios = steps.map((step): Scenario => {
    const play = async () => {
      const erin = await person(ground, 'Erin');
      const trade = tradeOf(ground, 'ETH', 'TRX');
      const other = await maker.get();
      const { signal } = over;
      const { swapId, ends } = await agreed(other, erin, trade, clock, { signal });
      const file = await shown(erin, () => leaves(ground, erin, step));
      const after =
        step.goesOn === 'the same browser'
          ? await newTrader(ground, erin.name, erin, erin.context)
          : await newTrader(ground, `${erin.name}'s other device`, erin);
      const isOpen = await shown(after, () => goesOn(after, { step, file, swapId }));
      if (isOpen) await mustEnd(ground, after, /^Done\. You received/);
      assert.equal((await ends).end, 'received');
      await bothClaimed(other.client, swapId);
      isClean(after);
      await erin.close();
      await after.close();
      return isOpen ? `goes on by ${step.goesOn}` : 'nothing was left to do';
    };
    return { name: `tab killed ${step.name}`, play };
  });
  const close = async () => over.abort(new Error('the scenarios are over'));
  return { scenarios, close };
}

/** The person's own node may show its claim before the market has read that block. */
async function bothClaimed(client: ParleyClient, swapId: string): Promise<void> {
  const limit = performance.now() + 20_000;
  for (;;) {
    const { legs } = await client.swap(swapId);
    const statuses = [legs.a.status, legs.b.status];
    if (statuses.every((each) => each === 'claimed')) return;
    assert.ok(performance.now() < limit, `the market shows ${statuses}`);
    await new Promise((next) => setTimeout(next, 200));
  }
}

/** With all that the screen shows, where that fails. */
async function shown<T>({ name, page }: Trader, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const main = await page.locator('main').textContent();
    throw new Error(`${name}: ${(error as Error).message}\n${main}`, { cause: error });
  }
}

/** The rescue file, where it is the way on. */
async function leaves(ground: Ground, erin: Trader, { at, goesOn, hangs }: Step) {
  const { page } = erin;
  if (at !== null) {
    await page.waitForURL(/\/swaps\//);
    await settles(ground, erin, { until: at, pays: hangs !== 'evm' });
  }
  if (hangs !== undefined) await asksAndHangs(ground, erin, hangs);
  const file = goesOn === 'phrase and file' ? await saved(erin) : null;
  isClean(erin);
  await page.close({ runBeforeUnload: false });
  return file;
}

/** The wallet is there and shows its prompt, which nobody answers. */
async function asksAndHangs(ground: Ground, erin: Trader, family: Family): Promise<void> {
  const { page } = erin;
  const ask = page.locator('.swap-now').getByRole('button', { name: /^Ask the wallet/ });
  await settles(ground, erin, { pays: false, isEnough: () => ask.isVisible() });
  const before = await promptsOf(erin, family);
  await behaves(erin, family, 'hangs');
  await ask.click();
  await says(page, 'Confirm in your wallet');
  const limit = performance.now() + 20_000;
  while ((await promptsOf(erin, family)).length === before.length) {
    assert.ok(performance.now() < limit, `the wallet of ${family} showed no prompt`);
    await page.waitForTimeout(50);
  }
}

async function saved({ page }: Trader): Promise<string> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the rescue file' }).first().click();
  const path = join(tmpdir(), `parley-soak-${process.pid}-rescue.json`);
  await (await downloading).saveAs(path);
  return path;
}

type After = { readonly step: Step; readonly file: string | null; readonly swapId: string };

/** Resolves to whether the swap is still open there. */
async function goesOn(after: Trader, { step, file, swapId }: After): Promise<boolean> {
  const { page } = after;
  if (step.goesOn === 'the same browser') {
    await after.goto(`/swaps/${swapId}`);
    return true;
  }
  await signsIn(after);
  await typesPhrase(after);
  await after.goto('/rescue');
  const results = page.getByRole('region', { name: 'Swaps found' });
  if (file === null) {
    await page.getByRole('button', { name: 'Ask the market' }).click();
    const yes = page.getByRole('button', { name: 'Yes, bring it back' });
    await yes.or(results).waitFor();
    if (await yes.isVisible()) await yes.click();
  } else {
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: /^Bring back 1/ }).click();
    await rm(file);
  }
  const back = results.getByText(
    /^Brought back\. (?:It goes on by itself|Your own wallet has to sign)/,
  );
  const isOver = results.getByText(/^Over: /);
  await back.or(isOver).waitFor();
  if (await isOver.isVisible()) return false;
  await page.getByRole('link', { name: 'Look at it' }).click();
  return true;
}
