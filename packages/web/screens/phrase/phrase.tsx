// The rescue phrase: made, written down, typed back, tested later, forgotten.

import { messageOf } from '@parley/sdk/errors.ts';
import { Link, useSearch } from '@tanstack/react-router';
import { use, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { VaultState } from '../../engine/types.ts';
import type { OpenVault } from '../../engine/vault.ts';
import { useLive } from '../../market/use-live.ts';
import { Do, Form } from '../../parts/act.tsx';
import { announce, Button, Dialog, Notice, Panel, TextField } from '../../parts/controls.tsx';
import { PhraseForm } from '../../parts/forms.tsx';
import { Screen } from '../../parts/page.tsx';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import './phrase.css';

export function Phrase() {
  const { back } = useSearch({ from: '/phrase' });
  return <PhraseScreen engine={use(pageEngine())} back={back} />;
}

export function PhraseScreen({ engine, back }: { engine: Engine; back?: string | undefined }) {
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

type Props = { engine: Engine };

function None({ engine: { vault } }: Props) {
  const [isTyping, setTyping] = useState(false);
  if (isTyping) {
    return (
      <Panel title={text('phrase.restore.title')}>
        <PhraseForm restore={vault.restore} done={() => announce(text('phrase.restored'))} />
        <Button kind="quiet" onPress={() => setTyping(false)}>
          {text('phrase.back')}
        </Button>
      </Panel>
    );
  }
  return (
    <>
      <p>{text('phrase.who')}</p>
      <p className="soft">{text('phrase.not')}</p>
      <div className="phrase-ways">
        <div>
          <Do kind="main" work={vault.make}>
            {text('phrase.make')}
          </Do>
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
  kept: Extract<VaultState, { kind: 'checked' }>;
  back: string | undefined;
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

type TypeBackProps = {
  vault: Pick<OpenVault, 'asked' | 'check'>;
  done: () => void;
};

function TypeBack({ vault, done }: TypeBackProps) {
  const [asked] = useState(() => vault.asked());
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrong, setWrong] = useState<readonly number[]>([]);
  const check = async () => {
    const answer = await vault.check(typed);
    setWrong(answer.wrong);
    if (answer.wrong.length > 0) return;
    setTyped({});
    done();
  };
  return (
    <Panel title={text('phrase.check.title')}>
      <p>{text('phrase.check.how')}</p>
      <Form className="" go={text('phrase.check.go')} kind="main" send={check}>
        {asked.map((at) => (
          <TextField
            key={at}
            label={text('phrase.check.word', { at })}
            error={wrong.includes(at) ? text('phrase.check.wrong', { at }) : null}
            value={typed[at] ?? ''}
            onChange={(word) => {
              setTyped({ ...typed, [at]: word });
              setWrong(wrong.filter((each) => each !== at));
            }}
            mono
            autoComplete="off"
            maxLength={20}
            required
          />
        ))}
      </Form>
    </Panel>
  );
}

const places = Array.from({ length: 12 }, (_, at) => at + 1);

function Words({ vault, written }: { vault: OpenVault; written: () => void }) {
  const [words, setWords] = useState<readonly string[] | null>(null);
  const [wasShown, setShown] = useState(false);
  const [isCopying, setCopying] = useState(false);
  const show = async () => {
    setWords(await vault.words());
    setShown(true);
  };
  return (
    <Panel title={text('phrase.write.title')}>
      <p>{text('phrase.write.how')}</p>
      <ol
        className={words === null ? 'phrase-words hidden' : 'phrase-words'}
        aria-label={text('phrase.words')}
        onCopy={(event) => {
          event.preventDefault();
          setCopying(true);
        }}
      >
        {places.map((at) => (
          <li key={at}>
            <span className="soft">{at}</span>{' '}
            {words === null ? (
              <span className="phrase-mask">{text('phrase.hidden')}</span>
            ) : (
              <strong>{words[at - 1]}</strong>
            )}
          </li>
        ))}
      </ol>
      <div className="actions">
        {words === null ? (
          <Do kind={wasShown ? 'plain' : 'main'} work={show}>
            {text('phrase.show')}
          </Do>
        ) : (
          <Button onPress={() => setWords(null)}>{text('phrase.hide')}</Button>
        )}
        <Button
          kind={wasShown ? 'main' : 'plain'}
          blocked={wasShown ? null : text('phrase.written.first')}
          onPress={written}
        >
          {text('phrase.written')}
        </Button>
      </div>
      <Copying words={words} isOpen={isCopying} close={() => setCopying(false)} />
    </Panel>
  );
}

type CopyingProps = {
  words: readonly string[] | null;
  isOpen: boolean;
  close: () => void;
};

function Copying({ words, isOpen, close }: CopyingProps) {
  const copy = async () => {
    await navigator.clipboard.writeText((words ?? []).join(' ')).catch(() => undefined);
    close();
  };
  return (
    <Dialog
      title={text('phrase.copy.title')}
      open={isOpen}
      onClose={close}
      no={text('phrase.copy.leave')}
      yes={
        <Button kind="danger" onPress={() => void copy()}>
          {text('phrase.copy.go')}
        </Button>
      }
    >
      <p>{text('phrase.copy.why')}</p>
    </Dialog>
  );
}
