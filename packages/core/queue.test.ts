import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withResolvers } from './engines.ts';
import { queue } from './queue.ts';

test('each begins when the one before has ended, well or not, and has its own result', async () => {
  const inTurn = queue();
  const log: string[] = [];
  const task = (name: string) => {
    const end = withResolvers<string>();
    const result = inTurn(() => {
      log.push(name);
      return end.promise;
    });
    return { ...end, result };
  };
  const [one, two, three] = ['one', 'two', 'three'].map(task) as [Task, Task, Task];
  type Task = ReturnType<typeof task>;
  three.resolve('third');
  await Promise.resolve();
  assert.deepEqual(log, ['one']);
  one.reject(new Error('no'));
  await assert.rejects(one.result, /^Error: no$/);
  await Promise.resolve();
  assert.deepEqual(log, ['one', 'two']);
  two.resolve('second');
  assert.deepEqual(await Promise.all([two.result, three.result]), ['second', 'third']);
  assert.deepEqual(log, ['one', 'two', 'three']);
});
