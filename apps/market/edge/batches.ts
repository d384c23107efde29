// Many small questions as few large ones. While as many queries as there may be are under way, what
// is asked waits, and goes out together with the next.

type BatchLimits = { readonly queriesAtOnce: number; readonly questionsOfQuery: number };

/** `ask` answers each in its place; an exception fails all questions of the batch. */
export function inBatches<Q, A>(
  { queriesAtOnce, questionsOfQuery }: BatchLimits,
  ask: (questions: readonly Q[]) => Promise<readonly A[]>,
): (question: Q) => Promise<A> {
  const waiting: (PromiseWithResolvers<A> & { readonly question: Q })[] = [];
  let queries = 0;

  const work = async () => {
    queries += 1;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, questionsOfQuery);
      try {
        const answers = await ask(asked.map(({ question }) => question));
        for (const [at, { resolve }] of asked.entries()) resolve(answers[at] as A);
      } catch (error) {
        for (const { reject } of asked) reject(error);
      }
    }
    queries -= 1;
  };

  return (question) => {
    const own = Promise.withResolvers<A>();
    waiting.push({ question, ...own });
    if (queries < queriesAtOnce) void work();
    return own.promise;
  };
}
