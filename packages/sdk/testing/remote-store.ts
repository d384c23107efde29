// Tests only: a store in a page of a real browser, as a store of the test.

import type { Page } from 'playwright-core';
import { SettleError, StoreError } from '../errors.ts';
import type { BrowserStore } from '../stores/indexed-db.ts';
import type { StoreLock } from '../stores/store.ts';

type Answer = {
  readonly value?: unknown;
  readonly refused?: { readonly name: string; readonly code: string; readonly message: string };
};

function answerOf({ value, refused }: Answer): unknown {
  if (refused === undefined) return value;
  const { name, code, message } = refused;
  if (name === 'SettleError') throw new SettleError(code as 'bad_record', message);
  if (name === 'StoreError') throw new StoreError(code as 'failed', message);
  throw new Error(`${name}: ${message}`);
}

/** Opens the store of that name in the page. */
export async function remoteStore(page: Page, name: string): Promise<BrowserStore> {
  await page.waitForFunction(() => 'indexedDbStore' in globalThis);
  const slot = `store of ${name} ${Math.random()}`;
  const call = async (method: string, ...args: unknown[]) =>
    answerOf(
      await page.evaluate(
        async ([at, called, given]): Promise<Answer> => {
          // biome-ignore lint/suspicious/noExplicitAny: the page calls any method by its name
          const all = globalThis as any;
          try {
            if (called === 'open') all[at] = await all.indexedDbStore(...given);
            return { value: called === 'open' ? null : await all[at][called](...given) };
          } catch (error) {
            const { name: kind, code, message } = error as StoreError;
            return { refused: { name: kind, code, message } };
          }
        },
        [slot, method, args] as const,
      ),
    );
  await call('open', name);
  const done = async (method: string, ...args: unknown[]) => {
    await call(method, ...args);
  };
  const got =
    <T>(method: string) =>
    async (...args: unknown[]) =>
      (await call(method, ...args)) as T;
  return {
    putSecret: (...args) => done('putSecret', ...args),
    getSecret: got('getSecret'),
    putTrade: (trade) => done('putTrade', trade),
    getTrade: got('getTrade'),
    putSwap: (record) => done('putSwap', record),
    getSwap: got('getSwap'),
    putNonces: (...args) => done('putNonces', ...args),
    takeNonces: got('takeNonces'),
    swapIds: got('swapIds'),
    health: got('health'),
    lock: (what, signal) => remoteLock(page, slot, what, signal),
    close: () => void page.evaluate((at) => Reflect.get(globalThis, at).close(), slot),
  };
}

/** The signal aborts in the page when it does here. */
async function remoteLock(page: Page, slot: string, what: string, signal: AbortSignal) {
  const stop = await page.evaluateHandle((isAborted) => {
    const stopping = new AbortController();
    if (isAborted) stopping.abort();
    return stopping;
  }, signal.aborted);
  const abort = () => void stop.evaluate((each) => each.abort());
  signal.addEventListener('abort', abort);
  // On a busy machine it has aborted while the page was asked.
  if (signal.aborted) abort();
  const held = await page.evaluateHandle(
    async ({ at, name, stopping }): Promise<{ readonly lock: StoreLock | null }> => ({
      lock: await Reflect.get(globalThis, at).lock(name, stopping.signal),
    }),
    { at: slot, name: what, stopping: stop },
  );
  if (await held.evaluate(({ lock }) => lock === null)) return null;
  return { release: () => held.evaluate(async ({ lock }) => lock?.release()) };
}
