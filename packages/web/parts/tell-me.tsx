// The one place where a page asks whether it may notify: by a click, and said what becomes of it.

import { text } from '../texts/texts.ts';
import { Button } from './controls.tsx';
import { startTelling, stopTelling, useTellState } from './tell.ts';
import { useAct } from './ways/act.ts';

/** `path`: where the first one leads, as those after it will. */
export function TellMe({ path }: { readonly path: string }) {
  const state = useTellState();
  const act = useAct();
  const first = { title: text('tell.first'), body: text('tell.first.why'), path };
  return (
    <section className="panel tell-me" aria-labelledby="tell-me">
      <h2 id="tell-me">{text('tell.title')}</h2>
      <p>{text(`tell.${state === 'unasked' ? 'off' : state}`)}</p>
      {(state === 'unasked' || state === 'off') && (
        <Button busy={act.busy} onPress={() => act.run(() => startTelling(first))}>
          {text('tell.go')}
        </Button>
      )}
      {state === 'on' && <Button onPress={stopTelling}>{text('tell.stop')}</Button>}
    </section>
  );
}
