// The giver's tab is gone at each step. Before the payment the same browser goes on; after it
// another device does, by the phrase and what the market lists, or by the rescue file.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newMaker, takesPart } from './maker.ts';
import {
  type Group,
  isClean,
  mustEnd,
  once,
  person,
  quotedBy,
  type Scenario,
  tradeOf,
} from './scenario.ts';
import { accepts, says, signsIn, typesPhrase } from './screens.ts';
import { settles } from './settles.ts';
import { behaves, type Clock, type Ground, newTrader, type Trader, walletNames } from './trader.ts';

type Step = {
  readonly name: string;
  /** The title at which the tab goes; null: as soon as both have accepted. */
  readonly at: RegExp | null;
  readonly goesOn: 'the same browser' | 'phrase and market' | 'phrase and file';
  /** The wallet shows its prompt and nobody answers. */
  readonly hangs?: boolean;
};

const steps: readonly Step[] = [
  { name: 'after the acceptance', at: null, goesOn: 'the same browser' },
  { name: 'while the wallet asks', at: /^Lock/, goesOn: 'the same browser', hangs: true },
  { name: 'once the payment is seen', at: /on its way$|are locked$/, goesOn: 'phrase and market' },
  { name: 'once it is deep', at: /are locked$/, goesOn: 'phrase and file' },
  { name: 'while it collects', at: /^(Collecting|.*on their way)/, goesOn: 'phrase and market' },
];

export function killed(ground: Ground, clock: Clock): Group {
  const over = new AbortController();
  const maker = once(() => newMaker(ground, clock));
  const scenarios = steps.map((step): Scenario => {
    const play = async () => {
      const erin = await person(ground, 'Erin');
      const trade = tradeOf(ground, 'ETH', 'TRX');
      const threadId = await quotedBy(await maker.get(), erin, trade);
      const part = takesPart(await maker.get(), threadId, clock, { signal: over.signal });
      await accepts(erin);
      const { swapId, ends } = await part;
      const file = await leaves(ground, erin, step);
      const after = await goesOn(ground, erin, { step, file, swapId });
      await mustEnd(after, await settles(ground, after), /^Done\. You received/);
      assert.equal((await ends).end, 'received');
      isClean(after);
      await erin.close();
      await after.close();
      return `goes on by ${step.goesOn}`;
    };
    return { name: `tab killed ${step.name}`, play };
  });
  const close = async () => over.abort(new Error('the scenarios are over'));
  return { scenarios, close };
}

/** The rescue file, where it is the way on. */
async function leaves(ground: Ground, erin: Trader, { at, goesOn, hangs }: Step) {
  const { page } = erin;
  if (hangs === true) {
    await page.waitForURL(/\/swaps\//);
    await behaves(erin, 'evm', 'hangs');
    await settles(ground, erin, { until: /^Lock/, pays: false });
    const ask = page.getByRole('button', { name: /^Ask the wallet/ });
    for (const name of [walletNames.evm, walletNames.tron]) {
      const connect = page.getByRole('button', { name: `Use ${name}` });
      await ask.or(connect).first().waitFor();
      if (await connect.isVisible()) await connect.click();
      await connect.waitFor({ state: 'detached' });
    }
    await ask.click();
    await says(page, 'Confirm in your wallet');
  } else if (at !== null) {
    await page.waitForURL(/\/swaps\//);
    await settles(ground, erin, { until: at });
  }
  const file = goesOn === 'phrase and file' ? await saved(erin) : null;
  isClean(erin);
  await page.close({ runBeforeUnload: false });
  return file;
}

async function saved({ page }: Trader): Promise<string> {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the rescue file' }).first().click();
  const path = join(tmpdir(), `parley-soak-${process.pid}-rescue.json`);
  await (await downloading).saveAs(path);
  return path;
}

type After = { readonly step: Step; readonly file: string | null; readonly swapId: string };

async function goesOn(ground: Ground, erin: Trader, { step, file, swapId }: After) {
  if (step.goesOn === 'the same browser') {
    const again = await newTrader(ground, erin.name, erin, erin.context);
    await again.goto(`/swaps/${swapId}`);
    return again;
  }
  const other = await newTrader(ground, `${erin.name}'s other device`, erin);
  await signsIn(other);
  await typesPhrase(other);
  await other.goto('/rescue');
  const { page } = other;
  if (file === null) {
    await page.getByRole('button', { name: 'Ask the market' }).click();
    await page.getByRole('button', { name: 'Yes, bring it back' }).click();
  } else {
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: /^Bring back 1/ }).click();
    await rm(file);
  }
  await says(page, 'Brought back. It goes on by itself.');
  await page.getByRole('link', { name: 'Look at it' }).first().click();
  return other;
}
