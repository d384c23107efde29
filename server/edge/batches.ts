// Many small questions as few large ones. While as many queries as there may be are under way, what
// is asked waits, and goes out together with the next.

type Waiting<Q, A> = {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
};

export type BatchLimits = { readonly queriesAtOnce: number; readonly questionsOfQuery: number };

/** `ask` answers each in its place; what it throws fails all that it was asked. */
export function inBatches<Q, A>(
  { queriesAtOnce, questionsOfQuery }: BatchLimits,
  ask: (questions: readonly Q[]) => Promise<readonly A[]>,
): (question: Q) => Promise<A> {
  const waiting: Waiting<Q, A>[] = [];
  let queries = 0;

  async function answer(asked: readonly Waiting<Q, A>[]): Promise<void> {
    const answers = await ask(asked.map(({ question }) => question));
    for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as A);
  }

  async function work(): Promise<void> {
    queries += 1;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, questionsOfQuery);
      await answer(asked).catch((error: unknown) => {
        for (const { reject } of asked) reject(error);
      });
    }
    queries -= 1;
  }

  return (question) =>
    new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (queries < queriesAtOnce) void work();
    });
}
