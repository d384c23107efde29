// Work on one thing at a time, in the order in which it was asked for.

export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const turns = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = turns.get(key) ?? Promise.resolve();
    const own = before.catch(() => {}).then(work);
    turns.set(key, own);
    const over = () => {
      if (turns.get(key) === own) turns.delete(key);
    };
    own.then(over, over);
    return own;
  };
}
