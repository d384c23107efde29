// The one place where a page asks whether it may notify: by a click, and said what becomes of it.

import { text } from '../texts/texts.ts';
import { useAct } from './act.tsx';
import { Button, Panel } from './controls.tsx';
import { startTelling, stopTelling, useTellState } from './tell.ts';

type Props = {
  /** Where the first one leads, as those after it will. */
  path: string;
};

export function TellMe({ path }: Props) {
  return (
    <Panel title={text('tell.title')}>
      <TellMeWords path={path} />
    </Panel>
  );
}

/** Where its name stands already. */
export function TellMeWords({ path }: Props) {
  const state = useTellState();
  const act = useAct();
  const first = { title: text('tell.first'), body: text('tell.first.why'), path };
  return (
    <>
      <p>{text(`tell.${state === 'unasked' ? 'off' : state}`)}</p>
      {(state === 'unasked' || state === 'off') && (
        <Button busy={act.busy} onPress={() => act.run(() => startTelling(first))}>
          {text('tell.go')}
        </Button>
      )}
      {state === 'on' && <Button onPress={stopTelling}>{text('tell.stop')}</Button>}
    </>
  );
}
