// One thing at a time, in the order asked.

export type Queue = <T>(task: () => Promise<T>) => Promise<T>;

export function queue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task, task);
    last = result.catch(() => undefined);
    return result;
  };
}
