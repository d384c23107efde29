// Tabs of one person: one has the turn, and one that has it and is frozen costs nothing.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openTabs, type Said } from './tabs.ts';
import { tabLocks } from './testing/locks.ts';

type Scene = ReturnType<typeof sceneOf>;

/** Timers of this test alone; messages between tabs are real. */
function sceneOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const name = crypto.randomUUID();
  const store = tabLocks();
  const channel = new BroadcastChannel(`parley ${name}`);
  const heard: Said[] = [];
  channel.onmessage = ({ data }: { readonly data: unknown }) => void heard.push(data as Said);
  t.after(() => channel.close());
  const asked = () => heard.filter(({ kind }) => kind === 'asks').length;
  return {
    t,
    name,
    store,
    heard,
    asked,
    says: (said: Said) => channel.postMessage(said),
    /** As a tab does that has the turn and runs no more. */
    freeze: async () => {
      const lock = await store.lock('driver', new AbortController().signal);
      assert.ok(lock !== null);
      return lock;
    },
    /** So many times a tab that follows may ask, and hear the answer. */
    pass: async (times: number) => {
      for (let each = 0; each < times; each += 1) {
        t.mock.timers.tick(30_000);
        await settled();
      }
    },
  };
}

/** Messages that are on their way have arrived. */
async function settled(): Promise<void> {
  for (let each = 0; each < 40; each += 1) await new Promise((resolve) => setImmediate(resolve));
}

function tabIn({ t, name, store }: Scene) {
  const did: string[] = [];
  const of = { mayLetGo: true };
  const tabs = openTabs({
    name,
    store,
    hear: () => {},
    mayLetGo: () => of.mayLetGo,
    begin: async () => void did.push('begin'),
    end: async () => void did.push('end'),
  });
  t.after(() => tabs.close());
  return { tabs, did, of };
}

const alive: Said = { kind: 'alive', as: 'driver', from: '' };

test('one of two tabs that answer settles, however long', async (t) => {
  const scene = sceneOf(t);
  const one = tabIn(scene);
  const other = tabIn(scene);
  await scene.pass(20);
  assert.deepEqual([one.did, other.did], [['begin'], []]);
  assert.deepEqual(other.tabs.driver.now(), { kind: 'other', isSilent: false });
  await one.tabs.close();
  await settled();
  assert.deepEqual([one.did, other.did], [['begin', 'end'], ['begin']]);
  assert.deepEqual(other.tabs.driver.now(), { kind: 'this' });
});

test('in the place of a silent one a tab acts, and stops when that one speaks', async (t) => {
  const scene = sceneOf(t);
  await scene.freeze();
  const { tabs, did, of } = tabIn(scene);
  await scene.pass(4);
  assert.deepEqual([scene.asked(), did], [4, []], 'before the fourth question may be answered');
  await scene.pass(1);
  assert.deepEqual([did, tabs.driver.now()], [['begin'], { kind: 'other', isSilent: true }]);
  // While a wallet shows a prompt here, nothing stops.
  of.mayLetGo = false;
  scene.says(alive);
  await settled();
  assert.deepEqual([did, tabs.driver.now()], [['begin'], { kind: 'other', isSilent: false }]);
  of.mayLetGo = true;
  scene.says(alive);
  await settled();
  assert.deepEqual(did, ['begin', 'end']);
  await scene.pass(4);
  assert.deepEqual(did, ['begin', 'end']);
  await scene.pass(1);
  assert.deepEqual(did, ['begin', 'end', 'begin'], 'silent again');
});

test('an answer now and then is enough', async (t) => {
  const scene = sceneOf(t);
  await scene.freeze();
  const { did } = tabIn(scene);
  for (let each = 0; each < 4; each += 1) {
    await scene.pass(4);
    scene.says(alive);
    await settled();
  }
  assert.deepEqual(did, []);
});

test('one acts in its place, and goes on with the turn when the silent tab is gone', async (t) => {
  const scene = sceneOf(t);
  const frozen = await scene.freeze();
  const tabs = [tabIn(scene), tabIn(scene), tabIn(scene)];
  await scene.pass(6);
  const acting = tabs.filter(({ did }) => did.at(-1) === 'begin');
  assert.equal(acting.length, 1, JSON.stringify(tabs.map(({ did }) => did)));
  await scene.pass(8);
  assert.deepEqual(
    tabs.filter(({ did }) => did.at(-1) === 'begin'),
    acting,
  );
  for (const { tabs: each } of tabs) {
    assert.deepEqual(each.driver.now(), { kind: 'other', isSilent: true });
  }
  for (const each of tabs) if (each !== acting[0]) await each.tabs.close();
  const begun = acting[0]?.did.length;
  await frozen.release();
  await settled();
  assert.deepEqual(acting[0]?.tabs.driver.now(), { kind: 'this' });
  assert.equal(acting[0]?.did.length, begun, 'what runs is not begun again');
});

test('the turn is given to who asks, but not while a wallet shows a prompt', async (t) => {
  const scene = sceneOf(t);
  const one = tabIn(scene);
  await settled();
  const other = tabIn(scene);
  one.of.mayLetGo = false;
  assert.equal(await other.tabs.takeOver(), false);
  one.of.mayLetGo = true;
  assert.equal(await other.tabs.takeOver(), true);
  await settled();
  assert.deepEqual([one.did, other.did], [['begin', 'end'], ['begin']]);
  assert.equal(await other.tabs.takeOver(), true);
  await other.tabs.close();
});

test('a silent tab gives nothing: who asks is told so in ten seconds', async (t) => {
  const scene = sceneOf(t);
  await scene.freeze();
  const { tabs } = tabIn(scene);
  const taken = tabs.takeOver();
  t.mock.timers.tick(10_000);
  assert.equal(await taken, false);
});
