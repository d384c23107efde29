// The rescue phrase, kept and read back in one place: on paper, in a password manager, or as a file.
// Each way counts once the words have come back from it (decision 0117).

import { isoTime } from '@parley/sdk/people.ts';
import type { PhraseCheck } from '@parley/sdk/rescue/phrase.ts';
import {
  type ChangeEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import type { Engine } from '../engine/engine.ts';
import type { Keeper, VaultState } from '../engine/types.ts';
import { config, now } from '../market/config.ts';
import { useLive } from '../market/use-live.ts';
import { text } from '../texts/texts.ts';
import { Do, Form, useAct } from './act.tsx';
import { Button, Dialog, TextField } from './controls.tsx';
import { Fault, fileName, PhraseForm, saveFile } from './forms.tsx';
import { Icon } from './icons.tsx';
import { askManager, offerToManager } from './password-manager.ts';
import { mostPhraseBytes, phraseFile, phraseIn } from './phrase-file.ts';
import './phrase-panel.css';

type Vault = Engine['vault'];
type Props = { readonly engine: Pick<Engine, 'vault'> };

const keepers: readonly Keeper[] = ['words', 'manager', 'file'];
const icons = { words: 'pen', manager: 'key', file: 'file' } as const;

/** The words are read when a way to keep them is chosen. */
type Chosen = { readonly keeper: Keeper; readonly words: readonly string[] };

/** Makes a phrase where there is none, as soon as a way to keep it is chosen. */
export function PhrasePanel({ engine: { vault } }: Props) {
  const kept = useLive(vault.state);
  const id = useId();
  const { busy, error, run } = useAct();
  const [chosen, setChosen] = useState<Chosen | null>(null);
  if (kept.kind === 'checked') return <Kept keptIn={kept.keptIn} />;
  const choose = (keeper: Keeper) =>
    run(async () => {
      await vault.make();
      const words = await vault.words();
      if (keeper === 'file') savePhrase(words);
      setChosen({ keeper, words });
    });
  return (
    <section className="panel" aria-labelledby={id}>
      <h2 id={id}>{text('phrase.keep')}</h2>
      <p>{text('phrase.keep.why')}</p>
      <div className="phrase-keepers">
        {keepers.map((keeper) => (
          <button
            key={keeper}
            type="button"
            className="phrase-keeper"
            aria-pressed={chosen?.keeper === keeper}
            aria-busy={busy}
            onClick={() => choose(keeper)}
          >
            <Icon name={icons[keeper]} />
            <strong>{text(`phrase.keep.${keeper}`)}</strong>
            <span className="hint">{text(`phrase.keep.${keeper}.hint`)}</span>
          </button>
        ))}
      </div>
      <Fault error={error} />
      {chosen !== null && <Chosen vault={vault} kept={kept} chosen={chosen} />}
      <p className="hint">{text('phrase.who')}</p>
      <details>
        <summary>{text('phrase.have')}</summary>
        <RestorePhrase vault={vault} />
      </details>
    </section>
  );
}

type ChosenProps = VaultProps & { readonly kept: VaultState; readonly chosen: Chosen };

function Chosen({ vault, kept, chosen: { keeper, words } }: ChosenProps) {
  switch (keeper) {
    case 'words':
      return <Paper vault={vault} shown={words} />;
    case 'manager':
      return <Manager vault={vault} entry={entryOf(kept)} password={words.join(' ')} />;
    case 'file':
      return <SavedFile vault={vault} />;
  }
}

function Kept({ keptIn }: { keptIn: Keeper }) {
  return (
    <p role="status">
      <span aria-hidden="true">✓</span> {text(`phrase.kept.${keptIn}`)}
    </p>
  );
}

type VaultProps = { readonly vault: Vault };

/** Words that are typed hide the ones that are shown: they come from the paper. */
function Paper({ vault, shown }: VaultProps & { readonly shown: readonly string[] }) {
  const [words, setWords] = useState<readonly string[] | null>(shown);
  const [isCopying, setCopying] = useState(false);
  return (
    <>
      <p>{text('phrase.write.how')}</p>
      <ol
        className="phrase-words"
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
          <Do work={async () => setWords(await vault.words())}>{text('phrase.show')}</Do>
        ) : (
          <Button kind="quiet" onPress={() => setWords(null)}>
            {text('phrase.hide')}
          </Button>
        )}
      </div>
      <TypeBack vault={vault} onType={() => setWords(null)} />
      <Copying words={words} isOpen={isCopying} close={() => setCopying(false)} />
    </>
  );
}

const places = Array.from({ length: 12 }, (_, at) => at + 1);

type TypeBackProps = {
  vault: Pick<Vault, 'asked' | 'check'>;
  onType?: () => void;
  done?: () => void;
};

