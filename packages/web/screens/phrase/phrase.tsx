// The rescue phrase: made, written down, typed back, tested later, forgotten.

import { messageOf } from '@parley/sdk/errors.ts';
import { Link, useSearch } from '@tanstack/react-router';
import { use, useState } from 'react';
import { pageEngine } from '../../engine/page.ts';
import type { Engine, VaultState } from '../../engine/types.ts';
import { useLive } from '../../market/use-live.ts';
import { announce } from '../../parts/announce.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PhraseForm } from '../../parts/phrase-form.tsx';
import { Screen } from '../../parts/screen.tsx';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { TypeBack } from './type-back.tsx';
import { Words } from './words.tsx';
import './phrase.css';

export function Phrase() {
  const { back } = useSearch({ from: '/phrase' });
  return <PhraseScreen engine={use(pageEngine())} back={back} />;
}

type ScreenProps = { readonly engine: Engine; readonly back?: string | undefined };

export function PhraseScreen({ engine, back }: ScreenProps) {
  const { state } = engine.vault;
  const kept = useLive(state);
  return (
    <Screen title={text('phrase.title')} narrow>
      <p>{text('phrase.what')}</p>
      {kept.kind === 'none' && <None engine={engine} />}
      {kept.kind === 'unchecked' && <Unchecked engine={engine} />}
      {kept.kind === 'checked' && <Checked engine={engine} kept={kept} back={back} />}
    </Screen>
  );
}

type Props = { readonly engine: Engine };

function None({ engine: { vault } }: Props) {
  const [isTyping, setTyping] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const make = () => vault.make().catch((error: unknown) => setFault(messageOf(error)));
  if (isTyping) {
    return (
      <section className="panel" aria-labelledby="phrase-restore">
        <h2 id="phrase-restore">{text('phrase.restore.title')}</h2>
        <PhraseForm restore={vault.restore} done={() => announce(text('phrase.restored'))} />
        <Button kind="quiet" onPress={() => setTyping(false)}>
          {text('phrase.back')}
        </Button>
      </section>
    );
  }
  return (
    <>
      <p>{text('phrase.who')}</p>
      <p className="soft">{text('phrase.not')}</p>
      {fault !== null && <Notice kind="bad" title={fault} />}
      <div className="phrase-ways">
        <div>
          <Button kind="main" onPress={() => void make()}>
            {text('phrase.make')}
          </Button>
          <p className="hint">{text('phrase.make.hint')}</p>
        </div>
        <div>
          <Button onPress={() => setTyping(true)}>{text('phrase.have')}</Button>
          <p className="hint">{text('phrase.have.hint')}</p>
        </div>
      </div>
    </>
  );
}

function Unchecked({ engine: { vault } }: Props) {
  const [isTyping, setTyping] = useState(false);
  return isTyping ? (
    <>
      <TypeBack vault={vault} done={() => announce(text('phrase.checked.title'))} />
      <Button kind="quiet" onPress={() => setTyping(false)}>
        {text('phrase.check.again')}
      </Button>
    </>
  ) : (
    <>
      <p>{text('phrase.who')}</p>
      <Words vault={vault} written={() => setTyping(true)} />
    </>
  );
}

type CheckedProps = Props & {
  readonly kept: Extract<VaultState, { kind: 'checked' }>;
  readonly back: string | undefined;
};

function Checked({ engine, kept, back }: CheckedProps) {
  const [test, setTest] = useState<'asked' | 'right' | null>(null);
  const at = localTime(kept.checkedAt, engine.now());
  return (
    <>
      <Notice
        kind="good"
        title={text('phrase.checked.title')}
        action={
          <Link className="button main" to={back ?? '/swaps'}>
            {text(back === undefined ? 'phrase.checked.swaps' : 'phrase.checked.on')}
          </Link>
        }
      >
        {text('phrase.checked.when', { at })}
      </Notice>
      <p className="soft">{text('phrase.checked.lost')}</p>
      {test === 'asked' && <TypeBack vault={engine.vault} done={() => setTest('right')} />}
      {test === 'right' && <Notice kind="good" title={text('phrase.checked.right')} />}
      <div className="actions">
        {test !== 'asked' && (
          <Button onPress={() => setTest('asked')}>{text('phrase.checked.test')}</Button>
        )}
        <Forget engine={engine} />
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
