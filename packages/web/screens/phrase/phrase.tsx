// The rescue phrase: kept and read back, tested later, forgotten.

import { messageOf } from '@parley/sdk/errors.ts';
import { Link, useSearch } from '@tanstack/react-router';
import { use, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { VaultState } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { Button, Dialog, Notice } from '../../parts/controls.tsx';
import { Screen } from '../../parts/page.tsx';
import { PhrasePanel, TypeBack } from '../../parts/phrase-panel.tsx';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';

export function Phrase() {
  const { back } = useSearch({ from: '/phrase' });
  return <PhraseScreen engine={use(pageEngine())} back={back} />;
}

export function PhraseScreen({ engine, back }: { engine: Engine; back?: string | undefined }) {
  const { state } = engine.vault;
  const kept = useLive(state);
  return (
    <Screen title={text('phrase.title')} narrow>
      {kept.kind === 'checked' ? (
        <Checked engine={engine} kept={kept} back={back} />
      ) : (
        <PhrasePanel engine={engine} />
      )}
      <p className="soft">{text('phrase.not')}</p>
    </Screen>
  );
}

type Props = { engine: Engine };

type CheckedProps = Props & {
  kept: Extract<VaultState, { kind: 'checked' }>;
  back: string | undefined;
};

function Checked({ engine, kept, back }: CheckedProps) {
  const [test, setTest] = useState<'asked' | 'right' | null>(null);
  const at = localTime(kept.checkedAt, engine.now());
  return (
    <>
      <p>{text('phrase.what')}</p>
      <Notice
        kind="good"
        title={text('phrase.checked.title')}
        action={
          <Link className="button main" to={back ?? '/swaps'}>
            {text(back === undefined ? 'phrase.checked.swaps' : 'phrase.checked.on')}
          </Link>
        }
      >
        {text(`phrase.kept.${kept.keptIn}`)} {text('phrase.checked.when', { at })}
      </Notice>
      <div className="panel">
        <p className="soft">{text('phrase.checked.lost')}</p>
        {test === 'asked' && <TypeBack vault={engine.vault} done={() => setTest('right')} />}
        {test === 'right' && <Notice kind="good" title={text('phrase.checked.right')} />}
        <div className="actions">
          {test !== 'asked' && (
            <Button onPress={() => setTest('asked')}>{text('phrase.checked.test')}</Button>
          )}
          <Forget engine={engine} />
        </div>
      </div>
    </>
  );
}

function Forget({ engine: { vault } }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [isSure, setSure] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const go = async () => {
    try {
      await vault.forget({ evenWithOpenSwaps: isSure });
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <>
      <Button kind="danger" onPress={() => setOpen(true)}>
        {text('phrase.forget')}
      </Button>
      <Dialog
        title={text('phrase.forget.title')}
        open={isOpen}
        onClose={() => setOpen(false)}
        no={text('phrase.forget.leave')}
        yes={
          <Button kind="danger" onPress={() => void go()}>
            {text('phrase.forget.go')}
          </Button>
        }
      >
        <p>{text('phrase.forget.why')}</p>
        {fault !== null && (
          <>
            <p role="alert">{fault}</p>
            <label>
              <input
                type="checkbox"
                checked={isSure}
                onChange={(event) => setSure(event.target.checked)}
              />{' '}
              {text('phrase.forget.even')}
            </label>
          </>
        )}
      </Dialog>
    </>
  );
}