export function TypeBack({ vault, onType, done }: TypeBackProps) {
  const [asked] = useState(() => vault.asked());
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrong, setWrong] = useState<readonly number[]>([]);
  const check = async () => {
    const answer = await vault.check(typed);
    setWrong(answer.wrong);
    if (answer.wrong.length > 0) return;
    setTyped({});
    done?.();
  };
  return (
    <Form
      className="phrase-check"
      label={text('phrase.check.title')}
      kind="main"
      go={text('phrase.check.go')}
      send={check}
    >
      <p>{text('phrase.check.how')}</p>
      <div className="phrase-places">
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
            onFocus={onType}
            mono
            autoComplete="off"
            maxLength={20}
            required
          />
        ))}
      </div>
    </Form>
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

/** Each phrase has an entry of its own: another one of this market takes no place of it. */
function entryOf(kept: VaultState): string {
  const day = kept.kind === 'none' ? '' : isoTime(kept.madeAt).slice(0, 16).replace('T', ' ');
  return text('phrase.manager.entry', { market: config.productName, day });
}

type ManagerProps = VaultProps & { readonly entry: string; readonly password: string };

/** Sends a form that browsers offer to save; then the same words are filled in by the manager. */
function Manager({ vault, entry, password }: ManagerProps) {
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const save = useCallback(() => {
    // As a property: no attribute of the page has the words.
    if (field.current !== null) field.current.value = password;
    form.current?.requestSubmit();
  }, [password]);
  useEffect(save, [save]);
  const check = async () => {
    const came = typed.trim() === '' ? await askManager() : typed;
    if (came === null) return setFault(text('phrase.manager.nothing'));
    if (!(await vault.readBack(came, 'manager'))) setFault(text('phrase.back.other'));
  };
  return (
    <>
      <form
        ref={form}
        className="unseen"
        aria-hidden="true"
        onSubmit={(event) => {
          event.preventDefault();
          void offerToManager({ id: entry, name: entry, password });
        }}
      >
        <input name="username" autoComplete="username" tabIndex={-1} defaultValue={entry} />
        <input
          ref={field}
          type="password"
          name="password"
          autoComplete="new-password"
          tabIndex={-1}
        />
      </form>
      <Form
        className="phrase-check"
        kind="main"
        go={text('phrase.manager.check')}
        send={check}
        more={
          <Button kind="quiet" onPress={save}>
            {text('phrase.manager.again')}
          </Button>
        }
      >
        <p>{text('phrase.manager.how')}</p>
        <TextField
          label={text('phrase.manager.name')}
          name="username"
          autoComplete="username"
          value={entry}
          onChange={() => undefined}
          readOnly
        />
        <TextField
          label={text('phrase.manager.field')}
          error={fault}
          type="password"
          name="password"
          autoComplete="current-password"
          maxLength={1_000}
          value={typed}
          onChange={(next) => {
            setTyped(next);
            setFault(null);
          }}
        />
      </Form>
    </>
  );
}

function savePhrase(words: readonly string[]): void {
  const name = fileName('rescue-phrase', 'txt');
  const day = isoTime(now()).slice(0, 10);
  saveFile(name, 'text/plain', phraseFile({ words, market: config.productName, day }));
}

function SavedFile({ vault }: VaultProps) {
  const take = async (phrase: string) => {
    if (!(await vault.readBack(phrase, 'file'))) throw new Error(text('phrase.back.other'));
  };
  return (
    <ChosenFile label={text('phrase.file.check')} take={take}>
      {text('phrase.file.how')}
    </ChosenFile>
  );
}

type ChosenFileProps = {
  readonly label: string;
  readonly children?: ReactNode;
  /** Throws a sentence. */
  readonly take: (phrase: string) => Promise<void>;
};

/** A saved phrase, read here and sent nowhere. */
function ChosenFile({ label, children, take }: ChosenFileProps) {
  const id = useId();
  const { error, run } = useAct();
  const read = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file === undefined) return;
    run(async () => {
      const phrase = file.size > mostPhraseBytes ? null : phraseIn(await file.text());
      if (phrase === null) throw new Error(text('phrase.file.none', { name: file.name }));
      await take(phrase);
    });
  };
  return (
    <div className="phrase-check">
      {children !== undefined && <p>{children}</p>}
      <label htmlFor={id}>{label}</label>
      <input id={id} type="file" accept=".txt,text/plain" onChange={read} />
      <Fault error={error} />
    </div>
  );
}

type RestoreProps = {
  readonly vault: { restore(typed: string, keptIn?: Keeper): Promise<PhraseCheck> };
  readonly done?: () => void;
};

/** All twelve in one field, or the file. */
export function RestorePhrase({ vault, done = () => undefined }: RestoreProps) {
  const fromFile = async (phrase: string) => {
    await vault.restore(phrase, 'file');
    done();
  };
  return (
    <>
      <PhraseForm restore={(typed) => vault.restore(typed)} done={done} />
      <ChosenFile label={text('phrase.restore.file')} take={fromFile} />
    </>
  );
}
